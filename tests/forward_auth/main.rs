//! Proxies that carry the traffic and ask the gate who may pass.
//!
//! nginx, `HAProxy` and Caddy run as Debian installs them, each with its configuration of `examples/forward-auth` and
//! nothing changed in it but addresses and where files may be written. What holds before them is what holds before the gate itself: the cases of
//! `tests/blackbox/contract` that do not need the gate in the path are run through each of them, and `asked` has what is
//! different. Traefik and Envoy are not run: `replayed` sends, over sockets, what their documents say that they send, and
//! checks what they say that they need.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]
#![allow(clippy::duplicate_mod, reason = "the same cases are run through each proxy")]

mod bounds;
mod caddy;
mod fields;
mod haproxy;
mod nginx;
mod replayed;
mod secured;

use crowd::{gate, guest, house, http, proxies, shop};
use ropeline_testkit::{crowd, harness::certificates};
