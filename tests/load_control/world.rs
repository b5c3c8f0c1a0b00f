//! Visitors who are called, come, ask the shop and go, on virtual time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ropeline::room::{Bounds, Controller, LoadControl, Report};
use ropeline::simulate::Observed;
use ropeline::simulate::shop::{Cliff, Done, Shop};

use crate::course::{Chance, Course, SECOND_US};

/// How often visitors are called.
pub const TICK_US: u64 = 250_000;

/// The part that decides how many are called.
pub trait Door {
    /// How many are called now. `told` lists the visitors who have come and whose visit is over, by the order of their call;
    /// `report` gives the gate's figures since it was last asked.
    fn call(&mut self, told: &Told, report: &mut dyn FnMut() -> Report, now_us: u64) -> u64;
}

/// The visitors' events since the last tick.
#[derive(Default)]
pub struct Told {
    pub came: Vec<u64>,
    pub left: Vec<u64>,
}

/// How a run went.
#[derive(Default)]
pub struct Trace {
    pub completed: u64,
    pub lost: u64,
    pub calls: u64,
    /// When each request was over, and how long it took; `None`: it failed.
    pub requests: Vec<(u64, Option<u64>)>,
}

struct Visit {
    left: u64,
    tried: bool,
    chance: Chance,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Move(u64),
    Tick,
    Come(u64),
    Ask(u64),
}

struct World<'a> {
    course: &'a Course,
    shop: Shop,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    visits: BTreeMap<u64, Visit>,
    told: Told,
    observed: Observed,
    trace: Trace,
}

/// As a room has it that says no more than that it goes by its shop.
pub fn load_control() -> LoadControl {
    LoadControl::by(Controller::Adaptive(Bounds::default()))
}

pub fn run(course: &Course, door: &mut dyn Door) -> Trace {
    let mut world = World {
        course,
        shop: Shop::new(Cliff::default()),
        events: BinaryHeap::new(),
        visits: BTreeMap::new(),
        told: Told::default(),
        observed: Observed::of(load_control().late_us()),
        trace: Trace::default(),
    };
    for level in &course.levels {
        world.at(level.from_us, Event::Move(level.percent));
    }
    world.at(TICK_US, Event::Tick);
    world.go(door);
    world.trace
}

impl World<'_> {
    fn at(&mut self, at_us: u64, event: Event) {
        self.events.push(Reverse((at_us, event)));
    }

    fn go(&mut self, door: &mut dyn Door) {
        let (end_us, mut over) = (self.course.end_us(), Vec::new());
        loop {
            let Some(Reverse((event_us, _))) = self.events.peek() else {
                return;
            };
            let next_us = self.shop.next_us().unwrap_or(u64::MAX).min(*event_us);
            if next_us > end_us {
                return;
            }
            self.shop.advance(next_us, &mut over);
            if over.is_empty()
                && let Some(Reverse((_, event))) = self.events.pop()
            {
                self.happen(&event, next_us, door, &mut over);
            }
            for done in std::mem::take(&mut over) {
                self.over(&done, next_us);
            }
        }
    }

    fn happen(&mut self, event: &Event, now_us: u64, door: &mut dyn Door, over: &mut Vec<Done>) {
        match *event {
            Event::Move(percent) => self.shop.move_to(self.course.workers_milli(percent), over),
            Event::Tick => self.tick(now_us, door),
            Event::Come(visitor) => {
                self.told.came.push(visitor);
                self.ask(visitor, now_us, over);
            }
            Event::Ask(visitor) => self.ask(visitor, now_us, over),
        }
    }

    fn tick(&mut self, now_us: u64, door: &mut dyn Door) {
        self.at(now_us + TICK_US, Event::Tick);
        let told = std::mem::take(&mut self.told);
        let (saw, shop) = (&mut self.observed, &self.shop);
        for _ in 0..door.call(&told, &mut || saw.take(shop, now_us), now_us) {
            let visitor = self.trace.calls;
            self.trace.calls += 1;
            let mut chance = Chance::of(self.course.seed, visitor + 1);
            if chance.within(0, 99) < self.course.no_shows_percent {
                continue;
            }
            let comes_us = now_us + chance.within(SECOND_US, 8 * SECOND_US);
            let left = self.course.requests + chance.within(0, 2) - 1;
            let visit = Visit {
                left,
                tried: false,
                chance,
            };
            self.visits.insert(visitor, visit);
            self.at(comes_us, Event::Come(visitor));
        }
    }

    fn ask(&mut self, visitor: u64, now_us: u64, over: &mut Vec<Done>) {
        self.observed.sent();
        let visit = self.visits.get_mut(&visitor).unwrap();
        let work_us = self.course.work(&mut visit.chance);
        if !self.shop.arrive(visitor, work_us) {
            over.push(Done {
                id: visitor,
                from_us: now_us,
                at_us: now_us,
                answered: false,
            });
        }
    }

    fn over(&mut self, done: &Done, now_us: u64) {
        let took_us = done.at_us - done.from_us;
        self.observed.over(done);
        self.trace.requests.push((now_us, done.answered.then_some(took_us)));
        let visit = self.visits.get_mut(&done.id).unwrap();
        if !done.answered {
            if std::mem::replace(&mut visit.tried, true) {
                self.trace.lost += 1;
                return self.leave(done.id);
            }
            return self.at(now_us + 5 * SECOND_US, Event::Ask(done.id));
        }
        (visit.left, visit.tried) = (visit.left - 1, false);
        if visit.left == 0 {
            self.trace.completed += 1;
            return self.leave(done.id);
        }
        let think_us = self.course.think_us * visit.chance.within(500, 1_500) / 1_000;
        self.at(now_us + think_us, Event::Ask(done.id));
    }

    fn leave(&mut self, visitor: u64) {
        self.visits.remove(&visitor);
        self.told.left.push(visitor);
    }
}
