//! Orders to rooms and to their log.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Room;

/// `POST /api/v1/rooms/{room}/call`: lets visitors in now, in the order of the line, above the rate.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// How many, 1 to 10000. Fewer are called where fewer wait, or have a slot.
    pub count: u32,
    /// Which line, in a room that has many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Only this lane, by its name or its index; without it the lanes call by their turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<LaneOf>,
    /// Call above the capacity too. The excess only shrinks.
    #[serde(default)]
    pub beyond_capacity: bool,
    /// The reason, kept with the change; at most 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A lane by its place in the configuration, from 0, or by its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LaneOf {
    Index(u8),
    Name(String),
}

/// What a call came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Called {
    pub asked: u32,
    /// Null where it is no longer known, after many later changes.
    pub called: Option<u32>,
    pub room: Room,
}

/// `POST /api/v1/rooms/{room}/reset`: ends every session and voids every place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reset {
    /// The room's name once more.
    pub confirm: String,
    /// Why; at most 200 bytes.
    pub reason: String,
}

/// `POST /api/v1/rooms/{room}/healing/end`: the room calls again, and nothing stops it in that way again in this log.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndHealing {
    /// Why; at most 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `POST /api/v1/rooms/{room}/message`: a text for each language by its tag, in the place of all that were set here before.
/// None at all goes back to the configured message.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    /// Why; at most 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Each at most 1000 bytes, 16 languages at most.
    #[serde(flatten)]
    pub texts: BTreeMap<String, Option<String>>,
}

/// `GET /api/v1/rooms/{room}/changes`: the last of them, newest first. The log has all (`ropeline log`).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    pub changes: Vec<Change>,
}

/// `GET /api/v1/rooms/{room}/history`: a column for each figure, oldest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct History {
    pub every_secs: u64,
    /// Seconds since 1970.
    pub at: Vec<u64>,
    pub waiting: Vec<u32>,
    pub called: Vec<u32>,
    pub inside: Vec<u32>,
    pub capacity: Vec<u32>,
    /// Calls so far.
    pub calls: Vec<u64>,
    pub no_shows: Vec<u64>,
}

/// One change of a room.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// In RFC 3339.
    pub at: String,
    /// The room's from then on.
    pub revision: u64,
    /// The name of the operator's token; null for a configuration file.
    pub who: Option<String>,
    /// What the operator said to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// set, call, reset, draw, rehearsal or rehearsal ended.
    pub what: String,
    /// For set and reset: each key with both values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Changed>,
    /// For a call: how many were to be called, how many were, and whether above the capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond_capacity: Option<bool>,
}

/// A key before and after; null is no limit, or nothing set here.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    pub key: String,
    pub before: Value,
    pub after: Value,
}

/// `POST /api/v1/skip`: the entry that every gate is to pass over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    /// `EPOCH-SEQUENCE`, as the frozen gate names it.
    pub position: String,
}

/// `POST /api/v1/raise`: the machine version to be in force.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Raise {
    pub machine_version: u16,
}
