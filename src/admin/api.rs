//! The JSON types of the admin API, for the server and for the command line.
//!
//! Settings have the names of the configuration's keys. Unknown fields are ignored when reading, so that the command line can talk
//! to a newer gate.

mod additions;
mod codes;
mod doctor;
mod load;
mod orders;
mod probe;
mod rehearsal;
mod sales;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use additions::{Addition, Additions, RemoveRoom, RoomAdded, RoomChange, RoomRemoved, Untaken};
pub use codes::{SpentCode, SpentCodes};
pub use doctor::Doctor;
pub use load::{Load, LoadControl, Shop};
pub use orders::{Call, Called, Change, Changed, Changes, EndHealing, History, LaneOf, Messages, Raise, Reset, Skip};
pub use probe::Probe;
pub use rehearsal::{EndRehearsal, Rehearsal, Rehearse, Renew};
pub use sales::{BeaconValue, Draw, Winner, Winners};

/// `GET /api/v1/rooms`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rooms {
    pub gate: Gate,
    pub rooms: Vec<Room>,
}

/// How the gate stands to its log.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// starting, live, opening, healing, frozen, behind, or failed: ended by a fault of the program.
    #[serde(default)]
    pub condition: String,
    /// Seconds since the last read of the log, while that is too long ago and calls pause.
    pub cut_off_secs: Option<u64>,
    /// The last error of the store, while it is failing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Seconds until calls go on after something was lost, at the latest.
    pub healing_secs: Option<u64>,
    /// Gates that are waited for while a new log has no root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The entry that cannot be applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_at: Option<String>,
    /// The machine version that the log has gone on with, and that this gate lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind_version: Option<u16>,
    /// When a configuration was refused, if the last one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_reload: Option<String>,
    /// Rooms that operators added, and that this gate's file or machine does not let it take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untaken: Vec<Untaken>,
}

/// `GET /api/v1/rooms/{room}`, and the answer to a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Room {
    pub name: String,
    /// file, api where an operator added it, or elsewhere: only other gates send visitors to it.
    #[serde(default)]
    pub from: String,
    /// The name of its upstream, where that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    /// What an operator added it by; only where one room is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addition: Option<Addition>,
    /// As the operator set it; `schedule` may be stricter.
    pub mode: String,
    /// Where the room stands in its schedule, if it goes by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Capacity, of each line.
    pub total_active_users: u32,
    /// Rate, of each line; null is unlimited.
    pub new_users_per_minute: Option<u32>,
    /// How it follows what its shop can take, if it does.
    #[serde(rename = "admission", default, skip_serializing_if = "Option::is_none")]
    pub load_control: Option<LoadControl>,
    /// The message on the waiting page.
    pub message: Option<String>,
    /// Messages by language tag, for visitors who read that language.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub messages: BTreeMap<String, String>,
    /// Keys whose value was set here and stands over the configured one.
    pub overridden: Vec<String>,
    /// Grows with each change.
    pub revision: u64,
    pub edition: u32,
    /// The gate is cut off and the room has `on_outage = "open"`: everybody goes past the line.
    #[serde(default)]
    pub let_past: bool,
    /// While the room waits for visitors of a lost log: seconds until it calls again, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healing_secs: Option<u64>,
    /// It waits for them, and nothing has shown yet that a log was lost: most likely this one is the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opening: bool,
    pub lines: u64,
    #[serde(flatten)]
    pub figures: Figures,
    /// The rehearsal that is under way, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Rehearsal>,
    /// Where the room has several: the sums over its lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<Lane>,
    /// Seconds that a visitor joining now would wait (in the first lane), where the room has one line and there is an estimate.
    pub estimate: Option<Estimate>,
    /// Of 100 told waits how many held lately, by quarter of the line from the front; null while no outcome is known.
    #[serde(default)]
    pub estimates_held: [Option<u8>; 4],
    /// RFC 3339.
    pub last_call: Option<String>,
}

/// A room's place in its schedule; dates as RFC 3339.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// early, prequeue, open or closed.
    pub phase: String,
    /// When the phase changes next, if it does.
    pub next_change: Option<String>,
    /// The sale that it is in; the next one while early, the last one once closed.
    pub prequeue_from: Option<String>,
    pub opens_at: Option<String>,
    pub closes_at: Option<String>,
    pub results_at: Option<String>,
}

/// A room's or a line's figures; a room's are the sums over its lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    pub waiting: u64,
    pub called: u64,
    pub sessions: u64,
    /// Inside without a slot, in a room with active slots; not among `sessions`.
    #[serde(default)]
    pub parked: u64,
    /// Called, inside and parked.
    #[serde(default)]
    pub rights: u64,
    /// The most rights there may be; null in a room without active slots.
    #[serde(default)]
    pub max_sessions: Option<u64>,
    pub capacity: u64,
    /// Slots taken above `capacity`, or sessions that were opened again after an outage, whichever are more.
    pub excess: u64,
    pub joins: u64,
    pub calls: u64,
    pub claims: u64,
    pub no_shows: u64,
    pub ends: u64,
    pub left: u64,
    /// Visits let past the line, while a gate was cut off.
    #[serde(default)]
    pub bypasses: u64,
    /// Pieces that there are; null where none are counted.
    #[serde(default)]
    pub stock: Option<u64>,
    /// Pieces sold in this edition.
    #[serde(default)]
    pub completed: u64,
    /// Pieces held for visitors who are called or inside and have not completed.
    #[serde(default)]
    pub unfinished: u64,
}

