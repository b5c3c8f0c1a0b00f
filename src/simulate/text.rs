//! The outcome for a terminal.

use std::fmt::Write as _;

use crate::report::{Spread, said};

use super::outcome::Outcome;

/// The outcome as a page of text.
#[must_use]
pub fn text(outcome: &Outcome) -> String {
    let mut text = String::new();
    head(&mut text, outcome);
    visitors(&mut text, outcome);
    let _ = writeln!(
        text,
        "\n                        half          90 %          95 %          99 %       longest"
    );
    waits(&mut text, "called after", &outcome.waits);
    waits(&mut text, "inside after", &outcome.waits_to_door);
    shop(&mut text, outcome);
    estimates(&mut text, outcome);
    over_time(&mut text, outcome);
    for note in &outcome.notes {
        let _ = writeln!(text, "\nnote: {note}");
    }
    text
}

fn head(text: &mut String, outcome: &Outcome) {
    let bots = match outcome.bots {
        0 => String::new(),
        bots => format!(" and {bots} bots"),
    };
    let _ = writeln!(
        text,
        "room {}: {} visitors{bots}, {}, seed {}\n{}",
        outcome.room,
        outcome.visitors,
        outcome.arrive,
        outcome.seed,
        if outcome.finished {
            format!("over after {}", said(outcome.took_secs))
        } else {
            let (waiting, took) = (outcome.still_waiting, said(outcome.took_secs));
            format!("stopped after {took}, {waiting} still in line: say --for to go on longer")
        }
    );
}

fn visitors(text: &mut String, outcome: &Outcome) {
    let rows = [
        ("joined", outcome.joins),
        ("called", outcome.calls),
        ("came in", outcome.claims),
        ("missed their turn", outcome.no_shows),
        ("gave up", outcome.gave_up),
        ("too late, again at the back", outcome.late),
        ("found it closed or sold out", outcome.turned_away),
        ("in line when all was sold", outcome.sold_out_in_line),
        ("in line when it closed", outcome.closed_in_line),
        ("session over while shopping", outcome.thrown_out),
        ("bought of the stock", u64::from(outcome.completed)),
        ("most in line at once", outcome.peak_waiting),
    ];
    for (name, count) in rows.into_iter().filter(|(_, count)| *count > 0) {
        let _ = writeln!(text, "  {name:<28} {count:>10}");
    }
}

fn waits(text: &mut String, name: &str, spread: &Spread) {
    let columns = [
        spread.p50_secs,
        spread.p90_secs,
        spread.p95_secs,
        spread.p99_secs,
        spread.max_secs,
    ];
    let _ = write!(text, "  {name}");
    for secs in columns {
        let _ = write!(text, "{:>14}", said(secs));
    }
    text.push('\n');
}

fn shop(text: &mut String, outcome: &Outcome) {
    let series = &outcome.over_time;
    let most = |of: fn(&super::Step) -> u64| series.steps.iter().map(of).max().unwrap_or(0);
    let per_sec = |count: u64| rate(count, series.step_ms);
    let _ = writeln!(
        text,
        "\nslots while there was a line ({}): {:.1} % held, {:.1} % in a session, {:.1} % by people busy inside\n\
         calls at most {:.1}/s, requests of the shop at most {:.1}/s (over {})",
        said(outcome.line_secs),
        outcome.held * 100.0,
        outcome.in_session * 100.0,
        outcome.utilisation * 100.0,
        per_sec(most(|step| step.calls)),
        per_sec(most(|step| step.requests)),
        said(rate(series.step_ms, 1_000_000)),
    );
    if let Some(served) = &outcome.upstream {
        let times = &served.times;
        let _ = writeln!(
            text,
            "the shop answered {} requests, half within {}, 99 % within {}; {} failed; at most {} at once",
            served.answered,
            said(times.p50_secs),
            said(times.p99_secs),
            served.failed,
            served.most_in_flight,
        );
    }
}

fn estimates(text: &mut String, outcome: &Outcome) {
    let trust = &outcome.estimates;
    if trust.looks == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "estimates: shown at {:.1} % of {} looks; the true wait was inside {:.1} % of them, the middle off by {:.1} % (half)\n\
         they became worse at {:.1} % of the looks, without a reason at {:.1} %",
        trust.known * 100.0,
        trust.looks,
        trust.inside * 100.0,
        trust.median_error * 100.0,
        trust.later * 100.0,
        trust.later_unsaid * 100.0,
    );
}

/// A dozen rows of what happened when.
fn over_time(text: &mut String, outcome: &Outcome) {
    let series = &outcome.over_time;
    let rows = series.steps.len().div_ceil(series.steps.len().div_ceil(ROWS).max(1));
    let each = series.steps.len().div_ceil(rows.max(1)).max(1);
    text.push_str("\n  time          waiting      slots   calls/s   shop/s\n");
    for (row, steps) in series.steps.chunks(each).enumerate() {
        let ms = series.step_ms * steps.len() as u64;
        let most = |of: fn(&super::Step) -> u64| steps.iter().map(of).max().unwrap_or(0);
        let sum = |of: fn(&super::Step) -> u64| steps.iter().map(of).sum::<u64>();
        let _ = writeln!(
            text,
            "  {:<10} {:>10} {:>10} {:>9.1} {:>8.1}",
            said(rate(series.step_ms * (row * each) as u64, 1_000_000)),
            most(|step| step.waiting),
            most(|step| step.slots),
            rate(sum(|step| step.calls), ms),
            rate(sum(|step| step.requests), ms),
        );
    }
}

/// So many in so many milliseconds, as one second has.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn rate(count: u64, ms: u64) -> f64 {
    count as f64 * 1_000.0 / ms.max(1) as f64
}

const ROWS: usize = 16;
