//! What is wrong, as the doctor has found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::doctor::Finding;

/// `GET /api/v1/doctor`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Doctor {
    /// The worst first.
    pub findings: Vec<Finding>,
}
