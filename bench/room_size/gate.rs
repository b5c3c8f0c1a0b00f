//! A room on a log of its own, with the two views that a gate holds at a time.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ropeline::room::{
    Batch, Change, Entry, Epoch, GateId, LaneId, LineName, LineView, Mode, Number, Overrides, Position, RoomChange,
    RoomName, Section, Settings, State, VERSION, View, Wall,
};

pub const LANE: LaneId = LaneId(0);
pub const EPOCH: u64 = 1_000;

/// The room's state, as the replica of a gate keeps it.
pub struct Gate {
    pub state: State,
    views: [Option<Arc<View>>; 2],
    time: u64,
    serial: u64,
}

impl Gate {
    /// A room with these settings and without visitors.
    pub fn new(settings: Settings) -> Self {
        let mut gate = Self {
            state: State::empty(EPOCH),
            views: [None, None],
            time: 1,
            serial: 0,
        };
        gate.change(Change::Configure(settings));
        gate
    }

    /// On hold with so many slots, so that an operator's word alone lets people in.
    pub fn hold(&mut self, capacity: u32) {
        self.change(Change::Override(Overrides {
            mode: Some(Mode::Hold),
            capacity: Some(capacity),
            ..Overrides::default()
        }));
    }

    fn change(&mut self, change: Change) {
        let rooms = vec![self.room_change(change)];
        self.apply(
            0,
            Batch {
                hello: true,
                rooms,
                ..Batch::default()
            },
        );
    }

    /// An entry so long after the last.
    pub fn say(&mut self, ms: u64, sections: Vec<Section>) {
        self.apply(
            ms,
            Batch {
                sections,
                ..Batch::default()
            },
        );
    }

    /// Passes time without content, in steps that the room's clock follows.
    pub fn wait(&mut self, secs: u64) {
        for _ in 0..secs / 5 {
            self.say(5_000, Vec::new());
        }
    }

    fn apply(&mut self, ms: u64, batch: Batch) {
        let entry = self.entry(ms, batch);
        black_box(self.state.apply(&entry.into()));
        self.publish();
    }

    /// The state alone; views end.
    pub fn into_state(self) -> State {
        self.state
    }

    fn publish(&mut self) {
        let view = self.state.view();
        self.views.rotate_left(1);
        self.views[1] = Some(view);
    }

    /// How long an entry with these sections takes to apply, and its view to publish.
    pub fn timed(&mut self, sections: Vec<Section>) -> (Duration, Duration) {
        let batch = Batch {
            sections,
            ..Batch::default()
        };
        self.timed_batch(batch)
    }

    /// The same for the entry that lets as many in at once as there are slots.
    pub fn timed_calls(&mut self) -> (Duration, Duration) {
        let opened = Change::Override(Overrides {
            mode: Some(Mode::Auto),
            capacity: Some(self.line().figures.capacity),
            ..Overrides::default()
        });
        let rooms = vec![self.room_change(opened)];
        self.timed_batch(Batch {
            rooms,
            ..Batch::default()
        })
    }

    fn timed_batch(&mut self, batch: Batch) -> (Duration, Duration) {
        let entry = self.entry(0, batch);
        let start = Instant::now();
        black_box(self.state.apply(&entry.into()));
        let applied = start.elapsed();
        self.publish();
        (applied, start.elapsed().saturating_sub(applied))
    }

    fn room_change(&self, change: Change) -> RoomChange {
        RoomChange {
            room: name(),
            revision: self.serial + 1,
            change,
            who: None,
        }
    }

    fn entry(&mut self, ms: u64, batch: Batch) -> Entry {
        self.time += ms;
        self.serial += 1;
        let at = self.state.position();
        Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(1),
            serial: self.serial,
            previous: [0; 8],
            nonce: [0; 8],
            time: Wall(self.time),
            version: VERSION,
            batch,
        }
    }

    pub fn line(&mut self) -> Arc<LineView> {
        let view = self.state.view();
        view.rooms
            .get(&name())
            .and_then(|room| room.line(&LineName::ONLY))
            .map(Arc::clone)
            .expect("the line is filled")
    }
}

pub fn name() -> RoomName {
    RoomName::new("shop").expect("a plain name")
}

/// A section of the room's only line.
pub fn only() -> Section {
    Section::new(name(), LineName::ONLY)
}

pub fn number(n: u32) -> Number {
    Number { epoch: Epoch(EPOCH), n }
}

pub fn named(numbers: impl Iterator<Item = u32>) -> Vec<(LaneId, Number)> {
    numbers.map(|n| (LANE, number(n))).collect()
}
