//! The judged run of adaptive admission: the real room before a shop with a cliff that moves, on virtual time.
//!
//! Model, seeds and criteria stand in `docs/admission.md`, and were fixed before anything was tuned.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod course;
mod doors;
mod verdict;
mod world;

use anteroom::room::{Admission, Bounds, Controller};

use course::Course;
use doors::{Fixed, Room};
use verdict::{P99_BOUND_US, Verdict, judge};

/// Percent of the calls that 100 % of the shop is worth.
const RATES: std::ops::RangeInclusive<u64> = 20..=140;

fn adaptive(course: &Course) -> Verdict {
    let mut room = Room::new(Admission::by(Controller::Adaptive(Bounds::default())));
    let trace = world::run(course, &mut room);
    judge(course, &trace)
}

fn fixed(course: &Course, percent: u64) -> Verdict {
    let mut rate = Fixed::new(course.full_calls_milli() * percent / 100);
    judge(course, &world::run(course, &mut rate))
}

/// Runs the seeds, prints a line for each, and says what failed.
fn seeds(seeds: impl Iterator<Item = u64>) -> Vec<String> {
    let mut failed = Vec::new();
    println!("| seed | levels | best fixed rate | its visits | visits | of it | lost | p99 | swing | recovery |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for seed in seeds {
        let course = Course::of(seed);
        let rates = RATES
            .step_by(5)
            .map(|percent| (fixed(&course, percent).completed, percent));
        let (best, percent) = rates.max().unwrap();
        let found = adaptive(&course);
        let levels: Vec<String> = course.levels.iter().map(|level| level.percent.to_string()).collect();
        let share = found.completed * 100 / best;
        println!(
            "| {seed} | {} | {percent} % | {best} | {} | {share} % | {} | {} | {} % | {} |",
            levels.join(" "),
            found.completed,
            found.lost,
            found
                .p99_us
                .map_or("failed".to_owned(), |us| format!("{} ms", us / 1_000)),
            found.swing_percent,
            found
                .recovery_secs
                .map_or("never".to_owned(), |secs| format!("{secs} s")),
        );
        let rules = [
            ("throughput", share >= 90),
            ("p99", found.p99_us.is_some_and(|us| us <= P99_BOUND_US)),
            ("swing", found.swing_percent <= 30),
            ("recovery", found.recovery_secs.is_some_and(|secs| secs <= 120)),
        ];
        failed.extend(
            rules
                .iter()
                .filter(|(_, kept)| !kept)
                .map(|(rule, _)| format!("seed {seed}: {rule}")),
        );
    }
    failed
}

/// Those that the controller was tuned with.
#[test]
#[ignore = "a minute with optimisation: scripts/admission tune"]
fn seeds_to_tune() {
    let failed = seeds(1..=10);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "a minute with optimisation: scripts/admission"]
fn seeds_to_judge() {
    let failed = seeds(21..=30);
    assert!(failed.is_empty(), "{failed:#?}");
}
