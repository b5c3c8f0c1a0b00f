//! The ground that all parts of Ropeline stand on: names, numbers, points in time and secrets as types of their own, so that no
//! function takes two bare integers.
//!
//! Plain data: no I/O, no clock, no randomness. A name is checked once, when it is made.
//!
//! ```
//! use ropeline_ids::{Edition, RoomName, Wall};
//!
//! let room = RoomName::new("drop-2026").expect("letters, digits and hyphens");
//! assert_eq!(room.as_str(), "drop-2026");
//! assert_eq!(RoomName::new("Drop 2026"), None);
//! assert!(Edition(2) > Edition(1));
//! assert_eq!(Wall(1_500).since(Wall(1_000)), 500);
//! ```
#![forbid(unsafe_code)]
#![deny(clippy::as_conversions, clippy::float_arithmetic, clippy::unwrap_used)]

mod account;
mod hash;
mod name;
mod number;
mod secret;
mod time;

pub use account::{Identity, MAX_IDENTITY, Tag};
pub use hash::Hash;
pub use name::{LineName, MAX_LANE_NAME, RoomName};
pub use number::{
    CallId, CodeId, Edition, Epoch, GateId, LaneId, Number, PendingId, Place, Position, RehearsalId, Visitor,
};
pub use secret::Secret;
pub use time::{Clock, Wall};
