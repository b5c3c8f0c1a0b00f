//! Caddy, by `forward_auth`.

#[path = "cases.rs"]
mod cases;

use crate::proxies::Caddy as Program;