/// One lane of a room or of a line.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    pub name: String,
    /// Its share of the calls against the others'.
    pub weight: u16,
    /// It is no longer configured: it stays until its visitors are gone.
    pub out: bool,
    pub waiting: u64,
    pub called: u64,
    pub sessions: u64,
    pub calls: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    pub low: u32,
    pub high: u32,
}

/// The answer to `POST /api/v1/upgrade`: the process that serves from here on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Upgraded {
    pub pid: u32,
    pub version: String,
    /// What did not go as it should.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// `GET /api/v1/rooms/{room}/lines`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Lines {
    pub lines: Vec<Line>,
    /// The value of `after` that gives the next page; null on the last.
    pub next: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// Empty in a room with one line.
    pub line: String,
    #[serde(flatten)]
    pub figures: Figures,
    /// Where the line has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<Lane>,
    pub last_call: Option<String>,
}

/// `GET /api/v1/rooms/{room}/visitors/{reference}`, and the answer when the visitor was ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Visitor {
    pub reference: String,
    pub room: String,
    pub line: String,
    pub lane: u8,
    /// Where the room has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane_name: Option<String>,
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
    /// Inside, and idle: the session has no slot just now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parked: bool,
}

/// `GET /api/v1/verify`: where a session stands.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// called, inside, waiting, late or ended; none where no gate gave the name, or the room does not know it.
    pub state: String,
    /// Inside, and idle: the session has no slot just now. The visitor may still buy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parked: bool,
    /// There is a room, a line and a reference whenever a gate gave the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// Empty in a room with one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Called or inside: when the session ends unless something renews it, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_secs: Option<u64>,
}

/// `GET /api/v1/upstreams`: the servers of every upstream, as this gate sees them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Upstreams {
    pub upstreams: Vec<Upstream>,
}

/// One server of an upstream.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Upstream {
    /// The name of its upstream; left out where a single one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    /// Its address as configured, with the one a name stands for behind it.
    pub origin: String,
    pub weight: u32,
    /// False while it counts as out: it is passed over, unless all are out or there is no other.
    pub healthy: bool,
    /// The protocol spoken to it, `HTTP/1.1` or `HTTP/2`; null before its first connection.
    pub protocol: Option<String>,
    /// Requests and tunnels it is busy with.
    pub in_flight: u32,
    /// Requests that wait for a connection to it.
    pub waiting: u32,
    /// Requests and checks that it failed, since the gate started.
    pub failures: u64,
    /// What failed last; null once it is back.
    pub reason: Option<String>,
}

/// `GET /api/v1/gates`: the gates that share the rooms, as this one sees them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Gates {
    pub gate: Gate,
    pub log: Log,
    /// The roster, in order of id.
    pub gates: Vec<RosterGate>,
}

/// The log as this gate has read it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Log {
    /// The last entry read, `EPOCH-SEQUENCE`, empty before the first: a text, since the numbers are more than JSON's readers keep exactly.
    pub position: String,
    /// The chain over all entries up to there, in hex: what an archive of the log is checked against.
    #[serde(default)]
    pub hash: String,
    /// False while the gates agree on what a new log starts from.
    pub rooted: bool,
    /// The machine version in force, and the highest that this gate's binary knows and may run.
    pub machine_version: u16,
    pub knows: u16,
    /// The last checkpoint whose state most gates agree on.
    pub checkpoint: Option<Checkpoint>,
    /// Calls pause because the gates' states differ.
    pub alarm: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    pub sequence: u64,
    /// SHA-256 of the state, in hex.
    pub hash: String,
}

/// A gate on the roster, as of its last batch.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RosterGate {
    /// In hex; another one with each start.
    pub id: String,
    /// The one that answers here.
    pub this: bool,
    pub heard_ms_ago: u64,
    /// The sequence it had applied when it last wrote to the log, and how many entries of others it had not applied then.
    pub sequence: u64,
    pub behind: u64,
    /// Its last round trip to the store, in microseconds.
    pub lag_us: u32,
    /// The highest machine version that it knows.
    pub knows: u16,
    /// Its last word on a checkpoint.
    pub vote: Option<Checkpoint>,
    /// Whether that is what most gates have; null when it is of another checkpoint.
    pub agrees: Option<bool>,
}

/// A refusal, RFC 9457: `application/problem+json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// `about:blank`: the status says what kind it is.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// The mistake, and what would be right.
    pub detail: String,
    /// One by one, where several things were wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<String>,
}

/// `GET /api/v1/reload`: the last attempt to take another configuration; and the answer to `POST` where it was taken.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reload {
    /// taken or refused; none before the first attempt.
    pub result: String,
    /// signal, command or file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// When it was tried, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// When the configuration in force was taken.
    pub in_force_since: String,
    /// Keys whose value has become another, with both; secrets without.
    pub changed: Vec<String>,
    /// Why it was refused, one by one, with their lines.
    pub mistakes: Vec<String>,
    pub warnings: Vec<String>,
}

/// `GET /readyz` and `/livez`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    pub ok: bool,
    /// Why not.
    pub reasons: Vec<String>,
    /// What is out of order although the gate does its work.
    pub degraded: Vec<String>,
}
