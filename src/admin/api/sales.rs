//! Draws, and winners of a sale by stock.

use serde::{Deserialize, Serialize};

use crate::draw::Published;

/// `GET /api/v1/rooms/{room}/draw`; dates as RFC 3339.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Draw {
    /// promised: there is a commitment. closed: it is fixed who takes part. made: anyone can work out every place.
    pub state: String,
    pub promised_at: String,
    pub closed_at: Option<String>,
    pub made_at: Option<String>,
    /// One for each lane: what `ropeline verify-draw` reads.
    #[schemars(with = "Vec<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub figures: Vec<Published>,
}

/// `POST /api/v1/rooms/{room}/draw`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeaconValue {
    /// As its publisher writes it: every byte counts, but for spaces around it.
    pub beacon_value: String,
}

/// `GET /api/v1/rooms/{room}/winners`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Winners {
    pub edition: u32,
    pub winners: Vec<Winner>,
    /// The value of `after` that gives the next page; null on the last.
    pub next: Option<String>,
}

/// A visitor who bought a piece of the stock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Winner {
    /// From 1 on, in the order of the completions of the line.
    pub place: u64,
    /// Empty in a room with one line.
    pub line: String,
    pub lane: u8,
    /// The visitor's number: of this epoch, and from 0 on.
    #[serde(rename = "era")]
    pub epoch: u64,
    pub number: u32,
    pub reference: String,
    /// RFC 3339.
    pub completed_at: String,
    /// The tag of the account whose place it was, in hexadecimal digits; null where none was known.
    pub account: Option<String>,
}
