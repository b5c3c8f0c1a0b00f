//! A log that gates share: its beginning, and its roster.

use ropeline_room::{
    Batch, Clock, Entry, Epoch, GateId, LineName, Mode, Number, Section, Spoke, Standing, State, Visitor,
};

use crate::log::gates::{Gates, ROOT, called, join, mode};
use ropeline_room::testing::log::{EPOCH, LANE, Log, only, room, settings};

#[test]
fn without_a_root_the_rooms_stand_still() {
    let mut gates = Gates::new(2, 2);
    gates.say(1, 0, join(3));
    gates.begin();
    let before = gates.state.view();
    gates.speak(1);
    gates.say(1, 5_000, Batch::default());
    let effects = gates.say(1, 5_000, join(2));
    assert!(effects.ignored && effects.joined.is_empty(), "it has to wait");
    gates.say(
        2,
        5_000,
        Batch {
            root: Some([1; 32]),
            ..Batch::default()
        },
    );
    let view = gates.state.view();
    assert_eq!((view.clock, view.rooted), (before.clock, false));
    assert!(!view.open(&room(), &LineName::ONLY, view.clock.plus(60_000)));
    assert!(!view.open(&room(), &LineName::new("new").unwrap(), view.clock.plus(60_000)));
    gates.root(1);
    assert!(gates.state.rooted());
    assert_eq!(gates.state.view().clock, before.clock);
    gates.say(1, 250, join(1));
    assert_eq!(
        gates.state.view().clock,
        before.clock.plus(250),
        "time goes on from the root's"
    );
    assert_eq!(called(&mut gates), 4);
}

#[test]
fn who_speaks_keeps_serial_and_answers_over_a_new_log() {
    let mut gates = Gates::new(3, 2);
    let sent = gates.entry(1, 0, join(2));
    let first = gates.state.apply(&sent.clone().into()).joined[0].first;
    gates.begin();
    gates.serials.insert(1, 500);
    gates.speak(1);
    gates.speak(9);
    gates.root(1);
    assert_eq!(gates.on_roster(), [1, 9]);
    let (serial, joined) = gates.state.answered(GateId(1)).unwrap();
    assert_eq!((serial, joined[0].first), (sent.serial, first));
    let again = Entry {
        batch: sent.batch.clone(),
        serial: sent.serial,
        ..gates.entry(1, 0, Batch::default())
    };
    assert!(
        gates.state.apply(&again.clone().into()).ignored,
        "sent again it is a repeat"
    );
    gates.speak(1);
    let next = Entry {
        serial: sent.serial + 1,
        ..gates.entry(1, 0, join(1))
    };
    assert!(
        !gates.state.apply(&next.clone().into()).ignored,
        "what it spoke with is no batch's serial"
    );
}

/// The batch under way of a gate that was off the roster when the log was lost.
#[test]
fn what_a_silent_gate_said_before_a_new_log_does_not_count_again_in_it() {
    let mut gates = Gates::new(2, 2);
    let sent = gates.entry(1, 0, join(2));
    assert_eq!(gates.state.apply(&sent.clone().into()).joined[0].count, 2);
    for _ in 0..4 {
        gates.say(2, 4_000, Batch::default());
    }
    assert_eq!(gates.on_roster(), [2], "the other fell silent");
    gates.begin();
    gates.serials.insert(1, 500);
    gates.speak(1);
    gates.speak(2);
    gates.root(2);
    assert_eq!(gates.on_roster(), [1, 2]);
    let hello = Batch {
        hello: true,
        ..sent.batch.clone()
    };
    let again = Entry {
        serial: sent.serial,
        ..gates.entry(1, 0, hello)
    };
    let effects = gates.state.apply(&again.clone().into());
    assert!(effects.ignored && effects.joined.is_empty());
}

#[test]
fn gates_that_were_not_heard_by_the_root_fall_silent() {
    let mut gates = Gates::new(3, 2);
    gates.begin();
    assert!(gates.on_roster().is_empty());
    gates.speak(2);
    gates.say(3, 0, Batch::default());
    gates.goodbye(1);
    gates.root(2);
    assert_eq!(gates.on_roster(), [2]);
    assert!(gates.say(3, 0, join(1)).ignored);
    gates.speak(3);
    assert_eq!(gates.on_roster(), [2], "a word that comes too late is none");
    gates.hello(3, 2);
    assert_eq!(gates.on_roster(), [2, 3]);
}

