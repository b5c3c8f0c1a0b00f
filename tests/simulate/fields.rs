//! The figures as JSON, and the table of them in `docs/guides/simulate.md`.

use std::collections::BTreeSet;

use ropeline::room::{ActiveSlots, Bounds, Controller, LoadControl, Settings};
use ropeline::simulate::{Crowd, Plan, Upstream, simulate_all};
use serde_json::Value;

use super::plan;

/// Every path of a value, elements of a list as `[]`. What has a key for each of some is one.
fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) if !at.ends_with("why_secs") => {
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
        load_control: Some(LoadControl::by(Controller::Adaptive(Bounds::default()))),
        ..Settings::default()
    };
    let active = Settings {
        active: Some(ActiveSlots {
            idle_after_ms: 60_000,
            max_sessions: None,
        }),
        ..settings.clone()
    };
    let plan = Plan {
        other_way: Some(Box::new(active)),
        upstream: Some(Upstream { per_sec: vec![(0, 60)] }),
        gates: vec![10],
        notes: vec!["a note".to_owned()],
        crowd: Crowd {
            hidden: 300,
            ..Crowd::PATIENT
        },
        ..plan(50, settings)
    };
    serde_json::to_value(simulate_all(&plan, &mut |_| {})).unwrap()
}

fn page() -> String {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides/simulate.md");
    std::fs::read_to_string(page).unwrap()
}

/// The paths of a run that has all. Of a time without a line there is nothing to say, and of another there is.
fn found(outcome: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    paths(outcome, "", &mut found);
    found.remove("over_time.steps[].allowed");
    found
}

/// Fields of a spread, which the table has in one row.
const SPREAD: [&str; 7] = [
    "count",
    "mean_secs",
    "p50_secs",
    "p90_secs",
    "p95_secs",
    "p99_secs",
    "max_secs",
];
const SPREADS: [&str; 3] = ["waits", "waits_to_door", "upstream.times"];

/// As the table has them.
fn in_rows(paths: &BTreeSet<String>) -> BTreeSet<String> {
    let spread = |path: &str| {
        SPREADS
            .into_iter()
            .find(|spread| path.starts_with(&format!("{spread}.")))
    };
    let row = |path: &String| spread(path).unwrap_or(path).to_owned();
    paths.iter().map(row).collect()
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
    let outcome = outcome();
    let all = found(&outcome);
    let (found, told) = (in_rows(&all), told(&page()));
    let (untold, gone) = (found.difference(&told), told.difference(&found));
    assert!(
        found == told,
        "not in the table: {:?}; only there: {:?}",
        untold.collect::<Vec<_>>(),
        gone.collect::<Vec<_>>()
    );
    for spread in SPREADS {
        let prefix = format!("{spread}.");
        let fields: BTreeSet<_> = all.iter().filter_map(|path| path.strip_prefix(&prefix)).collect();
        assert_eq!(fields, BTreeSet::from(SPREAD), "{spread}");
    }
    let words = SPREAD.map(|field| format!("`{field}`")).join(", ");
    assert!(page().contains(&words), "{words}");
    let version = format!("`version` is {}", outcome["version"]);
    assert!(page().contains(&version), "{version}");
}

/// A program that reads the figures of a version finds all of its fields: removing or renaming a field makes another version,
/// with another list here.
#[test]
fn a_version_keeps_its_fields() {
    let outcome = outcome();
    let found = found(&outcome);
    assert_eq!(outcome["version"], 1);
    let of_spreads = SPREADS
        .iter()
        .flat_map(|spread| SPREAD.map(|field| format!("{spread}.{field}")));
    let first: BTreeSet<_> = FIRST.split_whitespace().map(str::to_owned).chain(of_spreads).collect();
    let missing: Vec<_> = first.difference(&found).collect();
    assert!(missing.is_empty(), "{missing:?} went: it is another version");
    let new: Vec<_> = found.difference(&first).collect();
    assert!(new.is_empty(), "{new:?} came: put them here, so that they stay");
}

/// All of version 1.
const FIRST: &str = "
    version room arrive visitors bots seed took_secs finished never_came still_waiting
    joins calls claims no_shows gave_up late turned_away sold_out_in_line closed_in_line thrown_out completed
    peak_waiting most_sessions line_secs held in_session utilisation
    estimates.looks estimates.undecided estimates.known estimates.inside estimates.median_error
    estimates.later estimates.later_unsaid
    requests upstream.answered upstream.failed upstream.most_in_flight
    admission.by admission.step_ms admission.mean_calls admission.most_calls admission.come
    admission.stopped_secs admission.why_secs
    notes[] entries events
    bills[].gates bills[].entries bills[].commands bills[].store_in_bytes bills[].store_out_bytes
    bills[].gate_cores bills[].stream_cores bills[].all_entries bills[].all_store_out_bytes
    unseen[].claiming unseen[].visitors unseen[].missed_on_desktops unseen[].missed_on_phones unseen[].over_unseen
    unseen[].back_again unseen[].held_secs unseen[].median_wait_secs unseen[].p95_wait_secs
    ways[].slots ways[].counts_for_secs ways[].capacity ways[].median_wait_secs ways[].p95_wait_secs ways[].busy ways[].ceiling
    ways[].most_sessions ways[].above ways[].above_secs ways[].thrown_out ways[].still_waiting ways[].busiest_minute
    ways[].long_pause_secs ways[].rights_full_secs ways[].rights_full_free
    ways[].returns.alone ways[].returns.within_a_second ways[].returns.p999_secs ways[].returns.max_secs
    ways[].returns.together ways[].returns.together_median_secs ways[].returns.together_max_secs ways[].returns.pages
    advice[]
    over_time.step_ms
    over_time.steps[].waiting over_time.steps[].slots over_time.steps[].capacity
    over_time.steps[].joins over_time.steps[].calls over_time.steps[].claims over_time.steps[].no_shows
    over_time.steps[].requests over_time.steps[].marks over_time.steps[].words
    over_time.steps[].allowed.step_milli over_time.steps[].allowed.least_milli over_time.steps[].allowed.why
    over_time.steps[].allowed.p95_ms over_time.steps[].allowed.errors_permille over_time.steps[].allowed.in_flight
";
