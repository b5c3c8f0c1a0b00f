//! Properties of every way to the upstream: through the gate, and through each proxy that asks it.

mod admitted;
mod called;
mod elsewhere;
mod endpoints;
mod limits;
mod lines;
mod modes;
mod one_session;
mod tokens;
mod visitors;

use super::House;
use crate::house::{OFTEN, ONE, assert_limited, assert_turned_away, eventually};
