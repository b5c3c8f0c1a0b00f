//! The gates' agreement: the hashes of checkpoints, and the machine version.

use ropeline_room::{Batch, Clock, Entry, LineName, Mode, NEWEST, Section, State};

use crate::log::gates::{Gates, called, join, mode};
use ropeline_room::testing::log::{EPOCH, Log, room, settings};

#[test]
fn checkpoints_fall_every_ten_seconds_or_four_megabytes() {
    let mut gates = Gates::new(1, 2);
    let first = gates.checkpoint();
    let clock = gates.state.view().clock;
    assert_eq!(clock, Clock(10_000));
    let second = gates.checkpoint();
    assert_eq!(gates.state.view().clock, Clock(20_000));
    assert!(second > first, "though nobody voted on it");
    gates.vote(1, second, 1, false);
    let long = LineName::new(&"x".repeat(64)).unwrap();
    let batch = Batch {
        sections: vec![Section::new(room(), long); 500],
        ..Batch::default()
    };
    let entries = 4_000_000 / batch.encoded_len();
    let fell = (0..=entries).find(|_| {
        gates.say(1, 0, batch.clone());
        gates.state.checkpoint().is_some()
    });
    assert!(fell.is_some_and(|fell| fell >= entries - 10), "{fell:?} of {entries}");
}

#[test]
fn more_than_half_of_the_roster_confirm_a_checkpoint() {
    let mut gates = Gates::new(4, 2);
    let sequence = gates.checkpoint();
    gates.vote(1, sequence, 1, false);
    gates.vote(2, sequence - 1, 1, false);
    gates.vote(3, sequence, 1, true);
    gates.vote(4, sequence, 1, false);
    assert_eq!(gates.state.confirmed(), None, "two of four");
    gates.vote(2, sequence, 1, false);
    assert_eq!(gates.state.confirmed(), Some((sequence, [1; 32])));
    gates.vote(3, sequence, 9, false);
    assert_eq!(
        gates.state.view().roster[2].vote.unwrap().hash,
        [9; 32],
        "the minority can be seen"
    );
    assert_eq!(gates.state.confirmed(), Some((sequence, [1; 32])));
    assert!(gates.state.disputed().is_none() && !gates.state.alarm());
}

#[test]
fn a_vote_counts_only_while_its_gate_is_on_the_roster() {
    let mut gates = Gates::new(4, 2);
    let sequence = gates.checkpoint();
    gates.vote(1, sequence, 1, false);
    gates.vote(2, sequence, 1, false);
    gates.vote(3, sequence, 2, false);
    assert_eq!(gates.state.confirmed(), None);
    gates.goodbye(4);
    assert_eq!(gates.state.confirmed(), Some((sequence, [1; 32])), "two of three");
    let mut gates = Gates::new(2, 2);
    let sequence = gates.checkpoint();
    gates.vote(1, sequence, 1, false);
    for _ in 0..4 {
        gates.say(1, 4_000, Batch::default());
    }
    assert_eq!(gates.on_roster(), [1], "the other fell silent");
    assert!(
        gates
            .state
            .confirmed()
            .is_none_or(|(confirmed, _)| confirmed == sequence)
    );
}

#[test]
fn only_what_is_confirmed_can_have_been_saved() {
    let mut gates = Gates::new(1, 2);
    let saved = |gates: &mut Gates, saved| {
        gates.say(
            1,
            0,
            Batch {
                saved: Some(saved),
                ..Batch::default()
            },
        );
        gates.state.saved()
    };
    let sequence = gates.checkpoint();
    assert_eq!(saved(&mut gates, sequence), None);
    gates.vote(1, sequence, 1, false);
    assert_eq!(saved(&mut gates, sequence + 1), None);
    assert_eq!(saved(&mut gates, sequence), Some(sequence));
    assert_eq!(saved(&mut gates, sequence - 1), Some(sequence));
    gates.begin();
    assert_eq!(
        (gates.state.saved(), gates.state.confirmed()),
        (None, None),
        "of the log before"
    );
}

#[test]
fn a_tie_is_voted_on_again_and_then_is_an_alarm_until_a_later_checkpoint_is_confirmed() {
    for agree_at_last in [true, false] {
        let mut gates = Gates::of(Log::new(settings(100)), 2, 2);
        gates.say(1, 0, mode(Mode::Hold, 5));
        let sequence = gates.checkpoint();
        gates.vote(1, sequence, 1, false);
        gates.vote(2, sequence, 2, false);
        assert_eq!(gates.state.disputed(), Some(sequence));
        gates.pass(15_000);
        assert_eq!(gates.state.disputed(), Some(sequence), "no other falls meanwhile");
        gates.vote(1, sequence, 1, true);
        assert_eq!(gates.state.disputed(), Some(sequence));
        gates.vote(2, sequence, if agree_at_last { 1 } else { 2 }, true);
        assert_eq!(gates.state.disputed(), None);
        assert_eq!(gates.state.alarm(), !agree_at_last);
        assert_eq!(gates.state.confirmed().is_some(), agree_at_last);
        gates.say(1, 0, join(1));
        gates.say(1, 0, mode(Mode::Auto, 6));
        let view = gates.state.view();
        assert_eq!(view.open(&room(), &LineName::ONLY, Clock(u64::MAX - 1)), agree_at_last);
        assert_eq!(called(&mut gates), u64::from(agree_at_last));
        if agree_at_last {
            continue;
        }
        gates.pass(3_000);
        assert_eq!(called(&mut gates), 0);
        let later = gates.checkpoint();
        gates.vote(1, later, 3, false);
        gates.vote(2, later, 3, false);
        assert!(!gates.state.alarm());
        let marked = gates.say(1, 0, join(1));
        assert_eq!(
            (marked.ignored, called(&mut gates)),
            (false, 1),
            "the first is not present any more"
        );
    }
}

