//! The design's contract with the outside, a test for each row, in rooms that are empty or full.

mod admitted;
mod behind_one_address;
mod bodies;
mod bots;
mod by_ticket;
mod called;
mod dates;
mod direct;
mod elsewhere;
mod empty;
mod endpoints;
mod ends;
mod forwarded;
mod hung_up;
mod limits;
mod lines;
mod modes;
mod one_session;
mod parameters;
mod quiet;
mod slots;
mod sockets;
mod stock;
mod tokens;
mod unread;
mod visitors;

use crate::house::Direct;

pub use crate::house::{OFTEN, ONE, assert_turned_away, eventually};

/// A shop with a gate before it, through which everything passes.
pub type House = crate::house::House<Direct>;
