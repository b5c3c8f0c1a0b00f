//! What is asked of every way in: the gate's own cases, and what is different where a proxy asks.

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
#[path = "../blackbox/contract/one_session.rs"]
mod one_session;
#[path = "../blackbox/contract/tokens.rs"]
mod tokens;
#[path = "tunnels.rs"]
mod tunnels;
#[path = "../blackbox/contract/visitors.rs"]
mod visitors;

use super::Program;
use crate::proxies::Behind;

pub use crate::house::{OFTEN, ONE, assert_turned_away, eventually};

/// A shop behind the proxy, which asks a gate beside it.
pub type House = crate::house::House<Behind<Program>>;
