//! What estimates are worth: over all patterns, how often the true wait lay inside, and how far off the middle was.
//!
//! `cargo run --release --example calibration [SEED]...` prints the table, for the seeds one after the other;
//! a star marks what nobody could foresee.

mod patterns;

use anteroom::simulate::{Outcome, simulate};

use self::patterns::UNFORESEEN;

fn main() {
    let mut seeds: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if seeds.is_empty() {
        seeds.push(1);
    }
    println!(
        "{:<28} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7}",
        "pattern", "looks", "known", "inside", "error", "later", "unsaid"
    );
    for seed in seeds {
        for pattern in patterns::all(seed) {
            let star = if UNFORESEEN.contains(&pattern.name) { " *" } else { "" };
            row(
                &format!("{}{star}", pattern.name),
                &simulate(&pattern.plan, &mut |_| {}),
            );
        }
    }
}

fn row(name: &str, outcome: &Outcome) {
    let trust = &outcome.estimates;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    println!(
        "{name:<28} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7}",
        trust.looks,
        percent(trust.known),
        percent(trust.inside),
        percent(trust.median_error),
        percent(trust.later),
        percent(trust.later_unsaid),
    );
}
