//! The metrics of a running gate, and that the documents and the alert rules name existing ones.

use std::collections::BTreeSet;
use std::time::Duration;

use ropeline::metrics::{Outcome, Returned, UpstreamFault};

use crate::support::{Gate, room_name};

fn scrape(gate: &Gate) -> String {
    let answer = gate.get("/metrics");
    assert_eq!(answer.status, 200);
    assert!(
        answer.headers["content-type"]
            .to_str()
            .expect("text")
            .starts_with("application/openmetrics-text")
    );
    assert!(answer.text.ends_with("# EOF\n"), "{}", answer.text);
    answer.text
}

fn assert_line(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
}

/// Every metric's name as it is asked for in `PromQL`; a histogram's without its suffixes.
fn names(text: &str) -> BTreeSet<String> {
    let types = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types
        .map(|(name, kind)| match kind {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.to_owned(),
        })
        .collect()
}

#[test]
fn the_rooms_figures_are_read_when_asked_and_lines_are_summed() {
    let gate = Gate::start();
    let inside = gate.join("main", "");
    gate.join("main", "");
    gate.enter(&inside);
    gate.join("events", "a");
    gate.join("events", "b");
    gate.metrics.requests(Some(&room_name("main"))).count(Outcome::Joined);
    gate.metrics.of_upstream("").fault(UpstreamFault::Connect);
    let text = scrape(&gate);
    for line in [
        "ropeline_waiting{room=\"main\"} 1.0",
        "ropeline_sessions{room=\"main\"} 1.0",
        "ropeline_capacity{room=\"main\"} 1.0",
        "ropeline_capacity{room=\"events\"} 10.0",
        "ropeline_lines{room=\"events\"} 2.0",
        "ropeline_joins_total{room=\"main\"} 2",
        "ropeline_joins_total{room=\"events\"} 2",
        "ropeline_claims_total{room=\"main\"} 1",
        "ropeline_mode{room=\"main\",mode=\"auto\"} 1",
        "ropeline_mode{room=\"main\",mode=\"hold\"} 0",
        "ropeline_requests_total{room=\"main\",outcome=\"joined\"} 1",
        "ropeline_cut_off_seconds 0.0",
        "ropeline_ready 0",
    ] {
        assert_line(&text, line);
    }
    assert!(!text.contains("line=\""), "no label grows with the lines");
    gate.readiness.serving();
    gate.patch("main", r#"{"mode": "hold"}"#).ok();
    let text = scrape(&gate);
    assert_line(&text, "ropeline_ready 1");
    assert_line(&text, "ropeline_mode{room=\"main\",mode=\"hold\"} 1");
    assert_line(&text, "ropeline_admin_changes_total 1");
}

#[test]
fn every_metric_is_in_the_document_and_the_document_names_no_other() {
    let gate = Gate::start();
    // Families without a member show nothing.
    gate.metrics.requests(None).count(Outcome::Outside);
    gate.metrics.limited("seats").inc();
    gate.metrics
        .returns(&room_name("main"))
        .over(Returned::Granted, Duration::ZERO);
    let _ = gate.metrics.of_upstream("");
    let shown = names(&scrape(&gate));
    let document = include_str!("../../docs/reference/metrics.md");
    let rows = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let documented: BTreeSet<String> = rows.map(|(name, _)| name.to_owned()).collect();
    let missing: Vec<_> = shown.difference(&documented).collect();
    let gone: Vec<_> = documented.difference(&shown).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "to document: {missing:?}; to remove: {gone:?}"
    );
    for outcome in Outcome::ALL {
        assert!(
            document.contains(&format!("`{}`", outcome.as_str())),
            "{}",
            outcome.as_str()
        );
    }
}

#[test]
fn the_alerts_ask_for_metrics_that_exist_and_stand_in_the_document() {
    let rules = include_str!("../../examples/alerts.yml");
    let document = include_str!("../../docs/reference/metrics.md");
    let gate = Gate::start();
    let _ = gate.metrics.of_upstream("");
    let known = names(&scrape(&gate));
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    for used in rules
        .split(|character| !word(character))
        .filter(|word| word.starts_with("ropeline_"))
    {
        let family = used.strip_suffix("_bucket").unwrap_or(used);
        let given = document.contains(&format!("| `{family}` |"));
        assert!(
            given
                && (known.contains(family)
                    || used.starts_with("ropeline_requests")
                    || used.starts_with("ropeline_limited")),
            "{used}"
        );
    }
    let alerts = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    let alerts: BTreeSet<&str> = alerts.collect();
    let named: BTreeSet<&str> = document
        .split('`')
        .filter(|word| word.starts_with("Ropeline"))
        .collect();
    assert_eq!(alerts, named);
}

/// Of every alert the runbook has a row in the section that its `runbook_url` names: what it means, what visitors see, and at most three
/// commands.
#[test]
fn every_alert_leads_to_a_row_of_the_runbook() {
    let rules = include_str!("../../examples/alerts.yml");
    let runbook = include_str!("../../docs/guides/runbook.md");
    let faults: Vec<String> = rules
        .split("- alert: ")
        .skip(1)
        .filter_map(|rule| fault(rule, runbook))
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

/// What is wrong between a rule, from its name on, and the runbook.
fn fault(rule: &str, runbook: &str) -> Option<String> {
    let name = rule.lines().next().unwrap_or_default();
    let url = rule
        .lines()
        .find_map(|line| line.trim().strip_prefix("runbook_url: \"")?.strip_suffix('"'));
    let Some(anchor) = url.and_then(|url| url.strip_prefix("docs/guides/runbook.md#")) else {
        return Some(format!("{name}: no runbook_url into docs/guides/runbook.md"));
    };
    let heading = |line: &&str| {
        line.starts_with('#') && line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-") == anchor
    };
    let section = runbook.lines().skip_while(|line| !heading(line)).skip(1);
    let mut section = section.take_while(|line| !line.starts_with('#'));
    let row = section.find_map(|line| line.strip_prefix(&format!("| `{name}` | "))?.strip_suffix(" |"));
    let Some(cells) = row.map(|row| row.split(" | ").collect::<Vec<_>>()) else {
        return Some(format!("{name}: no row below #{anchor}"));
    };
    let commands = cells.last().map_or(0, |cell| cell.matches('`').count() / 2);
    let whole = cells.len() == 3 && cells.iter().all(|cell| !cell.trim().is_empty());
    (!whole || !(1..=3).contains(&commands)).then(|| format!("{name}: {} cells, {commands} commands", cells.len() + 1))
}

#[test]
fn a_row_that_is_missing_or_too_long_is_found() {
    let rule = "RopelineX\n  runbook_url: \"docs/guides/runbook.md#alerts-of-a-room\"\n";
    let page = |row: &str| format!("# Runbook\n### Alerts of a room\n{row}\n## End\n| `RopelineY` | a | b | `c` |\n");
    assert_eq!(fault(rule, &page("| `RopelineX` | a | b | `c`, `d`, then `e` |")), None);
    for row in [
        "",
        "| `RopelineX` | a | b | c |",
        "| `RopelineX` | a | `c` |",
        "| `RopelineX` | a | b | `1`, `2`, `3`, `4` |",
    ] {
        assert!(fault(rule, &page(row)).is_some(), "{row}");
    }
    assert!(fault("RopelineX\n", &page("")).is_some());
    assert!(
        fault(&rule.replace('X', "Y"), &page("")).is_some(),
        "in another section"
    );
}
