//! One line: lanes that share capacity, rate and sessions, and the effects of the clock on them.
//!
//! A line is touched only by an entry that names it or at which something in it is due, so that ten thousand quiet lines cost
//! nothing. The due times follow from the state's bytes alone. The index of deadlines and the schedule built on it may wake a
//! line too early, which changes nothing, but never too late.

pub(crate) mod accounts;
pub(crate) mod calling;
pub(crate) mod counts;
pub(crate) mod deadlines;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod one_place;
pub(crate) mod pulse;
pub(crate) mod rate;
pub(crate) mod reserve;
pub(crate) mod returns;
pub(crate) mod rules;
pub(crate) mod stock;
pub(crate) mod turns;

use std::sync::Arc;

use crate::codec::codec;
use crate::draw::{AdmissionOrder, Hash};
use crate::forecast::curve::Curve;
use crate::forecast::limit::{self, Ticks};
use crate::forecast::told::Shares;
use crate::forecast::{Forecast, Sight, calls_of};
use crate::lane::Lane;
use crate::lane::epoch::Epochs;
use crate::lane::record::{EndedBy, Record, Session};
use crate::lane::slots::Held;
use crate::line::accounts::{Accounts, MAX_TAGS};
use crate::line::calling::{Calls, Scope};
use crate::line::counts::Counts;
use crate::line::deadlines::{Deadlines, Due};
use crate::line::figures::{Figures, Totals};
use crate::line::one_place::tags;
use crate::line::pulse::Pulse;
use crate::line::rules::Rules;
use crate::line::stock::Tally;
use crate::load::Allowance;
use crate::settings::{Mode, Settings};
use crate::state::context::Context;
use crate::state::past::Past;
use ropeline_ids::{Clock, Edition, Epoch, LaneId, Number, Place, Tag};

#[derive(Debug)]
pub(crate) struct Line {
    lanes: Vec<Lane>,
    totals: Totals,
    calls: Calls,
    tally: Tally,
    /// When this generation began.
    generation: Clock,
    /// When a visitor was last present, called, inside or numbered.
    busy: Clock,
    deadlines: Deadlines,
    /// When sessions are to be parked.
    parkings: Deadlines,
    /// [`Settings::parks_after_ms`], of the settings in force.
    parks_after_ms: Option<u64>,
    /// The accounts of the tagged places.
    accounts: Accounts,
    /// When calls will reach those who wait.
    forecast: Forecast,
}

codec! {
    struct Line {
        lanes, totals, calls, tally, generation, busy,
    } derived { deadlines, parkings, parks_after_ms, accounts, forecast } then derived;
}

impl Line {
    pub fn new(settings: &Settings, past: &Past, now: Clock) -> Self {
        let mut line = Self {
            lanes: Vec::new(),
            totals: Totals::default(),
            calls: Calls::new(settings, now),
            tally: Tally::default(),
            generation: now,
            busy: now,
            deadlines: Deadlines::default(),
            parkings: Deadlines::default(),
            parks_after_ms: settings.parks_after_ms(),
            accounts: Accounts::default(),
            forecast: Forecast::default(),
        };
        line.grow(settings, past);
        line
    }

    /// Without what is only counted or shown, for a form of the state.
    #[cfg(any(test, feature = "testing"))]
    pub fn forget_totals(&mut self, settings: &Settings, now: Clock) {
        self.totals = Totals::default();
        self.calls.forget_totals(settings, now);
        self.busy = now;
        // A generation without marks has not begun.
        if !self.has_marks() {
            self.generation = now;
        }
    }

    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub fn counts(&self) -> Counts {
        Counts {
            waiting: self.waiting(),
            slots: u64::from(self.held().slots()),
            rights: u64::from(self.held().rights()),
            sold: u64::from(self.is_empty() && !self.tally.winners().is_empty()),
        }
    }

    /// No visitor waits, is called or inside.
    fn is_empty(&self) -> bool {
        self.held().rights() == 0 && self.waiting() == 0
    }

