//! Differences where a proxy asks.

mod answers;
mod tunnels;

use super::{House, Program};
use crate::house::{ONE, assert_turned_away, eventually};
