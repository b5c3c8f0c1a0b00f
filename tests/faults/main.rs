//! Three gates on a real Redis, a crowd that takes another gate with every request, and faults that really happen.
//!
//! Each trial prints a row: the fault's cost in places, numbers, order and capacity, which must be zero, and how long no
//! visitor was called. `docs/contributing/testing.md` says how to run them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod fleet;
mod gates;
mod observer;
mod rush;
mod stores;
mod toxics;
mod trial;
mod versions;
mod waits;
mod wire;

use ropeline_testkit::{crowd, harness};
