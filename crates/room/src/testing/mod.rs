//! Rooms for tests, also of other crates: one gate's log, each entry made and applied at once.
#![allow(
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

pub mod log;

use crate::{
    Batch, Change, Effects, Entry, GateId, LineName, Position, RoomChange, RoomName, Section, Settings, State, VERSION,
    Wall,
};

pub struct Hand {
    pub state: State,
    /// The store's time of the last entry, in milliseconds.
    pub time: u64,
    gate: GateId,
    serial: u64,
}

impl Hand {
    /// A log that can have lost nothing, without rooms. Its first entry is the gate's hello.
    pub fn new(gate: GateId) -> Self {
        Self {
            state: State::empty(7),
            time: 1_000_000,
            gate,
            serial: 0,
        }
    }

    /// With [`Hand::room`], by its first entry.
    pub fn with_room(settings: Settings) -> Self {
        Self::of(State::empty(7), settings)
    }

    /// As [`Hand::with_room`], in a log that begins with this state.
    pub fn of(state: State, settings: Settings) -> Self {
        let mut hand = Self {
            state,
            ..Self::new(GateId(1))
        };
        hand.change(0, Change::Configure(settings));
        hand
    }

    pub fn room() -> RoomName {
        RoomName::new("shop").expect("a name of letters")
    }

    /// An empty section of the room's only line.
    pub fn section() -> Section {
        Section::new(Self::room(), LineName::ONLY)
    }

    /// Makes the next entry, `ms` after the last, and returns it with its effects.
    pub fn say(&mut self, ms: u64, batch: Batch) -> (Entry, Effects) {
        self.time += ms;
        self.serial += 1;
        let at = self.state.position();
        let sequence = at.sequence + 1;
        let entry = Entry {
            position: Position { sequence, ..at },
            gate: self.gate,
            serial: self.serial,
            previous: self.state.nonce(),
            nonce: sequence.to_le_bytes(),
            time: Wall(self.time),
            version: VERSION,
            batch: Batch {
                hello: sequence == 1,
                notes_until: Some(self.state.clock()),
                ..batch
            },
        };
        let effects = self.state.apply(&entry.clone().into());
        assert!(!effects.ignored, "the gate is on the roster");
        (entry, effects)
    }

    /// As [`Hand::say`], for one section.
    pub fn hear(&mut self, ms: u64, section: Section) -> (Entry, Effects) {
        let sections = vec![section];
        self.say(
            ms,
            Batch {
                sections,
                ..Batch::default()
            },
        )
    }

    /// An operator's word on the room.
    pub fn change(&mut self, ms: u64, change: Change) {
        let (room, revision) = (Self::room(), self.state.position().sequence + 1);
        let rooms = vec![RoomChange {
            room,
            revision,
            change,
            who: None,
        }];
        self.say(
            ms,
            Batch {
                rooms,
                ..Batch::default()
            },
        );
    }
}
