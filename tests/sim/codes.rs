//! Codes in worlds with faults: a room beside the line's, whose visitors come by codes that up to three of them hold. They
//! show them at any gate, some together with a place in line, and ask again when an answer is lost.
//!
//! In every case a code gives a number to at most one visitor. `code_book` judges every entry.

use ropeline::replica::{Arrival, Granted, JoinOutcome, Note, Redemption};
use ropeline::room::{
    CodeId, Denied, LaneId, LineName, NamedLane, Number, PendingId, Redeem, RoomName, Settings, Standing, View,
    Visitor, Wall,
};
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::TryRecvError;

use super::faults::Fault;
use super::observer;
use super::rooms;
use super::store::EPOCH_MS;
use super::world::{Event, SECOND, Time, World};

pub type Seat = (LaneId, Number);

/// Most who are past the line at once.
pub const MOST: u32 = 3;
const REST: LaneId = LaneId(0);
const PRESS: LaneId = LaneId(1);
/// Codes are made on average so often, and the last of them while there is time to use it.
const ISSUED_EVERY: Time = 3 * SECOND;
const LAST_ISSUE: Time = 60 * SECOND;
/// All faults are over at that time.
const CALM_BY: Time = 100 * SECOND;
/// How long a gate waits for the log.
const PATIENCE: Time = 4 * SECOND;
/// Visitors whose code is not taken at present have asked again within that time, and have their answer.
const JUST_NOW: Time = 15 * SECOND;

/// The issued codes.
#[derive(Default)]
pub struct Desk {
    /// There are codes in this world.
    pub on: bool,
    cases: Vec<Case>,
    holders: Vec<Holder>,
    /// Two masters, or a gate whose rooms are wrong, may have given one code twice.
    pub excused: bool,
    calm_from: Time,
}

struct Case {
    code: Redeem,
    /// Made when nothing went wrong any more.
    calm: bool,
    told: Vec<(PendingId, Seat)>,
    /// A visitor kept it, who was called meanwhile.
    kept: bool,
}

struct Holder {
    case: usize,
    mark: PendingId,
    /// Would wait in line first, and does with this number.
    waits: bool,
    place: Option<Number>,
    told: Option<Seat>,
    /// How often it asks again, as if the answer had been lost.
    again: u64,
    visit: u64,
    /// When a gate last said that the code is not taken at present.
    put_off: Option<Time>,
    done: bool,
}

/// A visitor who waits for the result of a code.
pub struct Showing {
    holder: usize,
    visit: u64,
    answer: Answer,
}

enum Answer {
    Code(Receiver<Redemption>),
    Place(Receiver<JoinOutcome>),
}

/// Events at the desk.
#[derive(Clone, Copy)]
pub enum Word {
    Issue,
    Shows(usize, u64),
    Parts(usize),
}

pub fn room() -> RoomName {
    RoomName::new("press").unwrap()
}

pub fn settings() -> Settings {
    Settings {
        capacity: 4,
        bypass_most: MOST,
        lane_weights: vec![1, 2],
        lanes: vec![NamedLane::new("rest"), NamedLane::new("press")],
        stock: None,
        active: None,
        ..rooms::settings()
    }
}

fn visitor((lane, number): Seat) -> Visitor {
    Visitor {
        room: room(),
        line: LineName::ONLY,
        lane,
        number,
        rehearsal: None,
    }
}

pub fn standing(view: &View, seat: Seat) -> Standing {
    view.standing(&visitor(seat), view.clock)
}

pub fn lives(view: &View, seat: Seat) -> bool {
    matches!(
        standing(view, seat),
        Standing::Waiting(_) | Standing::Called(_) | Standing::Inside(_)
    )
}

/// A quarter of the wild worlds have codes.
pub fn some_codes(seed: u64) -> bool {
    super::chance::Chance::new(seed ^ 0xC0DE).hits(250)
}

/// Two masters each accept a code, and a gate whose rooms are wrong may answer anything; if a clock goes back by more than
/// codes were issued before a loss, the loss cannot be detected.
pub fn excuses(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Fork { .. } | Fault::Twist(_) | Fault::Step(-3_600_000..=-1_000_000)
    )
}

