//! Rehearsals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /api/v1/rooms/{room}/rehearsal`: virtual visitors may come. It is over 15 s after it was last renewed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rehearse {
    /// 16 hexadecimal digits at random, which the marks name too.
    pub id: String,
    /// Most visitors, 1 to 200000.
    pub visitors: u32,
    /// Seconds that it takes at most, 1 to 86400.
    pub seconds: u64,
    /// What its visitors ask for reaches the shop, where their marks say so too.
    #[serde(default)]
    pub forward: bool,
    /// Also while a sale by stock or by a draw is on.
    #[serde(default)]
    pub anyway: bool,
    /// Why; at most 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `POST /api/v1/rooms/{room}/rehearsal/renew`: it goes on for 15 s from now.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Renew {
    pub id: String,
}

/// `POST /api/v1/rooms/{room}/rehearsal/end`: every virtual visitor is gone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndRehearsal {
    /// Only this one; without it whichever is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why; at most 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The rehearsal of a room that is under way. Its visitors are among the room's figures.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Rehearsal {
    pub id: String,
    /// The name of the operator's token.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// RFC 3339, as the next one: when it is over in any case.
    pub since: String,
    pub until: String,
    /// Most visitors.
    pub visitors: u32,
    /// How many have joined so far.
    pub joined: u32,
    pub forward: bool,
    pub waiting: u64,
    pub called: u64,
    pub sessions: u64,
    /// Turns that its visitors missed.
    pub no_shows: u64,
}
