//! The outcome for a terminal.

use std::fmt::Write as _;

use super::ways;
use crate::charts::{Spread, float, in_words};
use crate::room::Why;
use crate::simulate::bill::STREAM_SECS;
use crate::simulate::followed::{Allowed, Followed};
use crate::simulate::outcome::Outcome;
use crate::simulate::series::Step;

/// The outcome as a page of text.
#[must_use]
pub fn text(outcome: &Outcome) -> String {
    let mut text = String::new();
    head(&mut text, outcome);
    visitors(&mut text, outcome);
    let _ = writeln!(
        text,
        "\n                     visitors          half          90 %          95 %          99 %       longest"
    );
    waits(&mut text, "called after", &outcome.waits);
    waits(&mut text, "inside after", &outcome.waits_to_door);
    shop(&mut text, outcome);
    estimates(&mut text, outcome);
    unseen(&mut text, outcome);
    ways::text(&mut text, outcome);
    over_time(&mut text, outcome);
    bills(&mut text, outcome);
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
            format!("over after {}", in_words(outcome.took_secs))
        } else {
            let (waiting, took) = (outcome.still_waiting, in_words(outcome.took_secs));
            let coming = match outcome.never_came {
                0 => String::new(),
                coming => format!(" and {coming} still to come"),
            };
            format!("stopped after {took}, {waiting} still in line{coming}: say --for to go on longer")
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
        ("joined anew at the back", outcome.late),
        ("found it closed or sold out", outcome.turned_away),
        ("in line when all was sold", outcome.sold_out_in_line),
        ("in line when it closed", outcome.closed_in_line),
        ("session over while shopping", outcome.thrown_out),
        ("bought of the stock", u64::from(outcome.completed)),
        ("most in line at once", outcome.peak_waiting),
        ("most sessions at the shop", outcome.most_sessions),
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
    let _ = write!(text, "  {name}{:>15}", spread.count);
    for secs in columns {
        // Without visitors there is none.
        let secs = if spread.count == 0 {
            "-".to_owned()
        } else {
            in_words(secs)
        };
        let _ = write!(text, "{secs:>14}");
    }
    text.push('\n');
}

fn shop(text: &mut String, outcome: &Outcome) {
    let series = &outcome.over_time;
    let most = |of: fn(&Step) -> u64| series.steps.iter().map(of).max().unwrap_or(0);
    let per_sec = |count: u64| rate(count, series.step_ms);
    let _ = writeln!(
        text,
        "\nslots while there was a line ({}): {:.1} % held, {:.1} % in a session, {:.1} % by people busy inside\n\
         calls at most {:.1}/s, requests of the shop at most {:.1}/s (over {})",
        in_words(outcome.line_secs),
        outcome.held * 100.0,
        outcome.in_session * 100.0,
        outcome.utilisation * 100.0,
        per_sec(most(|step| step.calls)),
        per_sec(most(|step| step.requests)),
        in_words(rate(series.step_ms, 1_000_000)),
    );
    if let Some(served) = &outcome.upstream {
        let times = &served.times;
        let _ = writeln!(
            text,
            "the shop answered {} requests, half within {}, 99 % within {}; {} failed; at most {} at once",
            served.answered,
            in_words(times.p50_secs),
            in_words(times.p99_secs),
            served.failed,
            served.most_in_flight,
        );
    }
    if let Some(followed) = &outcome.load_control {
        load_control(text, followed);
    }
}

