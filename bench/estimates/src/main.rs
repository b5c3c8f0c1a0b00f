//! Judges the room's estimates on frozen patterns of crowds. `scripts/estimates` runs it.
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "counts and milliseconds of a simulation, all far below 2^32 and 2^53"
)]

mod agenda;
mod chance;
mod crowd;
mod gate;
mod looks;
mod patterns;
mod run;
mod visits;

use run::{Record, run};

fn main() {
    for pattern in patterns::WORKING.iter().chain(&patterns::JUDGING) {
        if std::env::args()
            .nth(1)
            .is_some_and(|name| !pattern.name.contains(&name))
        {
            continue;
        }
        let began = std::time::Instant::now();
        let outcome = run(pattern, 1, Record::Waits);
        println!(
            "{:<42} {:>7} looks {:>6} calls, line {:>6}, {:>5} min, censored {} | {:.2?}",
            pattern.name,
            outcome.looks.len(),
            outcome.calls,
            outcome.longest_line,
            outcome.ran_ms / 60_000,
            outcome.looks.iter().filter(|look| look.wait.is_none()).count(),
            began.elapsed(),
        );
    }
}
