//! The ways to the upstream: through the gate, and through a proxy that asks the gate who may pass.
//!
//! nginx, `HAProxy` and Caddy run as Debian installs them, each with its configuration of `examples/forward-auth`. Only
//! addresses and folders for files are changed. `cases` applies to every way, `asks` only where a proxy asks. Traefik and
//! Envoy are not run: `replayed` sends, over sockets, the requests that their documentation describes, and checks the answers
//! that it requires.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]
#![allow(clippy::duplicate_mod, reason = "the same cases are run on each way")]

mod bounds;
mod caddy;
mod direct;
mod fields;
mod haproxy;
mod nginx;
mod replayed;
mod secured;

use crowd::{gate, guest, house, http, proxies, shop};
use ropeline_testkit::{crowd, harness::certificates};