    pub fn waiting(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.presence.waiting()).sum()
    }

    /// How many hold a slot, in all lanes.
    pub fn held(&self) -> Held {
        let held = self.lanes.iter().map(|lane| lane.slots.held());
        held.fold(Held::default(), Held::plus)
    }

    /// How many visitors may be called by the stock and by the rights: pieces that are neither sold nor held, and rights that
    /// are not given.
    pub fn reach(&self, settings: &Settings) -> u64 {
        let pieces = self.tally.reach(settings, self.held().rights());
        pieces.min(self.rights_left(settings))
    }

    pub fn figures(&self) -> Figures {
        self.totals.figures(self.held())
    }

    /// Those called who came, and who did not.
    pub fn outcomes(&self) -> (u64, u64) {
        (self.totals.claims, self.totals.no_shows)
    }

    /// No visitor waits in that lane, is called from it, or is inside.
    pub fn is_vacant(&self, at: usize) -> bool {
        self.lanes
            .get(at)
            .is_none_or(|lane| lane.presence.waiting() == 0 && lane.slots.held().rights() == 0)
    }

    pub fn lane(&mut self, lane: LaneId) -> Option<&mut Lane> {
        self.lanes.get_mut(usize::from(lane.0))
    }

    /// Gives the line the lanes that the settings name; lanes taken out of them stay until their visitors are gone.
    pub fn grow(&mut self, settings: &Settings, past: &Past) {
        while self.lanes.len() < settings.lane_weights.len() {
            self.lanes.push(Lane::new(past.epoch(), past.floor()));
        }
    }

    /// The settings change from `old` to `new`.
    pub fn resettle(&mut self, old: &Settings, new: &Settings, m: &Context) {
        self.grow(new, &m.past);
        self.calls.resettle(old, new, m.clock);
        let sooner = |after_ms: u64| old.parks_after_ms().is_none_or(|before_ms| after_ms < before_ms);
        if new.parks_after_ms().is_some_and(sooner) {
            self.take_as_used(m.clock);
        }
        self.park_by(new);
    }

    /// Sessions are parked sooner from now on. Until now their use was noted more rarely than that takes, or too late for it.
    fn take_as_used(&mut self, now: Clock) {
        for (id, index) in (0..).map(LaneId).zip(0..self.lanes.len()) {
            let records = self.lanes[index].slots.iter();
            let in_use = records.filter_map(|(place, record)| match record {
                Record::Inside(session) if session.stay.is_none() => Some((place, *session)),
                _ => None,
            });
            for (place, session) in in_use.collect::<Vec<_>>() {
                let renewed = session.renewed.max(now);
                self.keep((id, place), Record::Inside(Session { renewed, ..session }));
            }
        }
    }

    /// Sessions are parked by these settings, which are in force.
    pub fn park_by(&mut self, settings: &Settings) {
        let after_ms = settings.parks_after_ms();
        if self.parks_after_ms != after_ms {
            self.parks_after_ms = after_ms;
            self.index();
        }
    }

    /// Before the entry's sections: at most one generation turns, and newcomers of a while ago need a mark.
    pub fn advance(&mut self, settings: &Settings, m: &Context) {
        self.note_busy(m.clock);
        self.count_returns(settings, m.clock);
        for lane in &mut self.lanes {
            lane.freshen(settings, m.clock);
        }
        if self.generation_due(settings).is_some_and(|due| due <= m.clock) {
            self.lanes.iter_mut().for_each(Lane::turn);
            self.generation = m.clock;
        } else if !self.has_marks() {
            // A generation begins with its first mark, so that a lone visitor's lasts as long as anybody's.
            self.generation = m.clock;
        }
    }

    /// After the entry's sections: expiry, calls, horizon.
    pub fn finish(&mut self, rules: &Rules, scope: &mut Scope, m: &mut Context) {
        self.expire(rules, m);
        self.park(rules, m);
        self.take_back(scope, rules.settings, m);
        self.call_ordered(rules, scope, m);
        self.call(rules, scope, m);
        for lane in &mut self.lanes {
            let gone = lane.follow(rules.settings, m.holds(), m.clock);
            if !gone.is_empty() {
                Arc::make_mut(&mut m.past).raise(gone.into_iter());
            }
        }
        let freed: u32 = self.lanes.iter_mut().map(|lane| lane.slots.take_freed()).sum();
        // Above the capacity a slot that comes free is nobody's.
        let is_above = self.held().slots() > rules.settings.capacity;
        if let Some(returns) = self.calls.returns.as_mut().filter(|_| !is_above) {
            returns.reserve.free(freed);
        }
        self.accounts.tidy(&self.lanes);
        self.note_busy(m.clock);
        self.foresee(rules, scope, m);
    }

    /// Forecasts when calls will reach those who wait.
    fn foresee(&mut self, rules: &Rules, scope: &Scope, m: &Context) {
        let settings = rules.settings;
        let waits = settings.mode == Mode::Auto && self.waiting() > 0 && self.free(settings) > 0;
        self.forecast.losses.note(self.calls.bucket(), waits, settings, m.clock);
        if self.is_empty() {
            return;
        }
        let step_ms = self.forecast.stays(settings).times().step_ms;
        let limit = match scope.allowance {
            None => limit::by_rate(self.calls.bucket(), (settings, step_ms), self.forecast.losses, m.clock),
            Some(allowance) => {
                let calls = &mut self.forecast.mean_calls;
                calls.limit(allowance, self.totals.calls, (settings, step_ms), m.clock)
            }
        };
        let calls: Vec<u64> = (0..self.lanes.len())
            .map(|at| calls_of(&self.lanes, at, self.totals.calls))
            .collect();
        let sight = Sight {
            lanes: &self.lanes,
            calls: &calls,
            settings,
            limit,
            ticks: Ticks::of(self.calls.bucket(), settings, m.clock),
            slots: settings.capacity.saturating_sub(self.reserve(settings)),
            reach: self.tally.reach(settings, self.held().rights()),
            is_open: settings.mode == Mode::Auto && m.clock >= rules.quiet_until(m),
            now: m.clock,
        };
        // Many lines are looked at more rarely, each.
        self.forecast.watch(sight, 1 + scope.lines / LINES_A_STEP);
    }

    /// The last forecast.
    pub fn curve(&self) -> Option<&Arc<Curve>> {
        self.forecast.curve()
    }

    /// What came of the intervals that were told.
    pub fn told(&self) -> Shares {
        self.forecast.told()
    }

    /// A new sale begins; those called and inside stay. Says which epochs are forgotten.
    pub fn begin_sale(&mut self, settings: &Settings, now: Clock) -> Vec<(Epoch, u32)> {
        self.note_busy(now);
        self.calls.begin_sale();
        self.tally.begin_edition(settings, &self.lanes);
        self.accounts.forget(&mut self.lanes);
        self.lanes.iter_mut().flat_map(Lane::begin_sale).collect()
    }

    /// The line is closed for a draw, by [`Epochs::close`] or [`Epochs::close_lost`]: who came later stands behind.
    pub fn close_draw(&mut self, close: fn(&mut Epochs, Place)) {
        for lane in &mut self.lanes {
            let horizon = lane.horizon();
            close(&mut lane.epochs, horizon);
        }
    }

    /// Draws every lane by an order and by its key, computed from the lane and its count. Afterwards no visitor has to check
    /// in again within less than a generation.
    pub fn draw(&mut self, edition: Edition, (order, key): (AdmissionOrder, impl Fn(LaneId, u32) -> Hash), now: Clock) {
        for (id, lane) in (0..).map(LaneId).zip(&mut self.lanes) {
            let count = lane.epochs.draws.count(edition);
            lane.draw(edition, (order, key(id, count)));
        }
        self.generation = now;
        self.index();
    }

    /// Makes newcomers present by a mark from now on, for `firm_within` at least and for half of `grace` more at most.
    pub fn mark_newcomers(&mut self, settings: &Settings, now: Clock) {
        let any = self.lanes.iter().any(|lane| lane.presence.newcomers().next().is_some());
        // As in `advance`: a generation begins with its first mark.
        if any && !self.has_marks() {
            self.generation = now;
        }
        let long = self.generation.plus(settings.grace_ms / 2) >= now.plus(settings.firm_within_ms);
        for lane in &mut self.lanes {
            lane.presence.mark_newcomers(long);
        }
    }

    /// A new log begins.
    pub fn begin(&mut self, epoch: Epoch, now: Clock) {
        self.note_busy(now);
        for lane in &mut self.lanes {
            lane.begin(epoch);
        }
    }

    /// When the clock alone changes the line, if no item comes.
    pub fn next_due(
        &mut self,
        rules: &Rules,
        allowance: Option<Allowance>,
        m: &Context,
        lasting: bool,
    ) -> Option<Clock> {
        let settings = rules.settings;
        let lanes = &self.lanes;
        self.deadlines.settle(m.clock, |due| actual(lanes, due));
        let of_lanes = self
            .lanes
            .iter()
            .filter_map(|lane| lane.next_due(settings, m.held_until))
            .min();
        let forgotten = if lasting { None } else { self.forget_due(settings, m) };
        let dues = [
            self.deadlines.first(),
            self.generation_due(settings),
            of_lanes,
            self.call_due(rules, allowance, m),
            self.wakes_for_reserve(settings),
            self.returns_due(settings, m),
            forgotten,
        ];
        dues.into_iter().flatten().min()
    }

    /// The line has no visitors, and has had none for so long that none can come back.
    pub fn is_forgotten(&self, settings: &Settings, m: &Context) -> bool {
        self.forget_due(settings, m).is_some_and(|due| due <= m.clock)
    }

    /// For each epoch one past the highest number that the line may have issued.
    pub fn ends(&self) -> impl Iterator<Item = (Epoch, u32)> {
        self.lanes.iter().flat_map(|lane| lane.epochs.ends())
    }

    fn forget_due(&self, settings: &Settings, m: &Context) -> Option<Clock> {
        // A line with purchases is kept.
        let empty = self.is_empty() && self.tally.winners().is_empty();
        empty.then(|| self.busy.plus(settings.late_window_ms).max(m.held_until))
    }

    fn generation_due(&self, settings: &Settings) -> Option<Clock> {
        self.has_marks().then(|| self.generation.plus(settings.grace_ms / 2))
    }

    /// When a visitor who waits may be called because fewer slots are kept for others.
    fn wakes_for_reserve(&self, settings: &Settings) -> Option<Clock> {
        let due = self.reserve_due(settings)?;
        (self.waiting() > 0).then_some(due)
    }

    fn has_marks(&self) -> bool {
        self.lanes.iter().any(|lane| lane.presence.has_marks())
    }

    fn note_busy(&mut self, now: Clock) {
        if !self.is_empty() {
            self.busy = now;
        }
    }

    fn expire(&mut self, rules: &Rules, m: &Context) {
        while let Some(batch) = self.deadlines.pop(m.clock) {
            for due in batch {
                // The record decides, not the index: a renewal moved the one and not the other.
                if actual(&self.lanes, due).is_some_and(|at| at <= m.clock) {
                    self.expire_one(due, rules, m);
                }
                if let Some(at) = actual(&self.lanes, due) {
                    self.deadlines.add(at, due);
                }
            }
        }
    }

    fn expire_one(&mut self, (id, place): Due, rules: &Rules, m: &Context) {
        let Some(lane) = self.lane(id) else { return };
        match lane.slots.get(place).copied() {
            Some(Record::Called(call)) => self.miss((id, place), call, rules, m.clock),
            Some(Record::Inside(session)) => {
                let last = session.ending || session.expires >= session.ends_by;
                let end = if last { EndedBy::Word } else { EndedBy::Idling };
                if !last && self.may_be_in_use((id, place), rules.settings, m) {
                    let expires = m.clock.plus(rules.settings.hold_ms()).min(session.ends_by);
                    self.keep((id, place), Record::Inside(Session { expires, ..session }));
                } else {
                    self.close((id, place), &session, end, rules, m);
                }
            }
            Some(Record::Over { .. }) => lane.forget(place),
            Some(Record::Missed { .. } | Record::Spent { .. }) | None => {}
        }
    }

    /// Keeps a number's record. Its date is indexed if it comes before the one that the index has; a later one is found
    /// when that comes.
    fn keep(&mut self, due: Due, record: Record) {
        let indexed = actual(&self.lanes, due);
        // PERF: most rooms have no active slots.
        let parks = self.parks_after_ms.and_then(|_| self.parks(due));
        self.put(due, Some(record));
        let parking = record.parks(self.parks_after_ms);
        if let Some(at) = parking.filter(|at| parks.is_none_or(|parks| *at < parks)) {
            self.parkings.add(at, due);
        }
        if let Some(at) = record.due().filter(|at| indexed.is_none_or(|indexed| *at < indexed)) {
            self.deadlines.add(at, due);
        }
    }

    /// Replaces a number's record, and the piece of the stock held for it.
    fn put(&mut self, due: Due, record: Option<Record>) {
        if let Some(lane) = self.lane(due.0) {
            let moved = lane.slots.put(due.1, record);
            self.tally.follow(moved, &self.lanes, due);
        }
    }

    /// The number that an account has, by any of its tags.
    pub fn number_of(&self, tags: &[Tag]) -> Option<(LaneId, Number)> {
        self.accounts.number_of(tags, &self.lanes)
    }

    /// The account of a number, also of one that is not live any more.
    pub fn owner(&self, id: LaneId, number: Number) -> Option<Tag> {
        let lane = self.lanes.get(usize::from(id.0))?;
        lane.tags.get(lane.place(number)?)
    }

    /// Whether the line can keep one more tag.
    pub fn has_room(&self) -> bool {
        tags(&self.lanes) < MAX_TAGS
    }

    /// Numbers that tokens have brought back are virtual visitors'.
    pub fn know_virtuals<'a>(&mut self, numbers: impl Iterator<Item = &'a (LaneId, Number)>) {
        for (id, number) in numbers {
            if let Some(lane) = self.lane(*id)
                && let Some(place) = lane.place(*number)
            {
                lane.virtuals.places.set(place);
            }
        }
    }

    /// Gives a lane to another name: visitors in it lose their places. Returns the forgotten epochs.
    pub fn clear_lane(&mut self, at: usize) -> Vec<(Epoch, u32)> {
        let Some(lane) = self.lanes.get_mut(at) else {
            return Vec::new();
        };
        lane.pulse = Pulse::default();
        lane.begin_sale()
    }

    /// Cancels the draw of visitors who are not drawn yet.
    pub fn give_up_draw(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.epochs.draws.give_up());
    }

    /// Visitors were let past the line.
    pub fn count_bypasses(&mut self, visitors: u64) {
        self.totals.bypasses += visitors;
    }

    /// An edition that the log had lost is known again.
    pub fn regain_edition(&mut self, spared: Epoch) {
        self.tally.regain_edition(spared, &self.lanes);
    }

    /// Where each lane's next number will stand.
    pub fn nexts(&self) -> Vec<Place> {
        self.lanes.iter().map(|lane| lane.epochs.next()).collect()
    }

    /// With the data that is derived from the rest.
    fn derived(mut self) -> Self {
        self.index();
        self.tally.recount(&self.lanes);
        self.accounts = Accounts::index(&self.lanes);
        self
    }

    /// Works the index of deadlines out from the records.
    fn index(&mut self) {
        (self.deadlines, self.parkings) = (Deadlines::default(), Deadlines::default());
        for (id, lane) in (0..).map(LaneId).zip(&self.lanes) {
            for (place, record) in lane.slots.iter() {
                if let Some(at) = record.due() {
                    self.deadlines.add(at, (id, place));
                }
                if let Some(at) = record.parks(self.parks_after_ms) {
                    self.parkings.add(at, (id, place));
                }
            }
        }
    }
}

/// Lines of a room that are forecast anew in each step.
const LINES_A_STEP: u64 = 512;

/// When the clock changes the record, as the record itself says.
fn actual(lanes: &[Lane], (lane, place): Due) -> Option<Clock> {
    lanes.get(usize::from(lane.0))?.slots.get(place)?.due()
}
