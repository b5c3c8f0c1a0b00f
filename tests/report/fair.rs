//! A sale that went as it should: the report says so, and its figures are those of the crowd.

use std::fs;
use std::path::Path;

use ropeline::report::{Findings, Line, Moment, Options, audit};
use ropeline::room::{Completion, Edition, LaneId, Number, Section, Settings};
use tempfile::TempDir;

use super::crowd::{Crowd, Story, settings};
use super::hall::{Hall, section};

/// Two gates archive into one folder; one comes later and goes earlier.
fn sale(folder: &TempDir, seed: u64) -> (Hall, Story) {
    sale_to(folder, Crowd::new(seed))
}

fn sale_to(folder: &TempDir, mut crowd: Crowd) -> (Hall, Story) {
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    hall.configure(1, settings());
    crowd.pass(&mut hall, &[1], 70, 4);
    hall.archive(2, folder.path());
    crowd.pass(&mut hall, &[1, 2], 100, 4);
    hall.leave(1);
    crowd.pass(&mut hall, &[2], 150, 0);
    (hall, crowd.story)
}

pub fn report(folder: &TempDir) -> Findings {
    audit(&[folder.path().to_owned()], &Options::default(), &mut |_| {}).unwrap()
}

fn only(findings: &Findings) -> &Line {
    assert_eq!(findings.lines.len(), 1);
    &findings.lines[0]
}

#[test]
fn a_fair_sale_is_reported_with_the_crowds_own_figures() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hall, story) = sale(&folder, 42);
    let (figures, chain) = (hall.figures(), hall.state.chain());
    hall.leave(2);
    let _ = chain;
    let findings = report(&folder);
    assert_eq!(findings.verdict.first_wrong, None, "{findings:#?}");
    assert!(findings.verdict.whole && findings.verdict.fair);
    assert_eq!(findings.covers.hash, hall.state.chain().to_string());
    assert_eq!(findings.covers.entries, hall.state.position().sequence);
    let line = only(&findings);
    let tally = &line.tally;
    assert_eq!(
        (tally.joins, tally.calls, tally.claims, tally.no_shows, tally.left),
        (
            figures.joins,
            figures.calls,
            figures.claims,
            figures.no_shows,
            figures.left
        )
    );
    assert_eq!((tally.joins, tally.bypasses), (story.joins, story.bypasses));
    assert!(
        tally.calls_again > 0 && tally.left > 0 && tally.gave_up > 0,
        "{tally:#?}"
    );
    assert_eq!(line.sessions.held.count, figures.ends);
    let over_time = |of: fn(&Moment) -> u64| line.over_time.steps.iter().map(of).sum::<u64>();
    assert_eq!(
        (
            over_time(|step| step.joins),
            over_time(|step| step.calls),
            over_time(|step| step.claims)
        ),
        (figures.joins, figures.calls, figures.claims)
    );
    assert!(findings.checks.votes_matched > 20 && findings.checks.votes_against.is_empty());
}

#[test]
fn a_crowd_that_signs_in_to_accounts_with_two_places_is_reported_as_fair() {
    for seed in 1..=20 {
        let folder = tempfile::tempdir().unwrap();
        let (mut hall, _) = sale_to(&folder, Crowd::with_accounts(seed, 60));
        let figures = hall.figures();
        hall.leave(2);
        let findings = report(&folder);
        assert!(findings.verdict.fair, "seed {seed}: {:?}", findings.verdict.wrong);
        let line = only(&findings);
        assert_eq!(
            (
                line.tally.joins,
                line.tally.calls,
                line.tally.left,
                line.sessions.held.count
            ),
            (figures.joins, figures.calls, figures.left, figures.ends),
            "seed {seed}"
        );
    }
}

