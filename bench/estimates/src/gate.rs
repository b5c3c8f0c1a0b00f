//! The one gate of a run: it turns what visitors do into entries, applies them to the real room, and reads the views.
//!
//! This is the only file that knows the room's types. It is not frozen, since the room's interface may change with the method;
//! it must stay without any rule of its own.

use std::sync::Arc;

use ropeline_ids::{Epoch, GateId, LaneId, LineName, Number, Position, RoomName, Wall};
use ropeline_room::{
    Batch, Bounds, Change as RoomWord, Circuit, Claim, Controller, End, Entry, LineView, LoadControl, MAX_BATCH_BYTES,
    Mode, NamedLane, Overrides, Report, RoomChange, RoomView, Section, Settings, Standing, State, Times, VERSION, View,
};

use crate::patterns::{Change, Room};

/// A visitor's number in a lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Seat {
    pub lane: u8,
    pub number: u32,
}

/// Where a visitor stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stands {
    /// In line, or missed a turn and not back yet.
    Waiting {
        ahead: u64,
        present: bool,
        mark_due: bool,
    },
    Called,
    Inside,
    Gone,
}

/// What an entry has brought.
#[derive(Clone, Default, Debug)]
pub struct News {
    /// For each lane with newcomers, the first of their numbers.
    pub joined: Vec<(u8, u32)>,
    /// Who was called or came in, and how often they have been called.
    pub called: Vec<(Seat, u8)>,
}

/// The line at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    pub waiting: u64,
    pub held: u64,
    pub capacity: u64,
    pub calls: u64,
    /// The operator, the shop and the log let the room call.
    pub calls_possible: bool,
    /// A visitor who came now would be let in at once.
    pub open: bool,
}

/// The requests of two seconds, as the gate has seen them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Served {
    pub requests: u32,
    /// People with a request in that time.
    pub people: u32,
    /// How long half, most, and the slowest tenth of them took, in microseconds.
    pub took_us: [u64; 3],
    pub down: bool,
}

pub struct Gate {
    state: State,
    room: RoomName,
    section: Section,
    reports: Vec<(RoomName, Report)>,
    overrides: Overrides,
    serial: u64,
    view: Arc<View>,
    line: Option<Arc<LineView>>,
}

impl Gate {
    pub fn start(room: &Room) -> Self {
        let mut state = State::empty(1);
        let view = state.view();
        let name = RoomName::new("shop").expect("letters");
        let mut gate = Self {
            state,
            section: Section::new(name.clone(), LineName::ONLY),
            room: name,
            reports: Vec::new(),
            overrides: Overrides::default(),
            serial: 0,
            view,
            line: None,
        };
        gate.change(RoomWord::Configure(settings(room)), 0);
        gate
    }

    pub fn join(&mut self, lane: u8, count: u32) {
        self.section.joins.push((LaneId(lane), count));
    }

    pub fn mark(&mut self, seat: Seat) {
        self.section.marks.push(pair(seat));
    }

    pub fn leave(&mut self, seat: Seat) {
        self.section.leaves.push(pair(seat));
    }

    pub fn claim(&mut self, seat: Seat) {
        let (lane, number) = pair(seat);
        self.section.claims.push(Claim {
            lane,
            number,
            carried: true,
        });
    }

    pub fn renew(&mut self, seat: Seat) {
        self.section.renewals.push(pair(seat));
    }

    pub fn end(&mut self, seat: Seat, after_ms: u64) {
        let (lane, number) = pair(seat);
        self.section.ends.push(End { lane, number, after_ms });
    }

    pub fn report(&mut self, served: Served) {
        let mut times = Times::default();
        for request in 0..served.requests {
            let took = match request % 20 {
                0..10 => served.took_us[0],
                10..18 => served.took_us[1],
                _ => served.took_us[2],
            };
            times.note(took);
        }
        let report = Report {
            span_ms: 2_000,
            requests: served.requests,
            ended: served.requests,
            errors: if served.down { served.requests } else { 0 },
            answered: if served.down { 0 } else { served.people },
            circuit: if served.down { Circuit::Open } else { Circuit::Closed },
            times: if served.down { Times::default() } else { times },
            ..Report::default()
        };
        self.reports.push((self.room.clone(), report));
    }

    /// An operator's change.
    pub fn order(&mut self, change: Change, now: u64) {
        match change {
            Change::Capacity(slots) => self.overrides.capacity = Some(slots),
            Change::Rate(rate) => self.overrides.rate_per_minute = Some(rate),
            Change::Hold => self.overrides.mode = Some(Mode::Hold),
            Change::GoOn => self.overrides.mode = None,
            Change::ShopStops | Change::ShopIsBack => return,
        }
        self.change(RoomWord::Override(self.overrides.clone()), now);
    }

    /// Appends what has been collected, in as many entries as it takes, and applies them.
    pub fn speak(&mut self, now: u64) -> News {
        let before = self.line.clone();
        let empty = Section::new(self.room.clone(), LineName::ONLY);
        let mut said = std::mem::replace(&mut self.section, empty);
        let mut news = News::default();
        let mut first = true;
        while first || items(&said) > 0 {
            let batch = Batch {
                sections: vec![self.cut(&mut said)],
                load: std::mem::take(&mut self.reports),
                ..Batch::default()
            };
            let joined = self.append(batch, now);
            news.joined.extend(joined);
            first = false;
        }
        self.look();
        if let Some(line) = &self.line {
            let calls = |line: &LineView| line.figures.calls;
            if before.as_deref().map_or(0, calls) != calls(line) {
                let seated = line.seated_since(before.as_deref());
                let seat = |lane: LaneId, number: Number| Seat {
                    lane: lane.0,
                    number: number.n,
                };
                news.called = seated
                    .iter()
                    .map(|call| (seat(call.lane, call.number), call.count))
                    .collect();
            }
        }
        news
    }

