//! The conformance suite: cases as tables, sockets to play them, and a judge of the requests that reached the shop.
//!
//! `scripts/conformance` plays every case against the gate, nginx and `HAProxy`; `tests/conformance` plays the same list
//! against the gate alone. A new list is a file in `cases` and a line in its `sections`.

pub mod case;
pub mod cases;
pub mod client;
pub mod faults;
pub mod http2;
pub mod judge;
pub mod message;
pub mod proxy;
pub mod run;
pub mod shop;
