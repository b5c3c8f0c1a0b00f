//! Load control of a room.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /api/v1/rooms/{room}/load`: figures of the shop from elsewhere, in the place of measured ones for as long as they hold.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Of all visitors together, 0 to 10000000.
    pub requests_per_second: u32,
    /// 95 of 100 requests take at most so long; without it what the gates measure counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<u32>,
    /// Share of requests that fail, 0 to 1; without it what the gates measure counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_share: Option<f64>,
    /// How long the figures hold, 1 to 3600 seconds. Give others before that, or the measured ones count again.
    pub ttl_secs: u32,
    /// The source of the figures, for readers; at most 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a room follows what its shop can take.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LoadControl {
    /// linear or adaptive.
    pub by: String,
    /// The reason that limits calls, apart from capacity and rate: free (nothing), requests, latency, errors, circuit (no server
    /// of the upstream is asked) or figures (there are none that hold). With figures no visitor is called, with
    /// circuit none or one a step, to see whether the upstream is back.
    pub why: String,
    /// Since when, in RFC 3339.
    pub since: String,
    /// Thousandths of a visitor called at most in each `call_every`.
    pub calls_milli: u64,
    /// Of 1000 who are called so many come.
    pub arrivals_permille: u64,
    /// Gates whose figures hold.
    pub gates: u64,
    /// The figures that hold; null without any.
    pub shop: Option<Shop>,
    /// Seconds for which figures from elsewhere still hold, and who gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_secs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_by: Option<String>,
}

/// Figures of the shop over all gates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Shop {
    pub requests_per_second: u64,
    /// Null while too little was answered to tell.
    pub p95_ms: Option<u64>,
    pub errors_permille: u16,
    pub in_flight: u32,
    /// Visitors whose requests have been under way for too long.
    pub hanging: u32,
}
