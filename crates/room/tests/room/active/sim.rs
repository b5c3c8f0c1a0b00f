//! Several gates before one room with active slots: notes that wait, answers that are lost, gates that crash, fall silent or are
//! cut off, and a shop that counts.
//!
//! `ACTIVE_SEEDS` sets the number of seeds, `ACTIVE_FROM` the first one. A gate does here what `docs/explanation/the-room.md`
//! says under "What the view tells a gate".

use std::sync::Arc;

use ropeline_room::testing::log::{EPOCH, LANE, active, only, room};
use ropeline_room::{
    Batch, Change, Claim, Clock, Entry, GateId, Inside, LineName, Number, Position, RoomChange, SLACK_MS, Section,
    Settings, Standing, State, View, Visitor, Wall,
};

const SEEDS: u64 = 24;
const STEPS: u64 = 3_000;
const CAPACITY: u32 = 4;
const RIGHTS: u32 = 9;
const IDLE: u64 = 8_000;

/// A gate without a word for so long is off the roster.
const ROSTER_MS: u64 = 15_000;

struct Gate {
    id: GateId,
    serial: u64,
    hello: bool,
    view: Arc<View>,
    /// When it had read all of that view.
    read: u64,
    notes: Section,
    /// A batch that was taken and whose answer is lost: it is sent again then, and nothing else before.
    again: Option<(u64, Entry)>,
    /// Reaches no store before.
    cut_until: u64,
    ticks: u64,
}

struct Person {
    number: Number,
    /// When the shop had the last request, and whether its gate had been cut off for too long.
    last: Option<(u64, bool)>,
    /// The last request that was forwarded or that asked.
    seen: u64,
    began: Option<u64>,
    left: bool,
}

struct Sim {
    chance: u64,
    time: u64,
    state: State,
    gates: Vec<Gate>,
    lives: u64,
    people: Vec<Person>,
    /// Who asked, in the log's order.
    queue: Vec<Number>,
    /// A gate was lost or cut off until then, with what it had noted.
    trouble: u64,
    parked: u64,
    returned: u64,
    forwarded: u64,
}

