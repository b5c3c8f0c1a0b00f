//! The room as a whole: laws over random histories, stories of single rules, and its bytes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod active;
mod additions;
mod codes;
mod commands;
mod draw;
mod laws;
mod line;
mod load;
mod log;
mod recovery;
mod rehearsal;
mod schedule;
mod stock;
