//! Faults of a store and its gates, one at a time, each over a few seeds.

use std::collections::BTreeSet;
use std::ops::Range;

use ropeline::room::{NEWEST, VERSION};

use super::faults::Fault;
use super::link::Weather;
use super::plan::{Outcome, Plan};
use super::store::Flaw;
use super::world::{SECOND, Time};

const MINUTE: Time = 60 * SECOND;

/// Runs a world over some seeds, all of which must keep the promises.
pub fn over_seeds(test: &str, plan: impl Fn(Plan) -> Plan) -> Vec<Outcome> {
    over(0..3, test, plan)
}

pub fn over(seeds: Range<u64>, test: &str, plan: impl Fn(Plan) -> Plan) -> Vec<Outcome> {
    let outcomes: Vec<Outcome> = seeds.map(|seed| plan(Plan::plain(seed)).run().shown()).collect();
    for outcome in &outcomes {
        outcome.must_hold(test);
    }
    outcomes
}

#[test]
fn a_quiet_world_loses_nobody() {
    for outcome in over_seeds("a_quiet_world", |plan| plan) {
        assert_eq!((outcome.tally.begun, outcome.tally.thrown_out), (1, 0));
        assert_eq!(outcome.tally.ghosts, 0);
    }
}

/// However much the others say: a mark goes within a quarter of a second, and a call's time.
#[test]
fn a_mark_is_in_the_log_at_once_whoever_else_speaks() {
    for outcome in over_seeds("a_mark_is_in", |plan| Plan { gates: 6, ..plan }) {
        assert!(outcome.tally.longest_mark < SECOND, "{:?}", outcome.tally);
    }
}

#[test]
fn links_that_lose_repeat_and_delay_cost_nobody_their_place() {
    let outcomes = over_seeds("links_that", |plan| Plan {
        weather: Weather {
            request_lost: 30,
            reply_lost: 30,
            twice: 60,
            slow: 20,
            ..Weather::rough()
        },
        ..plan
    });
    assert!(outcomes.iter().all(|outcome| outcome.tally.begun == 1));
    assert!(outcomes.iter().all(|outcome| outcome.tally.ghosts == 0));
}

#[test]
fn gates_that_die_take_nothing_with_them() {
    over_seeds("gates_that_die", |plan| {
        plan.with(40, Fault::Crash(0, 5 * SECOND))
            .with(70, Fault::Crash(1, 30 * SECOND))
            .with(130, Fault::Crash(2, SECOND))
            .with(131, Fault::Crash(0, SECOND))
    });
}

#[test]
fn a_rolling_restart_is_not_noticed() {
    let outcomes = over_seeds("a_rolling_restart", |plan| {
        plan.with(40, Fault::Leave(0, SECOND))
            .with(70, Fault::Leave(1, SECOND))
            .with(100, Fault::Leave(2, SECOND))
    });
    assert!(outcomes.iter().all(|outcome| outcome.tally.begun == 1));
}

#[test]
fn a_gate_that_stood_still_catches_up() {
    over_seeds("a_gate_that_stood", |plan| {
        plan.with(40, Fault::Pause(0, 5 * SECOND))
            .with(60, Fault::Pause(1, 40 * SECOND))
            .with(90, Fault::Pause(0, 90 * SECOND))
    });
}

#[test]
fn a_gate_cut_off_for_hours_comes_back() {
    over_seeds("a_gate_cut_off", |plan| Plan {
        busy: 150 * MINUTE,
        crowd: 20,
        most: 400,
        every: 30 * SECOND,
        ..plan.with(60, Fault::Cut(1, 130 * MINUTE))
    });
}

#[test]
fn the_stores_clock_may_step() {
    over_seeds("the_stores_clock", |plan| {
        let steps = [-3_600_000, 500, 86_400_000, -200, 10_000, -86_400_000];
        let at = (30..).step_by(30);
        at.zip(steps)
            .fold(plan, |plan, (at, ms)| plan.with(at, Fault::Step(ms)))
    });
}

#[test]
fn a_store_that_restarts_costs_nobody_their_place_whatever_it_lost() {
    let outcomes = over_seeds("a_store_that_restarts", |plan| {
        plan.with(40, Fault::Restart { lost: 0 })
            .with(80, Fault::Restart { lost: 30 })
            .with(120, Fault::OldDump(60 * SECOND))
            .with(160, Fault::Flush)
            .with(
                200,
                Fault::Down {
                    lost: 10,
                    time: 25 * SECOND,
                },
            )
    });
    assert!(outcomes.iter().all(|outcome| outcome.tally.begun == 6));
}

#[test]
fn a_store_that_stands_still_is_waited_for() {
    over_seeds("a_store_that_stands", |plan| {
        plan.with(40, Fault::Sleep(2 * SECOND))
            .with(100, Fault::Sleep(40 * SECOND))
    });
}

/// Checkpoints are confirmed and go unsaved, until the next that falls is not confirmed yet.
#[test]
fn a_store_without_room_for_snapshots_is_given_confirmed_ones_only() {
    over_seeds("a_store_without_room", |plan| plan.with(40, Fault::Full(45 * SECOND)));
}

#[test]
fn the_furthest_gate_dies_before_it_speaks_or_begins() {
    over_seeds("the_furthest_gate_dies_before", |plan| {
        plan.with(40, Fault::LoseFurthest { lost: 15 })
            .with(100, Fault::TrapBegin)
            .with(150, Fault::LoseFurthest { lost: 0 })
    });
}

#[test]
fn the_furthest_gate_dies_half_way_through_its_snapshot() {
    over_seeds("the_furthest_gate_dies_half", |plan| {
        plan.with(40, Fault::TrapRoot { written: false })
            .with(120, Fault::TrapRoot { written: true })
    });
}

