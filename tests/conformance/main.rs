//! The gate against every case of `scripts/conformance`, without nginx and `HAProxy`: what the shop got is the judge.

#![allow(
    clippy::disallowed_methods,
    reason = "the suite's client reads the clock to know when patience is over"
)]

#[path = "../../examples/conformance/suite/mod.rs"]
mod suite;

use std::path::Path;

use suite::case::Case;
use suite::cases::sections;
use suite::client::Delivery;
use suite::judge::{Outcome, Verdict};
use suite::run::play_all;

/// Cases under way at a time.
const LANES: usize = 8;

#[test]
fn every_case_has_its_one_right_outcome_at_once_and_byte_by_byte() {
    let folder = tempfile::tempdir().expect("a folder for the gates");
    let program = Path::new(env!("CARGO_BIN_EXE_anteroom"));
    let (gate, _processes) = suite::proxy::gate(program, folder.path(), LANES).expect("the gates start");
    let mut faults = Vec::new();
    for section in sections() {
        let cases: Vec<&Case> = section.cases.iter().collect();
        let at_once = play_all(&cases, &gate, Delivery::AtOnce);
        let slow = play_all(&cases, &gate, Delivery::ByteByByte);
        for ((case, once), slow) in cases.iter().zip(&at_once).zip(&slow) {
            if once.outcome.verdict != Verdict::Right || once.gist != slow.gist {
                let Outcome { tells, fault, .. } = &once.outcome;
                faults.push(format!(
                    "{} ({}): {fault:?} {tells}\n{:.400}\n{:.400}",
                    case.name, case.source, once.gist, slow.gist
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_lists_are_as_long_as_promised() {
    let counts: Vec<usize> = sections().iter().map(|section| section.cases.len()).collect();
    assert!(
        counts
            .iter()
            .zip([200, 100, 80, 20])
            .all(|(count, least)| *count >= least),
        "{counts:?}"
    );
    let told = |section: &suite::cases::Section| !section.title.is_empty() && !section.about.is_empty();
    assert!(sections().iter().all(told));
}