impl Sim {
    fn new(seed: u64) -> Self {
        let mut sim = Self {
            chance: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1),
            time: 1_000_000,
            state: State::empty(EPOCH),
            gates: Vec::new(),
            lives: 0,
            people: Vec::new(),
            queue: Vec::new(),
            trouble: 0,
            parked: 0,
            returned: 0,
            forwarded: 0,
        };
        for _ in 0..=seed % 3 {
            sim.gate_starts();
        }
        let settings = Settings {
            session_max_ms: 10_000_000,
            session_ms: 40_000,
            ..active(CAPACITY, RIGHTS)
        };
        let change = RoomChange {
            room: room(),
            revision: 1,
            change: Change::Configure(settings),
            who: None,
        };
        let batch = Batch {
            rooms: vec![change],
            ..Batch::default()
        };
        sim.append(0, batch);
        sim
    }

    fn below(&mut self, bound: u64) -> u64 {
        // splitmix64
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.chance;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn gate_starts(&mut self) {
        self.lives += 1;
        self.gates.push(Gate {
            id: GateId(self.lives),
            serial: 0,
            hello: true,
            view: self.state.view(),
            read: self.time,
            notes: only(),
            again: None,
            cut_until: 0,
            ticks: self.time,
        });
    }

    fn entry(&mut self, at: usize, batch: Batch) -> Entry {
        let gate = &mut self.gates[at];
        gate.serial += 1;
        let position = self.state.position();
        Entry {
            position: Position {
                sequence: position.sequence + 1,
                ..position
            },
            gate: gate.id,
            serial: gate.serial,
            previous: self.state.nonce(),
            nonce: (position.sequence + 1).to_le_bytes(),
            time: Wall(self.time),
            version: self.state.version(),
            batch: Batch {
                hello: std::mem::take(&mut gate.hello),
                notes_until: Some(gate.view.clock),
                ..batch
            },
        }
    }

    /// Appends a batch of a gate, which has read all of the log then.
    fn append(&mut self, at: usize, batch: Batch) -> Entry {
        let before = self.state.view();
        // A gate that was silent for too long says hello again.
        let id = self.gates[at].id;
        self.gates[at].hello |= self.state.answered(id).is_none();
        let entry = self.entry(at, batch);
        assert!(!self.state.apply(&entry.clone().into()).ignored);
        self.hears(at);
        self.laws(&before);
        entry
    }

    fn hears(&mut self, at: usize) {
        let view = self.state.view();
        let gate = &mut self.gates[at];
        (gate.view, gate.read, gate.ticks) = (view, self.time, self.time);
    }

    fn is_cut_off(&self, at: usize) -> bool {
        let gate = &self.gates[at];
        gate.cut_until > self.time && gate.read + 2_000 < self.time
    }

    /// Appends what the gate has noted, unless it waits for an answer or reaches no store.
    fn flush(&mut self, at: usize) -> bool {
        if self.gates[at].cut_until > self.time || self.gates[at].again.is_some() {
            return false;
        }
        let sections = vec![std::mem::replace(&mut self.gates[at].notes, only())];
        let batch = Batch {
            sections,
            ..Batch::default()
        };
        let entry = self.append(at, batch);
        if self.below(40) == 0 {
            // The gate does not know that, and waits.
            let until = self.time + 100 + self.below(1_800);
            self.gates[at].again = Some((until, entry));
        }
        true
    }

    fn pass(&mut self, ms: u64) {
        self.time += ms;
        for at in 0..self.gates.len() {
            if let Some((_, entry)) = self.gates[at].again.take_if(|(due, _)| *due <= self.time) {
                let position = self.state.position();
                let again = Entry {
                    position: Position {
                        sequence: position.sequence + 1,
                        ..position
                    },
                    time: Wall(self.time),
                    ..entry
                };
                assert!(self.state.apply(&again.into()).ignored);
                self.hears(at);
            }
            let is_up = self.gates[at].cut_until <= self.time && self.gates[at].again.is_none();
            if is_up && self.time >= self.gates[at].ticks + 250 {
                self.flush(at);
            }
        }
    }

    fn standing(view: &View, number: Number) -> Standing {
        let visitor = Visitor {
            room: room(),
            line: LineName::ONLY,
            lane: LANE,
            number,
            rehearsal: None,
        };
        view.standing(&visitor, view.clock)
    }

    fn inside(view: &View, number: Number) -> Option<Inside> {
        match Self::standing(view, number) {
            Standing::Inside(inside) => Some(inside),
            _ => None,
        }
    }

    /// The clock by which a gate judges: the rooms' as it has read them, and the time since.
    fn clock(&self, at: usize) -> Clock {
        let gate = &self.gates[at];
        gate.view.clock.plus(self.time - gate.read)
    }

    fn request(&mut self, who: usize, at: usize) {
        let number = self.people[who].number;
        let (now, cut_off) = (self.clock(at), self.is_cut_off(at));
        match Self::standing(&self.gates[at].view, number) {
            Standing::Called(_) if !cut_off => {
                let claim = Claim {
                    lane: LANE,
                    number,
                    carried: true,
                };
                self.gates[at].notes.claims.push(claim);
                if self.flush(at) && Self::inside(&self.gates[at].view, number).is_some() {
                    self.people[who].began.get_or_insert(self.time);
                    self.forward(who, at);
                }
            }
            Standing::Inside(inside) if cut_off => {
                let goes_on = !inside.must_ask(self.gates[at].view.clock) && now <= inside.expires;
                self.goes_on(who, at, goes_on);
            }
            Standing::Inside(inside) if inside.must_ask(now) => self.ask(who, at),
            Standing::Inside(inside) => {
                if inside.renewal_due(now) {
                    self.gates[at].notes.renewals.push((LANE, number));
                }
                self.forward(who, at);
            }
            Standing::Waiting(_) if !cut_off => self.gates[at].notes.marks.push((LANE, number)),
            _ => {}
        }
    }

    /// A gate that is cut off goes on with who was active when it last read anything, and says so later.
    fn goes_on(&mut self, who: usize, at: usize, is_active: bool) {
        if is_active {
            let (number, notes) = (self.people[who].number, &mut self.gates[at].notes);
            notes.reopens.push((LANE, number));
            notes.renewals.push((LANE, number));
            self.forward(who, at);
        }
    }

    fn ask(&mut self, who: usize, at: usize) {
        let number = self.people[who].number;
        self.gates[at].notes.returns.push((LANE, number));
        if !self.flush(at) {
            self.gates[at].notes.returns.pop();
            return;
        }
        self.people[who].seen = self.time;
        let view = Arc::clone(&self.gates[at].view);
        match Self::inside(&view, number) {
            Some(inside) if !inside.parked => {
                self.gates[at].notes.renewals.push((LANE, number));
                self.forward(who, at);
            }
            Some(_) if !self.queue.contains(&number) => self.queue.push(number),
            _ => {}
        }
    }

    fn forward(&mut self, who: usize, at: usize) {
        let too_long = self.gates[at].read + ROSTER_MS < self.time;
        let person = &mut self.people[who];
        (person.last, person.seen) = (Some((self.time, too_long)), self.time);
        self.forwarded += 1;
    }

    fn step(&mut self) {
        let gates = self.gates.len() as u64;
        let at = usize::try_from(self.below(gates)).unwrap();
        match self.below(1_000) {
            0..20 if self.people.len() < 60 && !self.is_cut_off(at) => {
                self.gates[at].notes.joins.push((LANE, 1));
                let position = self.state.position();
                if self.gates[at].cut_until > self.time || self.gates[at].again.is_some() {
                    self.gates[at].notes.joins.pop();
                    return;
                }
                let n = u32::try_from(self.people.len()).unwrap();
                self.flush(at);
                assert_ne!(self.state.position(), position);
                let first = self.people.first().map_or(0, |first| first.number.n);
                let number = Number {
                    epoch: ropeline_room::Epoch(EPOCH),
                    n: first + n,
                };
                self.people.push(Person {
                    number,
                    last: None,
                    seen: self.time,
                    began: None,
                    left: false,
                });
            }
            20..500 if !self.people.is_empty() => {
                let people = self.people.len() as u64;
                let who = usize::try_from(self.below(people)).unwrap();
                if !self.people[who].left {
                    self.request(who, at);
                }
            }
            500..515 if !self.people.is_empty() => {
                let people = self.people.len() as u64;
                let who = usize::try_from(self.below(people)).unwrap();
                let number = self.people[who].number;
                if self.people[who].began.is_some() && !self.is_cut_off(at) {
                    self.gates[at].notes.leaves.push((LANE, number));
                    self.people[who].left = true;
                }
            }
            515..517 if gates > 1 => {
                // What it had noted is lost with it.
                self.gates.remove(at);
                self.trouble = self.trouble.max(self.time);
                self.gate_starts();
            }
            517..521 => {
                let until = self.time + self.below(25_000);
                self.gates[at].cut_until = until;
                self.trouble = self.trouble.max(until);
            }
            521..580 => {
                let ms = self.below(8_000);
                for _ in 0..ms / 100 {
                    self.pass(100);
                }
            }
            580..620 => {
                // A gate reads without a word.
                if self.gates[at].cut_until <= self.time && self.gates[at].again.is_none() {
                    let ticks = self.gates[at].ticks;
                    self.hears(at);
                    self.gates[at].ticks = ticks;
                }
            }
            620..625 => self.state = State::decode(&self.state.encode()).unwrap(),
            _ => {
                let ms = 10 + self.below(90);
                self.pass(ms);
            }
        }
    }

    fn laws(&mut self, before: &View) {
        let view = self.state.view();
        let Some(figures) = view.rooms.get(&room()).and_then(|room| room.line(&LineName::ONLY)) else {
            return;
        };
        let figures = figures.figures;
        let rights = figures.called + figures.inside + figures.parked;
        assert!(rights <= RIGHTS, "{rights} rights");
        let slots = figures.called + figures.inside;
        assert!(
            slots <= CAPACITY + figures.excess,
            "{slots} slots, {} in excess",
            figures.excess
        );
        let mut counted = 0;
        for person in self.people.iter().filter(|person| !person.left) {
            let Some((last, exempt)) = person.last else { continue };
            let inside = Self::inside(&view, person.number);
            let is_recent = self.time < last + IDLE && !exempt;
            counted += u32::from(is_recent);
            let was = Self::inside(before, person.number);
            let parks = inside.is_some_and(|inside| inside.parked) && was.is_some_and(|was| !was.parked);
            let returns = inside.is_some_and(|inside| !inside.parked) && was.is_some_and(|was| was.parked);
            self.parked += u64::from(parks);
            self.returned += u64::from(returns);
            assert!(
                !(is_recent && inside.is_some_and(|inside| inside.parked)),
                "{:?} is parked {} ms after a request",
                person.number,
                self.time - last
            );
            // What a gate had noted may be lost with it, or come late.
            let is_calm = self.trouble + 3_000 < person.seen;
            let lasts = is_calm && self.time + SLACK_MS < person.seen + 40_000;
            assert!(
                !lasts || exempt || inside.is_some(),
                "{:?} is {:?}",
                person.number,
                Self::standing(&view, person.number)
            );
        }
        assert!(counted <= CAPACITY + figures.excess, "the shop counts {counted}");
        self.in_turn(&view);
    }

    /// Of those who asked the first come back first.
    fn in_turn(&mut self, view: &View) {
        let parked = |number: &Number| Self::inside(view, *number).is_some_and(|inside| inside.parked);
        let first = self.queue.iter().position(parked).unwrap_or(self.queue.len());
        for number in &self.queue[first..] {
            let back = Self::inside(view, *number).is_some_and(|inside| !inside.parked);
            let excess = view.rooms[&room()].lines[&LineName::ONLY].figures.excess > 0;
            assert!(!back || excess, "{number:?} came back past {:?}", self.queue[first]);
        }
        self.queue.retain(parked);
    }

    /// With all gates up, and everybody acting, everybody who is parked comes back.
    fn calms_down(&mut self) {
        for gate in &mut self.gates {
            gate.cut_until = 0;
        }
        for _ in 0..400 {
            self.pass(250);
        }
        for round in 0..600 {
            let open: Vec<usize> = (0..self.people.len())
                .filter(|who| {
                    !self.people[*who].left && Self::inside(&self.state.view(), self.people[*who].number).is_some()
                })
                .collect();
            if open.is_empty() {
                return;
            }
            for who in open {
                let is_active =
                    Self::inside(&self.state.view(), self.people[who].number).is_some_and(|inside| !inside.parked);
                if is_active {
                    let number = self.people[who].number;
                    self.gates[0].notes.leaves.push((LANE, number));
                    self.people[who].left = true;
                } else {
                    self.request(who, 0);
                }
            }
            for _ in 0..8 {
                self.pass(250);
            }
            assert!(round < 500, "somebody never comes back");
        }
    }
}

fn number(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "which seeds")]
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn gates_that_lag_crash_and_are_cut_off_keep_the_laws() {
    let from = number("ACTIVE_FROM").unwrap_or(0);
    let seeds = number("ACTIVE_SEEDS").unwrap_or(SEEDS);
    let (mut parked, mut returned, mut forwarded) = (0, 0, 0);
    for seed in from..from + seeds {
        let mut sim = Sim::new(seed);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (0..STEPS).for_each(|_| sim.step());
            sim.calms_down();
        }));
        assert!(done.is_ok(), "seed {seed}");
        parked += sim.parked;
        returned += sim.returned;
        forwarded += sim.forwarded;
    }
    println!(
        "{} steps: {forwarded} requests, {parked} parked, {returned} returned",
        seeds * STEPS
    );
    assert!(parked > seeds * 5 && returned > seeds * 2, "{parked} {returned}");
}
