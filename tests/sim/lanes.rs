//! Lanes under random arrivals at several gates, on virtual time: each gate has its own replica of one log, assigns lanes by
//! its own configuration, and every call is compared with the promises.

use std::collections::BTreeMap;

use ropeline::room::{
    Batch, CallId, Change, Claim, Encoded, Entry, GateId, LaneId, LineName, NamedLane, Number, Position, RoomChange,
    RoomName, Section, Settings, Standing, State, VERSION, Wall,
};

use super::chance::Chance;

/// One gate: its replica, and its reports since its last batch.
struct Gate {
    state: State,
    serial: u64,
    arrivals: BTreeMap<LaneId, u32>,
}

struct World {
    gates: Vec<Gate>,
    chance: Chance,
    time: u64,
    waiting: BTreeMap<(LaneId, Number), u64>,
    /// Calls of each lane so far, in all, and since both lanes last had a waiting visitor throughout.
    called: BTreeMap<LaneId, u64>,
    run: Vec<[u64; 2]>,
    longest: u64,
    judged: bool,
    inside: Vec<(LaneId, Number)>,
    revision: u64,
}

fn room() -> RoomName {
    RoomName::new("shop").unwrap()
}

fn settings(of: &[(&str, u16)]) -> Settings {
    Settings {
        capacity: 6,
        // No visitor is away here: one who stays must not be taken for gone.
        firm_within_ms: 3_600_000,
        lane_weights: of.iter().map(|(_, weight)| *weight).collect(),
        lanes: of.iter().map(|(name, _)| NamedLane::new(name)).collect(),
        ..Settings::default()
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let gate = |_| Gate {
            state: State::empty(1_000),
            serial: 0,
            arrivals: BTreeMap::new(),
        };
        let mut world = Self {
            gates: (0..3).map(gate).collect(),
            chance: Chance::new(seed),
            time: 1_000_000,
            waiting: BTreeMap::new(),
            called: BTreeMap::new(),
            run: vec![[0, 0]],
            longest: 0,
            judged: true,
            inside: Vec::new(),
            revision: 0,
        };
        for gate in 0..3 {
            world.say(gate, Batch::default());
        }
        world.configure(&[("rest", 3), ("members", 1)]);
        world
    }

    fn configure(&mut self, of: &[(&str, u16)]) {
        self.revision += 1;
        let change = RoomChange {
            room: room(),
            revision: self.revision,
            change: Change::Configure(settings(of)),
            who: None,
        };
        self.say(
            0,
            Batch {
                rooms: vec![change],
                ..Batch::default()
            },
        );
    }

    /// A batch of one gate is read by all of them.
    fn say(&mut self, from: usize, batch: Batch) {
        self.gates[from].serial += 1;
        let at = self.gates[from].state.position();
        let entry = Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(from as u64 + 1),
            serial: self.gates[from].serial,
            previous: self.gates[from].state.nonce(),
            nonce: (at.sequence + 1).to_le_bytes(),
            time: Wall(self.time),
            version: self.gates[from].state.version(),
            batch: Batch {
                hello: true,
                knows: VERSION,
                ..batch
            },
        };
        let entry = Encoded::decode(entry.encode()).unwrap();
        let mut before = self.gates[from].state.view();
        let mut effects = Vec::new();
        for gate in &mut self.gates {
            effects.push(gate.state.apply(&entry));
        }
        assert!(effects.iter().all(|effect| *effect == effects[0] && !effect.ignored));
        let hashes: Vec<_> = self.gates.iter().map(|gate| gate.state.hash()).collect();
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "the gates' rooms differ");
        let after = self.gates[from].state.view();
        if !after.rooms.contains_key(&room()) {
            return;
        }
        if !before.rooms.contains_key(&room()) {
            before = after.clone();
        }
        self.calls(&before, &after);
        for joined in &effects[0].joined {
            let first = joined.first.expect("numbered");
            for n in 0..joined.count {
                let number = Number {
                    n: first.n + n,
                    ..first
                };
                self.comes(joined.lane, number);
            }
        }
    }

    /// A visitor who is not called at once is shown how many are ahead in the lane.
    fn comes(&mut self, lane: LaneId, number: Number) {
        let view = self.gates[0].state.view();
        let line = &view.rooms[&room()].lines[&LineName::ONLY];
        if let Standing::Waiting(place) = line.standing(lane, number, view.clock) {
            let called = self.called.get(&lane).copied().unwrap_or(0);
            self.waiting.insert((lane, number), called + place.ahead);
        }
    }

    fn calls(&mut self, before: &ropeline::room::View, after: &ropeline::room::View) {
        let line = |view: &ropeline::room::View| view.rooms[&room()].line(&LineName::ONLY).cloned();
        let Some(now) = line(after) else { return };
        let mut seated: Vec<CallId> = now.seated_since(line(before).as_deref());
        seated.retain(|id| matches!(now.standing(id.lane, id.number, after.clock), Standing::Called(_)));
        let mut counts = [0, 0];
        for id in seated {
            let called = self.called.entry(id.lane).or_default();
            if let Some(shown) = self.waiting.remove(&(id.lane, id.number)) {
                assert_eq!(
                    *called, shown,
                    "{id:?}: others of the lane were called before than were shown ahead"
                );
            }
            *called += 1;
            counts[usize::from(id.lane.0 == 1)] += 1;
            self.inside.push((id.lane, id.number));
        }
        // A visitor still waits in both, so one did at each of these calls.
        if now.waiting(LaneId(0)) > 0 && now.waiting(LaneId(1)) > 0 {
            let last = *self.run.last().unwrap();
            self.run.push([last[0] + counts[0], last[1] + counts[1]]);
        } else {
            self.judge();
            self.run = vec![[0, 0]];
        }
    }

    /// Every stretch of calls of a run, as long as any, gave each lane its share within one call.
    fn judge(&mut self) {
        for (at, from) in self.run.iter().enumerate().filter(|_| self.judged) {
            for to in &self.run[at..] {
                let (rest, members) = (to[0] - from[0], to[1] - from[1]);
                let all = rest + members;
                assert!(
                    members >= all / 4 && members <= all.div_ceil(4),
                    "{rest}:{members} of {all} calls"
                );
                self.longest = self.longest.max(all);
            }
        }
    }

    /// A moment: some come to some gates, and one gate appends its reports.
    fn step(&mut self, lanes: &[LaneId], rush: u64) {
        self.time += self.chance.within(10, 400);
        for gate in 0..self.gates.len() {
            for lane in lanes {
                let count = u32::try_from(self.chance.within(0, rush + 1)).unwrap();
                *self.gates[gate].arrivals.entry(*lane).or_default() += count;
            }
        }
        let from = usize::try_from(self.chance.within(0, 3)).unwrap();
        let arrivals = std::mem::take(&mut self.gates[from].arrivals);
        let done = self.chance.within(0, self.inside.len() as u64 + 1);
        let done: Vec<_> = self.inside.drain(..usize::try_from(done).unwrap()).collect();
        let claims = done.iter().map(|(lane, number)| Claim {
            lane: *lane,
            number: *number,
            carried: true,
        });
        let section = Section {
            claims: claims.collect(),
            joins: arrivals.into_iter().filter(|(_, count)| *count > 0).collect(),
            ..Section::new(room(), LineName::ONLY)
        };
        self.hear(from, section);
        let leaves = Section {
            leaves: done,
            ..Section::new(room(), LineName::ONLY)
        };
        self.hear(from, leaves);
    }

    fn hear(&mut self, from: usize, section: Section) {
        self.say(
            from,
            Batch {
                sections: vec![section],
                ..Batch::default()
            },
        );
    }
}