#[test]
fn two_masters_become_one_and_nobody_is_lost() {
    for (lost, to_new) in [(0, vec![0]), (20, vec![0, 1]), (20, vec![2])] {
        over_seeds("two_masters", |plan| {
            let fork = |time| Fault::Fork {
                lost,
                to_new: to_new.clone(),
                time,
            };
            plan.with(40, fork(5 * SECOND)).with(100, fork(60 * SECOND))
        });
    }
}

#[test]
fn a_gate_and_the_end_of_the_log_are_lost_together() {
    over_seeds("a_gate_and_the_end", |plan| {
        plan.with(60, Fault::GateAndStore(0, 20))
            .with(150, Fault::GateAndStore(2, 60))
    });
}

#[test]
fn fresh_gates_first_at_an_empty_store_do_not_hold_the_others_back() {
    over_seeds("fresh_gates_first", |plan| {
        plan.with(59, Fault::Cut(1, 20 * SECOND))
            .with(59, Fault::Cut(2, 25 * SECOND))
            .with(60, Fault::Flush)
            .with(60, Fault::Crash(0, SECOND))
    });
}

#[test]
fn every_gate_is_lost_and_the_store_with_all_or_with_much() {
    over_seeds("every_gate_is_lost", |plan| plan.with(80, Fault::Everything));
    over_seeds("every_gate_is_lost", |plan| {
        plan.with(80, Fault::EverythingSince(0))
            .with(170, Fault::EverythingSince(50 * SECOND))
    });
}

/// The only thing that the wait for a second look at an empty store is for: without it the gates would begin a log from
/// nothing in place of the one that is about to be there.
#[test]
fn a_store_that_is_empty_while_it_comes_up_keeps_its_log() {
    let outcomes = over_seeds("a_store_that_is_empty", |plan| plan.with(80, Fault::Bare(2 * SECOND)));
    assert!(outcomes.iter().all(|outcome| outcome.tally.begun == 2));
}

/// At last all know the newest one, and agree on it by themselves.
#[test]
fn gates_of_two_machine_versions_share_the_log_and_raise_it_together() {
    let outcomes = over_seeds("gates_of_two", |plan| {
        plan.with(30, Fault::Raise(NEWEST))
            .with(40, Fault::Upgrade(0))
            .with(60, Fault::Restart { lost: 10 })
            .with(80, Fault::Upgrade(1))
            .with(100, Fault::Raise(NEWEST))
            .with(120, Fault::Upgrade(2))
            .with(180, Fault::Raise(NEWEST))
            .with(200, Fault::Flush)
    });
    for outcome in outcomes {
        assert_eq!(outcome.versions, BTreeSet::from([VERSION, NEWEST]));
    }
}

#[test]
fn an_entry_that_cannot_be_applied_is_passed_over() {
    over_seeds("an_entry_that_cannot", |plan| {
        plan.with(60, Fault::Poison).with(140, Fault::Poison)
    });
}

/// All gates stand still, and each has the rooms as they were before the entry.
#[test]
fn a_store_lost_before_an_entry_that_cannot_be_applied_costs_nobody_their_place() {
    over_seeds("a_store_lost_before", |plan| {
        plan.with(60, Fault::Poison).with(66, Fault::Flush)
    });
}

/// The operator says it once, while no gate reaches the store.
#[test]
fn what_is_to_be_passed_over_is_said_until_the_store_has_it() {
    over_seeds("what_is_to_be_passed_over", |plan| {
        let plan = plan.with(60, Fault::Poison);
        (0..plan.gates).fold(plan, |plan, slot| plan.with(66, Fault::Cut(slot, 20 * SECOND)))
    });
}

#[test]
fn a_flipped_bit_is_outvoted() {
    let outcomes = over_seeds("a_flipped_bit", |plan| plan.with(60, Fault::Twist(0)));
    let undecided = |outcome: &&Outcome| outcome.blind || outcome.tally.begun > 1;
    assert_eq!(outcomes.iter().filter(undecided).count(), 0);
}

#[test]
fn a_lowered_capacity_and_a_stop_hold_on_every_gate() {
    let set = |capacity, hold| Fault::Override { capacity, hold };
    over_seeds("a_lowered_capacity", |plan| {
        plan.with(40, set(Some(3), false))
            .with(80, Fault::Restart { lost: 5 })
            .with(110, set(None, true))
            .with(150, set(Some(30), false))
            .with(190, set(None, false))
    });
}

/// The replication id is the first guard against a store that has lost something; the nonces are the second.
#[test]
fn a_store_that_hides_its_losses_is_found_out_by_the_nonces() {
    // One gate alone reads the entries that are then lost, and stands still while the others write others in their place.
    over_seeds("a_store_that_hides", |plan| Plan {
        flaw: Some(Flaw::ReplicationUnchecked),
        survives: true,
        ..plan
            .with(40, Fault::Pause(1, 3 * SECOND))
            .with(40, Fault::Pause(2, 3 * SECOND))
            .with(41, Fault::Pause(0, 9 * SECOND))
            .with(42, Fault::Restart { lost: 3 })
    });
}

#[test]
fn a_store_that_breaks_a_rule_is_found_out() {
    for flaw in [
        Flaw::ReplicationUnchecked,
        Flaw::OldestSnapshotKept,
        Flaw::TrimsPastTheSnapshot,
    ] {
        let found = (0..40).find_map(|seed| {
            let plan = Plan {
                flaw: Some(flaw),
                ..Plan::wild(seed)
            };
            let outcome = plan.run();
            Some((seed, outcome.faults.first()?.clone()))
        });
        println!("{flaw:?}: {found:?}");
        assert!(found.is_some(), "{flaw:?}");
    }
}
