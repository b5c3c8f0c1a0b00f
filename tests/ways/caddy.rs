//! Caddy, by `forward_auth`.

#[path = "asks/mod.rs"]
mod asks;
#[path = "cases/mod.rs"]
mod cases;

use crate::proxies::{Behind, Caddy as Program};

type House = crate::house::House<Behind<Program>>;