const LANES: [LaneId; 2] = [LaneId(0), LaneId(1)];

#[test]
fn three_to_one_holds_over_every_stretch_of_calls_whoever_comes_to_which_gate() {
    for seed in 0..3 {
        let mut world = World::new(seed);
        for _ in 0..400 {
            world.step(&LANES, 2);
        }
        world.judge();
        assert!(world.longest > 400, "{}", world.longest);
        assert!(world.called[&LaneId(0)] > 400 && world.called[&LaneId(1)] > 120);
    }
}

#[test]
fn lanes_that_run_dry_and_fill_again_keep_their_order_and_lose_nobody() {
    for seed in 0..3 {
        let mut world = World::new(seed);
        for round in 0..300 {
            let lane = LANES[usize::from(round % 20 < 10)];
            let lanes: &[LaneId] = if round % 7 == 0 { &LANES } else { &[lane] };
            world.step(lanes, 1);
        }
        for _ in 0..600 {
            world.step(&[], 0);
        }
        world.judge();
        assert!(world.waiting.is_empty(), "{:?} were never called", world.waiting.len());
    }
}

#[test]
fn lanes_listed_otherwise_or_taken_out_while_a_sale_is_on_cost_nobody_their_place() {
    for seed in 0..3 {
        let mut world = World::new(seed);
        // A third lane has its share too: here the order within each is what counts.
        world.judged = false;
        for round in 0..300 {
            match round {
                90 => world.configure(&[("members", 1), ("gold", 2), ("rest", 3)]),
                150 => world.configure(&[("gold", 2), ("rest", 3)]),
                210 => world.configure(&[("rest", 3), ("members", 1)]),
                _ => {}
            }
            let third = LaneId(2);
            let lanes: &[LaneId] = if (90..210).contains(&round) {
                &[LANES[0], third]
            } else {
                &LANES
            };
            world.step(lanes, 1);
        }
        for _ in 0..900 {
            world.step(&[], 0);
        }
        assert!(world.waiting.is_empty(), "{:?} were never called", world.waiting.len());
    }
}
