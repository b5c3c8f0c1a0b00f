//! `HAProxy`, by a question in its own Lua.

#[path = "asks/mod.rs"]
mod asks;
#[path = "cases/mod.rs"]
mod cases;

use crate::proxies::{Behind, Haproxy as Program};

type House = crate::house::House<Behind<Program>>;
