//! nginx, by `auth_request`.

#[path = "cases.rs"]
mod cases;

use crate::proxies::Nginx as Program;
