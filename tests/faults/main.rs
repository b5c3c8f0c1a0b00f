//! Gates on a real Redis, and faults that really happen.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

#[allow(dead_code, reason = "each test binary uses a part of it")]
#[path = "../harness/mod.rs"]
mod harness;

mod toxics;
