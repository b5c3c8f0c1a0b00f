//! Rooms with active slots, in worlds with faults: nobody is parked who is in use, slots go to those who asked first, and a parked
//! session is not forwarded. The ledger and the shop check this at every entry.

use ropeline::room::ActiveSlots;

use super::chance::Chance;
use super::faults::Fault;
use super::link::Weather;
use super::plan::{Outcome, Plan};
use super::rooms;
use super::world::SECOND;

const IDLE_AFTER_MS: u64 = 8_000;

/// A quarter of the wild worlds have them, some with few more rights than slots.
pub fn some_active(seed: u64) -> Option<ActiveSlots> {
    let mut chance = Chance::new(seed ^ 0xAC71);
    let most = u32::try_from(chance.within(14, 40)).unwrap_or(14);
    let max_sessions = chance.hits(700).then_some(most);
    chance.hits(250).then_some(ActiveSlots {
        idle_after_ms: IDLE_AFTER_MS,
        max_sessions,
    })
}

/// Seeds of each test.
const SEEDS: u64 = 2;

/// Runs a world with active slots over some seeds, all of which must keep the promises.
fn over_seeds(test: &str, plan: impl Fn(Plan) -> Plan) -> Vec<Outcome> {
    let run = |seed| {
        let plain = Plan {
            active: Some(ActiveSlots {
                idle_after_ms: IDLE_AFTER_MS,
                max_sessions: Some(24),
            }),
            ..Plan::plain(seed)
        };
        plan(plain).holds(test)
    };
    (0..SEEDS).map(run).collect()
}

#[test]
fn in_a_quiet_world_visitors_pause_ask_and_come_back() {
    for outcome in over_seeds("in_a_quiet_world", |plan| plan) {
        let tally = outcome.tally;
        assert!(tally.asks > 20 && tally.returns > 10, "{tally:?}");
        assert!(tally.holds > 5, "{tally:?}");
    }
}

#[test]
fn gates_that_die_park_nobody_who_is_in_use() {
    over_seeds("gates_that_die_park", |plan| {
        plan.with(40, Fault::Crash(0, 5 * SECOND))
            .with(70, Fault::Crash(1, 30 * SECOND))
            .with(130, Fault::Crash(2, SECOND))
            .with(131, Fault::Leave(0, SECOND))
    });
}

#[test]
fn gates_that_are_cut_off_keep_parked_sessions_out() {
    over_seeds("gates_that_are_cut_off_keep", |plan| {
        let plan = Plan {
            weather: Weather::rough(),
            ..plan
        };
        plan.with(40, Fault::Cut(1, 10 * SECOND))
            .with(80, Fault::Pause(2, 12 * SECOND))
            .with(110, Fault::Cut(0, 30 * SECOND))
            .with(180, Fault::Pause(1, 30 * SECOND))
    });
}

#[test]
fn sessions_of_a_lost_log_come_back_and_ask() {
    for outcome in over_seeds("sessions_of_a_lost_log", |plan| {
        plan.with(50, Fault::Restart { lost: 20 })
            .with(90, Fault::OldDump(40 * SECOND))
            .with(130, Fault::Flush)
            .with(170, Fault::Sleep(8 * SECOND))
    }) {
        assert!(outcome.tally.begun > 3, "{:?}", outcome.tally);
    }
}

#[test]
fn an_operator_who_takes_slots_away_keeps_the_order_of_those_who_ask() {
    let outcomes = over_seeds("an_operator_who_takes", |plan| {
        let of = |capacity| Fault::Override {
            capacity: Some(capacity),
            hold: false,
        };
        plan.with(50, of(3)).with(100, of(14)).with(140, of(5))
    });
    let later: u64 = outcomes.iter().map(|outcome| outcome.tally.later).sum();
    assert!(later > 5, "{later} were told to try again");
}

/// Two more than the slots.
const FEW: u32 = rooms::CAPACITY + 2;

fn with_few_rights(plan: Plan) -> Plan {
    Plan {
        active: Some(ActiveSlots {
            idle_after_ms: IDLE_AFTER_MS,
            max_sessions: Some(FEW),
        }),
        ..plan
    }
}

#[test]
fn where_all_rights_are_held_nobody_gets_another() {
    for outcome in over_seeds("where_all_rights", with_few_rights) {
        assert_eq!(outcome.tally.most_rights, u64::from(FEW), "{:?}", outcome.tally);
    }
}

#[test]
fn lost_sessions_that_come_back_get_no_right_beyond_the_most() {
    for outcome in over_seeds("lost_sessions_that_come_back", |plan| {
        with_few_rights(plan)
            .with(50, Fault::Restart { lost: 20 })
            .with(90, Fault::OldDump(40 * SECOND))
            .with(130, Fault::Flush)
            .with(150, Fault::Cut(1, 25 * SECOND))
    }) {
        assert!(outcome.tally.begun > 2, "{:?}", outcome.tally);
        assert_eq!(outcome.tally.most_rights, u64::from(FEW), "{:?}", outcome.tally);
    }
}

/// An operator takes slots away, so that many ask, and gives them back while some do not wait any more.
#[test]
fn a_slot_that_is_given_back_and_not_used_is_taken_again() {
    let outcomes = over_seeds("a_slot_that_is_given_back", |plan| {
        let of = |capacity| Fault::Override {
            capacity: Some(capacity),
            hold: false,
        };
        (0..5).fold(plan, |plan, turn| {
            plan.with(30 + 40 * turn, of(1)).with(46 + 40 * turn, of(14))
        })
    });
    let unused: u64 = outcomes.iter().map(|outcome| outcome.unused).sum();
    assert!(unused > 0, "every slot was used");
}
