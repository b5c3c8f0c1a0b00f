//! A shared log made by the test: gates that append to it in turn, each with an archive if wanted.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ropeline::archive::{Archiver, Options};
use ropeline::room::{
    Batch, Change, Effects, Entry, Figures, GateId, LineName, NEWEST, Position, RoomChange, RoomName, Root, Section,
    Settings, Spoke, State, VERSION, Vote, Wall, Who,
};

pub struct Hall {
    pub state: State,
    /// Milliseconds since the epoch.
    pub time: u64,
    gates: BTreeMap<GateId, Gate>,
    revision: u64,
    /// Sequence and hash of the first state or the last checkpoint, for votes.
    checkpoint: Option<(u64, [u8; 32])>,
}

#[derive(Default)]
struct Gate {
    serial: u64,
    archiver: Option<Archiver>,
    voted: Option<u64>,
    /// It knows the oldest machine version alone.
    old: bool,
}

pub fn room() -> RoomName {
    RoomName::new("shop").unwrap()
}

pub fn section() -> Section {
    Section::new(room(), LineName::ONLY)
}

impl Hall {
    pub fn new() -> Self {
        Self::of(State::empty(EPOCH))
    }

    /// A log that begins from this state.
    pub fn of(state: State) -> Self {
        Self {
            time: 1_800_000_000_000,
            gates: BTreeMap::new(),
            revision: 0,
            checkpoint: Some((0, state.hash())),
            state,
        }
    }

    /// A gate of the oldest machine version comes.
    pub fn comes_old(&mut self, gate: u64) {
        self.gates.entry(GateId(gate)).or_default().old = true;
    }

    /// A gate with an archive in `folder` comes.
    pub fn archive(&mut self, gate: u64, folder: &Path) {
        let options = Options {
            patience: Duration::ZERO,
            ..Options::new(folder.to_owned(), GateId(gate))
        };
        let mut archiver = Archiver::start(&options).unwrap();
        archiver.begin(&self.state);
        self.gates.entry(GateId(gate)).or_default().archiver = Some(archiver);
    }

    /// The gate leaves, and archives the rest.
    pub fn leave(&mut self, gate: u64) {
        self.say(
            gate,
            0,
            Batch {
                goodbye: true,
                ..Batch::default()
            },
        );
        let gate = self.gates.remove(&GateId(gate)).unwrap();
        if let Some(mut archiver) = gate.archiver {
            archiver.stop(Duration::from_secs(60));
        }
    }

    /// One gate's entry, `ms` after the last.
    pub fn say(&mut self, gate: u64, ms: u64, batch: Batch) -> Effects {
        let entry = self.entry(gate, ms, batch);
        let effects = self.state.apply(&entry.clone().into());
        for gate in self.gates.values_mut() {
            if let Some(archiver) = &mut gate.archiver {
                archiver.applied(&entry.clone().into(), &self.state);
            }
        }
        if let Some(sequence) = self.state.checkpoint() {
            self.checkpoint = Some((sequence, self.state.hash()));
        }
        effects
    }

    pub fn hear(&mut self, gate: u64, ms: u64, section: Section) -> Effects {
        self.say(
            gate,
            ms,
            Batch {
                sections: vec![section],
                ..Batch::default()
            },
        )
    }

    pub fn change(&mut self, gate: u64, change: Change) {
        self.revision += 1;
        // A file has no name.
        let who = (!matches!(change, Change::Configure(_))).then(|| Who {
            name: "anna".to_owned(),
            reason: "fire drill".to_owned(),
        });
        let change = RoomChange {
            room: room(),
            revision: self.revision,
            change,
            who,
        };
        self.say(
            gate,
            10,
            Batch {
                rooms: vec![change],
                ..Batch::default()
            },
        );
    }

    /// The store is lost, and with it the entries after `kept`: a new log begins from there, and the gates append.
    pub fn lose_store(&mut self, kept: &[u8]) {
        let mut state = State::decode(kept).unwrap();
        state.mark_newcomers();
        self.begin_from(state);
    }

    /// As [`Self::lose_store`], where a gate of an earlier build says what the new log begins from.
    pub fn lose_store_to_an_earlier_build(&mut self, kept: &[u8]) {
        self.begin_from(State::decode(kept).unwrap());
    }

    fn begin_from(&mut self, mut state: State) {
        let (position, nonce, hash) = (state.position(), state.nonce(), state.hash());
        state.begin(self.state.position().epoch + 1_000, Root::Hash(hash));
        self.state = state;
        self.checkpoint = None;
        let gates: Vec<GateId> = self.gates.keys().copied().collect();
        for gate in self.gates.values_mut() {
            gate.voted = None;
            if let Some(archiver) = &mut gate.archiver {
                archiver.begin(&self.state);
            }
        }
        for gate in &gates {
            let spoke = Spoke {
                position,
                nonce,
                roster: gates.clone(),
            };
            self.say(
                gate.0,
                100,
                Batch {
                    spoke: Some(spoke),
                    ..Batch::default()
                },
            );
        }
        self.say(
            gates[0].0,
            100,
            Batch {
                root: Some(hash),
                ..Batch::default()
            },
        );
        assert!(self.state.rooted());
    }

    /// An entry that every gate passes over, as an operator had it.
    pub fn skip(&mut self, gate: u64) {
        let entry = self.entry(gate, 100, Batch::default());
        self.state.pass_over(&entry.clone().into());
        for gate in self.gates.values_mut() {
            if let Some(archiver) = &mut gate.archiver {
                archiver.passed_over(&entry.clone().into(), &self.state);
            }
        }
    }

    /// The store and every gate were lost at once: a log begun from nothing, at the same time of day.
    pub fn after_a_wiped_store(&self) -> Self {
        Self {
            time: self.time,
            ..Self::of(State::after_a_loss(self.state.position().epoch + 1_000))
        }
    }

    pub fn configure(&mut self, gate: u64, settings: Settings) {
        self.change(gate, Change::Configure(settings));
    }

    pub fn figures(&mut self) -> Figures {
        self.state.view().rooms[&room()].lines[&LineName::ONLY].figures
    }

    fn entry(&mut self, id: u64, ms: u64, batch: Batch) -> Entry {
        self.time += ms;
        let gate = self.gates.entry(GateId(id)).or_default();
        gate.serial += 1;
        let at = self.state.position();
        let sequence = at.sequence + 1;
        let vote = self.checkpoint.filter(|(sequence, _)| Some(*sequence) > gate.voted);
        gate.voted = vote.map_or(gate.voted, |(sequence, _)| Some(sequence));
        let knows = if gate.old { VERSION } else { NEWEST };
        Entry {
            position: Position { sequence, ..at },
            gate: GateId(id),
            serial: gate.serial,
            previous: self.state.nonce(),
            nonce: (sequence ^ 0x5a5a).to_le_bytes(),
            time: Wall(self.time),
            version: self.state.version(),
            batch: Batch {
                hello: gate.serial == 1,
                knows,
                vote: vote.map(|(sequence, hash)| Vote {
                    sequence,
                    hash,
                    again: false,
                }),
                ..batch
            },
        }
    }
}

pub const EPOCH: u64 = 30_198_988_800_000_007;
