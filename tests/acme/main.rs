//! Certificates by ACME: real gates, a real authority (pebble) behind a proxy that counts and fails, and visitors over TLS.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod authority;
mod door;
mod faults;
mod front;
mod issue;
mod leaks;
mod lost;
mod renewals;
mod shop;
mod site;
mod visitor;

use ropeline_testkit::harness;
