//! As Traefik asks.

#[path = "every_row.rs"]
mod every_row;

use crate::asked::Traefik as Here;
