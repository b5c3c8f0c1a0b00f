//! Caddy, by `forward_auth`.

#[path = "../blackbox/contract/admitted.rs"]
mod admitted;
#[path = "asked.rs"]
mod asked;
#[path = "../blackbox/contract/called.rs"]
mod called;
#[path = "../blackbox/contract/elsewhere.rs"]
mod elsewhere;
#[path = "../blackbox/contract/endpoints.rs"]
mod endpoints;
#[path = "../blackbox/contract/limits.rs"]
mod limits;
#[path = "../blackbox/contract/lines.rs"]
mod lines;
#[path = "../blackbox/contract/modes.rs"]
mod modes;
#[path = "../blackbox/contract/tokens.rs"]
mod tokens;
#[path = "../blackbox/contract/visitors.rs"]
mod visitors;

use crate::proxies::{Behind, Caddy};

pub use crate::house::{OFTEN, ONE, assert_turned_away, eventually};

/// A shop behind the proxy, which asks a gate beside it.
pub type House = crate::house::House<Behind<Caddy>>;

type Program = Caddy;
