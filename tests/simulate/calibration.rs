//! The quality of estimates: over all patterns, how often the true wait lay inside, and how far off the middle was.
//!
//! `cargo run --release --example calibration [SEED]...` prints the table, for the seeds one after the other; a star marks
//! waits that could not be foreseen. `--plot FILE` also draws the looks of the others.

mod patterns;

use ropeline::simulate::{Outcome, Point, calibration_picture, simulate};

use self::patterns::UNFORESEEN;

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut seeds, mut plot): (Vec<u64>, Option<String>) = (Vec::new(), None);
    while let Some(arg) = args.next() {
        if arg == "--plot" {
            plot = args.next();
        } else {
            seeds.push(arg.parse().expect("a seed is a number"));
        }
    }
    if seeds.is_empty() {
        seeds.push(1);
    }
    println!(
        "{:<28} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7}",
        "pattern", "looks", "known", "inside", "error", "later", "unsaid"
    );
    let mut points: Vec<Point> = Vec::new();
    for seed in seeds {
        for pattern in patterns::all(seed) {
            let foreseen = !UNFORESEEN.contains(&pattern.name);
            let outcome = simulate(&pattern.plan, &mut |_| {});
            let star = if foreseen { "" } else { " *" };
            row(&format!("{}{star}", pattern.name), &outcome);
            // As many of each.
            let every = outcome.points.len().div_ceil(POINTS).max(1);
            points.extend(outcome.points.iter().step_by(every).filter(|_| foreseen));
        }
    }
    if let Some(file) = plot {
        let picture = calibration_picture("Minutes told (upright), by minutes waited (across)", &points);
        std::fs::write(&file, picture).expect("the picture is written");
    }
}

/// Looks of a pattern that are drawn.
const POINTS: usize = 25;

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