impl World {
    pub fn open_desk(&mut self, busy: Time, excused: bool) {
        (self.desk.on, self.desk.excused, self.desk.calm_from) = (true, excused, busy + CALM_BY);
        observer::with(|watch| watch.codes.on = true);
        self.after(5 * SECOND, Event::Desk(Word::Issue));
    }

    pub fn at_desk(&mut self, word: Word) {
        match word {
            Word::Issue => self.issues(),
            Word::Shows(holder, visit) if self.desk.holders[holder].visit == visit => self.shows_code(holder),
            Word::Shows(..) => {}
            Word::Parts(holder) => self.parts_from_code(holder),
        }
    }

    fn issues(&mut self) {
        let now = self.now;
        let calm = now > self.desk.calm_from;
        let wall = self.master().wall(now);
        let mut id = [0; 6];
        id.copy_from_slice(&self.chance.next().to_be_bytes()[2..]);
        let kind = self.chance.within(0, 5);
        let (single, bypass) = (kind != 4, kind >= 3);
        let short = self.chance.hits(400) && !calm;
        let lasts = if short { self.chance.within(15, 40) } else { 3_600 };
        let code = Redeem {
            room: room(),
            line: LineName::ONLY,
            lane: if bypass { REST } else { PRESS },
            tags: Vec::new(),
            code: CodeId(id),
            holder: PendingId([0; 12]),
            issued: Wall(wall.0 / 1_000 * 1_000),
            expires: Some(Wall(wall.0 / 1_000 * 1_000 + lasts * 1_000)),
            single,
            bypass,
            leaves: None,
        };
        self.desk.cases.push(Case {
            code,
            calm,
            told: Vec::new(),
            kept: false,
        });
        for _ in 0..self.chance.within(1, 4) {
            self.gives_away(if short { lasts } else { 60 });
        }
        if now < self.desk.calm_from + LAST_ISSUE {
            let next = self.chance.within(0, 2 * ISSUED_EVERY);
            self.after(next, Event::Desk(Word::Issue));
        }
    }

    fn gives_away(&mut self, within_secs: u64) {
        let mut mark = [0; 12];
        mark[..8].copy_from_slice(&self.chance.next().to_le_bytes());
        let holder = Holder {
            case: self.desk.cases.len() - 1,
            mark: PendingId(mark),
            waits: self.chance.hits(300),
            place: None,
            told: None,
            again: self.chance.within(0, 4),
            visit: 0,
            put_off: None,
            done: false,
        };
        self.desk.holders.push(holder);
        self.shows_again(self.desk.holders.len() - 1, 0, within_secs * SECOND);
    }

    fn shows_again(&mut self, holder: usize, from: Time, to: Time) {
        let delay = self.chance.within(from, to);
        self.desk.holders[holder].visit += 1;
        let visit = self.desk.holders[holder].visit;
        self.after(delay, Event::Desk(Word::Shows(holder, visit)));
    }

    /// A gate that may be asked.
    fn some_gate(&mut self) -> Option<usize> {
        let now = self.now;
        let there = |slot: &super::world::Slot| {
            slot.gate
                .as_ref()
                .is_some_and(|gate| gate.paused_until <= now && !gate.leaving)
        };
        let there: Vec<usize> = (0..self.slots.len()).filter(|at| there(&self.slots[*at])).collect();
        (!there.is_empty()).then(|| self.chance.pick(&there))
    }

    fn shows_code(&mut self, id: usize) {
        let Some(slot) = self.some_gate().filter(|_| !self.desk.holders[id].done) else {
            return self.shows_again(id, SECOND, 3 * SECOND);
        };
        let wall = EPOCH_MS + self.now / 1_000;
        let holder = &self.desk.holders[id];
        let case = &self.desk.cases[holder.case];
        let redeem = Redeem {
            holder: holder.mark,
            leaves: holder.place.map(|number| (REST, number)),
            ..case.code.clone()
        };
        if case.code.expires.is_some_and(|expires| expires.0 <= wall) {
            self.desk.holders[id].done = true;
            return;
        }
        let waits = holder.waits && holder.place.is_none();
        let place = holder.place;
        let now = self.now;
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        if gate.cut_off(now) {
            observer::with(|watch| watch.codes.seen.not_now += 1);
            return self.shows_again(id, SECOND, 3 * SECOND);
        }
        if let Some(number) = place {
            gate.note(visitor((REST, number)), Note::Mark, self.now);
        }
        let answer = if waits {
            let arrival = Arrival {
                id: redeem.holder,
                tags: Vec::new(),
                again: false,
                leaves: false,
                rehearsal: None,
            };
            gate.protocol
                .join(room(), LineName::ONLY, REST, arrival)
                .map(Answer::Place)
        } else {
            gate.protocol.redeem(redeem).map(Answer::Code)
        };
        self.shows_again(id, PATIENCE, PATIENCE + 1);
        let visit = self.desk.holders[id].visit;
        if let (Some(answer), Some(gate)) = (answer, self.slots[slot].gate.as_mut()) {
            let holder = id;
            gate.shown.push(Showing { holder, visit, answer });
        }
        self.go_on(slot);
    }

