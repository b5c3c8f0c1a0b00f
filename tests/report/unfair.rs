//! Logs in which a visitor was called before earlier ones: the report counts them with visitor and time.

use ropeline::room::{Batch, Change, LaneId, Number, Overrides, RoomName, Section, Settings};

use super::fair::report;
use super::hall::{Hall, room, section};

const LANE: LaneId = LaneId(0);

/// Ten joined; the first two are called.
fn ten(hall: &mut Hall) -> Vec<Number> {
    hall.configure(
        1,
        Settings {
            capacity: 2,
            ..Settings::default()
        },
    );
    let effects = hall.hear(
        1,
        100,
        Section {
            joins: vec![(LANE, 10)],
            ..section()
        },
    );
    let first = effects.joined[0].first.unwrap();
    (0..10)
        .map(|n| Number {
            n: first.n + n,
            ..first
        })
        .collect()
}

#[test]
fn a_friend_let_in_without_a_call_is_told_with_whom_they_passed_by() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    let numbers = ten(&mut hall);
    hall.hear(
        1,
        500,
        Section {
            reopens: vec![(LANE, numbers[7])],
            ..section()
        },
    );
    hall.leave(1);
    let findings = report(&folder);
    let page = ropeline::report::html(&findings);
    assert!(
        page.contains("<strong>Not fair.</strong>") && page.contains("let in"),
        "{page}"
    );
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/unfair.html"), &page).unwrap();
    let line = &findings.lines[0];
    assert!(findings.verdict.whole && !findings.verdict.fair);
    assert_eq!(
        (line.tally.inversions, line.tally.let_in_uncalled, line.tally.excess),
        (1, 1, 1)
    );
    let inversion = &line.inversions[0];
    assert_eq!(inversion.kind, "let in");
    assert!(
        inversion.number.ends_with("/7") && inversion.before.ends_with("/2"),
        "{inversion:?}"
    );
    let told = findings.verdict.first_wrong.unwrap();
    assert!(
        told.starts_with("shop: at ") && told.contains(&inversion.at.position),
        "{told}"
    );
}

#[test]
fn who_passes_nobody_or_was_called_before_is_no_inversion() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    let numbers = ten(&mut hall);
    // The next in line; then one whose call was missed.
    for number in [numbers[2], numbers[0]] {
        hall.hear(
            1,
            100_000,
            Section {
                reopens: vec![(LANE, number)],
                ..section()
            },
        );
    }
    hall.leave(1);
    let findings = report(&folder);
    assert!(findings.verdict.fair, "{:#?}", findings.verdict);
    assert_eq!(findings.lines[0].tally.inversions, 0);
}

#[test]
fn what_operators_change_is_told_with_gate_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    ten(&mut hall);
    let overrides = Overrides {
        capacity: Some(50),
        message: Some("We open soon".to_owned()),
        ..Overrides::default()
    };
    hall.change(9, Change::Override(overrides));
    hall.configure(
        9,
        Settings {
            capacity: 3,
            ..Settings::default()
        },
    );
    hall.leave(9);
    hall.leave(1);
    let findings = report(&folder);
    let told: Vec<_> = findings
        .changes
        .iter()
        .map(|change| {
            (
                change.gate.as_str(),
                change.revision,
                change.what.as_str(),
                change.counted,
            )
        })
        .collect();
    assert_eq!(told.len(), 3);
    assert!(
        told[0]
            .2
            .starts_with("configured for the first time: mode auto, total_active_users 2")
    );
    let other = "0000000000000009";
    assert_eq!(
        told[1],
        (
            other,
            2,
            "overridden: total_active_users 50, message \"We open soon\"",
            true
        )
    );
    assert_eq!(told[2], (other, 3, "configured: total_active_users 3 (was 2)", true));
    let whose: Vec<_> = findings
        .changes
        .iter()
        .map(|change| (change.who.as_deref(), change.reason.as_deref()))
        .collect();
    assert_eq!(whose, [(None, None), (Some("anna"), Some("fire drill")), (None, None)]);
    let text = ropeline::report::text(&findings);
    assert!(text.contains("by anna (fire drill) gate 0000000000000009"), "{text}");
    assert_eq!(findings.gates.len(), 2);
}

#[test]
fn pauses_are_told_with_their_length() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    ten(&mut hall);
    hall.say(1, 90_000, Batch::default());
    hall.leave(1);
    let findings = report(&folder);
    let pauses: Vec<_> = findings
        .interruptions
        .iter()
        .map(|pause| (pause.kind, pause.secs))
        .collect();
    assert_eq!(pauses, [("silence", 90.0)]);
}

#[test]
fn one_room_can_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    ten(&mut hall);
    hall.leave(1);
    let asked = |name: &str| {
        let options = ropeline::report::Options {
            room: RoomName::new(name),
            ..ropeline::report::Options::default()
        };
        let findings = ropeline::report::audit(&[folder.path().to_owned()], &options, &mut |_| {}).unwrap();
        findings.lines.len()
    };
    assert_eq!((asked(room().as_str()), asked("other")), (1, 0));
}
