//! To the gate over HTTP/1.1.

#[path = "every_row.rs"]
mod every_row;

use crate::direct::Http1 as Here;
