//! The gate as the world sees it: the binary as a process of its own, a shop that notes what reaches it, and visitors who
//! know nothing but HTTP.
//!
//! `contract` has a test for each row of the design's two tables; `load` and `kills` put a crowd before a room of fifty,
//! and `ledger` judges the log that the run left behind. `docs/testing.md` says how to run them and what they showed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod contract;
mod crowd;
mod gate;
mod guest;
mod http;
mod kills;
mod ledger;
mod load;
mod seed;
mod shop;
