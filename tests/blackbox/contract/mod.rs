//! The contract of `docs/reference/answers.md`, a test for each row, in rooms that are empty or full.

mod behind_one_address;
mod bodies;
mod bots;
mod by_ticket;
mod codings;
mod dates;
mod direct;
mod empty;
mod ends;
mod forwarded;
mod hung_up;
mod parameters;
mod quiet;
mod request_ids;
mod slots;
pub mod sockets;
mod stock;
mod unread;

use crate::house::Direct;

pub use crate::house::{OFTEN, ONE, assert_limited, assert_turned_away, eventually};

/// A shop with a gate before it, through which everything passes.
pub type House = crate::house::House<Direct>;
