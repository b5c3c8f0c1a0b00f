//! The gate against every case of `scripts/conformance`, without nginx and `HAProxy`, judged by the requests that the shop
//! received.

#![allow(
    clippy::disallowed_methods,
    reason = "the suite's client reads the clock to know when patience is over"
)]

mod suite;

use std::collections::BTreeSet;
use std::path::Path;

use suite::client::Delivery;
use suite::judge::{Outcome, Verdict};
use suite::proxy::Setup;
use suite::run::{Contestant, Played};
use suite::{cases, faults, http2, run};

/// Cases under way at a time.
const LANES: usize = 8;

/// The faults of cases played at separate gates, at once and byte by byte. Whether a connection is quiet depends on timing,
/// so a failed case is played again alone: only a fault of the gate fails then too.
fn faults_of<C>(setup: Setup, cases: &[C], name: fn(&C) -> (String, bool), play: Play<C>) -> String {
    let folder = tempfile::tempdir().expect("a folder for the gates");
    let program = Path::new(env!("CARGO_BIN_EXE_ropeline"));
    let (gate, _processes) = suite::proxy::gate(program, folder.path(), LANES, setup).expect("the gates start");
    let faulty = |cases: &[&C]| {
        let at_once = play(cases, &gate, Delivery::AtOnce);
        let slow = play(cases, &gate, Delivery::ByteByByte);
        let mut faults = Vec::new();
        for (at, (case, once)) in cases.iter().zip(&at_once).enumerate() {
            faults.extend(fault_of(name(case), once, slow.get(at).unwrap_or(once)).map(|fault| (at, fault)));
        }
        faults
    };
    let cases: Vec<&C> = cases.iter().collect();
    let mut faults = Vec::new();
    for (at, fault) in faulty(&cases) {
        eprintln!("played again: {fault}");
        faults.extend(faulty(&cases[at..=at]));
    }
    faults
        .into_iter()
        .map(|(_, fault)| fault)
        .collect::<Vec<_>>()
        .join("\n")
}

fn fault_of((name, may_be_lenient): (String, bool), once: &Played, slow: &Played) -> Option<String> {
    let Outcome { verdict, tells, fault } = &once.outcome;
    let is_right = *verdict == Verdict::Right || may_be_lenient && *verdict == Verdict::Lenient;
    let fails = !is_right || !once.keeps_list || once.gist != slow.gist;
    fails.then(|| format!("{name}: {fault:?} {tells}\n{:.400}\n{:.400}", once.gist, slow.gist))
}

type Play<C> = fn(&[&C], &Contestant, Delivery) -> Vec<Played>;

#[test]
fn every_case_has_its_one_right_outcome_at_once_and_byte_by_byte() {
    let all: Vec<_> = cases::sections()
        .into_iter()
        .flat_map(|section| section.cases)
        .collect();
    let faults = faults_of(
        Setup::Plain,
        &all,
        |case| (format!("{} ({})", case.name, case.source), false),
        run::play_all,
    );
    assert_eq!(faults, "");
}

#[test]
fn every_case_over_http2_is_right_or_lenient_for_a_reason() {
    let all: Vec<_> = http2::cases::sections()
        .into_iter()
        .flat_map(|section| section.cases)
        .collect();
    let faults = faults_of(
        Setup::Http2,
        &all,
        |case| (format!("{} ({})", case.name, case.source), !case.known.is_empty()),
        http2::run::play_all,
    );
    assert_eq!(faults, "");
}

#[test]
fn every_flood_is_bounded_and_others_are_served() {
    let play: Play<http2::floods::Flood> = |floods, gate, delivery| {
        // Once is enough: pieces of a flood are no less of one.
        let once = if delivery == Delivery::AtOnce { floods } else { &[] };
        http2::floods::play_all(once, gate)
    };
    let faults = faults_of(
        Setup::Http2,
        &http2::floods::all(),
        |flood| (format!("{} ({})", flood.name, flood.source), false),
        play,
    );
    assert_eq!(faults, "");
}

#[test]
fn every_faulty_shop_is_refused_or_visibly_cut_and_the_next_visitor_unharmed() {
    let faults = faults_of(
        Setup::Faulty,
        &faults::cases::all(),
        |case| (format!("{} ({})", case.name, case.source), false),
        faults::play_all,
    );
    assert_eq!(faults, "");
}

#[test]
fn the_lists_are_as_long_as_promised() {
    let counts: Vec<usize> = cases::sections().iter().map(|section| section.cases.len()).collect();
    assert!(
        counts
            .iter()
            .zip([200, 100, 80, 20])
            .all(|(count, least)| *count >= least),
        "{counts:?}"
    );
    assert!(faults::cases::all().len() >= 21);
    let told = |section: &cases::Section| !section.title.is_empty() && !section.about.is_empty();
    assert!(cases::sections().iter().all(told));
    let sections = http2::cases::sections();
    assert!(
        sections
            .iter()
            .all(|section| section.cases.len() >= 100 && !section.title.is_empty() && !section.about.is_empty())
    );
    let listed: BTreeSet<&str> = sections
        .iter()
        .flat_map(|section| &section.cases)
        .map(|case| case.listed)
        .filter(|place| !place.is_empty())
        .collect();
    assert_eq!(listed.len(), 147, "h2spec's list: {listed:?}");
}
