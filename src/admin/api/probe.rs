//! The nonce of a probe.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET /api/v1/rooms/{room}/probe`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// What `GET /.ropeline/rooms/{room}/probe?nonce=` of every gate with the same keys knows.
    pub nonce: String,
    /// Seconds that it is good for.
    pub for_secs: u64,
}