    /// The store has answered a gate: visitors who showed a code there get their answer, if they still wait.
    pub fn codes_told(&mut self, slot: usize) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        let (mut waiting, mut told, mut placed) = (Vec::new(), Vec::new(), Vec::new());
        for mut showing in std::mem::take(&mut gate.shown) {
            let still = match &mut showing.answer {
                Answer::Code(answer) => answer
                    .try_recv()
                    .map(|done| told.push((showing.holder, showing.visit, done))),
                Answer::Place(answer) => answer
                    .try_recv()
                    .map(|done| placed.push((showing.holder, showing.visit, done))),
            };
            if still == Err(TryRecvError::Empty) {
                waiting.push(showing);
            }
        }
        gate.shown = waiting;
        for (holder, visit, outcome) in placed {
            if let (JoinOutcome::Numbered(_, number), true) = (outcome, self.desk.holders[holder].visit == visit) {
                self.desk.holders[holder].place = Some(number);
                self.shows_again(holder, SECOND, 8 * SECOND);
            }
        }
        for (holder, visit, done) in told {
            if self.desk.holders[holder].visit == visit {
                match done {
                    Ok(granted) => self.is_granted(holder, slot, granted),
                    Err(denied) => self.is_denied(holder, slot, denied),
                }
            }
        }
    }

    fn is_granted(&mut self, id: usize, slot: usize, granted: Granted) {
        let seat = (granted.lane, granted.number);
        let holder = &self.desk.holders[id];
        let (case, mark, place, again) = (holder.case, holder.mark, holder.place, holder.again);
        let kept = !granted.new && place == Some(granted.number) && granted.lane == REST;
        let left = place
            .filter(|_| granted.new && granted.lane == PRESS)
            .map(|number| (REST, number));
        let view = self.slots[slot].gate.as_ref().map(|gate| gate.view.clone());
        if let Some(left) = left.filter(|left| view.as_ref().is_some_and(|view| lives(view, *left))) {
            self.fault(format_args!("{id} was given {seat:?} for {left:?}, and has that still"));
        }
        if kept {
            self.desk.cases[case].kept = true;
        } else {
            let case = &mut self.desk.cases[case];
            let other = case.told.iter().find(|told| **told != (mark, seat)).copied();
            case.told.push((mark, seat));
            let (code, single) = (case.code.code, case.code.single);
            if let Some(other) = other.filter(|_| single && !self.desk.excused) {
                self.fault(format_args!(
                    "{code} is told to {mark:?} as {seat:?}, and was told as {other:?}"
                ));
            }
            self.desk.holders[id].told = Some(seat);
        }
        if again == 0 {
            self.desk.holders[id].done = true;
            return self.comes_in(id, slot, seat);
        }
        self.desk.holders[id].again -= 1;
        self.shows_again(id, SECOND, 15 * SECOND);
    }

    /// Most bypass visitors come in, and leave after a while.
    fn comes_in(&mut self, id: usize, slot: usize, seat: Seat) {
        if self.chance.hits(700)
            && let Some(gate) = self.slots[slot].gate.as_mut()
        {
            gate.note(visitor(seat), Note::Claim { carried: true }, self.now);
            let stays = self.chance.within(SECOND, 12 * SECOND);
            self.after(stays, Event::Desk(Word::Parts(id)));
        }
        self.go_on(slot);
    }

    fn parts_from_code(&mut self, id: usize) {
        if let (Some(slot), Some(seat)) = (self.some_gate(), self.desk.holders[id].told) {
            if let Some(gate) = self.slots[slot].gate.as_mut() {
                gate.note(visitor(seat), Note::Leave, self.now);
            }
            self.go_on(slot);
        }
    }

    fn is_denied(&mut self, id: usize, slot: usize, denied: Denied) {
        let holder = &self.desk.holders[id];
        let (told, case) = (holder.told, &self.desk.cases[holder.case]);
        let (code, calm, bypass) = (case.code.code, case.calm, case.code.bypass);
        let view = self.slots[slot].gate.as_ref().map(|gate| gate.view.clone());
        let inside = view
            .as_ref()
            .and_then(|view| Some(view.rooms.get(&room())?.line(&LineName::ONLY)?.figures));
        let full = bypass && inside.is_some_and(|figures| figures.called + figures.inside >= MOST);
        observer::with(|watch| watch.codes.seen.denied(denied, full));
        match denied {
            Denied::NotNow | Denied::Refused => {
                self.desk.holders[id].put_off = (denied == Denied::NotNow).then_some(self.now);
                return self.shows_again(id, SECOND, 6 * SECOND);
            }
            Denied::Spent => {
                let lives = |seat: &Seat| view.as_ref().is_some_and(|view| lives(view, *seat));
                if let Some(seat) = told.filter(lives).filter(|_| !self.desk.excused) {
                    self.fault(format_args!(
                        "{code} is spent for {id}, who was told {seat:?} by it and lives"
                    ));
                }
            }
            Denied::Doubtful if calm => self.fault(format_args!("{code} was made in the calm, and is in doubt")),
            Denied::Doubtful | Denied::Expired => {}
        }
        self.desk.holders[id].done = true;
    }

    /// Their gate has died.
    pub fn shown_in_vain(&mut self, shown: Vec<Showing>) {
        for showing in shown {
            self.shows_again(showing.holder, SECOND, 6 * SECOND);
        }
    }
}

