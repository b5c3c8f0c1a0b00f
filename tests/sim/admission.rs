//! Rooms with load control, in worlds with faults: gates report arbitrary figures of a shop that is slow, fails, hangs or is
//! away, or report nothing. The ledger checks that visitors are only called on valid figures, never above the capacity, and
//! that all gates compute the same.

use ropeline::room::{Bounds, Circuit, Controller, Linear, LoadControl, Report, Times};

use super::chance::Chance;
use super::faults::Fault;
use super::link::Weather;
use super::plan::{Outcome, Plan};
use super::rooms;
use super::world::{Event, SECOND, World};

impl World {
    /// Every gate that is there and not asleep reports, or forgets to.
    pub fn look_at_shop(&mut self) {
        self.after(2 * SECOND, Event::Look);
        for slot in 0..self.slots.len() {
            let calm = self.calm;
            let report = some_report(&mut self.chance, calm);
            let now = self.now;
            let gate = self.slots[slot].gate.as_mut();
            let Some(gate) = gate.filter(|gate| gate.paused_until <= now && !gate.leaving) else {
                continue;
            };
            if let Some(report) = report {
                gate.protocol.report(vec![(rooms::room(), report)]);
                self.go_on(slot);
            }
        }
    }
}

/// A possible report of two seconds; in a calm world, that of a healthy shop.
fn some_report(chance: &mut Chance, calm: bool) -> Option<Report> {
    let number = |chance: &mut Chance, below| u32::try_from(chance.within(0, below)).unwrap_or(0);
    let mut times = Times::default();
    let ended = number(chance, 40);
    (0..ended).for_each(|_| times.note(chance.within(20_000, 60_000)));
    let well = Report {
        span_ms: 2_000,
        requests: ended,
        ended,
        times,
        ..Report::default()
    };
    if calm {
        return Some(well);
    }
    let circuit = match chance.within(0, 20) {
        0 => Circuit::Open,
        1 => Circuit::Trial,
        _ => Circuit::Closed,
    };
    let ended = number(chance, 60);
    let errors = if chance.hits(100) {
        number(chance, 60).min(ended)
    } else {
        0
    };
    let slowest_us = if chance.hits(200) { 9_000_000 } else { 300_000 };
    let mut times = Times::default();
    (errors..ended).for_each(|_| times.note(chance.within(1_000, slowest_us)));
    let some = Report {
        ended,
        errors,
        in_flight: number(chance, 30),
        hanging: number(chance, 8),
        answered: number(chance, 60),
        circuit,
        times,
        ..well
    };
    chance.hits(850).then_some(some)
}

fn over_seeds(test: &str, plan: impl Fn(Plan) -> Plan) -> Vec<Outcome> {
    let controllers = [
        Controller::Adaptive(Bounds::default()),
        Controller::Linear(Linear::default()),
    ];
    let run = |seed| {
        let plain = Plan {
            admission: Some(LoadControl::by(controllers[usize::try_from(seed).unwrap_or(0) % 2])),
            ..Plan::plain(seed)
        };
        plan(plain).holds(test)
    };
    (0..4).map(run).collect()
}

#[test]
fn whatever_gates_report_everybody_comes_in_once_the_shop_is_well() {
    for outcome in over_seeds("whatever_gates_report", |plan| plan) {
        assert_eq!((outcome.tally.begun, outcome.beyond), (1, 0));
        assert!(outcome.tally.inside > 40, "{:?}", outcome.tally);
    }
}

#[test]
fn gates_that_die_and_are_cut_off_call_nobody_on_figures_that_hold_no_longer() {
    over_seeds("gates_that_die_and_are_cut_off_call", |plan| {
        let plan = Plan {
            weather: Weather::rough(),
            ..plan
        };
        plan.with(40, Fault::Crash(0, 20 * SECOND))
            .with(60, Fault::Cut(1, 15 * SECOND))
            .with(80, Fault::Pause(2, 10 * SECOND))
            .with(100, Fault::Leave(0, SECOND))
            .with(150, Fault::Step(40_000))
    });
}

#[test]
fn a_log_that_is_lost_takes_no_figures_for_newer_than_they_are() {
    over_seeds("a_log_that_is_lost_takes", |plan| {
        plan.with(60, Fault::Restart { lost: 5 })
            .with(110, Fault::Flush)
            .with(160, Fault::Everything)
    });
}
