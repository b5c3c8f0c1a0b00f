//! The outcome as one self-contained HTML page.

use std::fmt::Write as _;

use minijinja::HtmlEscape;

use super::plot::{Curve, calibration, over_time};
use super::text::text;
use super::ways;
use crate::charts::{Plot, float, in_words};
use crate::simulate::followed::{Allowed, Followed};
use crate::simulate::outcome::Outcome;
use crate::simulate::series::Step;
const STYLE: &str = include_str!("../../../static/report/report.css");

/// The outcome as HTML.
#[must_use]
pub fn html(outcome: &Outcome) -> String {
    let room = HtmlEscape(&outcome.room).to_string();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>Simulation of {room}</title>\n<style>{STYLE}pre{{overflow-x:auto;font-size:.8rem}}</style>\n</head>\n<body>\n<main>\n\
         <h1>Simulation of {room}</h1>\n"
    );
    tiles(&mut page, outcome);
    ways::html(&mut page, outcome);
    plots(&mut page, outcome);
    let whole = HtmlEscape(&text(outcome)).to_string();
    let _ = write!(
        page,
        "<section>\n<h2>All figures</h2>\n<pre>{whole}</pre>\n</section>\n</main>\n</body>\n</html>\n"
    );
    page
}

fn tiles(page: &mut String, outcome: &Outcome) {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let tiles = [
        (outcome.visitors.to_string(), "visitors"),
        (outcome.claims.to_string(), "came in"),
        (in_words(outcome.waits.p50_secs), "half waited at most"),
        (in_words(outcome.waits.p95_secs), "95 of 100 at most"),
        (outcome.peak_waiting.to_string(), "most in line at once"),
        (percent(outcome.utilisation), "of the slots busy while there was a line"),
        (
            percent(outcome.estimates.inside),
            "of the intervals shown held the true wait",
        ),
        (
            percent(outcome.estimates.later_unsaid),
            "of the looks: worse without a reason",
        ),
    ];
    let load_control = outcome.load_control.iter().flat_map(|followed| {
        let a_second = followed.mean_calls * 1_000.0 / float(followed.step_ms.max(1));
        [
            (format!("{a_second:.2}"), "calls a second allowed, on average"),
            (in_words(followed.stopped_secs), "in line while nobody might be called"),
        ]
    });
    page.push_str("<section>\n<ul class=\"tiles\">\n");
    for (figure, name) in tiles.into_iter().chain(load_control) {
        let _ = writeln!(page, "<li><b>{figure}</b>{name}</li>");
    }
    page.push_str("</ul>\n</section>\n");
}

fn plots(page: &mut String, outcome: &Outcome) {
    let series = &outcome.over_time;
    let curve = |class, name, of: &dyn Fn(&Step) -> f64| Curve {
        class,
        name,
        values: series.steps.iter().map(|step| Some(of(step))).collect(),
    };
    let a_second = |count: u64| float(count) * 1_000.0 / float(series.step_ms.max(1));
    page.push_str("<section>\n<h2>Over time</h2>\n<div class=\"plots\">\n");
    add(
        page,
        &over_time(
            "Waiting",
            series.step_ms,
            &[curve("a", "waiting", &|step| float(step.waiting))],
        ),
    );
    let slots = [
        curve("a", "called or inside", &|step| float(step.slots)),
        curve("b", "capacity", &|step| {
            f64::from(step.capacity).min(float(step.slots.saturating_mul(4)))
        }),
    ];
    add(page, &over_time("Slots", series.step_ms, &slots));
    let joined = [curve("a", "joined", &|step| a_second(step.joins))];
    add(page, &over_time("Joined a second", series.step_ms, &joined));
    let called = [curve("a", "called", &|step| a_second(step.calls))];
    add(page, &over_time("Called a second", series.step_ms, &called));
    add(
        page,
        &over_time(
            "Requests of the shop a second",
            series.step_ms,
            &[curve("a", "requests", &|step| a_second(step.requests))],
        ),
    );
    if let Some(followed) = &outcome.load_control {
        load_control(page, outcome, followed);
    }
    add(
        page,
        &calibration("Estimates shown (upright, minutes) and waits (across)", &outcome.points),
    );
    page.push_str("</div>\n</section>\n");
}

fn add(page: &mut String, plot: &Plot) {
    page.push_str(&plot.figure());
}

/// The calls that a controller allowed, and its figures of the shop.
fn load_control(page: &mut String, outcome: &Outcome, followed: &Followed) {
    let series = &outcome.over_time;
    let curve = |class, name, of: &dyn Fn(&Allowed) -> Option<f64>| Curve {
        class,
        name,
        values: series
            .steps
            .iter()
            .map(|step| step.allowed.as_ref().and_then(of))
            .collect(),
    };
    let a_second = |milli: u64| float(milli) / float(followed.step_ms.max(1));
    let allowed = curve("a", "allowed", &|allowed| Some(a_second(allowed.step_milli)));
    add(page, &over_time("Calls allowed a second", series.step_ms, &[allowed]));
    let p95 = curve("a", "95 of 100 take", &|allowed| {
        allowed.p95_ms.map(|ms| float(ms) / 1_000.0)
    });
    add(
        page,
        &over_time("95 of 100 requests take at most (seconds)", series.step_ms, &[p95]),
    );
    let failed = curve("a", "failed", &|allowed| {
        Some(f64::from(allowed.errors_permille) / 10.0)
    });
    add(
        page,
        &over_time("Requests that fail, of a hundred", series.step_ms, &[failed]),
    );
}