    pub fn moment(&self) -> Moment {
        let (Some(line), Some(room)) = (&self.line, self.room_view()) else {
            return Moment::default();
        };
        let figures = &line.figures;
        let resting = room.load.as_ref().is_some_and(|load| load.step_milli == 0);
        let stopped = room.settings.mode != Mode::Auto || room.settings.calls_nobody();
        Moment {
            waiting: figures.waiting,
            held: u64::from(figures.called) + u64::from(figures.inside),
            capacity: u64::from(figures.capacity),
            calls: figures.calls,
            calls_possible: !resting && !stopped && self.view.adopting.is_none(),
            open: self.view.open(&self.room, &LineName::ONLY, self.view.clock),
        }
    }

    pub fn waiting(&self, lane: u8) -> u64 {
        self.line.as_ref().map_or(0, |line| line.waiting(LaneId(lane)))
    }

    pub fn stands(&self, seat: Seat) -> Stands {
        let Some(line) = &self.line else { return Stands::Gone };
        let (lane, number) = pair(seat);
        match line.standing(lane, number, self.view.clock) {
            Standing::Waiting(waiting) => Stands::Waiting {
                ahead: waiting.ahead,
                present: waiting.present,
                mark_due: waiting.mark_due,
            },
            Standing::Called(_) => Stands::Called,
            Standing::Inside(_) => Stands::Inside,
            Standing::Late | Standing::Ended | Standing::Unknown => Stands::Gone,
        }
    }

    /// What a visitor with so many ahead is told: from so many seconds to so many. The estimate of the status answer; the
    /// band in which a page keeps an earlier one is not applied.
    pub fn told(&self, lane: u8, ahead: u64) -> Option<(u32, u32)> {
        let line = self.line.as_ref()?;
        let estimate = line.estimate(LaneId(lane), ahead, self.view.clock)?;
        Some((estimate.low_secs, estimate.high_secs))
    }

    fn room_view(&self) -> Option<&Arc<RoomView>> {
        self.view.rooms.get(&self.room)
    }

    fn look(&mut self) {
        self.view = self.state.view();
        self.line = self.room_view().and_then(|room| room.line(&LineName::ONLY)).cloned();
    }

    fn change(&mut self, change: RoomWord, now: u64) {
        let rooms = vec![RoomChange {
            room: self.room.clone(),
            revision: self.serial + 1,
            change,
            who: None,
        }];
        self.append(
            Batch {
                rooms,
                ..Batch::default()
            },
            now,
        );
        self.look();
    }

    /// The part that fits in one batch.
    fn cut(&self, said: &mut Section) -> Section {
        let mut section = Section::new(self.room.clone(), LineName::ONLY);
        let mut left = MAX_BATCH_BYTES / ITEM_BYTES - 16;
        section.joins = std::mem::take(&mut said.joins);
        take(&mut said.claims, &mut section.claims, &mut left);
        take(&mut said.leaves, &mut section.leaves, &mut left);
        take(&mut said.ends, &mut section.ends, &mut left);
        take(&mut said.renewals, &mut section.renewals, &mut left);
        take(&mut said.marks, &mut section.marks, &mut left);
        section.marks.sort_unstable();
        section
    }

    fn append(&mut self, batch: Batch, now: u64) -> Vec<(u8, u32)> {
        self.serial += 1;
        let at = self.state.position();
        let sequence = at.sequence + 1;
        let entry = Entry {
            position: Position { sequence, ..at },
            gate: GateId(1),
            serial: self.serial,
            previous: self.state.nonce(),
            nonce: sequence.to_le_bytes(),
            time: START.plus(now),
            version: VERSION,
            batch: Batch {
                hello: sequence == 1,
                knows: VERSION,
                ..batch
            },
        };
        let effects = self.state.apply(&entry.into());
        let joined = effects.joined.iter();
        joined
            .filter_map(|joined| Some((joined.lane.0, joined.first?.n)))
            .collect()
    }
}

fn settings(room: &Room) -> Settings {
    let weights = room.lanes.iter().map(|(weight, _)| *weight);
    let lanes = if room.lanes.len() > 1 {
        let names = (0..room.lanes.len()).map(|lane| NamedLane::new(&format!("lane-{lane}")));
        names.collect()
    } else {
        Vec::new()
    };
    Settings {
        capacity: room.capacity,
        rate_per_minute: room.rate_per_minute,
        call_every_ms: room.call_every,
        session_ms: room.session,
        session_max_ms: room.session_max,
        claim_deadline_ms: room.claim,
        grace_ms: room.grace,
        lane_weights: weights.collect(),
        lanes,
        load_control: room
            .follows
            .map(|_| LoadControl::by(Controller::Adaptive(Bounds::default()))),
        ..Settings::default()
    }
}

fn pair(seat: Seat) -> (LaneId, Number) {
    let number = Number {
        epoch: Epoch(1),
        n: seat.number,
    };
    (LaneId(seat.lane), number)
}

fn take<T>(from: &mut Vec<T>, to: &mut Vec<T>, left: &mut usize) {
    let count = from.len().min(*left);
    to.extend(from.drain(..count));
    *left -= count;
}

fn items(section: &Section) -> usize {
    let sent = [section.leaves.len(), section.renewals.len(), section.marks.len()];
    sent.iter().sum::<usize>() + section.claims.len() + section.ends.len()
}

/// Bytes that an item of a batch takes at most.
const ITEM_BYTES: usize = 28;

/// 2026-01-01.
const START: Wall = Wall(1_767_225_600_000);
