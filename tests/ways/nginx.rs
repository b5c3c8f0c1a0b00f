//! nginx, by `auth_request`.

#[path = "asks/mod.rs"]
mod asks;
#[path = "cases/mod.rs"]
mod cases;

use crate::proxies::{Behind, Nginx as Program};

type House = crate::house::House<Behind<Program>>;
