//! Commands that talk to a running gate's admin listener.
//!
//! Results go to standard output as a table, or as the API's JSON; an error goes to standard error in one line that says what
//! to do. Exit codes: 0 done, 1 not done, 2 wrong usage.

mod admin;
mod client;
pub mod draw;
pub mod gates;
pub mod healthcheck;
pub mod reload;
pub mod rooms;
pub mod top;
pub mod upgrade;
pub mod upstreams;
pub mod winners;

pub use admin::{AdminArgs, Watched, encoded, parsed, path_of, run, run_to_code, show, watch};
pub use client::{Client, Failure, Raw};
