//! The replica over a real log in a real folder: joins, notes and changes, restarts of every kind, and replay.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod codes;
mod crash;
mod cut_off;
mod full_disk;
mod gate;
mod joins;
mod notes;
mod replays;
mod restarts;
