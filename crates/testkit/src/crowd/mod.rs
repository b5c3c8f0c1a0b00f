//! A crowd before gates: the binary as processes, a shop that notes what reaches it, people who know nothing but HTTP,
//! and the judgement when all is over.
//!
//! A `house` is a shop with its gate and the way there, `proxies` are those that ask a gate. Shared by the tests of one gate on a log of its own (`tests/blackbox`) and of several on Redis (`tests/faults`).
//! `people` say what they were told, the `shop` what it saw, and `ledger` what the log says; `verdict` compares the three.

pub mod chance;
pub mod gate;
pub mod gathering;
pub mod guest;
pub mod house;
pub mod http;
pub mod ledger;
pub mod people;
pub mod proxies;
pub mod seed;
pub mod shop;
pub mod verdict;
