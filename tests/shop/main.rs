//! The gate in front of an independent shop: pretix, installed and run by `scripts/shop`. Left out of a plain `cargo test`,
//! since installing the shop takes minutes; `scripts/test shop` runs it.

mod customer;
mod pretix;
mod purchase;

use ropeline_testkit::harness;
