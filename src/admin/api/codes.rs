//! Single-use codes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET /api/v1/rooms/{room}/codes`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpentCodes {
    /// By their ids; those that have expired are forgotten.
    pub spent: Vec<SpentCode>,
    /// The value of `after` that gives the next page; null on the last.
    pub next: Option<String>,
}

/// A single-use code that was used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpentCode {
    /// Its id, never the code itself.
    pub code: String,
    /// RFC 3339, as the next.
    pub used_at: String,
    pub expires: String,
    /// bypass, or lane:NAME.
    pub grants: String,
    /// Empty in a room with one line.
    pub line: String,
    /// The lane that its visitor stood in.
    pub lane: String,
    /// The visitor's number: of this epoch, and from 0 on.
    #[serde(rename = "era")]
    pub epoch: u64,
    pub number: u32,
    pub reference: String,
}
