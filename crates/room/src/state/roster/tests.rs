use super::*;
use crate::entry::{Batch, Spoke};
use crate::version::VERSION;
use ropeline_ids::{Position, Wall};

fn entry(gate: u64, serial: u64, hello: bool) -> Entry {
    Entry {
        position: Position::default(),
        gate: GateId(gate),
        serial,
        previous: [0; 8],
        nonce: [0; 8],
        time: Wall(0),
        version: VERSION,
        batch: Batch {
            hello,
            ..Batch::default()
        },
    }
}

#[test]
fn only_gates_that_said_hello_are_heard_and_each_batch_once() {
    let mut roster = Roster::default();
    assert!(!roster.admit(&entry(1, 1, false), Clock(0)));
    assert!(roster.admit(&entry(1, 1, true), Clock(0)));
    assert!(!roster.admit(&entry(1, 1, true), Clock(0)));
    assert!(roster.admit(&entry(1, 2, false), Clock(0)));
    assert!(!roster.admit(&entry(1, 1, false), Clock(0)));
    roster.goodbye(GateId(1));
    assert!(!roster.admit(&entry(1, 3, false), Clock(0)));
    assert!(!roster.admit(&entry(1, 2, true), Clock(0)), "a copy that comes late");
    assert!(roster.admit(&entry(1, 3, true), Clock(0)));
}

#[test]
fn a_silent_gate_is_off_after_fifteen_seconds_and_holds_for_an_hour() {
    let mut roster = Roster::default();
    roster.admit(&entry(1, 1, true), Clock(1_000));
    roster.sweep(Clock(16_000));
    assert_eq!((roster.gates().count(), roster.held_until()), (1, Clock(0)));
    roster.sweep(Clock(16_001));
    assert_eq!((roster.gates().count(), roster.held_until()), (0, Clock(3_601_000)));
    roster.sweep(Clock(3_601_000));
    assert_eq!(roster.held_until(), Clock(0));
}

#[test]
fn a_gate_that_says_goodbye_or_comes_back_holds_nothing() {
    let mut roster = Roster::default();
    for gate in [1, 2] {
        roster.admit(&entry(gate, 1, true), Clock(0));
    }
    roster.goodbye(GateId(1));
    roster.sweep(Clock(20_000));
    assert!(roster.held_until() > Clock(20_000));
    assert!(roster.admit(&entry(2, 2, true), Clock(20_000)));
    assert_eq!(roster.held_until(), Clock(0));
}

#[test]
fn a_new_log_takes_off_whoever_it_has_not_heard_when_it_gets_its_root() {
    let mut roster = Roster::default();
    for gate in [1, 2] {
        roster.admit(&entry(gate, 7, true), Clock(50));
    }
    roster.begin();
    assert_eq!((roster.gates().count(), roster.held_until()), (0, Clock(0)));
    let mut spoke = entry(2, 9, false);
    spoke.batch.spoke = Some(Spoke::default());
    roster.speak(&spoke, Clock(60));
    roster.close();
    assert_eq!((roster.gates().count(), roster.held_until()), (1, Clock(3_600_050)));
    assert_eq!(roster.answered(GateId(2)).map(|(serial, _)| serial), Some(7));
    assert!(
        !roster.admit(&spoke, Clock(70)),
        "a word that came too late is no batch"
    );
    assert!(roster.admit(&entry(2, 8, false), Clock(70)));
}

#[test]
fn a_gate_that_was_off_the_roster_keeps_its_serial_when_it_speaks() {
    for silent in [true, false] {
        let mut roster = Roster::default();
        for (gate, heard) in [(1, 0), (2, 20_000)] {
            roster.admit(&entry(gate, 7, true), Clock(heard));
        }
        if silent {
            roster.sweep(Clock(20_000));
        } else {
            roster.goodbye(GateId(1));
        }
        roster.begin();
        let mut spoke = entry(1, 9, false);
        spoke.batch.spoke = Some(Spoke::default());
        roster.speak(&spoke, Clock(20_000));
        roster.close();
        assert_eq!(roster.answered(GateId(1)).map(|(serial, _)| serial), Some(7));
        assert!(
            !roster.admit(&entry(1, 7, true), Clock(20_000)),
            "it stood in the log before"
        );
        assert!(roster.admit(&entry(1, 8, true), Clock(20_000)));
    }
}

#[test]
fn what_all_know_is_known_and_nobody_knows_nothing() {
    let mut roster = Roster::default();
    assert!(!roster.knows(1, None));
    for (gate, knows) in [(1, 2), (2, 3)] {
        let mut hello = entry(gate, 1, true);
        hello.batch.knows = knows;
        roster.admit(&hello, Clock(0));
    }
    assert!(roster.knows(2, None) && !roster.knows(3, None));
    assert!(roster.knows(3, Some((GateId(1), 3))) && !roster.knows(2, Some((GateId(9), 1))));
}

#[test]
fn a_gate_is_behind_by_the_entries_of_others_that_its_batch_does_not_know() {
    let mut roster = Roster::default();
    let mut says = |gate, serial, sequence, applied| {
        let mut entry = entry(gate, serial, serial == 1);
        (entry.position.sequence, entry.batch.applied) = (sequence, applied);
        assert!(roster.admit(&entry, Clock(0)));
        roster.gates().map(|gate| gate.behind).collect::<Vec<_>>()
    };
    assert_eq!(says(1, 1, 1, 0), [0], "its own batch is none of them");
    assert_eq!(says(2, 1, 2, 1), [0, 0], "nor is a batch that comes after it");
    assert_eq!(says(2, 2, 3, 2), [0, 0]);
    assert_eq!(says(1, 2, 4, 1), [2, 0]);
}
