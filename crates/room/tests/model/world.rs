//! The world that is checked: the real room, behind it a log, before it one gate or two, and a few visitors.
//!
//! All of the room is real: `State::apply` takes entries as a gate appends them, and a fork is the state's own bytes, read back.
//! What a gate makes of a visitor's request is told here as `src/gate/seat/reader.rs` has it, without tokens' signatures.

use std::sync::Arc;

use ropeline_room::{
    Batch, CallId, Change, Clock, Effects, Entry, GateId, LineName, Number, Overrides, PendingId, Position, RoomChange,
    Section, Settings, Standing, State, View, Visitor, Wall,
};

use crate::active::{ACTIVE_MEMORY, IDLE};
use ropeline_room::testing::log::{EPOCH, LANE, only, room};

/// All times of this world are multiples of it, so that no time is between two steps of the room's rings.
pub const GRID: u64 = 50;

/// No rule of the room looks back further, but for a silent gate's hold, which outlasts every run.
pub const MEMORY: u64 = 16_000;

/// A gate that has read nothing for so long takes no visitors.
const BEHIND: u64 = 2_000;

/// Longest time without an entry in which the room's clock goes on with the wall's.
const TICK: u64 = 4_000;

/// The unit in which a visitor's absence is counted.
pub const AWAY: u64 = 500;

/// So many of them are less than half of `grace`.
pub const KEPT: u64 = 3;

const START: u64 = 1_000_000;

/// Short, so that few times lie between any two of them; the room's own slack of 2 s is the longest but for a generation and
/// `late_window`.
pub fn settings(slots: u32) -> Settings {
    Settings {
        capacity: slots,
        claim_deadline_ms: 1_000,
        session_ms: 1_819,
        session_max_ms: 4_000,
        grace_ms: 4_000,
        firm_within_ms: 640,
        late_window_ms: 3_200,
        ..Settings::default()
    }
}

/// How much there is of everything.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub gates: usize,
    pub visitors: usize,
    pub slots: u32,
    /// With active slots: most called, active and parked.
    pub rights: Option<u32>,
    /// How often each visitor may join.
    pub joins: u8,
    pub faults: Faults,
}

/// How many of each kind may still come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    pub crash: u8,
    pub reply: u8,
    pub log: u8,
    pub cut: u8,
    pub replay: u8,
    /// Times at which time stops just before a deadline, or just after it.
    pub early: u8,
    pub late: u8,
}

