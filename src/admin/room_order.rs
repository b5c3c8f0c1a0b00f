//! Orders to add or remove a room, and what became of them.

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::replica::Unrecorded;
use crate::room::{RoomName, Who};

/// What is to become of a room.
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

/// Somebody wants a room more, or one less.
pub struct RoomOrder {
    pub wish: Wish,
    /// Told what became of it.
    pub answer: oneshot::Sender<Result<RoomDone, Refused>>,
}

/// It came to pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoomDone {
    pub room: RoomName,
    pub text: String,
    pub warnings: Vec<String>,
}

/// Nothing has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The table, each of its mistakes.
    Mistakes(Vec<String>),
    /// The wish does not go with what is there.
    Conflict(String),
    /// The log takes nothing at this moment.
    Away,
    Unrecorded(Unrecorded),
}