#[test]
fn a_log_that_goes_on_from_its_bytes_is_the_same_log() {
    let mut gates = Gates::new(3, 2);
    gates.say(1, 0, join(200));
    gates.begin();
    let mut other = State::decode(&gates.state.encode()).unwrap();
    assert!(!other.rooted());
    let spoke = Batch {
        spoke: Some(Spoke::default()),
        ..Batch::default()
    };
    let root = Batch {
        root: Some(ROOT),
        ..Batch::default()
    };
    for batch in [spoke, root, join(1), mode(Mode::Hold, 9), Batch::default()] {
        let entry = gates.entry(2, 700, batch);
        gates.state.apply(&entry.clone().into());
        other.apply(&entry.clone().into());
        other = State::decode(&other.encode()).unwrap();
        assert_eq!(other.hash(), gates.state.hash());
    }
}

#[test]
fn the_end_of_an_epoch_is_known() {
    let mut gates = Gates::new(1, 2);
    assert_eq!(gates.state.ended_at(Epoch(EPOCH)), None, "it has not ended");
    let end = gates.state.position().sequence;
    gates.begin();
    assert_eq!(gates.state.ended_at(Epoch(EPOCH)), Some(end));
    assert_eq!(gates.state.ended_at(Epoch(EPOCH + 1)), None);
}

#[test]
fn turns_go_round_the_roster() {
    let mut gates = Gates::new(3, 2);
    let ranks = |gates: &Gates, sequence| [1, 2, 3].map(|gate| gates.state.rank(GateId(gate), sequence));
    assert_eq!(ranks(&gates, 0), [Some(0), Some(1), Some(2)]);
    assert_eq!(ranks(&gates, 1), [Some(2), Some(0), Some(1)]);
    assert_eq!(ranks(&gates, u64::MAX), ranks(&gates, u64::MAX % 3));
    assert_eq!(gates.state.rank(GateId(8), 0), None);
    gates.goodbye(2);
    assert_eq!(ranks(&gates, 0), [Some(0), None, Some(1)]);
}

#[test]
fn a_gate_tells_of_itself() {
    let mut gates = Gates::new(2, 2);
    let batch = Batch {
        applied: 17,
        lag_us: 180,
        knows: 9,
        ..Batch::default()
    };
    gates.say(2, 1_000, batch);
    let view = gates.state.view();
    let gate = &view.roster[1];
    assert_eq!((gate.id, gate.applied, gate.lag_us), (GateId(2), 17, 180));
    assert_eq!(
        (gate.heard, gate.knows),
        (view.clock, 2),
        "what it knows counts with its hello"
    );
}

#[test]
fn a_skipped_entry_is_passed_over_and_nothing_of_it_happens() {
    let mut gates = Gates::new(1, 2);
    let mut other = State::decode(&gates.state.encode()).unwrap();
    let poison = gates.entry(1, 3_000, join(5));
    for state in [&mut gates.state, &mut other] {
        let before = state.view();
        state.pass_over(&poison.clone().into());
        let after = state.view();
        assert_eq!((after.position, after.clock), (poison.position, before.clock));
        assert_eq!((state.nonce(), state.checkpoint()), (poison.nonce, None));
    }
    assert_eq!(gates.state.hash(), other.hash());
    let next = gates.entry(1, 250, join(1));
    let effects = gates.state.apply(&next.clone().into());
    assert_eq!((effects.joined[0].first.unwrap().n, effects.clock), (0, Clock(250)));
    gates.state.pass_over(&poison.clone().into());
    assert_eq!(
        gates.state.position(),
        next.position,
        "one that was applied is not skipped"
    );
}

#[test]
fn who_is_let_past_the_line_is_counted() {
    let mut log = Log::new(settings(1));
    log.say(Section { bypasses: 2, ..only() });
    log.say(Section { bypasses: 3, ..only() });
    let nowhere = Section::new(room(), LineName::new("a").unwrap());
    log.say(Section { bypasses: 9, ..nowhere });
    let view = log.state.view();
    let lines = &view.rooms[&room()].lines;
    assert_eq!((lines.len(), lines[&LineName::ONLY].figures.bypasses), (1, 5));
    let number = Number {
        epoch: Epoch(EPOCH),
        n: 0,
    };
    let visitor = Visitor {
        room: room(),
        line: LineName::ONLY,
        lane: LANE,
        number,
        rehearsal: None,
    };
    assert_eq!(
        view.standing(&visitor, view.clock),
        Standing::Unknown,
        "they have no number"
    );
}