/// A rule that is broken on purpose, to see that the checker finds it: in what is done, or in how the state is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Broken {
    #[default]
    Nothing,
    /// Whoever leaves a session has another called above the slots.
    Capacity,
    /// A join is answered with the number that another visitor has.
    Uniqueness,
    /// The places of two visitors are read the wrong way round.
    Order,
    /// Time takes a waiting visitor out of the line.
    Lost,
    /// Once two have joined nobody is called any more.
    Served,
    /// The shop's requests are read as later than they were.
    Parked,
    /// All parked visitors are read as asking for a slot, in the order of their numbers, before those who asked.
    Returns,
    /// One right fewer is allowed than the room gives.
    Rights,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ticket {
    Pending(PendingId),
    Numbered(Number),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass {
    pub number: Number,
    pub count: u8,
    /// By the wall's time.
    pub until: u64,
    /// The log, with every gate, has lost the request by which it was dated.
    pub unheard: bool,
}

/// A visitor, and what they carry.
#[derive(Clone, Copy, Debug)]
pub struct Person {
    pub name: char,
    pub joins: u8,
    pub ticket: Option<Ticket>,
    pub pass: Option<Pass>,
    /// The last number that is worth nothing to them any more, with its pass if they had one.
    pub old: Option<(Number, Option<Pass>)>,
    /// For how long they have been away, in units of [`AWAY`], rounded up.
    pub away: u64,
    /// Never away for half of `grace`, and missed no turn, since they joined.
    pub steady: bool,
    /// Has asked since they joined.
    pub asked: bool,
    /// When the shop last had a request of theirs, in a world with active slots.
    pub last: Option<u64>,
}

/// The gate is cut off from the store.
#[derive(Clone, Debug)]
pub struct Cut {
    pub since: u64,
    /// How often time may still go on.
    pub moves: u8,
    /// Passes that were honoured meanwhile.
    pub honoured: Vec<Number>,
}

pub struct World {
    pub size: Size,
    pub broken: Broken,
    pub state: State,
    pub wall: u64,
    pub people: Vec<Person>,
    pub left: Faults,
    pub cut: Option<Cut>,
    /// A log was lost, or its end.
    pub lost: bool,
    /// The state that the second gate has read, if it is behind.
    pub stale: Option<Arc<[u8]>>,
    /// Ids given so far, gates' lives, and operators' changes.
    pub ids: u8,
    pub lives: u64,
    /// Who is parked and has asked for a slot, in that order.
    pub queue: Vec<Number>,
    /// Of the last change, and of the last entry.
    pub revision: u64,
    pub serial: u64,
    /// The gate's next entry is its first.
    pub hello: [bool; 2],
}

impl World {
    pub fn new(size: Size, broken: Broken) -> Self {
        let nobody = |at: usize| Person {
            name: char::from(b'A' + u8::try_from(at).unwrap()),
            joins: size.joins,
            ticket: None,
            pass: None,
            old: None,
            away: 0,
            steady: false,
            asked: false,
            last: None,
        };
        let mut world = Self {
            size,
            broken,
            state: State::empty(EPOCH),
            wall: START,
            people: (0..size.visitors).map(nobody).collect(),
            left: size.faults,
            cut: None,
            lost: false,
            stale: None,
            ids: 0,
            lives: 0,
            queue: Vec::new(),
            revision: 0,
            serial: 0,
            hello: [true; 2],
        };
        world.change(Change::Configure(size.settings()));
        // The log's beginning is out of mind.
        world.go_on(START + 2 * ACTIVE_MEMORY);
        world
    }

    /// The same world without what makes no difference: with equal forms, worlds go on alike. The order of visitors makes none.
    pub fn plain(mut self) -> (Self, [u8; 32]) {
        let wall = self.wall;
        if self.left.replay == 0 {
            self.people.iter_mut().for_each(|person| person.old = None);
        }
        self.people.sort_by_cached_key(|person| person.form(wall));
        self.state = self.state.plain();
        let form = self.form();
        (self, form)
    }

    fn gate_id(&self, gate: usize) -> GateId {
        if gate == 0 { GateId(1 + self.lives) } else { GateId(100) }
    }

    /// The next entry of a gate, applied at once. Everything before it is read by then, by the first gate.
    pub fn append(&mut self, gate: usize, batch: Batch) -> Effects {
        let entry = self.entry(gate, batch);
        self.apply(&entry)
    }

    pub fn apply(&mut self, entry: &Entry) -> Effects {
        if self.size.gates > 1 && self.stale.is_none() {
            self.stale = Some(self.state.encode().into());
        }
        self.state.apply(&entry.clone().into())
    }

    /// The entry as it would stand in the log now.
    pub fn entry(&mut self, gate: usize, batch: Batch) -> Entry {
        self.serial += 1;
        let at = self.state.position();
        let sequence = at.sequence + 1;
        let read = self.view(gate);
        Entry {
            position: Position { sequence, ..at },
            gate: self.gate_id(gate),
            serial: self.serial,
            previous: self.state.nonce(),
            nonce: sequence.to_le_bytes(),
            time: Wall(self.wall),
            version: self.state.version(),
            batch: Batch {
                hello: std::mem::take(&mut self.hello[gate]),
                applied: read.position.sequence,
                notes_until: Some(read.clock),
                ..batch
            },
        }
    }

    pub fn say(&mut self, gate: usize, section: Section) -> Effects {
        self.append(gate, of(section))
    }

    pub fn change(&mut self, change: Change) {
        self.revision += 1;
        let change = RoomChange {
            room: room(),
            revision: self.revision,
            change,
            who: None,
        };
        self.append(
            0,
            Batch {
                rooms: vec![change],
                ..Batch::default()
            },
        );
    }

    /// An operator calls nobody any more.
    pub fn hold(&mut self) {
        self.change(Change::Override(Overrides {
            mode: Some(ropeline_room::Mode::Hold),
            ..Overrides::default()
        }));
    }

    /// How a gate sees the rooms: the first one at once, the second as of the entry that it has read.
    pub fn view(&mut self, gate: usize) -> Arc<View> {
        match &self.stale {
            Some(bytes) if gate > 0 => State::decode(bytes).unwrap().view(),
            _ => self.state.view(),
        }
    }

    /// The room's clock now, as a gate has it that has read everything it could.
    pub fn now(&self, view: &View) -> Clock {
        view.clock.plus(self.wall - view.time.0)
    }

    /// Time goes on to `wall`; unless the gate is cut off, the log hears of it.
    pub fn go_on(&mut self, wall: u64) {
        while self.cut.is_none() && self.wall + TICK < wall {
            self.wall += TICK;
            self.append(0, Batch::default());
        }
        self.wall = wall;
        if self.cut.is_none() {
            self.append(0, Batch::default());
        }
        let behind = |bytes: &Arc<[u8]>| {
            let read = State::decode(bytes).unwrap().time().unwrap_or_default();
            wall - read.0 >= BEHIND
        };
        if self.stale.as_ref().is_some_and(behind) {
            self.stale = None;
        }
        if self.size.gates > 1 && self.cut.is_none() && self.stale.is_none() {
            self.append(1, Batch::default());
            self.stale = None;
        }
    }

    /// When something changes next by the clock alone, as the room says it or as visitors are told; by the wall's time.
    pub fn next_deadline(&mut self) -> Option<u64> {
        let view = self.state.view();
        let now = self.now(&view);
        let mut dues: Vec<Clock> = self.state.next_due().into_iter().collect();
        let mut dates = Vec::new();
        for person in &self.people {
            let told = person.number().map(|number| stands(&view, number));
            match told {
                Some(Standing::Called(called)) => dues.push(called.deadline),
                Some(Standing::Inside(inside)) => {
                    dues.push(inside.expires);
                    // From then on it asks.
                    dues.extend(Some(inside.unasked_until).filter(|until| *until < inside.ends_by));
                }
                Some(Standing::Unknown) => dates.extend(person.pass.map(|pass| pass.until)),
                _ => {}
            }
        }
        let dues = dues.into_iter().filter(|due| *due > now);
        let dues = dues.map(|due| self.wall + due.since(now));
        // A pass is dated between two times of the grid: it is over at the second of them.
        let dates = dates.into_iter().map(|date: u64| date.next_multiple_of(GRID));
        let dates = dates.filter(|date| *date > self.wall);
        let next = dues.chain(dates).min()?.next_multiple_of(GRID);
        (next - self.wall < 60_000).then_some(next)
    }

    pub fn pending_id(&mut self) -> PendingId {
        self.ids += 1;
        PendingId([self.ids; 12])
    }

    /// The gate's process dies, and another takes its place with the state as the log has it.
    pub fn crash(&mut self) {
        self.state = State::decode(&self.state.encode()).unwrap();
        self.lives += 1;
        self.hello[0] = true;
        self.append(0, Batch::default());
    }

    /// Nothing is left of the log, and no gate knows it.
    pub fn lose_everything(&mut self) {
        let epoch = self.state.position().epoch + 1;
        self.state = State::after_a_loss(epoch);
        (self.lost, self.stale, self.hello, self.revision) = (true, None, [true; 2], 0);
        self.change(Change::Configure(self.size.settings()));
        self.queue.clear();
        self.second_gate_comes();
    }

    /// The log is back at this state, and goes on as another.
    pub fn lose_end(&mut self, bytes: &[u8]) {
        let before = State::decode(bytes).unwrap();
        let epoch = before.position().epoch + 1;
        self.state = before;
        // As gates do with the rooms that a log is to begin with.
        self.state.mark_newcomers();
        self.state.begin(epoch, ropeline_room::Root::Own);
        (self.lost, self.stale, self.hello) = (true, None, [true; 2]);
        self.append(0, Batch::default());
        self.second_gate_comes();
    }

    fn second_gate_comes(&mut self) {
        if self.size.gates > 1 {
            self.append(1, Batch::default());
            self.stale = None;
        }
    }

    fn form(&self) -> [u8; 32] {
        let wall = self.wall;
        let mut bytes = self.state.form(self.size.memory());
        for person in &self.people {
            bytes.extend(person.form(wall));
        }
        let Faults {
            crash,
            reply,
            log,
            cut,
            replay,
            early,
            late,
        } = self.left;
        bytes.extend([
            crash,
            reply,
            log,
            cut,
            replay,
            early,
            late,
            self.ids,
            u8::from(self.lost),
        ]);
        // The rule of returns goes by it, so it is told apart even where the room would not.
        bytes.push(u8::try_from(self.queue.len()).unwrap());
        self.queue.iter().for_each(|number| put(&mut bytes, *number));
        if let Some(cut) = &self.cut {
            bytes.push(cut.moves);
            bytes.extend((wall - cut.since).to_le_bytes());
            cut.honoured.iter().for_each(|number| put(&mut bytes, *number));
        }
        if let Some(stale) = &self.stale {
            let read = State::decode(stale).unwrap();
            bytes.extend((wall - read.time().unwrap_or_default().0).to_le_bytes());
            bytes.extend(read.plain().form(self.size.memory()));
        }
        State::hash_of(&bytes)
    }
}

impl Person {
    pub fn number(&self) -> Option<Number> {
        match self.ticket {
            Some(Ticket::Numbered(number)) => Some(number),
            _ => self.pass.map(|pass| pass.number),
        }
    }

    pub fn has_nothing(&self) -> bool {
        self.ticket.is_none() && self.pass.is_none()
    }

    /// What they carry is worth nothing any more.
    pub fn forget(&mut self) {
        if let Some(number) = self.number() {
            self.old = Some((number, self.pass));
        }
        (self.ticket, self.pass, self.steady, self.last) = (None, None, false, None);
    }

    /// When the last request is so long ago that they are idle.
    pub fn idle_at(&self) -> Option<u64> {
        self.last.map(|last| last + IDLE)
    }

    /// They are here.
    pub fn is_seen(&mut self) {
        self.away = 0;
    }

    fn form(&self, wall: u64) -> Vec<u8> {
        let mut bytes = vec![self.joins];
        match self.ticket {
            None => bytes.push(0),
            Some(Ticket::Pending(id)) => bytes.extend([1, id.0[0]]),
            Some(Ticket::Numbered(number)) => {
                bytes.push(2);
                put(&mut bytes, number);
            }
        }
        let (old, old_pass) = self.old.unzip();
        for pass in [self.pass, old_pass.flatten()] {
            bytes.push(u8::from(pass.is_some()));
            if let Some(pass) = pass {
                put(&mut bytes, pass.number);
                bytes.extend([pass.count, u8::from(pass.unheard)]);
                bytes.extend(pass.until.saturating_sub(wall).to_le_bytes());
            }
        }
        bytes.push(u8::from(old.is_some()));
        if let Some(number) = old {
            put(&mut bytes, number);
        }
        // How long a visitor has been away matters only of one who has lost nothing so far.
        bytes.push(u8::from(self.steady));
        if self.steady {
            bytes.push(u8::from(self.asked));
            bytes.extend(self.away.to_le_bytes());
        }
        if let Some(idle) = self.idle_at().filter(|idle| *idle > wall) {
            bytes.extend((idle - wall).to_le_bytes());
        }
        bytes
    }
}

pub fn put(bytes: &mut Vec<u8>, number: Number) {
    bytes.extend(number.epoch.0.to_le_bytes());
    bytes.extend(number.n.to_le_bytes());
}

pub fn of(section: Section) -> Batch {
    Batch {
        sections: vec![section],
        ..Batch::default()
    }
}

pub fn about(number: Number, put: fn(&mut Section) -> &mut Vec<(ropeline_room::LaneId, Number)>) -> Section {
    let mut section = only();
    put(&mut section).push((LANE, number));
    section
}

pub fn stands(view: &View, number: Number) -> Standing {
    view.standing(
        &Visitor {
            room: room(),
            line: LineName::ONLY,
            lane: LANE,
            number,
            rehearsal: None,
        },
        view.clock,
    )
}

/// The place of a number in the lane, if it has one.
pub fn place(view: &View, number: Number) -> Option<u64> {
    view.rooms.get(&room())?.line(&LineName::ONLY)?.place(LANE, number)
}

pub fn call(number: Number, count: u8) -> CallId {
    CallId {
        lane: LANE,
        number,
        count,
    }
}