#[test]
fn waits_are_those_that_the_crowd_had() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hall, mut story) = sale(&folder, 7);
    hall.leave(2);
    let findings = report(&folder);
    let line = only(&findings);
    story.waits.sort_unstable();
    assert_eq!(line.waits.count, story.waits.len() as u64);
    let of = |percent: usize| story.waits[(story.waits.len() * percent).div_ceil(100) - 1];
    for (percent, told) in [
        (50, line.waits.p50_secs),
        (95, line.waits.p95_secs),
        (99, line.waits.p99_secs),
    ] {
        let is = f64::from(u32::try_from(of(percent)).unwrap()) / 1_000.0;
        assert!((told - is).abs() <= is / 50.0 + 0.1, "p{percent}: {told} is not {is}");
    }
    let cohorts: u64 = line.waits_by_cohort.iter().map(|cohort| cohort.waits.count).sum();
    let lanes: u64 = line.waits_by_lane.iter().map(|lane| lane.waits.count).sum();
    assert_eq!((cohorts, lanes), (line.waits.count, line.waits.count));
    assert_eq!((line.waits_by_cohort.len(), line.waits_by_lane.len()), (2, 2));
}

#[test]
fn what_the_told_waits_were_worth_is_reported_as_the_room_counted_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hall, _) = sale(&folder, 7);
    hall.leave(2);
    let view = hall.state.view();
    let told = view.rooms[&crate::hall::room()].lines.values().next().unwrap().told();
    let known: u64 = told.iter().map(|quarter| quarter.known).sum();
    assert!(known > 0, "{told:?}");
    let findings = report(&folder);
    let line = only(&findings);
    for (reported, told) in line.estimates.iter().zip(told) {
        assert_eq!((reported.known, reported.held), (told.known, told.held));
        assert_eq!(reported.held_percent, told.percent());
    }
    assert_eq!(line.estimates.len(), told.len());
    let words = format!("of {known} told intervals held");
    let text = ropeline::report::text(&findings);
    assert!(text.contains(&words), "{text}");
    assert!(ropeline::report::html(&findings).contains("<dt>Estimates</dt>"));
}

#[test]
fn the_page_stands_by_itself_and_names_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (mut hall, _) = sale(&folder, 3);
    hall.leave(2);
    let findings = report(&folder);
    let page = ropeline::report::html(&findings);
    // Kept to be looked at in a browser.
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html"), &page).unwrap();
    assert!(
        page.contains("Whole and fair") && page.matches("<svg").count() == 6,
        "{page}"
    );
    for outside in ["http:", "https:", "<script", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let json = serde_json::to_string(&findings).unwrap();
    let told = ropeline::report::text(&findings);
    for text in [&page, &json, &told] {
        let address = text.split(|c: char| !c.is_ascii_digit() && c != '.').find(|word| {
            let parts: Vec<&str> = word.split('.').collect();
            parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
        });
        assert_eq!(address, None);
        assert!(!text.replace("@media", "").contains('@'), "an account");
    }
}

#[test]
fn a_sale_by_stock_is_told_with_what_was_bought_and_that_nobody_was_called_beyond() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    let settings = Settings {
        capacity: 9,
        stock: Some(2),
        ..Settings::default()
    };
    hall.configure(1, settings);
    let lane = LaneId(0);
    let joins = Section {
        joins: vec![(lane, 5)],
        ..section()
    };
    let first = hall.hear(1, 100, joins).joined[0].first.unwrap();
    let number = |n| Number {
        n: first.n + n,
        ..first
    };
    let buys = |n| Section {
        completions: vec![Completion {
            lane,
            number: number(n),
            edition: Edition(0),
            after_ms: 0,
            at: None,
            tag: None,
        }],
        ..section()
    };
    hall.hear(1, 100, buys(1));
    hall.hear(1, 100, buys(1));
    let leaves = Section {
        leaves: vec![(lane, number(0))],
        ..section()
    };
    hall.hear(1, 100, leaves);
    hall.hear(1, 100, buys(2));
    hall.leave(1);
    let findings = report(&folder);
    let tally = &findings.lines[0].tally;
    assert!(
        findings.verdict.fair && findings.verdict.whole,
        "{:?}",
        findings.verdict
    );
    assert_eq!((tally.calls, tally.completed, tally.beyond_stock), (3, 2, 0));
    assert!(ropeline::report::text(&findings).contains("2 pieces bought, 0 calls for pieces"));
}
