//! Turns and sessions that were shortened, and virtual visitors, where people were.

use ropeline::room::{Change, Claim, RehearsalId, RehearsalOrder, Section, Settings, Who};

use super::super::forged::program;
use super::super::hall::{Hall, section};
use super::{LANE, joins, seconds, two_slots};

/// A room with two slots in which this was done. Returns the program's exit code with `--strict` and its output.
fn told(act: impl FnOnce(&mut Hall)) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut hall = Hall::new();
    hall.archive(1, folder.path());
    hall.configure(1, two_slots());
    act(&mut hall);
    seconds(&mut hall, 1);
    hall.leave(1);
    program(&[folder.path()], &["--strict"])
}

/// Three join: two are called, and the first of them comes in.
fn one_of_each(hall: &mut Hall) {
    let first = joins(hall, 3);
    seconds(hall, 2);
    let claim = Claim {
        lane: LANE,
        number: first,
        carried: true,
    };
    let claims = Section {
        claims: vec![claim],
        ..section()
    };
    hall.hear(1, 100, claims);
}

#[test]
fn a_turn_or_a_session_that_a_file_shortens_is_told_where_somebody_counts_on_it() {
    let turn = Settings {
        claim_deadline_ms: 30_000,
        ..two_slots()
    };
    let session = Settings {
        session_ms: 60_000,
        session_max_ms: 600_000,
        ..two_slots()
    };
    let longer = Settings {
        claim_deadline_ms: 100_000,
        session_ms: 400_000,
        session_max_ms: 8_000_000,
        ..two_slots()
    };
    let said = |settings: &Settings| {
        let (there, none) = (settings.clone(), settings.clone());
        let beside = told(|hall| {
            one_of_each(hall);
            hall.configure(1, there);
        });
        let (code, alone) = told(|hall| hall.configure(1, none));
        assert_eq!(code, 0, "nobody is there: {alone}");
        beside
    };
    let (code, told) = said(&turn);
    assert_eq!(code, 1, "{told}");
    let what = "claim_deadline shortened from 90000 ms to 30000 ms, while 2 waited or were called";
    assert!(told.contains(what), "{told}");
    assert!(told.contains("shorter turn by the configuration file: 2"), "{told}");
    let (code, told) = said(&session);
    assert_eq!(code, 1, "{told}");
    let what = "session_duration shortened from 300000 ms to 60000 ms, session_max shortened from 7200000 ms to 600000 ms, \
                while 1 were inside";
    assert!(told.contains(what), "{told}");
    assert!(told.contains("shorter session by the configuration file: 1"), "{told}");
    let (code, told) = said(&longer);
    assert_eq!(code, 0, "{told}");
}

fn rehearse(hall: &mut Hall) {
    let order = RehearsalOrder {
        id: RehearsalId([7; 8]),
        size: 50,
        forward: true,
        anyway: false,
        for_ms: 60_000,
        by: Who {
            name: "anna".to_owned(),
            reason: "practice".to_owned(),
        },
    };
    hall.change(1, Change::Rehearse(Box::new(order)));
}

fn virtual_visitors(hall: &mut Hall) {
    let joins = Section {
        rehearsal: Some(RehearsalId([7; 8])),
        joins: vec![(LANE, 20)],
        ..section()
    };
    hall.hear(1, 100, joins);
}

#[test]
fn a_rehearsal_beside_people_is_told_once_whoever_came_first() {
    let people_first = told(|hall| {
        joins(hall, 3);
        rehearse(hall);
        virtual_visitors(hall);
    });
    let people_after = told(|hall| {
        rehearse(hall);
        virtual_visitors(hall);
        joins(hall, 3);
        joins(hall, 1);
    });
    for (code, said) in [people_first, people_after] {
        assert_eq!(code, 1, "{said}");
        let last = said.lines().last().unwrap();
        assert!(last.contains("rehearsal by anna: 50"), "{said}");
        let what = "rehearsal of 50 virtual visitors, while 3 people were there";
        assert_eq!(said.matches(what).count(), 1, "{said}");
    }
    let (code, said) = told(|hall| {
        rehearse(hall);
        virtual_visitors(hall);
        hall.change(1, Change::EndRehearsal(RehearsalId([7; 8])));
        joins(hall, 3);
    });
    assert_eq!(code, 0, "nobody was there: {said}");
}
