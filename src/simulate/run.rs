//! The main loop: virtual time advances from event to event.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use fastrand::Rng;

use crate::charts::{Histogram, Spread, secs};
use crate::room::{Edition, LaneId, LineName, LineView, Number, RoomView, Settings, Standing, pace};

use super::active::advice::advise;
use super::active::pauses::Visit;
use super::active::returns::Returns;
use super::active::usage::Usage;
use super::active::ways::{Returned, Slots, Way};
use super::bills::Bills;
use super::followed::Follower;
use super::gate::Gate;
use super::guesses::Guesses;
use super::hidden::{Claiming, Hidden};
use super::outcome::{Outcome, Tally, share};
use super::people::{self, Is, Nature, Person};
use super::plan::Plan;
use super::series::Recorder;
use super::serving::Serving;
use super::sessions::Sessions;
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

/// An action of a visitor at a time.
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
    /// Looks elsewhere, and at the tab again.
    Hide,
    See,
    /// A tab that is left open asks the shop.
    Poll,
    /// Asks along with all others, after the visit.
    Return,
    /// The gate notes that a request is under way.
    Keep,
}

/// Why no visitor in line is called any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Over {
    Sold,
    Closed,
}

pub(super) struct Simulation<'a> {
    pub plan: &'a Plan,
    pub gate: Gate,
    pub rng: Rng,
    pub people: Vec<Person>,
    pub now: u64,
    /// The next who comes.
    came: usize,
    queue: BinaryHeap<Reverse<(u64, u32, Deed)>>,
    pub wheel: Wheel,
    /// The visitor of each number, by lane.
    numbers: Vec<Vec<u32>>,
    /// Waiting visitors in order of arrival, with some who have left.
    pub in_line: Vec<u32>,
    /// Counts the generations of marks; a visitor whose mark shows when the next begins.
    pub generation: u32,
    pub sentinel: Option<u32>,
    next_change: usize,
    pub guesses: Guesses,
    pub tally: Tally,
    pub hidden: Hidden,
    pub sessions: Sessions,
    /// As the shop counts them, sessions with a request in the last `idle_after`.
    pub active: Sessions,
    pub visits: BTreeMap<u32, Visit>,
    pub returns: Returns,
    pub usage: Usage,
    /// Visitors whose request came in a silence of the shop.
    pub hushed: Vec<u32>,
    /// Visitors pause by chance.
    pub has_pauses: bool,
    pub idle_ms: u64,
    next_silence: usize,
    next_stampede: usize,
    pub waits: Histogram,
    pub doors: Histogram,
    /// People in the shop.
    pub busy: u64,
    was_over: Option<Over>,
    edition: Option<Edition>,
    pub serving: Option<Serving>,
    follower: Follower,
    recorder: Recorder,
    bills: Bills,
}

