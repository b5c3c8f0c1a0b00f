//! A crowd in front of gates: the binary as processes, a shop that records its requests, visitors who know nothing but HTTP,
//! and the judgement at the end.
//!
//! A `house` is a shop with its gate and the way there, `proxies` are proxies that ask a gate. Shared by the tests of one
//! gate on a log of its own (`tests/blackbox`) and of several on Redis (`tests/faults`). `people` report the answers that
//! they got, the `shop` its requests, and `ledger` the log's content; `verdict` compares the three.

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
