//! Closing the back door: the checks in `examples/back-door` confirm the gate's signatures, each run in its own language.
//!
//! A language that is not installed is reported as skipped; Python always runs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod languages;
mod signed;
mod vectors;

use crowd::{gate, guest, http, shop};
use ropeline_testkit::crowd;
