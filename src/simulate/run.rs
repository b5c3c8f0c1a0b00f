//! The run: virtual time from one thing that happens to the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fastrand::Rng;

use crate::report::Histogram;
use crate::room::{LaneId, LineView, Mode, Number, Standing, pace};

use super::gate::Gate;
use super::guesses::Guesses;
use super::outcome::{Outcome, Tally};
use super::people::{self, Is, Nature, Person};
use super::plan::Plan;
use super::series::Recorder;
use super::serving::Serving;
use super::wheel::Wheel;

/// Given from time to time while a simulation runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Visitors who have come, and all of them.
    pub came: u32,
    pub of: u32,
    /// Virtual time.
    pub now_ms: u64,
    pub waiting: u64,
}

/// Something that a visitor does at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Deed {
    /// Comes in, having seen the call.
    Come,
    /// Asks the shop for a page.
    Page,
    /// Gives up.
    Quit,
    Doze,
    Wake,
    /// Looks at the estimate.
    Look,
}

/// Why nobody in line is called any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Over {
    Sold,
    Closed,
}

pub(super) struct Run<'a> {
    pub plan: &'a Plan,
    pub gate: Gate,
    pub rng: Rng,
    pub people: Vec<Person>,
    pub now: u64,
    /// The next who comes.
    came: usize,
    queue: BinaryHeap<Reverse<(u64, u32, Deed)>>,
    pub wheel: Wheel,
    /// By lane and number, whose it is.
    numbers: Vec<Vec<u32>>,
    /// Whoever waits, in order of arrival, with some who do not any more.
    in_line: Vec<u32>,
    /// Counts the generations of marks; somebody whose mark shows when the next begins.
    pub generation: u32,
    pub sentinel: Option<u32>,
    next_change: usize,
    pub guesses: Guesses,
    pub tally: Tally,
    pub waits: Histogram,
    pub doors: Histogram,
    /// People in the shop.
    pub busy: u64,
    was_over: Option<Over>,
    pub serving: Option<Serving>,
    recorder: Recorder,
}

/// Runs a plan to its end: everybody has come and gone, or its time is over.
#[must_use]
pub fn simulate(plan: &Plan, progress: &mut dyn FnMut(&Progress)) -> Outcome {
    let mut rng = Rng::with_seed(plan.seed);
    let people = people::draw(plan, &mut rng);
    let mut run = Run {
        gate: Gate::start(plan),
        guesses: Guesses::new(people.len(), plan.probes),
        people,
        plan,
        rng,
        now: 0,
        came: 0,
        queue: BinaryHeap::new(),
        wheel: Wheel::new(plan.step_ms),
        numbers: vec![Vec::new(); plan.lanes.len() + 1],
        in_line: Vec::new(),
        generation: 1,
        sentinel: None,
        next_change: 0,
        tally: Tally::default(),
        waits: Histogram::default(),
        doors: Histogram::default(),
        busy: 0,
        was_over: None,
        serving: plan.upstream.as_ref().map(|upstream| Serving::of(upstream, plan.seed)),
        recorder: Recorder::new(plan.step_ms),
    };
    let mut steps = 0_u32;
    while !run.is_over() {
        run.step();
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(PROGRESS_STEPS) {
            progress(&run.progress());
        }
    }
    run.end()
}