fn load_control(text: &mut String, followed: &Followed) {
    let _ = writeln!(
        text,
        "admission {}: {:.2} might be called each {} on average, {:.2} at most, and nobody for {}",
        followed.by,
        followed.mean_calls,
        in_words(rate(followed.step_ms, 1_000_000)),
        followed.most_calls,
        in_words(followed.stopped_secs),
    );
    let held = followed.why_secs.iter().filter(|(_, secs)| **secs > 0.0);
    let name = |why: &'static str| if why == Why::Free.as_str() { "nothing" } else { why };
    let held: Vec<_> = held
        .map(|(why, secs)| format!("{} {}", name(why), in_words(*secs)))
        .collect();
    let _ = writeln!(
        text,
        "what stood in the way of calls while there was a line: {}; {:.0} % of those called came",
        held.join(", "),
        followed.come * 100.0,
    );
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

/// The ways to claim the turns of visitors in hidden tabs.
fn unseen(text: &mut String, outcome: &Outcome) {
    let Some(first) = outcome.unseen.first() else { return };
    let _ = writeln!(
        text,
        "\n{} visitors in hidden tabs; turns by when the page claims one that nobody sees:\n                           \
         missed      missed    sessions  back at      slots held    inside after\n  {:<22} on desktops   on phones  over unseen  \
         the end       by nobody          half          95 %",
        first.visitors, "claims"
    );
    for way in &outcome.unseen {
        let _ = writeln!(
            text,
            "  {:<22} {:>11} {:>11} {:>12} {:>8} {:>15} {:>13} {:>13}",
            way.claiming.to_string(),
            way.missed_on_desktops,
            way.missed_on_phones,
            way.over_unseen,
            way.back_again,
            in_words(way.held_secs),
            in_words(way.median_wait_secs),
            in_words(way.p95_wait_secs),
        );
    }
}

/// A dozen rows over time.
fn over_time(text: &mut String, outcome: &Outcome) {
    let series = &outcome.over_time;
    let rows = series.steps.len().div_ceil(series.steps.len().div_ceil(ROWS).max(1));
    let each = series.steps.len().div_ceil(rows.max(1)).max(1);
    let follows = if outcome.load_control.is_some() {
        "  allowed/s     p95  why"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "\n  time            waiting      slots   calls/s   shop/s{follows}"
    );
    for (row, steps) in series.steps.chunks(each).enumerate() {
        let from_ms = series.step_ms * (row * each) as u64;
        // The last one may be shorter.
        let secs =
            (outcome.took_secs - rate(from_ms, 1_000_000)).min(rate(series.step_ms * steps.len() as u64, 1_000_000));
        let most = |of: fn(&Step) -> u64| steps.iter().map(of).max().unwrap_or(0);
        let a_second = |of: fn(&Step) -> u64| rate(steps.iter().map(of).sum::<u64>(), 1_000) / secs.max(1.0);
        let _ = write!(
            text,
            "  {:<12} {:>10} {:>10} {:>9.1} {:>8.1}",
            in_words(rate(from_ms, 1_000_000)),
            most(|step| step.waiting),
            most(|step| step.slots),
            a_second(|step| step.calls),
            a_second(|step| step.requests),
        );
        if let Some(followed) = &outcome.load_control {
            allowed(text, steps, followed.step_ms);
        }
        text.push('\n');
    }
}

/// The average number of calls that a controller allowed in these steps, the longest duration of requests, and the most
/// frequent reason.
fn allowed(text: &mut String, steps: &[Step], step_ms: u64) {
    let Some(allowed) = steps.iter().filter_map(|step| step.allowed).reduce(Allowed::and) else {
        return;
    };
    let a_second = rate(allowed.step_milli, step_ms.saturating_mul(1_000));
    let p95 = allowed.p95_ms.map(|ms| in_words(rate(ms, 1_000_000)));
    let (p95, why) = (p95.unwrap_or_else(|| "-".to_owned()), allowed.why.as_str());
    let _ = write!(text, "{a_second:>11.2} {p95:>7}  {why}");
}

/// The cost in the busiest second.
fn bills(text: &mut String, outcome: &Outcome) {
    if outcome.bills.is_empty() {
        return;
    }
    text.push_str(
        "\nAt the busiest second:\n  gates    entries/s  commands/s   store in  store out  cores of a gate  for streams  of all\n",
    );
    for bill in &outcome.bills {
        let _ = writeln!(
            text,
            "  {:<6} {:>11.0} {:>11.0} {:>5.2} MB/s {:>5.1} MB/s {:>16.2} {:>12.2} {:>7.1}",
            bill.gates,
            bill.entries,
            bill.commands,
            bill.store_in_bytes / 1e6,
            bill.store_out_bytes / 1e6,
            bill.gate_cores,
            bill.stream_cores,
            (bill.gate_cores + bill.stream_cores) * f64::from(bill.gates),
        );
    }
    let _ = writeln!(
        text,
        "For streams: everybody in line holds one, {:.1} µs a second each.",
        STREAM_SECS * 1e6
    );
}

/// The rate per second of `count` events in `ms` milliseconds.
fn rate(count: u64, ms: u64) -> f64 {
    float(count) * 1_000.0 / float(ms.max(1))
}

const ROWS: usize = 16;