/// The store's clock went back behind the code's issue date, by more than the world has left, and a gate has just said that
/// the code is not taken at present.
///
/// No program could take it. A log that begins from nothing knows of no codes, and refuses those of before its first entry
/// by the store's clock. So it would take this code once more when that clock reaches the issue date. A code that is known to
/// be used is answered whatever its date is.
fn waits_for_its_date(world: &World, holder: &Holder) -> bool {
    let code = &world.desk.cases[holder.case].code;
    let wall = world.servers.last().map(|master| master.wall(world.now));
    let used = |view: &View| {
        let room = view.rooms.get(&room());
        room.is_some_and(|room| room.spent.get(code.code).is_some())
    };
    let mut gates = world.slots.iter().filter_map(|slot| slot.gate.as_ref());
    code.single
        && wall.is_some_and(|wall| wall < code.issued)
        && holder.put_off.is_some_and(|at| world.now < at + JUST_NOW)
        && !gates.any(|gate| used(&gate.view))
}

/// Looks the codes over when all is done.
pub fn judge(world: &World) -> Vec<String> {
    let desk = &world.desk;
    if !desk.on {
        return Vec::new();
    }
    let mut faults = Vec::new();
    let left = |holder: &Holder| !holder.done && !waits_for_its_date(world, holder);
    if let Some(id) = desk.holders.iter().position(left) {
        let holder = &desk.holders[id];
        let code = &desk.cases[holder.case].code;
        faults.push(format!(
            "{id} is never told what became of {code:?}, with {:?}",
            holder.place
        ));
    }
    let good = |case: &&Case| case.calm && case.code.single;
    if let Some(case) = desk
        .cases
        .iter()
        .filter(good)
        .find(|case| case.told.is_empty() && !case.kept)
    {
        faults.push(format!("{:?} was made in the calm, and nobody has used it", case.code));
    }
    let gates = world.slots.iter().filter_map(|slot| slot.gate.as_ref());
    let spent = gates.map(|gate| {
        let room = gate.view.rooms.get(&room());
        let spent = room.map(|room| room.spent.iter_after(None).map(|(code, spent)| (code, spent.clone())));
        spent.map(Iterator::collect::<Vec<_>>)
    });
    let spent: Vec<_> = spent.collect();
    if spent.windows(2).any(|pair| pair[0] != pair[1]) {
        faults.push("two gates know other codes to be spent".to_owned());
    }
    faults
}
