//! To the gate over HTTP/2.

#[path = "every_row.rs"]
mod every_row;

use crate::direct::Http2 as Here;
