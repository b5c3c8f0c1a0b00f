//! Logs that end and begin: each goes on from the one before, and losses in between are reported.

use ropeline::report::Findings;
use ropeline::room::{Batch, Epoch, LaneId, LineName, Number, Section, Settings};

use super::crowd::{Crowd, settings};
use super::fair::report;
use super::hall::{EPOCH, Hall, room, section};

/// Three lives of the log: the second goes on from the whole of the first, the third without the end of the second.
#[test]
fn a_sale_over_a_lost_store_is_fair_and_not_whole_and_says_what_was_lost() {
    for seed in SEEDS {
        let folder = tempfile::tempdir().unwrap();
        let (mut hall, mut crowd) = (Hall::new(), Crowd::new(seed));
        hall.archive(1, folder.path());
        hall.configure(1, settings());
        crowd.pass(&mut hall, &[1], 65, 4);
        hall.archive(2, folder.path());
        crowd.pass(&mut hall, &[1, 2], 40, 4);
        let whole = hall.state.encode();
        hall.lose_store(&whole);
        crowd.pass(&mut hall, &[1, 2], 65, 4);
        let kept = hall.state.encode();
        for _ in 0..7 {
            hall.say(2, 500, Batch::default());
        }
        hall.lose_store(&kept);
        crowd.pass(&mut hall, &[2, 1], 100, 3);
        let figures = hall.figures();
        hall.leave(1);
        hall.leave(2);
        let findings = report(&folder);
        assert_eq!(findings.faults, Vec::<String>::new(), "seed {seed}");
        let wrong = &findings.verdict.wrong;
        assert!(
            wrong.len() == 1 && wrong[0].contains("without the last 7 entries"),
            "{wrong:?}"
        );
        assert!(findings.verdict.fair && !findings.verdict.whole, "seed {seed}");
        assert_eq!(findings.covers.hash, hall.state.chain().to_string());
        let logs: Vec<_> = findings
            .covers
            .logs
            .iter()
            .map(|log| (log.goes_on_from, log.entries_lost))
            .collect();
        assert_eq!(logs, [("nothing", 0), ("whole", 0), ("lost", 7)]);
        let tally = findings.lines[0].tally;
        assert_eq!(
            (tally.joins, tally.claims),
            (figures.joins, figures.claims),
            "seed {seed}"
        );
        // A turn may have been missed in the lost part, and once more after it.
        assert!(
            (figures.no_shows..figures.no_shows + 5).contains(&tally.no_shows),
            "seed {seed}"
        );
        let kinds: Vec<_> = findings.interruptions.iter().map(|pause| pause.kind).collect();
        assert_eq!(kinds, ["no root", "no root"], "seed {seed}");
        assert_eq!(findings.covers.entries_not_replayed, 0);
    }
}

/// Three joined a moment before the store was lost, and have not checked in; the first is inside and leaves. Returns who was
/// called then, and the report on it.
fn lost_behind_newcomers(lose: fn(&mut Hall, &[u8])) -> (Number, Findings) {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    let one = Settings {
        capacity: 1,
        ..Settings::default()
    };
    hall.configure(1, one);
    let join = |count| Section {
        joins: vec![(LaneId(0), count)],
        ..section()
    };
    let joined = hall.hear(1, 100, join(3));
    let first = joined.joined[0].first.unwrap();
    let whole = hall.state.encode();
    lose(&mut hall, &whole);
    let leaves = Section {
        leaves: vec![(LaneId(0), first)],
        joins: vec![(LaneId(0), 1)],
        ..section()
    };
    hall.hear(1, 100, leaves);
    let view = hall.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    let called = line.seated_since(None).first().unwrap().number;
    hall.leave(1);
    (called, report(&folder))
}

#[test]
fn who_has_just_joined_is_called_first_in_a_new_log_too() {
    let (called, findings) = lost_behind_newcomers(Hall::lose_store);
    assert_eq!((called.epoch, called.n), (Epoch(EPOCH), 1));
    assert_eq!(findings.verdict.first_wrong, None, "{findings:#?}");
    assert!(findings.verdict.whole && findings.verdict.fair);
}

/// Gates of earlier builds began a log in which recent newcomers had to check in first.
#[test]
fn who_had_just_joined_and_is_passed_by_in_a_new_log_is_an_inversion() {
    let (called, findings) = lost_behind_newcomers(Hall::lose_store_to_an_earlier_build);
    assert!(called.epoch > Epoch(EPOCH));
    assert!(findings.verdict.whole && !findings.verdict.fair);
    let inversion = &findings.lines[0].inversions[0];
    assert!(
        inversion.before.ends_with("/1") && inversion.number.ends_with("/0"),
        "{inversion:?}"
    );
}

const SEEDS: std::ops::Range<u64> = 1..4;

/// An operator who removes the archive as well cannot hide it from those who waited.
#[test]
fn a_log_of_which_only_tickets_tell_is_in_the_verdict() {
    for lost in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let mut hall = Hall::new();
        hall.archive(1, folder.path());
        hall.configure(1, settings());
        let mut crowd = Crowd::new(3);
        crowd.pass(&mut hall, &[1], 10, 2);
        if lost {
            let number = Number {
                epoch: Epoch(EPOCH - 1),
                n: 7,
            };
            let mark = Section {
                marks: vec![(LaneId(0), number)],
                ..section()
            };
            assert_eq!(hall.hear(1, 500, mark).skipped, 0);
        }
        crowd.pass(&mut hall, &[1], 65, 2);
        hall.leave(1);
        let findings = report(&folder);
        let told = format!("tickets of the log {}", EPOCH - 1);
        let wrong = &findings.verdict.wrong;
        let told = wrong.iter().filter(|wrong| wrong.contains(&told)).count();
        assert_eq!((told, wrong.len()), (usize::from(lost), usize::from(lost)), "{wrong:?}");
        assert_eq!((findings.verdict.whole, findings.verdict.fair), (!lost, true));
    }
}
