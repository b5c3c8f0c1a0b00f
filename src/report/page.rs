//! The report as one self-contained HTML page.

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::findings::Findings;
use super::plot;
use super::text::text;
use crate::charts::{Plot, in_words};

const PAGE: &str = include_str!("../../static/report/report.html");
const STYLE: &str = include_str!("../../static/report/report.css");

/// The content of the page besides the findings.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    findings: &'a Findings,
    /// By line, for the first lines.
    plots: Vec<Vec<Plot>>,
    style: &'static str,
    most_lines: usize,
    most_rows: usize,
    kinds: BTreeMap<&'static str, &'static str>,
    links: BTreeMap<&'static str, &'static str>,
}

/// The whole report as HTML. At most fifty lines have plots, and no table more than a thousand rows.
#[must_use]
pub fn html(findings: &Findings) -> String {
    let shown = Shown {
        findings,
        plots: findings.lines.iter().take(MOST_LINES).map(plot::of).collect(),
        style: STYLE,
        most_lines: MOST_LINES,
        most_rows: MOST_ROWS,
        kinds: BTreeMap::from(KINDS),
        links: BTreeMap::from(LINKS),
    };
    rendered(&shown).unwrap_or_else(|error| {
        tracing::error!(%error, "the report's page failed");
        let plain = minijinja::HtmlEscape(&text(findings)).to_string();
        format!("<!doctype html><title>Fairness report</title><pre>{plain}</pre>")
    })
}

fn rendered(shown: &Shown<'_>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("secs", in_words);
    environment.add_filter("clock", |time: String| {
        // Without the milliseconds, and with the name of the zone.
        time.get(..19)
            .map_or_else(|| time.clone(), |date| date.replace('T', " "))
    });
    environment.template_from_str(PAGE)?.render(Value::from(Serde(shown)))
}

/// Pauses by their names in the findings.
const KINDS: [(&str, &str); 6] = [
    ("silence", "no gate reached the log, or its clock was set"),
    ("no root", "nobody called: a new log waited for its root"),
    ("alarm", "nobody called: the gates' states differed"),
    ("adopting", "nobody called: a gate brought back an epoch"),
    (
        "opening",
        "nobody called: the log had just begun, and visitors of a lost one might come",
    ),
    ("healing", "nobody called: everything had been lost, visitors came back"),
];

const LINKS: [(&str, &str); 5] = [
    ("first", "the first that is here"),
    ("whole", "which goes on from the whole of the one before"),
    ("lost", "which goes on without the last entries of the one before"),
    ("nothing", "which begins from nothing"),
    ("elsewhere", "which goes on from a history that is not here"),
];

const MOST_LINES: usize = 50;
const MOST_ROWS: usize = 1_000;
