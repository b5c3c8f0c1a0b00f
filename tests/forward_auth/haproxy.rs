//! `HAProxy`, by a question in its own Lua.

#[path = "cases.rs"]
mod cases;

use crate::proxies::Haproxy as Program;
