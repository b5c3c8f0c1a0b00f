//! The archive and the report on it: real runs of the rooms, and possible alterations of the files afterwards.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod accounts;
mod acts;
mod begins;
mod crowd;
mod fair;
mod forged;
mod hall;
mod life;
mod line;
mod logs;
mod scale;
mod tampered;
mod unfair;
