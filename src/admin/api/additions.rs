//! Rooms added and removed while gates run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Room;

/// The answer to `POST /api/v1/rooms`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoomAdded {
    pub room: Room,
    /// Its oddities, as `ropeline check` says them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// `DELETE /api/v1/rooms/{room}`: ends every session in it, voids every place, and the room is gone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveRoom {
    /// The room's name once more.
    pub confirm: String,
    /// Why; at most 200 bytes.
    pub reason: String,
}

/// The answer to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoomRemoved {
    pub room: String,
    /// Its description: adding this makes a room like it again, with an empty line.
    pub text: String,
}

/// A room as an operator added it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Addition {
    /// Its `[[room]]` table.
    pub text: String,
    /// In RFC 3339.
    pub at: String,
    /// The name of the operator's token.
    pub who: Option<String>,
}

/// `GET /api/v1/additions`: the log has all (`ropeline log`).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Additions {
    /// The last rooms that were added or removed, newest first.
    pub changes: Vec<RoomChange>,
}

/// A room came, or went.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RoomChange {
    /// In RFC 3339.
    pub at: String,
    pub room: String,
    /// The name of the operator's token.
    pub who: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// add or remove.
    pub what: String,
}

/// A room that operators added and that this gate does not take.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Untaken {
    pub room: String,
    /// Why not.
    pub reasons: Vec<String>,
}
