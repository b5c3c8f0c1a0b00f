//! The admin API's JSON as types, for the server that writes it and for `anteroom rooms` that reads it.
//!
//! What an operator sets has the names of the configuration's keys; what the room counts has the design's words.
//! Reading ignores fields it does not know, so that a shell of this version can talk to a newer gate.

use serde::{Deserialize, Serialize};

/// `GET /api/v1/rooms`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rooms {
    pub gate: Gate,
    pub rooms: Vec<Room>,
}

/// How the gate stands to its log.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Gate {
    /// Seconds since the log was last heard, when that is too long ago: nobody is called.
    pub cut_off_secs: Option<u64>,
    /// Seconds until calls go on after something was lost.
    pub healing_secs: Option<u64>,
}

/// `GET /api/v1/rooms/{room}`, and the answer to a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Room {
    pub name: String,
    pub mode: String,
    /// Capacity, of each line.
    pub total_active_users: u32,
    /// Rate, of each line; null is unlimited.
    pub new_users_per_minute: Option<u32>,
    /// What everybody waiting is told.
    pub message: Option<String>,
    /// Keys whose value was set here and stands over the configured one.
    pub overridden: Vec<String>,
    /// Grows with each change.
    pub revision: u64,
    pub edition: u32,
    /// The gate is cut off and the room has `on_outage = "open"`: everybody goes past the line.
    #[serde(default)]
    pub let_past: bool,
    pub lines: u64,
    #[serde(flatten)]
    pub figures: Figures,
    /// Seconds that somebody who joined now would wait, where the room has one line and that can be said.
    pub estimate: Option<Estimate>,
    /// RFC 3339.
    pub last_call: Option<String>,
}

/// A room's or a line's figures; a room's are the sums over its lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    pub waiting: u64,
    pub called: u64,
    pub sessions: u64,
    pub capacity: u64,
    /// Slots taken above `capacity`, or sessions that were opened again after an outage, whichever are more.
    pub excess: u64,
    pub joins: u64,
    pub calls: u64,
    pub claims: u64,
    pub no_shows: u64,
    pub ends: u64,
    pub left: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    pub low: u32,
    pub high: u32,
}

/// `GET /api/v1/rooms/{room}/lines`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// The value of `after` that gives the next page; null on the last.
    pub next: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Empty in a room with one line.
    pub line: String,
    #[serde(flatten)]
    pub figures: Figures,
    pub last_call: Option<String>,
}

/// `GET /api/v1/rooms/{room}/visitors/{reference}`, and the answer when the visitor was ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Visitor {
    pub reference: String,
    pub room: String,
    pub line: String,
    pub lane: u8,
    /// waiting, called, inside, late or ended.
    pub state: String,
    /// Waiting: present visitors ahead plus one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Waiting: seen lately. An absent visitor keeps the place and is not called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub present: Option<bool>,
    /// Waiting: the turn that was missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_at: Option<String>,
    /// Called: seconds left to come in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_within_secs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_since: Option<String>,
    /// Inside: seconds until the session ends if nothing renews it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_secs: Option<u64>,
    /// Inside: seconds until it ends in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_within_secs: Option<u64>,
}

/// A refusal, RFC 9457: `application/problem+json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// `about:blank`: the status says what kind it is.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// What was wrong and what would be right.
    pub detail: String,
    /// One by one, where several things were wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<String>,
}

/// `GET /readyz` and `/livez`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Health {
    pub ok: bool,
    /// Why not.
    pub reasons: Vec<String>,
    /// What is not as it should be although the gate does its work.
    pub degraded: Vec<String>,
}
