//! The cost of the replica's thread of one gate among many: others' entries read, applied and published, and notes of its own
//! visitors taken one at a time.
//!
//! `cargo run --release --example replica_load [GATES ROOMS ENTRIES NOTES]`: entries and notes are a second's. Log and
//! time are made up, so that only the gate's own work is measured. `valgrind --tool=callgrind` names the functions.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::time::{Duration, Instant};

use ropeline::replica::protocol::{Answer, Ask, Protocol, Setup, Step};
use ropeline::replica::{Condition, Note, Options};
use ropeline::room::{
    Batch, Encoded, Entry, Epoch, GateId, LaneId, LineName, Mode, Number, Position, RoomName, Section, Settings, State,
    StateHash, Visitor, Vote, Wall,
};
use ropeline::store::{Append, Beginning, Begun, Exchanged, Loaded, READ_MAX_ENTRIES, Snapshot};

const SECONDS: u64 = 5;
/// In each room that has a line: one in ten.
const WAITING: u32 = 500;
const LANE: LaneId = LaneId(0);

fn main() {
    let given: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [gates, rooms, entries, notes] = *given else {
        return run(30, 200, 1_000, 1_000);
    };
    run(gates, rooms, entries, notes);
}

/// A log of this bench's own, and the other gates that write to it.
#[derive(Default)]
struct Store {
    epoch: u64,
    entries: Vec<Encoded>,
    root: Option<(StateHash, Snapshot)>,
    version: u16,
    vote: Option<Vote>,
    serial: u64,
    now: Duration,
}

/// The gate that is measured, and how long it took for what.
struct Gate {
    protocol: Protocol,
    store: Store,
    answering: Spent,
    asking: Spent,
    noting: Spent,
}

#[derive(Default)]
struct Spent {
    time: Duration,
    times: u32,
}

fn run(gates: u64, rooms: u64, entries: u64, notes: u64) {
    let names: Vec<RoomName> = (0..rooms).map(|room| name(&format!("room-{room:03}"))).collect();
    let mut gate = Gate::live(&names);
    // Rooms with a line are the last: a search for one finds it late.
    let busy = &names[names.len() - names.len().div_ceil(10)..];
    for other in 1..gates {
        gate.store.word(
            other,
            Batch {
                hello: true,
                ..Batch::default()
            },
        );
    }
    for room in busy {
        let mut section = Section::new(room.clone(), LineName::ONLY);
        section.joins.push((LANE, WAITING));
        gate.store.word(
            1,
            Batch {
                sections: vec![section],
                ..Batch::default()
            },
        );
    }
    gate.pass(Duration::from_secs(1));
    (gate.answering, gate.asking, gate.noting) = Default::default();

    let (mut said, mut noted) = (0, 0);
    for ms in 1..=1_000 * SECONDS {
        while said < ms * entries / 1_000 {
            said += 1;
            let mut section = Section::new(pick(busy, said), LineName::ONLY);
            section.marks = (0..3).map(|mark| (LANE, gate.store.number(3 * said + mark))).collect();
            section.marks.sort();
            let other = 1 + said % (gates - 1).max(1);
            gate.store.word(
                other,
                Batch {
                    sections: vec![section],
                    ..Batch::default()
                },
            );
        }
        while noted < ms * notes / 1_000 {
            noted += 1;
            let visitor = Visitor {
                room: pick(busy, noted),
                line: LineName::ONLY,
                lane: LANE,
                number: gate.store.number(noted),
                rehearsal: None,
            };
            timed(&mut gate.noting, || match noted % 10 {
                // A request waits for it, so it is sent at once.
                0 => drop(gate.protocol.record(visitor, Note::Mark, gate.store.now)),
                _ => gate.protocol.note(visitor, Note::Mark, gate.store.now),
            });
            gate.turn();
        }
        gate.pass(Duration::from_millis(1));
    }
    gate.tell(&format!(
        "{gates} gates, {rooms} rooms, {entries} entries/s, {notes} notes/s"
    ));
}

impl Gate {
    /// At the beginning of a log of its own making.
    fn live(names: &[RoomName]) -> Self {
        let settings = Settings {
            mode: Mode::Hold,
            ..Settings::default()
        };
        let mut random = 0;
        let setup = Setup {
            gate: GateId(0),
            rooms: names.iter().map(|name| (name.clone(), settings.clone())).collect(),
            options: Options::default(),
            alone: false,
            apply: State::apply,
            archiver: None,
            random: Box::new(move || {
                random += 1;
                random
            }),
        };
        let mut gate = Self {
            protocol: Protocol::new(setup),
            store: Store::default(),
            answering: Spent::default(),
            asking: Spent::default(),
            noting: Spent::default(),
        };
        while gate.protocol.condition() != Condition::Live || gate.protocol.view().rooms.len() < names.len() {
            gate.pass(Duration::from_millis(100));
        }
        gate
    }