#[test]
fn a_dispute_that_nobody_settles_is_an_alarm() {
    let mut gates = Gates::new(2, 2);
    let sequence = gates.checkpoint();
    gates.vote(1, sequence, 1, false);
    gates.vote(2, sequence, 2, false);
    gates.vote(1, sequence, 1, true);
    gates.pass(29_000);
    assert!(!gates.state.alarm());
    gates.pass(1_000);
    assert!(gates.state.alarm() && gates.state.disputed().is_none());
}

#[test]
fn a_new_root_ends_an_alarm() {
    let mut gates = Gates::new(2, 2);
    let sequence = gates.checkpoint();
    for again in [false, true] {
        gates.vote(1, sequence, 1, again);
        gates.vote(2, sequence, 2, again);
    }
    assert!(gates.state.alarm());
    gates.begin();
    gates.speak(1);
    gates.root(1);
    gates.say(1, 0, join(1));
    assert_eq!((gates.state.alarm(), called(&mut gates)), (false, 1));
}

#[test]
fn a_version_is_raised_when_all_know_it() {
    let mut gates = Gates::of(Log::of(State::empty(EPOCH).with_version(1), settings(1)), 2, 2);
    gates.hello(3, 1);
    assert!(gates.state.agreeable(1) && !gates.state.agreeable(2));
    gates.raise(1, 2);
    assert_eq!(gates.state.version(), 1);
    gates.goodbye(3);
    gates.raise(1, 1);
    gates.raise(1, 0);
    assert_eq!(gates.state.version(), 1);
    gates.raise(1, 2);
    assert_eq!((gates.state.version(), gates.state.view().version), (2, 2));
    gates.raise(1, 1);
    assert_eq!(gates.state.version(), 2, "and never lowered");
    let old = Entry {
        version: 1,
        ..gates.entry(1, 0, join(1))
    };
    assert!(
        !gates.state.apply(&old.into()).ignored,
        "what was under way is of the version before"
    );
}

#[test]
fn an_entry_of_a_later_version_than_the_rooms_run_is_nothing_but_time() {
    let mut gates = Gates::of(Log::of(State::empty(EPOCH).with_version(1), settings(1)), 1, 2);
    let early = Entry {
        version: 2,
        ..gates.entry(1, 500, join(1))
    };
    let effects = gates.state.apply(&early.clone().into());
    assert!(effects.ignored && effects.clock == Clock(500));
    assert_eq!(gates.state.position(), early.position);
}

#[test]
fn a_version_that_this_binary_lacks_stops_it_before_the_entry() {
    let mut gates = Gates::new(2, NEWEST + 1);
    let raise = |version| Batch {
        raise: Some(version),
        ..Batch::default()
    };
    let hash = gates.state.hash();
    let entry = gates.entry(1, 0, raise(NEWEST + 1));
    assert_eq!(gates.state.wants(&entry), Some(NEWEST + 1));
    assert!(gates.state.apply(&entry.clone().into()).ignored);
    assert_eq!(gates.state.hash(), hash, "nothing happened");
    let unknown = gates.entry(1, 0, raise(NEWEST + 2));
    assert_eq!(
        gates.state.wants(&unknown),
        None,
        "one that the others lack counts for nobody"
    );
    let stranger = gates.entry(9, 0, raise(NEWEST + 1));
    assert_eq!(gates.state.wants(&stranger), None);
    let late = Entry {
        batch: Batch {
            hello: true,
            knows: NEWEST,
            ..raise(NEWEST + 1)
        },
        ..entry.clone()
    };
    assert_eq!(gates.state.wants(&late), None, "its own gate takes it back");
    let newer = Entry {
        version: NEWEST + 1,
        ..entry
    };
    assert_eq!(gates.state.wants(&newer), Some(NEWEST + 1));
}

#[test]
fn ten_minutes_of_agreement_are_time_to_raise() {
    let mut gates = Gates::of(Log::of(State::empty(EPOCH).with_version(1), settings(1)), 2, 3);
    gates.pass(599_000);
    assert_eq!(gates.state.agreed(), None);
    gates.hello(3, 2);
    gates.pass(1_000);
    assert_eq!(gates.state.agreed(), Some(2), "all have known it, some of them more");
    let mut late = Gates::of(Log::of(State::empty(EPOCH).with_version(1), settings(1)), 2, 2);
    late.pass(599_000);
    late.hello(3, 1);
    late.goodbye(3);
    late.pass(599_000);
    assert_eq!(late.state.agreed(), None, "one that did not know it came between");
    late.pass(1_000);
    assert_eq!(late.state.agreed(), Some(2));
    late.raise(1, 2);
    late.pass(1_000);
    assert_eq!(late.state.agreed(), None, "it is in force");
}
