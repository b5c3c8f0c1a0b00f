//! The contract of every log, tested on each of them, and the properties of single ones: the embedded one's files, the faults
//! of a store that gates share.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod contract;
mod damage;
mod embedded;
mod files;
mod full_disk;
mod shared;
mod stores;
mod vault;

use ropeline_testkit::harness;
