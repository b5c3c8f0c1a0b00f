//! The gate in front of a shop that nobody here wrote: pretix, installed and run by `scripts/shop`.
//! Left out of a plain `cargo test`, since installing the shop takes minutes; `scripts/test shop` runs it.

#[allow(dead_code, reason = "each test binary uses a part of it")]
#[path = "../harness/mod.rs"]
mod harness;

mod customer;
mod pretix;
mod purchase;
