//! As Envoy asks.

#[path = "every_row.rs"]
mod every_row;

use crate::asked::Envoy as Here;
