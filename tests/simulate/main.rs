//! `ropeline simulate`: the real room on virtual time, compared with arithmetic, and its command line.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod active;
mod bill;
mod command;
mod estimates;
mod fields;
mod hidden;
mod load_control;
mod patterns;
mod room;

use ropeline::room::{RoomName, Settings, Wall};
use ropeline::simulate::{Arrive, Claiming, Crowd, Outcome, Plan, Stays, simulate};

/// A room that calls by slots, and a patient crowd.
fn plan(visitors: u32, settings: Settings) -> Plan {
    Plan {
        room: RoomName::new("shop").unwrap(),
        settings,
        end_grace_ms: Some(0),
        completes: true,
        return_wait_ms: 10_000,
        hold_ms: None,
        other_way: None,
        upstream: None,
        silences: Vec::new(),
        stampedes: Vec::new(),
        visitors,
        arrive: Arrive::Steady,
        over_ms: 300_000,
        crowd: Crowd::PATIENT,
        claiming: Claiming::AsPage,
        stays: Stays {
            mean_ms: vec![(0, 60_000)],
            pages: 6,
        },
        changes: Vec::new(),
        lanes: Vec::new(),
        seed: 7,
        start: Wall(1_767_225_600_000),
        most_ms: 86_400_000,
        step_ms: 100,
        probes: 200,
        gates: Vec::new(),
        notes: Vec::new(),
        script: Vec::new(),
    }
}

fn run(plan: &Plan) -> Outcome {
    simulate(plan, &mut |_| {})
}