    fn pass(&mut self, time: Duration) {
        self.store.now += time;
        self.turn();
    }

    /// All that the thread does until it waits.
    fn turn(&mut self) {
        loop {
            let now = self.store.now;
            let Step::Ask(ask) = timed(&mut self.asking, || self.protocol.next(now)) else {
                return;
            };
            let answer = self.store.answer(ask);
            timed(&mut self.answering, || self.protocol.answer(now, Ok(answer)));
        }
    }

    fn tell(&self, load: &str) {
        println!("{load}: each second");
        for (what, spent) in [
            ("asking what to do", &self.asking),
            ("reading, applying, publishing", &self.answering),
            ("taking notes", &self.noting),
        ] {
            let ms = spent.time.as_secs_f64() * 1e3 / f64::from(u32::try_from(SECONDS).unwrap_or(1));
            let each = spent.time / spent.times.max(1);
            println!(
                "  {ms:.2} ms {what}, {} times, {each:?} each",
                u64::from(spent.times) / SECONDS
            );
        }
    }
}

impl Store {
    fn answer(&mut self, ask: Ask) -> Answer {
        match ask {
            Ask::Load => Answer::Loaded(Loaded {
                time: self.wall(),
                ..Loaded::default()
            }),
            Ask::Begin {
                beginning: Beginning::First { epoch, append },
                ..
            } => {
                self.epoch = epoch;
                self.take(&append);
                Answer::Begun(Begun::Begun)
            }
            Ask::Save { snapshot, .. } => {
                self.root = Some((snapshot.hash(), snapshot));
                Answer::Saved
            }
            Ask::Root(hash) => {
                let root = self.root.iter().find(|(kept, _)| *kept == hash);
                Answer::Root(root.map(|(_, snapshot)| snapshot.clone()))
            }
            Ask::Exchange { at, append } => {
                if let Some(append) = &append {
                    self.take(append);
                }
                let from = usize::try_from(at.sequence)
                    .unwrap_or(usize::MAX)
                    .min(self.entries.len());
                let after = &self.entries[from..];
                Answer::Exchanged(Exchanged::Entries {
                    entries: after.iter().take(READ_MAX_ENTRIES).cloned().collect(),
                    log_bytes: 0,
                    more: after.len() > READ_MAX_ENTRIES,
                    newer: None,
                })
            }
            other => unreachable!("{other:?}"),
        }
    }

    /// The measured gate's batch.
    fn take(&mut self, append: &Append) {
        self.version = append.version;
        self.vote = append.batch.vote.or(self.vote);
        self.push(append.gate, append.serial, append.batch.clone());
    }

    /// Another gate's.
    fn word(&mut self, gate: u64, batch: Batch) {
        self.serial += 1;
        let batch = Batch {
            knows: ropeline::room::VERSION,
            applied: self.entries.len() as u64,
            vote: self.vote,
            ..batch
        };
        self.push(GateId(gate), self.serial, batch);
    }

    fn push(&mut self, gate: GateId, serial: u64, batch: Batch) {
        let sequence = self.entries.len() as u64 + 1;
        let entry = Entry {
            position: Position {
                epoch: self.epoch,
                sequence,
            },
            gate,
            serial,
            previous: self.entries.last().map_or([0; 8], |entry| entry.nonce),
            nonce: sequence.to_le_bytes(),
            time: self.wall(),
            version: self.version,
            batch,
        };
        self.entries.push(entry.into());
    }

    fn wall(&self) -> Wall {
        Wall(1_800_000_000_000 + u64::try_from(self.now.as_millis()).unwrap_or(0))
    }

    fn number(&self, n: u64) -> Number {
        Number {
            epoch: Epoch(self.epoch),
            n: u32::try_from(1 + n % u64::from(WAITING)).unwrap_or(1),
        }
    }
}

fn timed<T>(spent: &mut Spent, work: impl FnOnce() -> T) -> T {
    let before = Instant::now();
    let result = work();
    spent.time += before.elapsed();
    spent.times += 1;
    result
}

fn pick(rooms: &[RoomName], turn: u64) -> RoomName {
    rooms[usize::try_from(turn).unwrap_or(0) % rooms.len()].clone()
}

fn name(text: &str) -> RoomName {
    RoomName::new(text).expect("letters, digits and a dash")
}
