//! Ropeline: a waiting room in front of a shop, which needs no change.
//!
//! The crate is a library with a thin binary. `room` and `token` are pure; `store` gives order and durability; `replica`
//! keeps the gate's own copy of every room; `gate` decides about each request and carries the decision out with `proxy`,
//! `pages` and `limit`; `admin` and `cli` are for the operator. The allowed dependencies between parts are in
//! `docs/explanation/architecture.md`.

pub mod accounts;
pub mod acme;
pub mod admin;
mod app;
pub mod archive;
pub mod calendar;
pub mod charts;
pub mod cli;
pub mod config;
pub mod crawlers;
pub mod dates;
pub mod demo;
pub mod doctor;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod gate;
pub mod logging;
pub mod metrics;
pub mod pages;
pub mod replica;
pub mod report;
pub mod router;
pub mod simulate;
pub mod store;
pub mod terminal;

pub use ropeline_proxy::{self as proxy, limit, names, time, tls};
pub use ropeline_room::{self as room, draw};
pub use ropeline_token as token;
