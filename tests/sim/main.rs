//! The line under faults, seeded and in virtual time: several gates, each with the real protocol, a model of the store they
//! share, links that lose and repeat, visitors, and a ledger that judges every entry by independent rules.
//!
//! `docs/contributing/testing.md` says how to run more of it and how to run a seed again.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod accounts;
mod added;
mod admission;
mod code_book;
mod code_worlds;
mod codes;
mod draws;
mod flood;
mod hands;
mod lanes;
mod model;
mod parked;
mod rehearsal;
mod sales;
mod scenarios;
mod slots;
mod stock;
mod wild;
mod zones;

use model::{faults, judge, ledger, link, observer, people, plan, rooms, store, world};
use ropeline_testkit::crowd::chance;
