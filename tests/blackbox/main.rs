//! The gate from outside: the binary as a separate process, a shop that records its requests, and visitors who know nothing
//! but HTTP.
//!
//! `contract` and `tests/ways` have a test for each row of `docs/reference/answers.md`; `load` and `kills` put a crowd before a room of fifty
//! and judge the log that the run left behind. `docs/contributing/testing.md` says how to run them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod active;
mod contract;
mod hangs;
mod kept;
mod kills;
mod load;
mod load_control;
mod marks;
mod unadmitted;
mod upstreams;

use crowd::{gate, guest, house, http, shop};
use ropeline_testkit::{crowd, harness};
