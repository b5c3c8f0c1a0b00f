//! Codes in worlds with losses: gates read late, die and stay away while the store loses its end, and bring back what they
//! know. In every case a code gives a number to at most one visitor.

use std::collections::BTreeMap;

use ropeline_room::{
    Batch, Change, CodeId, Denied, Encoded, Entry, GateId, LaneId, NamedLane, Number, PendingId, Position, Redeem,
    Redeemed, RoomChange, Root, Settings, Spoke, State, Wall,
};

use crate::codes::code;
use crate::recovery::fork::held;
use ropeline_room::testing::log::room;

struct Gate {
    id: GateId,
    serial: u64,
    /// Entries of the log that it has read.
    read: usize,
    /// It is away: it reads nothing, and says nothing when a log begins. What it had read stands here then.
    away: bool,
    lost: Option<State>,
}

struct World {
    chance: u64,
    time: u64,
    gates: Vec<Gate>,
    ids: u64,
    /// The rooms after each entry of the log in force, the first before any.
    history: Vec<State>,
    /// The visitor who was given each code's number.
    told: BTreeMap<CodeId, (PendingId, Number)>,
    seen: [u32; 4],
}

fn copy(state: &State) -> State {
    State::decode(&state.encode()).unwrap()
}

fn settings() -> Settings {
    Settings {
        lane_weights: vec![1, 1],
        lanes: vec![NamedLane::new("rest"), NamedLane::new("press")],
        bypass_most: 900,
        mode: ropeline_room::Mode::Auto,
        ..held(0)
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let gate = |id| Gate {
            id: GateId(id),
            serial: 0,
            read: 0,
            away: false,
            lost: None,
        };
        let mut world = Self {
            chance: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            time: 1_000_000,
            gates: (1..=4).map(gate).collect(),
            ids: 4,
            history: vec![State::empty(1_000)],
            told: BTreeMap::new(),
            seen: [0; 4],
        };
        for gate in 0..4 {
            world.says(gate, Batch::default());
        }
        let change = RoomChange {
            room: room(),
            revision: 1,
            change: Change::Configure(settings()),
            who: None,
        };
        world.says(
            0,
            Batch {
                rooms: vec![change],
                ..Batch::default()
            },
        );
        world.all_read();
        world
    }

    fn below(&mut self, most: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance % most
    }

    fn pick(&mut self, most: usize) -> usize {
        usize::try_from(self.below(most as u64)).unwrap()
    }

    fn here(&mut self) -> usize {
        loop {
            let gate = self.pick(self.gates.len());
            if !self.gates[gate].away {
                return gate;
            }
        }
    }

    fn all_read(&mut self) {
        let last = self.history.len() - 1;
        for gate in self.gates.iter_mut().filter(|gate| !gate.away) {
            gate.read = last;
        }
    }

    fn says(&mut self, from: usize, batch: Batch) -> Vec<Redeemed> {
        self.time += 50;
        let mut state = copy(self.history.last().unwrap());
        let at = state.position();
        let gate = &mut self.gates[from];
        gate.serial += 1;
        let entry = Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: gate.id,
            serial: gate.serial,
            previous: state.nonce(),
            nonce: (at.sequence + 1).to_le_bytes(),
            time: Wall(self.time),
            version: state.version(),
            batch: Batch {
                hello: batch.spoke.is_none() && batch.root.is_none(),
                knows: 3,
                ..batch
            },
        };
        let effects = state.apply(&Encoded::decode(entry.encode()).unwrap());
        self.history.push(state);
        effects.redeemed
    }

    /// A visitor shows a code at a gate, and is answered once the gate has read that.
    fn redeems(&mut self) {
        let gate = self.here();
        let (id, holder) = (self.below(40), self.below(3));
        let redeem = Redeem {
            code: CodeId([0, 0, 0, 0, 0, u8::try_from(id).unwrap()]),
            holder: PendingId([u8::try_from(holder).unwrap(); 12]),
            lane: LaneId(u8::from(id % 2 == 1)),
            bypass: id.is_multiple_of(3),
            // Half of them were made while things were lost already.
            issued: Wall(1_000_000 + id / 20 * 30_000),
            expires: Some(Wall(900_000_000)),
            ..code(0, 0)
        };
        let (code, holder) = (redeem.code, redeem.holder);
        let done = self.says(
            gate,
            Batch {
                redeems: vec![redeem],
                ..Batch::default()
            },
        );
        let done = &done[0];
        match done.denied {
            Some(Denied::Spent) => self.seen[1] += 1,
            Some(Denied::Doubtful) => self.seen[2] += 1,
            Some(Denied::NotNow) => self.seen[3] += 1,
            _ => {}
        }
        if self.below(4) == 0 {
            // The gate dies, or reads on only later: no visitor is answered here.
            return;
        }
        self.gates[gate].read = self.history.len() - 1;
        let Some(number) = done.joined.first else { return };
        self.seen[0] += u32::from(done.new);
        let before = self.told.insert(code, (holder, number));
        assert!(
            before.is_none_or(|before| before == (holder, number)),
            "{code} was good for {before:?}, and for {:?}",
            (holder, number)
        );
    }

    /// The store loses its end, and some gates die with it; the others begin a new log with the entries that they have read.
    fn forgets(&mut self) {
        let present = |world: &Self| world.gates.iter().filter(|gate| !gate.away).count();
        if present(self) > 1 && self.below(2) == 0 {
            let away = self.here();
            let gate = &mut self.gates[away];
            gate.away = true;
            gate.lost = Some(copy(&self.history[gate.read]));
        }
        let dies = present(self) > 1 && self.below(2) == 0;
        let dying = self.here();
        let dead = dies.then(|| self.gates.remove(dying)).map(|gate| gate.id);
        let there: Vec<usize> = (0..self.gates.len()).filter(|at| !self.gates[*at].away).collect();
        let furthest = *there.iter().max_by_key(|at| self.gates[**at].read).unwrap();
        let mut state = copy(&self.history[self.gates[furthest].read]);
        let at = state.position();
        let hash = state.hash();
        state.begin(at.epoch + 1, Root::Hash(hash));
        self.history = vec![state];
        for gate in &there {
            let spoke = Spoke {
                position: at,
                ..Spoke::default()
            };
            self.says(
                *gate,
                Batch {
                    spoke: Some(spoke),
                    ..Batch::default()
                },
            );
        }
        self.says(
            furthest,
            Batch {
                root: Some(hash),
                ..Batch::default()
            },
        );
        for gate in there {
            self.says(gate, Batch::default());
        }
        if dead.is_some() {
            self.ids += 1;
            let born = Gate {
                id: GateId(self.ids),
                serial: 0,
                read: 0,
                away: false,
                lost: None,
            };
            self.gates.push(born);
            self.says(self.gates.len() - 1, Batch::default());
        }
        self.all_read();
    }

    /// A gate that was away comes back, and brings its knowledge first.
    fn returns(&mut self) {
        let Some(gate) = self.gates.iter().position(|gate| gate.away) else {
            return;
        };
        if let Some(old) = self.gates[gate].lost.take() {
            self.gates[gate].away = false;
            for batch in old.adoption(self.history.last().unwrap()) {
                self.says(gate, batch);
            }
            self.says(gate, Batch::default());
        }
        self.all_read();
    }

    fn step(&mut self) {
        match self.below(100) {
            0..3 => self.forgets(),
            3..8 => self.returns(),
            8..14 => {
                let gate = self.here();
                self.gates[gate].read = self.history.len() - 1;
            }
            14..20 => self.time += 4_000,
            _ => self.redeems(),
        }
    }
}

#[test]
fn in_no_world_are_two_told_of_a_number_by_one_code() {
    let mut seen = [0; 4];
    for seed in 0..60 {
        let mut world = World::new(seed);
        for _ in 0..150 {
            world.step();
        }
        for (all, some) in seen.iter_mut().zip(world.seen) {
            *all += some;
        }
    }
    assert!(
        seen.iter().all(|count| *count > 60),
        "{seen:?}: taken, spent, in doubt, not now"
    );
}
