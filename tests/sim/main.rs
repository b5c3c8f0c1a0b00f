//! The line under faults, seeded and in virtual time: several gates, each with the real protocol, a model of the store
//! they share, links that lose and repeat, visitors, and a ledger that judges every entry by rules of its own.
//!
//! `docs/contributing/testing.md` says how to run more of it and how to run a seed again.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod accounts;
mod added;
mod admission;
mod code_book;
mod code_worlds;
mod codes;
mod crowd;
mod draws;
mod faults;
mod flood;
mod gate;
mod hands;
mod inside;
mod judge;
mod lanes;
mod ledger;
mod link;
mod observer;
mod people;
mod plan;
mod rehearsal;
mod rooms;
mod sales;
mod scenarios;
mod shop;
mod slots;
mod stock;
mod store;
mod trace;
mod visits;
mod wild;
mod world;
mod zones;

use ropeline_testkit::crowd::chance;
