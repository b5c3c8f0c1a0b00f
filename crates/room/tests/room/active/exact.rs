//! Nothing is parked before the notes of every gate are in the log: one of activity may still be on its way.

use ropeline_room::testing::log::{LANE, Log, active, notes_until, only, room};
use ropeline_room::{Batch, Effects, Encoded, LineName, Number, Section, Settings, Standing};

use super::PARKS;
use crate::log::gates::Gates;

/// Gates 1 to `count` and a visitor who has just come in.
fn with_one_inside(count: u64) -> (Gates, Number) {
    let mut log = Log::new(Settings {
        session_ms: 30_000,
        ..active(1, 3)
    });
    let person = super::fill(&mut log, 1)[0];
    let mut gates = Gates::of(log, count, 2);
    renew(&mut gates, 1, person);
    (gates, person)
}

fn renew(gates: &mut Gates, gate: u64, number: Number) -> Effects {
    let section = Section {
        renewals: vec![(LANE, number)],
        ..only()
    };
    let batch = Batch {
        sections: vec![section],
        ..Batch::default()
    };
    gates.say(gate, 0, batch)
}

fn is_parked(gates: &mut Gates, number: Number) -> bool {
    let view = gates.state.view();
    let line = &view.rooms[&room()].lines[&LineName::ONLY];
    match line.standing(LANE, number, view.clock) {
        Standing::Inside(inside) => {
            assert!(inside.expires >= view.clock, "or its pass is void");
            inside.parked
        }
        other => panic!("{other:?}"),
    }
}

/// Only these gates say anything for so long, each twice a second.
fn only_these(gates: &mut Gates, who: &[u64], ms: u64) {
    for _ in 0..ms / 500 {
        for (at, gate) in who.iter().enumerate() {
            gates.say(*gate, if at == 0 { 500 } else { 0 }, Batch::default());
        }
    }
}

#[test]
fn while_a_gate_is_silent_nobody_is_parked_and_its_late_word_counts() {
    let (mut gates, person) = with_one_inside(2);
    // Gates forward requests of this session until two seconds before it is parked.
    only_these(&mut gates, &[1, 2], PARKS - 2_500);
    only_these(&mut gates, &[1], 10_000);
    assert!(!is_parked(&mut gates, person), "gate 2 may have forwarded something");
    renew(&mut gates, 2, person);
    only_these(&mut gates, &[1, 2], PARKS - 500);
    assert!(!is_parked(&mut gates, person));
    only_these(&mut gates, &[1, 2], 500);
    assert!(is_parked(&mut gates, person));
}

#[test]
fn a_silent_gate_that_has_nothing_to_say_of_it_lets_it_be_parked_at_once() {
    let (mut gates, person) = with_one_inside(2);
    only_these(&mut gates, &[1], 14_000);
    assert!(!is_parked(&mut gates, person));
    gates.say(2, 0, Batch::default());
    assert!(is_parked(&mut gates, person));
}

#[test]
fn a_gate_whose_notes_are_in_the_log_need_not_be_heard_again() {
    let (mut gates, person) = with_one_inside(2);
    only_these(&mut gates, &[1, 2], PARKS - 2_000);
    only_these(&mut gates, &[1], 1_500);
    assert!(!is_parked(&mut gates, person));
    only_these(&mut gates, &[1], 500);
    assert!(is_parked(&mut gates, person));
}

/// The gate forwarded a request after it had cut the batch, while the store did not answer.
#[test]
fn a_batch_that_was_cut_long_before_it_is_in_the_log_says_nothing_of_the_time_since() {
    let (mut gates, person) = with_one_inside(2);
    only_these(&mut gates, &[1, 2], PARKS - 2_500);
    let old = Batch {
        notes_until: notes_until(&gates.state),
        ..Batch::default()
    };
    only_these(&mut gates, &[1], 10_000);
    gates.say(2, 0, old);
    assert!(!is_parked(&mut gates, person));
    renew(&mut gates, 2, person);
    only_these(&mut gates, &[1, 2], PARKS - 500);
    assert!(!is_parked(&mut gates, person));
}

#[test]
fn a_jump_of_the_clock_that_a_gate_has_not_read_parks_nobody() {
    let (mut gates, person) = with_one_inside(2);
    only_these(&mut gates, &[1, 2], PARKS - 5_000);
    let unread = Batch {
        notes_until: notes_until(&gates.state),
        ..Batch::default()
    };
    // An entry moves the room's clock by five seconds at most.
    gates.say(1, 5_000, Batch::default());
    gates.say(2, 0, unread);
    gates.say(1, 0, Batch::default());
    assert!(!is_parked(&mut gates, person));
    gates.say(2, 0, Batch::default());
    assert!(is_parked(&mut gates, person));
}

#[test]
fn a_gate_with_notes_left_does_not_say_that_the_log_has_them() {
    let (mut gates, person) = with_one_inside(1);
    only_these(&mut gates, &[1], PARKS - 2_500);
    for _ in 0..20 {
        let mut entry = gates.entry(1, 500, Batch::default());
        entry.batch.notes_until = None;
        gates.state.apply(&Encoded::from(entry));
    }
    assert!(!is_parked(&mut gates, person));
    only_these(&mut gates, &[1], 500);
    assert!(is_parked(&mut gates, person));
}

#[test]
fn after_a_gate_was_lost_nobody_is_parked_until_its_last_requests_are_old_enough() {
    let (mut gates, person) = with_one_inside(2);
    // 15 s on the roster, 8 s of idleness and 2 s after it was last heard.
    only_these(&mut gates, &[1], 24_500);
    assert!(!is_parked(&mut gates, person));
    only_these(&mut gates, &[1], 500);
    assert!(is_parked(&mut gates, person));
}

#[test]
fn a_gate_that_takes_its_leave_holds_nothing_up() {
    let (mut gates, person) = with_one_inside(2);
    only_these(&mut gates, &[1, 2], 1_000);
    gates.goodbye(2);
    only_these(&mut gates, &[1], PARKS - 1_500);
    assert!(!is_parked(&mut gates, person));
    only_these(&mut gates, &[1], 500);
    assert!(is_parked(&mut gates, person));
}

#[test]
fn a_batch_that_comes_twice_says_nothing_new_of_its_gate() {
    let (mut gates, person) = with_one_inside(2);
    only_these(&mut gates, &[1, 2], 1_000);
    // Gate 2 sends the same batch again and again, since no answer comes. It may have forwarded something, so the session is not
    // over either, as it would be 35 s after the last note.
    let batch = gates.entry(2, 0, Batch::default());
    gates.state.apply(&Encoded::from(batch.clone()));
    for _ in 0..40 {
        only_these(&mut gates, &[1], 1_000);
        let at = gates.state.position();
        let again = ropeline_room::Entry {
            position: ropeline_room::Position {
                sequence: at.sequence + 1,
                ..at
            },
            time: ropeline_room::Wall(gates.time),
            ..batch.clone()
        };
        assert!(gates.state.apply(&Encoded::from(again)).ignored);
        assert!(!is_parked(&mut gates, person));
    }
    gates.say(2, 0, Batch::default());
    assert!(is_parked(&mut gates, person));
}
