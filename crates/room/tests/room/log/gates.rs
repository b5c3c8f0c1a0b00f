//! Several gates that say things in one log.

use std::collections::BTreeMap;

use ropeline_room::{
    Batch, Change, Effects, Entry, GateId, LineName, Mode, Overrides, Position, RoomChange, Root, Section, Spoke,
    State, Vote, Wall,
};

use ropeline_room::testing::log::{LANE, Log, notes_until, only, room, settings};

/// The hash that names a root.
pub const ROOT: [u8; 32] = [7; 32];

/// A log and the serials of its gates.
pub struct Gates {
    pub state: State,
    pub time: u64,
    pub serials: BTreeMap<u64, u64>,
}

impl Gates {
    /// A room with a slot for every visitor, and gates 1 to `count` on the roster, which support version `knows`.
    pub fn new(count: u64, knows: u16) -> Self {
        Self::of(Log::new(settings(100)), count, knows)
    }

    pub fn of(log: Log, count: u64, knows: u16) -> Self {
        let mut gates = Self {
            time: log.time,
            state: log.state,
            serials: BTreeMap::new(),
        };
        gates.goodbye(log.gate.0);
        for gate in 1..=count {
            gates.hello(gate, knows);
        }
        gates
    }

    pub fn entry(&mut self, gate: u64, ms: u64, batch: Batch) -> Entry {
        self.time += ms;
        // The gate of a log of one has used some before.
        let serial = self.serials.entry(gate).or_insert(if gate == 7 { 1_000 } else { 0 });
        *serial += 1;
        let at = self.state.position();
        Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(gate),
            serial: *serial,
            previous: self.state.nonce(),
            nonce: [1; 8],
            time: Wall(self.time),
            version: self.state.version(),
            batch: Batch {
                notes_until: batch.notes_until.or_else(|| notes_until(&self.state)),
                ..batch
            },
        }
    }

    pub fn say(&mut self, gate: u64, ms: u64, batch: Batch) -> Effects {
        let entry = self.entry(gate, ms, batch);
        self.state.apply(&entry.into())
    }

    pub fn hello(&mut self, gate: u64, knows: u16) {
        let hello = Batch {
            hello: true,
            knows,
            ..Batch::default()
        };
        assert!(!self.say(gate, 0, hello).ignored);
    }

    pub fn goodbye(&mut self, gate: u64) {
        let goodbye = Batch {
            goodbye: true,
            ..Batch::default()
        };
        assert!(!self.say(gate, 0, goodbye).ignored);
    }

    pub fn speak(&mut self, gate: u64) {
        let spoke = Batch {
            spoke: Some(Spoke::default()),
            knows: 2,
            ..Batch::default()
        };
        self.say(gate, 100, spoke);
    }

    pub fn raise(&mut self, gate: u64, version: u16) -> Effects {
        let raise = Batch {
            raise: Some(version),
            ..Batch::default()
        };
        self.say(gate, 0, raise)
    }

    pub fn vote(&mut self, gate: u64, sequence: u64, hash: u8, again: bool) {
        let vote = Vote {
            sequence,
            hash: [hash; 32],
            again,
        };
        let batch = Batch {
            vote: Some(vote),
            ..Batch::default()
        };
        assert!(!self.say(gate, 0, batch).ignored);
    }

    /// Time goes on, every gate saying something each second.
    pub fn pass(&mut self, ms: u64) {
        for _ in 0..ms / 1_000 {
            let on: Vec<u64> = self.state.roster().map(|gate| gate.id.0).collect();
            for (i, gate) in on.into_iter().enumerate() {
                self.say(gate, if i == 0 { 1_000 } else { 0 }, Batch::default());
            }
        }
    }

    /// Goes on to the next checkpoint and says its sequence.
    pub fn checkpoint(&mut self) -> u64 {
        for _ in 0..1_000 {
            let first = self.state.roster().next().unwrap().id.0;
            self.say(first, 100, Batch::default());
            if let Some(sequence) = self.state.checkpoint() {
                return sequence;
            }
        }
        panic!("no checkpoint falls");
    }

    /// A new log, which waits for [`ROOT`].
    pub fn begin(&mut self) {
        let epoch = self.state.position().epoch + 10;
        self.state.begin(epoch, Root::Hash(ROOT));
    }

    pub fn root(&mut self, gate: u64) {
        let root = Batch {
            root: Some(ROOT),
            ..Batch::default()
        };
        self.say(gate, 100, root);
    }

    pub fn on_roster(&self) -> Vec<u64> {
        self.state.roster().map(|gate| gate.id.0).collect()
    }
}

pub fn join(count: u32) -> Batch {
    Batch {
        sections: vec![Section {
            joins: vec![(LANE, count)],
            ..only()
        }],
        ..Batch::default()
    }
}

/// How many were called so far.
pub fn called(gates: &mut Gates) -> u64 {
    let view = gates.state.view();
    let room = &view.rooms[&room()];
    room.line(&LineName::ONLY).map_or(0, |line| line.figures.calls)
}

pub fn mode(mode: Mode, revision: u64) -> Batch {
    let change = Change::Override(Overrides {
        mode: Some(mode),
        ..Overrides::default()
    });
    let change = RoomChange {
        room: room(),
        revision,
        change,
        who: None,
    };
    Batch {
        rooms: vec![change],
        ..Batch::default()
    }
}