/// Runs a plan to its end: everybody has come and gone, or its time is over.
#[must_use]
pub fn simulate(plan: &Plan, progress: &mut dyn FnMut(&Progress)) -> Outcome {
    let mut rng = Rng::with_seed(plan.seed);
    let people = people::draw(plan, &mut rng);
    let settles_ms = plan.settings.parks_after_ms().unwrap_or(0);
    let mut run = Simulation {
        gate: Gate::start(plan),
        guesses: Guesses::new(people.len(), plan.probes),
        sessions: Sessions::new(people.len(), plan.settings.session_ms),
        active: Sessions::new(people.len(), plan.idle_ms()),
        visits: BTreeMap::new(),
        returns: Returns::new(plan.return_wait_ms, settles_ms, plan.seed),
        usage: Usage::default(),
        hushed: Vec::new(),
        has_pauses: plan.has_pauses(),
        idle_ms: plan.idle_ms(),
        next_silence: 0,
        next_stampede: 0,
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
        hidden: Hidden::default(),
        waits: Histogram::default(),
        doors: Histogram::default(),
        busy: 0,
        was_over: None,
        edition: None,
        serving: serving(plan),
        follower: Follower::default(),
        recorder: Recorder::new(plan.step_ms),
        bills: Bills::of(&plan.gates),
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

/// Runs a plan, where there is one with slots given away in the other way, and where some wait in hidden tabs also by every other
/// way to claim their turns.
#[must_use]
pub fn simulate_all(plan: &Plan, progress: &mut dyn FnMut(&Progress)) -> Outcome {
    let mut outcome = simulate(plan, progress);
    if let Some(settings) = &plan.other_way {
        let other = Plan {
            settings: Settings::clone(settings),
            other_way: Some(Box::new(plan.settings.clone())),
            gates: Vec::new(),
            ..plan.clone()
        };
        outcome.ways.extend(simulate(&other, progress).ways);
    }
    outcome.advice = advise(&outcome.ways, &plan.settings);
    if outcome.unseen.is_empty() {
        return outcome;
    }
    let mut others = Claiming::ALL.map(|claiming| {
        let plan = Plan {
            claiming,
            ..plan.clone()
        };
        (claiming != outcome.unseen[0].claiming).then(|| simulate(&plan, progress).unseen)
    });
    let own = std::mem::take(&mut outcome.unseen);
    let ways = others
        .iter_mut()
        .flat_map(|other| other.take().unwrap_or_else(|| own.clone()));
    outcome.unseen = ways.collect();
    outcome
}

impl Simulation<'_> {
    fn step(&mut self) {
        let before = self.now;
        self.now = self.next_time();
        self.sessions.advance(self.now);
        self.active.advance(self.now);
        let used_ms = self.usage.advance(self.now);
        self.change();
        self.rush();
        self.fall_silent();
        self.ask_again();
        self.hear_answers();
        let joining = self.arrive();
        self.act();
        self.check_in();
        self.gate.report = self.serving.as_mut().and_then(|serving| serving.report(self.now));
        self.tally.says(&self.gate.said);
        let old = self.gate.line().cloned();
        let effects = self.gate.speak(self.now);
        self.joined(&joining, &effects.joined);
        let Some(room) = self.gate.room_view().cloned() else {
            return;
        };
        self.begins(room.edition);
        if let Some(new) = room.line(&LineName::ONLY) {
            self.hear_calls(old.as_deref(), new);
            self.turn();
            self.notice_the_end();
            self.hear_slots();
            self.count(&room, new, (self.now - before, used_ms));
        }
    }

    /// Informs all visitors in line once none of them is called any more.
    fn notice_the_end(&mut self) {
        let over = self.over();
        if over.is_some() && self.was_over != over {
            self.all_ask();
        }
        self.was_over = over;
    }

    /// Counts time that has passed, with these figures at its end.
    fn count(&mut self, room: &RoomView, line: &LineView, (ms, used_ms): (u64, u128)) {
        let (open, load) = (self.is_open(line), room.load.as_ref());
        let calls = open && load.is_none_or(|load| load.step_milli > 0);
        self.tally.pass(&line.figures, calls, (self.busy, ms), used_ms);
        self.tally.counts(self.counted().count(), line.figures.capacity, ms);
        if let Some(load) = load {
            self.follower.pass(load, open && line.figures.waiting > 0, ms);
        }
        let new = self.recorder.note((self.now, ms), &line.figures, &self.tally, load);
        self.bills.note(self.now, &new);
    }

    /// Another sale has begun: visitors in line for the one before are in none, and join when their page asks next.
    fn begins(&mut self, edition: Edition) {
        if self.edition.replace(edition).is_none_or(|before| before == edition) {
            return;
        }
        self.sentinel = None;
        for id in std::mem::take(&mut self.in_line) {
            if self.standing(id) != Some(Standing::Late) {
                self.in_line.push(id);
                continue;
            }
            let person = &self.people[id as usize];
            if person.is == Is::Waiting && !person.asleep {
                let asks_ms = pace::refresh_ms(&self.plan.settings, None, self.rng.u16(..));
                self.guesses.forget(id, self.now);
                let at = self.now + self.rng.u64(1..=asks_ms);
                self.later(id, at, Deed::Come);
            }
        }
    }

    /// The next step with an event; log time must also advance now and then.
    fn next_time(&mut self) -> u64 {
        let step = self.plan.step_ms;
        let mut next = self.now + self.gate.tick_ms();
        next = self.wheel.due(next);
        let comes = self.people.get(self.came).map(|person| person.arrives);
        let acts = self.queue.peek().map(|Reverse((at, ..))| *at);
        let changes = self.plan.changes.get(self.next_change).map(|(at, _)| *at);
        let answers = self.serving.as_ref().and_then(Serving::next_ms);
        let due = [
            comes,
            acts,
            changes,
            self.gate.next_turn(),
            answers.map(|at| self.plan.heard_from(at)),
            self.returns.due(),
            self.plan.stampedes.get(self.next_stampede).copied(),
            self.plan.silence_ends(self.now).filter(|_| !self.hushed.is_empty()),
        ];
        next = due.into_iter().flatten().fold(next, u64::min);
        next.div_ceil(step).saturating_mul(step).max(self.now + step)
    }

    fn is_over(&self) -> bool {
        if self.now >= self.plan.most_ms {
            return true;
        }
        let line = self.gate.line();
        let empty = line.is_none_or(|line| {
            let figures = &line.figures;
            figures.waiting == 0 && figures.called + figures.inside + figures.parked == 0
        });
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

    /// The visitors who come now, by lane.
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

    /// All visitors with a right ask within a few seconds, where the plan says so.
    fn rush(&mut self) {
        while let Some(at) = self
            .plan
            .stampedes
            .get(self.next_stampede)
            .copied()
            .filter(|at| *at <= self.now)
        {
            self.next_stampede += 1;
            self.returns.crowd(at + STAMPEDE_MS);
            for id in 0..index(self.came) {
                let at = self.now + self.rng.u64(0..STAMPEDE_MS);
                self.comes_along(id, at);
            }
        }
    }

    /// A silence of the shop begins, or ends with the answers to requests of that time.
    fn fall_silent(&mut self) {
        while let Some((from, length)) = self
            .plan
            .silences
            .get(self.next_silence)
            .filter(|(from, _)| *from <= self.now)
        {
            self.next_silence += 1;
            self.returns.crowd(from + length);
        }
        if !self.hushed.is_empty() && self.plan.silence_ends(self.now).is_none() {
            for id in std::mem::take(&mut self.hushed) {
                self.is_served(id);
            }
        }
    }

    pub fn is_active(&self) -> bool {
        self.plan.settings.active.is_some()
    }

    /// The sessions that the shop counts.
    fn counted(&self) -> &Sessions {
        if self.is_active() {
            return &self.active;
        }
        &self.sessions
    }

    fn act(&mut self) {
        while let Some(Reverse((at, id, deed))) = self.queue.peek().copied()
            && at <= self.now
        {
            self.queue.pop();
            // The visitor has come sooner, or is to come later.
            let is_void = deed == Deed::Page && self.visits.get(&id).is_none_or(|visit| visit.due != at);
            if !is_void {
                self.does(id, deed);
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

    /// The visitors called by the last entry, and when each will see it.
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

    fn way(&self, doors: &Spread) -> Way {
        let (settings, tally, counted) = (&self.plan.settings, &self.tally, self.counted());
        let is_active = self.is_active();
        let counts_for_ms = if is_active {
            self.plan.idle_ms()
        } else {
            settings.session_ms
        };
        Way {
            slots: if is_active { Slots::Active } else { Slots::Session },
            counts_for_secs: secs(counts_for_ms),
            capacity: settings.capacity,
            median_wait_secs: doors.p50_secs,
            p95_wait_secs: doors.p95_secs,
            busy: tally.used(),
            ceiling: share(self.usage.busy_ms, counted.held_ms + self.usage.forced_ms).min(1.0),
            most_sessions: counted.most,
            above: tally.above,
            above_secs: secs(tally.above_ms),
            returns: Returned::of(&self.returns),
            thrown_out: tally.thrown_out,
            still_waiting: self.gate.line().map_or(0, |line| line.figures.waiting),
            busiest_minute: self.usage.busiest,
            long_pause_secs: secs(self.usage.pauses.permille(999)),
            rights_full_secs: secs(tally.rights_full_ms),
            rights_full_free: tally.rights_full_free,
        }
    }

    fn end(mut self) -> Outcome {
        self.guesses.end(self.now);
        let (waits, doors) = (self.waits.spread(), self.doors.spread());
        let hides = self.plan.crowd.hidden > 0 && self.plan.script.is_empty();
        let unseen = hides.then(|| self.hidden.figures(self.plan.claiming, &doors));
        let way = self.way(&doors);
        let bots = self.people.iter().filter(|person| person.nature == Nature::Bot).count();
        Outcome::of(
            self.plan,
            &self.gate,
            (
                &self.tally,
                self.sessions.most,
                bots as u64,
                (self.people.len() - self.came) as u64,
            ),
            (
                self.serving.as_ref().map(Serving::served),
                self.follower.followed(&self.plan.settings),
                self.bills.end(),
                unseen.into_iter().collect(),
            ),
            (waits, doors),
            (
                self.guesses.trust(),
                self.guesses.into_points(),
                self.recorder.into_series(),
            ),
            (way, self.now),
        )
    }
}

/// The shop behind the line, if it has a limit.
fn serving(plan: &Plan) -> Option<Serving> {
    let late_us = plan.settings.load_control.map(|load_control| load_control.late_us());
    let upstream = plan.upstream.as_ref()?;
    Some(Serving::of(upstream, late_us, plan.seed))
}

pub(super) fn seat(person: &Person) -> (LaneId, Number) {
    let number = Number {
        epoch: ropeline_ids::Epoch(1),
        n: person.number,
    };
    (LaneId(person.lane), number)
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Within how long all visitors come back in a stampede.
const STAMPEDE_MS: u64 = 5_000;

/// Most newcomers of one step; more join with the next.
const MOST_JOINS: usize = 100_000;

const PROGRESS_STEPS: u32 = 256;
