use super::super::transition::{Origin, Restart};
use super::*;
use crate::replica::protocol::{Answer, Protocol, Setup, Step};
use crate::replica::recover::snapshot;
use crate::replica::worker::carry_out;
use crate::replica::{Condition, Options};
use crate::room::testing::Hand;
use crate::room::{
    Batch, Change, Effects, Encoded, GateId, LaneId, Overrides, RoomChange, RoomName, Section, Settings, Wall,
};
use crate::store::{self, Beginning, Embedded, Exchanged, Loaded, Log, Trouble, Unavailable};

/// A gate driven by the test: its protocol, its log, and the uptime after its waits.
struct Gate {
    protocol: Protocol,
    log: Embedded,
    now: Duration,
    _folder: tempfile::TempDir,
}

fn main() -> RoomName {
    RoomName::new("main").unwrap()
}

fn poison() -> Change {
    Change::Override(Overrides {
        message: Some("poison".into()),
        ..Overrides::default()
    })
}

fn poisoned(state: &mut State, entry: &Encoded) -> Effects {
    assert!(!entry.batch.rooms.iter().any(|room| room.change == poison()), "poison");
    state.apply(entry)
}

impl Gate {
    fn new(alone: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            protocol: Protocol::new(Setup {
                gate: GateId(7),
                rooms: vec![(main(), Settings::default())],
                options: Options::default(),
                alone,
                apply: poisoned,
                archiver: None,
                random: Box::new(|| 5),
            }),
            log: Embedded::open(folder.path(), store::Options::default()).unwrap(),
            now: Duration::ZERO,
            _folder: folder,
        }
    }

    /// Frozen, and where.
    fn frozen() -> (Self, Position) {
        let mut gate = Self::new(true);
        gate.until(Condition::Live);
        let view = gate.protocol.view();
        assert!(
            view.position.epoch > 0 && view.rooms.contains_key(&main()),
            "what is live is shown"
        );
        drop(gate.protocol.change(main(), poison()));
        for _ in 0..100 {
            if let Condition::Frozen { at } = gate.protocol.condition() {
                return (gate, at);
            }
            gate.step();
        }
        panic!("{:?}", gate.protocol.condition())
    }

    /// Its next call; a wait ends at once.
    fn asks(&mut self) -> Ask {
        loop {
            match self.protocol.next(self.now) {
                Step::Ask(ask) => return ask,
                Step::Wait(until) | Step::Rest(until) => self.now = self.now.max(until),
                Step::Ended => panic!("it ended"),
            }
        }
    }

    /// Carries out its next call.
    fn step(&mut self) -> Ask {
        let ask = self.asks();
        let answer = carry_out(&mut self.log, ask.clone());
        self.protocol.answer(self.now, answer);
        ask
    }

    fn until(&mut self, condition: Condition) {
        for _ in 0..100 {
            if self.protocol.condition() == condition {
                return;
            }
            self.step();
        }
        panic!("{:?}", self.protocol.condition())
    }
}

#[test]
fn a_frozen_gate_loads_nothing_before_it_may_go_on() {
    let (mut gate, at) = Gate::frozen();
    let since = gate.now;
    for _ in 0..10 {
        assert_eq!(gate.step(), Ask::Skips);
    }
    assert!(gate.now >= since + 9 * LOOK_AGAIN, "{since:?} to {:?}", gate.now);
    let another = Position {
        sequence: at.sequence + 1,
        ..at
    };
    gate.log.skip(another).unwrap();
    assert_eq!((gate.step(), gate.step()), (Ask::Skips, Ask::Skips), "not its own");
    gate.log.skip(at).unwrap();
    assert_eq!((gate.step(), gate.step()), (Ask::Skips, Ask::Load));
    gate.until(Condition::Live);
}

#[test]
fn a_frozen_gate_goes_on_with_a_log_begun_by_others() {
    let (mut gate, at) = Gate::frozen();
    assert_eq!(gate.asks(), Ask::Skips);
    let skips = Skips {
        epoch: at.epoch + 1,
        positions: Vec::new(),
    };
    gate.protocol.answer(gate.now, Ok(Answer::Skips(skips)));
    assert_eq!(gate.asks(), Ask::Load);
}

/// All gates may be frozen before that entry; then no gate has a later state of the rooms.
#[test]
fn a_frozen_gate_whose_store_is_empty_begins_with_the_rooms_before_the_entry() {
    let (mut gate, _) = Gate::frozen();
    assert_eq!(gate.asks(), Ask::Skips);
    gate.protocol.answer(gate.now, Ok(Answer::Skips(Skips::default())));
    assert_eq!(gate.asks(), Ask::Load);
    gate.protocol.answer(gate.now, Ok(Answer::Loaded(Loaded::default())));
    let Ask::Begin { beginning, .. } = gate.asks() else {
        panic!("no log is begun")
    };
    let Beginning::Root(root) = beginning else {
        panic!("it has the log to itself")
    };
    let rooms = State::decode(&root.state).unwrap();
    assert!(rooms.configured(&main()).is_some());
}

/// The rooms can only be restored from the state with which the log started.
#[test]
fn a_gate_that_freezes_on_a_log_without_a_snapshot_has_the_rooms_before_the_entry() {
    let mut gate = Gate::new(false);
    let mut hand = Hand::with_room(Settings::default());
    let root = State::decode(&hand.state.encode()).unwrap();
    let origin = Origin {
        base: snapshot(&root, Wall(0)),
        state: root,
        clean: true,
        torn: false,
        last_known: 0,
        answered: None,
        restart: Restart::default(),
    };
    gate.protocol.enter(Transition::CatchUp(Box::new(origin)), gate.now);
    let (before, _) = hand.hear(
        0,
        Section {
            joins: vec![(LaneId(0), 1)],
            ..Hand::section()
        },
    );
    let (room, revision) = (Hand::room(), 9);
    let (entry, _) = hand.say(
        0,
        Batch {
            rooms: vec![RoomChange {
                room,
                revision,
                change: poison(),
                who: None,
            }],
            ..Batch::default()
        },
    );
    for _ in 0..2 {
        assert!(matches!(gate.asks(), Ask::Exchange { .. }));
        let entries = Exchanged::Entries {
            entries: vec![before.clone().into(), entry.clone().into()],
            log_bytes: 0,
            more: false,
            newer: None,
        };
        gate.protocol.answer(gate.now, Ok(Answer::Exchanged(entries)));
    }
    assert_eq!(gate.protocol.condition(), Condition::Frozen { at: entry.position });
    assert_eq!(gate.protocol.view().position, before.position);
}

#[test]
fn a_skip_that_the_store_did_not_take_is_said_again() {
    let (mut gate, at) = Gate::frozen();
    gate.protocol.skip(at);
    assert_eq!(gate.asks(), Ask::Skip(at));
    gate.protocol
        .answer(gate.now, Err(Unavailable::new(Trouble::Full, "full")));
    assert_eq!((gate.step(), gate.step()), (Ask::Skips, Ask::Skip(at)));
    gate.until(Condition::Live);
}
