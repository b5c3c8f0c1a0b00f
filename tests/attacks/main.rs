//! Attacks on the line, as one table: requests that must not reach the shop, and ordinary ones beside them that must.
//!
//! Each file of `rows` holds the cases of one threat. Every case is sent over every way to the shop: to the gate over HTTP/1.1 and
//! HTTP/2, to a gate with a second upstream that has no room, through nginx, `HAProxy` and Caddy as Debian has them with the configurations of `examples/forward-auth`, and as the
//! questions that Traefik and Envoy are documented to ask. To add a threat, add a file to `rows` and a test to `every_row.rs`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]
#![allow(clippy::duplicate_mod, reason = "the same rows are sent over each way")]

mod asked;
mod caddy;
mod case;
mod direct;
mod envoy;
mod haproxy;
mod http1;
mod http2;
mod nginx;
mod rows;
mod several;
mod site;
mod through;
mod traefik;

use crowd::{gate, http, proxies, shop};
use ropeline_testkit::{crowd, harness};
