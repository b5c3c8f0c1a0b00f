//! Another configuration while visitors come and go: by every trigger, taken whole or refused whole.
//!
//! A change of the file is seen by the gate itself too, within seconds: a test that asks for a reload must not depend on
//! being the first to ask.

mod kept;
mod keys;
mod live;
mod named;
mod refused;
mod secured;
mod shared;
mod triggers;
mod under_way;

use crate::gate::{Gate, Site};
use crate::program::{Ended, Program};

/// Runs `ropeline reload`.
fn reload(site: &Site, gate: &Gate) -> Ended {
    site.run(&["reload", "--admin", &gate.admin.to_string()])
}

/// As [`reload`], where it has to be taken.
pub fn taken(site: &Site, gate: &Gate) -> String {
    let ended = reload(site, gate);
    assert_eq!(ended.code, Some(0), "{ended:?}\n{}", gate.program.err());
    ended.out
}

/// As [`reload`], where it has to be refused; every mistake.
fn refused(site: &Site, gate: &Gate) -> String {
    let ended = reload(site, gate);
    assert_eq!(ended.code, Some(78), "{ended:?}\n{}", gate.program.err());
    ended.err
}

/// Begins `ropeline reload` and does not wait for it.
fn begins(site: &Site, gate: &Gate) -> Program {
    Program::start(&site.path(""), &["reload", "--admin", &gate.admin.to_string()])
}

fn capacity(gate: &Gate) -> u64 {
    let room = gate.asks_admin("/api/v1/rooms/shop").json();
    room["total_active_users"].as_u64().expect("a number")
}