impl Run<'_> {
    fn step(&mut self) {
        let before = self.now;
        self.now = self.next_time();
        self.change();
        self.hear_answers();
        let joining = self.arrive();
        self.act();
        self.check_in();
        let old = self.gate.line().cloned();
        let effects = self.gate.speak(self.now);
        self.joined(&joining, &effects.joined);
        let new = self.gate.line().cloned();
        if let Some(new) = new {
            self.hear_calls(old.as_deref(), &new);
            self.turn();
            let over = self.over();
            if over.is_some() && self.was_over != over {
                self.all_ask();
            }
            self.was_over = over;
            self.tally
                .pass(&new.figures, self.calls(&new), (self.busy, self.now - before));
            self.recorder.note(self.now, &new.figures, &self.tally);
        }
    }

    /// The next step in which something happens; time itself must be said now and then.
    fn next_time(&mut self) -> u64 {
        let step = self.plan.step_ms;
        let mut next = self.now + self.gate.tick_ms();
        next = self.wheel.due(next);
        let comes = self.people.get(self.came).map(|person| person.arrives);
        let acts = self.queue.peek().map(|Reverse((at, ..))| *at);
        let changes = self.plan.changes.get(self.next_change).map(|(at, _)| *at);
        let answers = self.serving.as_ref().and_then(Serving::next_ms);
        let due = [comes, acts, changes, self.gate.next_turn(), answers];
        next = due.into_iter().flatten().fold(next, u64::min);
        next.div_ceil(step).saturating_mul(step).max(self.now + step)
    }

    fn is_over(&self) -> bool {
        if self.now >= self.plan.most_ms {
            return true;
        }
        let line = self.gate.line();
        let empty = line.is_none_or(|line| line.figures.waiting == 0 && line.figures.called + line.figures.inside == 0);
        self.came == self.people.len() && self.queue.is_empty() && empty
    }

    fn change(&mut self) {
        while let Some((_, overrides)) = self
            .plan
            .changes
            .get(self.next_change)
            .filter(|(at, _)| *at <= self.now)
        {
            self.gate.override_with(overrides.clone(), self.now);
            self.next_change += 1;
        }
    }

    /// Whoever comes now, by lane.
    fn arrive(&mut self) -> Vec<Vec<u32>> {
        let mut joining = vec![Vec::new(); self.numbers.len()];
        for _ in 0..MOST_JOINS {
            let Some(person) = self.people.get(self.came).filter(|person| person.arrives <= self.now) else {
                break;
            };
            joining[usize::from(person.lane)].push(index(self.came));
            self.came += 1;
        }
        for id in std::mem::take(&mut self.tally.again) {
            joining[usize::from(self.people[id as usize].lane)].push(id);
        }
        for (lane, ids) in (0..).map(LaneId).zip(&joining) {
            if !ids.is_empty() {
                self.gate.said.joins.push((lane, index(ids.len())));
            }
        }
        joining
    }

    fn act(&mut self) {
        while let Some(Reverse((at, id, deed))) = self.queue.peek().copied()
            && at <= self.now
        {
            self.queue.pop();
            self.does(id, deed);
        }
    }

    /// Visitors whose page asks now, and whose mark is due.
    fn check_in(&mut self) {
        let (generation, over) = (self.generation, self.over());
        for id in self.wheel.take(self.now) {
            let person = &mut self.people[id as usize];
            if person.is != Is::Waiting || person.asleep {
                continue;
            }
            // Who is called comes by themselves.
            if let Some(over) = over.filter(|_| person.calls == 0) {
                self.sent_away(id, over);
            } else if person.marked != generation {
                person.marked = generation;
                let seat = seat(person);
                self.gate.said.marks.push(seat);
                // Not whoever checked in last: their mark may be of the next generation already.
                self.sentinel.get_or_insert(id);
            }
        }
    }

    fn joined(&mut self, joining: &[Vec<u32>], joined: &[crate::room::Joined]) {
        for joined in joined {
            let lane = usize::from(joined.lane.0);
            let Some(ids) = joining.get(lane) else { continue };
            let Some(first) = joined.first else {
                self.tally.turned_away += ids.len() as u64;
                for id in ids {
                    self.people[*id as usize].is = Is::Gone;
                }
                continue;
            };
            for (number, id) in (first.n..).zip(ids) {
                let at = number as usize;
                let numbers = &mut self.numbers[lane];
                numbers.resize(numbers.len().max(at + 1), u32::MAX);
                numbers[at] = *id;
                self.waits(*id, number);
                self.in_line.push(*id);
            }
        }
    }

    /// Whoever was called by the last entry, and when each will see it.
    fn hear_calls(&mut self, old: Option<&LineView>, new: &LineView) {
        let calls = |line: &LineView| line.figures.calls;
        if old.is_some_and(|old| calls(old) == calls(new)) {
            return;
        }
        let mut ahead = 0;
        for call in new.seated_since(old) {
            let number = call.number.n as usize;
            let Some(id) = self.numbers[usize::from(call.lane.0)].get(number).copied() else {
                continue;
            };
            if self.people[id as usize].calls < call.count {
                let asks_ms = pace::refresh_ms(&self.plan.settings, Some(ahead), self.rng.u16(..));
                self.is_called(id, call.count, asks_ms);
                ahead += 1;
            }
        }
    }

    /// A generation of marks has turned: everybody in line checks in when their page asks next.
    fn turn(&mut self) {
        let Some(sentinel) = self.sentinel else { return };
        match self.standing(sentinel) {
            Some(Standing::Waiting(waiting)) if !waiting.mark_due => return,
            Some(Standing::Waiting(_)) => {}
            _ => return self.sentinel = self.any_marked(),
        }
        self.generation += 1;
        self.sentinel = None;
        self.all_ask();
    }

    /// Everybody in line asks how things stand, when their page does so next.
    fn all_ask(&mut self) {
        let people = &self.people;
        self.in_line.retain(|id| people[*id as usize].is == Is::Waiting);
        for (ahead, id) in (0..).zip(&self.in_line) {
            let asks_ms = pace::refresh_ms(&self.plan.settings, Some(ahead), self.rng.u16(..));
            let at = self.now + self.rng.u64(1..=asks_ms);
            if !self.people[*id as usize].asleep {
                self.wheel.put(*id, at);
            }
        }
    }

    /// Why whoever waits now waits in vain.
    pub fn over(&self) -> Option<Over> {
        let (room, line) = (self.gate.room_view()?, self.gate.line()?);
        match room.settings.mode {
            Mode::Closed => Some(Over::Closed),
            Mode::Off => None,
            _ => line.figures.is_sold_out().then_some(Over::Sold),
        }
    }

    /// Somebody can be called, if a slot is free.
    fn calls(&self, line: &LineView) -> bool {
        let room = self.gate.room_view().map(|room| &room.settings);
        let may = room.is_some_and(|settings| settings.mode == Mode::Auto && !settings.calls_nobody());
        may && line.figures.left() != Some(0)
    }

    /// Somebody in line whose mark of this generation is in.
    fn any_marked(&self) -> Option<u32> {
        let marked = |id: &&u32| {
            let person = &self.people[**id as usize];
            person.is == Is::Waiting && person.marked == self.generation
        };
        let (front, back) = self.in_line.split_at(self.in_line.len() / 2);
        back.iter().chain(front).find(marked).copied()
    }

    pub fn standing(&self, id: u32) -> Option<Standing> {
        let person = &self.people[id as usize];
        let (lane, number) = seat(person);
        let line = self.gate.line()?;
        Some(line.standing(lane, number, self.gate.view.clock))
    }

    pub fn later(&mut self, id: u32, at: u64, deed: Deed) {
        self.queue.push(Reverse((at, id, deed)));
    }

    fn progress(&self) -> Progress {
        Progress {
            came: index(self.came),
            of: index(self.people.len()),
            now_ms: self.now,
            waiting: self.gate.line().map_or(0, |line| line.figures.waiting),
        }
    }

    fn end(mut self) -> Outcome {
        self.guesses.end(self.now);
        let line = self.gate.line().cloned();
        let bots = self.people.iter().filter(|person| person.nature == Nature::Bot).count();
        Outcome::of(
            self.plan,
            &self.gate,
            line.as_deref(),
            (&self.tally, bots as u64, self.serving.as_ref().map(Serving::served)),
            (self.waits.spread(), self.doors.spread()),
            (
                self.guesses.trust(),
                self.guesses.into_points(),
                self.recorder.into_series(),
            ),
            self.now,
        )
    }
}

pub(super) fn seat(person: &Person) -> (LaneId, Number) {
    let number = Number {
        era: crate::room::Era(1),
        n: person.number,
    };
    (LaneId(person.lane), number)
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Most newcomers of one step; more join with the next.
const MOST_JOINS: usize = 100_000;

const PROGRESS_STEPS: u32 = 256;
