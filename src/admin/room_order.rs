//! Orders to add or remove a room, and their results.

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::replica::Unrecorded;
use crate::room::{RoomName, Who};

/// The change that is wanted.
#[derive(Clone, PartialEq, Debug)]
pub enum Wish {
    Add { table: Table, who: Who },
    Remove { room: RoomName, who: Who },
}

/// A room's table as it was sent.
#[derive(Clone, PartialEq, Debug)]
pub enum Table {
    Toml(String),
    Json(Map<String, Value>),
}

/// An order to add or remove a room.
pub struct RoomOrder {
    pub wish: Wish,
    /// Receives the result.
    pub answer: oneshot::Sender<Result<RoomDone, Refused>>,
}

/// The room was added or removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoomDone {
    pub room: RoomName,
    pub text: String,
    pub warnings: Vec<String>,
}

/// Why nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The table, each of its mistakes.
    Mistakes(Vec<String>),
    /// The order conflicts with the rooms there are.
    Conflict(String),
    /// The log takes nothing at this moment.
    Away,
    Unrecorded(Unrecorded),
}
