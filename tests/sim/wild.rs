//! Worlds with any faults that the seed gives, a million visitor-steps of them.
//!
//! `SIM_SEED` runs one seed again, `SIM_SEEDS` sets the number of seeds, `SIM_FROM` the first one.

use super::chance::number;
use super::plan::{Outcome, Plan};

/// Seeds of each of the four tests, which run side by side.
const SEEDS: u64 = 16;
/// Visitor-steps that they come to at least.
const STEPS: u64 = 250_000;

#[test]
fn wild_worlds_one() {
    part(0);
}

#[test]
fn wild_worlds_two() {
    part(1);
}

#[test]
fn wild_worlds_three() {
    part(2);
}

#[test]
fn wild_worlds_four() {
    part(3);
}

/// Every fourth seed.
fn part(part: u64) {
    if let Some(seed) = number("SIM_SEED") {
        if seed % 4 == part {
            Plan::wild(seed).run().must_hold("wild");
        }
        return;
    }
    let from = number("SIM_FROM").unwrap_or(0);
    let count = number("SIM_SEEDS");
    let to = from + count.unwrap_or(4 * SEEDS);
    let outcomes: Vec<Outcome> = (from..to)
        .filter(|seed| seed % 4 == part)
        .map(|seed| Plan::wild(seed).run().shown())
        .collect();
    let steps: u64 = outcomes.iter().map(|outcome| outcome.tally.steps).sum();
    println!("{steps} visitor-steps");
    for outcome in outcomes {
        outcome.must_hold("wild");
    }
    assert!(count.is_some() || steps > STEPS, "only {steps} visitor-steps");
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_another() {
    let trace = |seed| Plan::wild(seed).run().trace;
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}
