//! Worlds with codes: `codes` and `code_book` judge what must hold in each, and the tests here check that it was exercised.

use super::code_book::Seen;
use super::faults::Fault;
use super::link::Weather;
use super::observer;
use super::plan::Plan;
use super::world::SECOND;

/// Runs worlds with codes over some seeds, all of which must keep the promises; returns the sums of their counts.
fn over_seeds(test: &str, seeds: std::ops::Range<u64>, plan: impl Fn(Plan) -> Plan) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let plain = Plan {
            codes: true,
            crowd: 10,
            most: 20,
            calm: 320 * SECOND,
            ..Plan::plain(seed)
        };
        plan(plain).holds(test);
        seen.add(observer::with(|watch| watch.codes.seen));
    }
    println!("{seen:?}");
    seen
}

#[test]
fn in_a_quiet_world_every_code_is_good_for_the_first_who_shows_it() {
    let seen = over_seeds("in_a_quiet_world_every_code", 0..2, |plan| plan);
    assert!(seen.granted > 100 && seen.again > 50 && seen.spent > 30, "{seen:?}");
    assert!(seen.full > 5 && seen.brought == 0, "{seen:?}");
}

#[test]
fn gates_that_die_and_are_cut_off_give_no_code_twice() {
    let seen = over_seeds("gates_that_die_and_are_cut_off_give", 0..3, |plan| {
        let plan = Plan {
            weather: Weather::rough(),
            ..plan
        };
        plan.with(40, Fault::Crash(0, 20 * SECOND))
            .with(60, Fault::Cut(1, 25 * SECOND))
            .with(90, Fault::Pause(2, 10 * SECOND))
            .with(120, Fault::Leave(0, SECOND))
            .with(160, Fault::Cut(2, 15 * SECOND))
    });
    assert!(seen.granted > 100 && seen.not_now > 20, "{seen:?}");
}

#[test]
fn a_store_that_loses_its_end_gives_no_code_twice() {
    let seen = over_seeds("a_store_that_loses_its_end_gives", 0..5, |plan| {
        plan.with(40, Fault::Restart { lost: 20 })
            // The gate that has read more is away while the others begin anew.
            .with(65, Fault::Cut(0, 25 * SECOND))
            .with(70, Fault::GateAndStore(1, 40))
            .with(70, Fault::Crash(2, SECOND))
            .with(120, Fault::Cut(1, 20 * SECOND))
            .with(126, Fault::Crash(0, SECOND))
            .with(126, Fault::GateAndStore(2, 60))
            .with(160, Fault::LoseFurthest { lost: 40 })
            .with(185, Fault::OldDump(30 * SECOND))
            .with(210, Fault::TrapRoot { written: true })
            .with(212, Fault::Restart { lost: 40 })
    });
    assert!(seen.brought > 4 && seen.doubtful > 20, "{seen:?}");
}

#[test]
fn where_all_is_lost_what_was_issued_before_is_in_doubt() {
    let seen = over_seeds("where_all_is_lost_what", 0..3, |plan| {
        plan.with(60, Fault::Everything)
            .with(110, Fault::Flush)
            .with(170, Fault::EverythingSince(20 * SECOND))
    });
    assert!(seen.doubtful > 20 && seen.granted > 100, "{seen:?}");
}

#[test]
fn of_two_masters_numbers_by_one_code_one_is_left() {
    let seen = over_seeds("of_two_masters_numbers", 0..4, |plan| {
        let fork = |to_new| Fault::Fork {
            lost: 5,
            to_new,
            time: 45 * SECOND,
        };
        plan.with(40, fork(vec![0]))
            .with(105, fork(vec![1]))
            .with(170, fork(vec![0, 2]))
    });
    assert!(seen.voided > 0 && seen.brought > 10, "{seen:?}");
}

#[test]
fn a_clock_that_is_set_back_makes_no_code_good_again() {
    let seen = over_seeds("a_clock_that_is_set_back", 0..4, |plan| {
        (4..22).fold(plan, |plan, at| {
            let step = if at % 2 == 0 { 15_000 } else { -15_000 };
            plan.with(10 * at, Fault::Step(step))
        })
    });
    assert!(seen.granted > 100 && seen.spent > 100, "{seen:?}");
}

/// The store goes back behind the dates of codes that were issued in between. They are put off until it has come there again.
#[test]
fn a_clock_that_is_set_back_by_an_hour_takes_no_code_before_its_date() {
    let seen = over_seeds("a_clock_that_is_set_back_by_an_hour", 0..2, |plan| {
        plan.with(60, Fault::Step(3_600_000)).with(120, Fault::Step(-3_600_000))
    });
    assert!(seen.granted > 50 && seen.not_now > 1_000, "{seen:?}");
}

/// The gate that has read furthest was slow, so another gave the root. A code that only the first has read comes meanwhile.
#[test]
fn a_gate_that_is_slow_to_give_the_root_is_waited_for_by_codes() {
    Plan::wild(301_077).holds("a_gate_that_is_slow_to_give_the_root");
}
