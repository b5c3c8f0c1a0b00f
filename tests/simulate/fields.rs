//! The figures as JSON, and the table of them in `docs/simulate.md`.

use std::collections::BTreeSet;

use anteroom::room::{Admission, Bounds, Controller, Settings};
use anteroom::simulate::{Plan, Upstream};
use serde_json::Value;

use super::{plan, run};

/// Every path of a value, elements of a list as `[]`. What is a spread, or has a key for each of some, is one.
fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) if !fields.contains_key("p50_secs") && !at.ends_with("why_secs") => {
            for (key, value) in fields {
                let dot = if at.is_empty() { "" } else { "." };
                paths(value, &format!("{at}{dot}{key}"), found);
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for element in elements {
                paths(element, &format!("{at}[]"), found);
            }
        }
        _ => {
            found.insert(at.to_owned());
        }
    }
}

/// All that there can be, in one run.
fn outcome() -> Value {
    let settings = Settings {
        admission: Some(Admission::by(Controller::Adaptive(Bounds::default()))),
        ..Settings::default()
    };
    let plan = Plan {
        upstream: Some(Upstream { per_sec: vec![(0, 60)] }),
        gates: vec![10],
        notes: vec!["a note".to_owned()],
        ..plan(50, settings)
    };
    serde_json::to_value(run(&plan)).unwrap()
}

fn page() -> String {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/simulate.md");
    std::fs::read_to_string(page).unwrap()
}

/// The fields that the table has.
fn told(page: &str) -> BTreeSet<String> {
    let (_, rest) = page.split_once("<!-- fields -->").unwrap();
    let (table, _) = rest.split_once("<!-- end of fields -->").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let fields = rows.flat_map(|row| row.split('|').nth(1).unwrap().split(','));
    fields.map(|field| field.trim().trim_matches('`').to_owned()).collect()
}

#[test]
fn the_table_has_every_field_and_no_other() {
    let mut found = BTreeSet::new();
    let outcome = outcome();
    paths(&outcome, "", &mut found);
    // Of a time without a line there is nothing to say, and of another there is.
    found.remove("over_time.steps[].allowed");
    let told = told(&page());
    let (untold, gone) = (found.difference(&told), told.difference(&found));
    assert!(
        found == told,
        "not in the table: {:?}; only there: {:?}",
        untold.collect::<Vec<_>>(),
        gone.collect::<Vec<_>>()
    );
    let version = format!("`version` is {}", outcome["version"]);
    assert!(page().contains(&version), "{version}");
}

/// Whoever reads the figures of a version finds all of its fields: a field that goes or is renamed makes another version,
/// and a line of its own here.
#[test]
fn a_version_keeps_its_fields() {
    let mut found = BTreeSet::new();
    let outcome = outcome();
    paths(&outcome, "", &mut found);
    assert_eq!(outcome["version"], 1);
    let missing: Vec<_> = FIRST.iter().filter(|field| !found.contains(**field)).collect();
    assert!(missing.is_empty(), "{missing:?} went: it is another version");
}

const FIRST: [&str; 24] = [
    "version",
    "room",
    "visitors",
    "finished",
    "took_secs",
    "joins",
    "calls",
    "claims",
    "no_shows",
    "gave_up",
    "peak_waiting",
    "held",
    "in_session",
    "utilisation",
    "waits",
    "waits_to_door",
    "estimates.inside",
    "estimates.median_error",
    "upstream.failed",
    "upstream.times",
    "admission.why_secs",
    "over_time.step_ms",
    "over_time.steps[].waiting",
    "over_time.steps[].calls",
];
