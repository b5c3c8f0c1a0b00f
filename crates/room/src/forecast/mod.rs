//! The forecast of a line: when its calls will reach each waiting visitor.
//!
//! `stays` learns how sessions go on, `queue` learns who leaves, `limit` knows the rate, and `flow` works out the hours to come from
//! that. `errors` learns how far off forecasts were. A `Curve` is what the view keeps. All of it follows from the entries that this
//! replica has applied and from the state's records. It is no part of the state's bytes, since no call depends on it: a gate that
//! begins from a snapshot learns anew, and says wider intervals for a while.

pub(crate) mod ages;
pub(crate) mod crowds;
pub(crate) mod curve;
pub(crate) mod errors;
pub(crate) mod flow;
pub(crate) mod kinds;
pub(crate) mod limit;
pub(crate) mod queue;
#[cfg(test)]
mod size;
mod start;
pub(crate) mod stays;
#[cfg(test)]
mod tests;
pub(crate) mod told;

use std::sync::Arc;

use crate::forecast::crowds::Kind;
use crate::forecast::curve::{Curve, LaneCurve, Passing};
use crate::forecast::errors::Errors;
use crate::forecast::flow::{Arrivals, Flow, LaneFlow, Start, Tokens};
use crate::forecast::kinds::{Kinds, OneOf};
use crate::forecast::limit::{Limit, Losses, MeanCalls, Ticks, is_stopped};
use crate::forecast::queue::Queue;
use crate::forecast::start::start;
use crate::forecast::stays::{Chances, Lean, Times};
use crate::forecast::told::{Shares, Told};
use crate::lane::Lane;
use crate::lane::slots::Held;
use crate::settings::{Mode, Settings};
use ropeline_ids::{Clock, LaneId, Place};

/// Waits beyond this are not told, in milliseconds: a week.
pub(crate) const LONGEST_TOLD_MS: u64 = 7 * 24 * 3_600_000;

/// What a line has learnt, and its last forecast.
///
/// Its lists are bounded: it takes at most 56,500 bytes for a line and 20,700 for each of its lanes. With all lists full, one
/// lane took 76,528 bytes and eight 219,296 (`size`). A gate's last two views can each keep an earlier curve, of 9,300 bytes a
/// lane.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    stays: Option<Box<Kinds>>,
    queues: Vec<Queue>,
    pub mean_calls: MeanCalls,
    pub losses: Losses,
    errors: Errors,
    told: Told,
    /// When the line was last looked at.
    watched: Option<Clock>,
    /// Calls until the last entry.
    calls: u64,
    /// What operators set, as of then.
    under: (u32, Option<u32>, Mode, Option<u32>, bool),
    curve: Option<Arc<Curve>>,
}

/// The line as a forecast sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    pub lanes: &'a [Lane],
    /// The calls of each lane so far.
    pub calls: &'a [u64],
    pub settings: &'a Settings,
    pub limit: Limit,
    pub ticks: Option<Ticks>,
    /// Slots that calls may take: without those that are kept for visitors who return.
    pub slots: u32,
    /// So many visitors more can get a piece of the stock.
    pub reach: u64,
    /// Calls are possible, so waits are told.
    pub is_open: bool,
    pub now: Clock,
}

/// The calls of a lane so far; of several lanes without names they are not counted.
pub(crate) fn calls_of(lanes: &[Lane], at: usize, all: u64) -> u64 {
    if lanes.len() < 2 {
        return all;
    }
    lanes.get(at).map_or(0, |lane| lane.pulse.total())
}

impl Sight<'_> {
    /// Visitors wait although slots are free: the rate is the limit, and brings its calls at known times.
    fn is_rated(&self) -> bool {
        let held = self.lanes.iter().map(|lane| lane.slots.held());
        let has_rate = self.settings.rate_per_minute.is_some() && self.settings.load_control.is_none();
        has_rate && held.fold(Held::default(), Held::plus).free(self.slots) > 0
    }
}

impl Forecast {
    /// The last forecast, if visitors wait.
    pub fn curve(&self) -> Option<&Arc<Curve>> {
        self.curve.as_ref()
    }

    /// What came of the intervals that were told.
    pub fn told(&self) -> Shares {
        self.told.shares
    }

    /// What is known of sessions; learnt anew when the settings' times have changed.
    pub fn stays(&mut self, settings: &Settings) -> &mut Kinds {
        let times = Times::of(settings);
        if self.stays.as_ref().is_some_and(|stays| stays.times() != times) {
            self.stays = None;
            self.watched = None;
        }
        self.stays.get_or_insert_with(|| Box::new(Kinds::new(times)))
    }

    /// Learns of the visitor with this place.
    pub fn of(&mut self, settings: &Settings, (lane, place): (LaneId, Place)) -> OneOf<'_> {
        let queue = self.queues.get(usize::from(lane.0));
        let kind = queue.map_or(Kind::Stream, |queue| queue.crowds.kind(place));
        self.stays(settings).of(kind)
    }

    /// Looks at the line, and forecasts anew, once in so many steps. Costs a look at every record, and three runs of a flow.
    pub fn watch(&mut self, sight: Sight, every: u64) {
        let Sight {
            lanes, settings, now, ..
        } = sight;
        let step_ms = self.stays(settings).times().step_ms;
        let passed_ms = self.watched.map(|at| now.since(at));
        let waiting = lanes.iter().any(|lane| lane.presence.waiting() > 0);
        // The first who waits is told at once: the line may not be touched again soon.
        let first = waiting && self.curve.is_none();
        let is_due = first || passed_ms.is_none_or(|passed| passed >= step_ms.saturating_mul(every));
        let calls = sight.calls.iter().sum();
        let has_called = std::mem::replace(&mut self.calls, calls) != calls;
        // The next step would be too late to know when a place was passed.
        if is_due || has_called {
            self.judge(&sight);
        }
        if !is_due {
            return;
        }
        self.watched = Some(now);
        let passed_ms = passed_ms.unwrap_or(0);
        let grace_steps = settings.grace_ms / step_ms;
        for (at, lane) in lanes.iter().enumerate().skip(self.queues.len()) {
            // With more calls than holders of slots, sessions have ended before this look. So the line is older, and its visitors joined
            // over some time.
            let is_new = sight.calls[at] <= u64::from(lane.slots.held().rights());
            self.queues.push(Queue::new(lane, is_new));
        }
        for (queue, lane) in self.queues.iter_mut().zip(lanes) {
            queue.watch(lane, (step_ms, grace_steps), passed_ms, now);
        }
        self.watch_sessions(&sight, passed_ms);
        self.curve = waiting.then(|| Arc::new(self.forecast(&sight)));
        self.note(&sight);
    }

    fn watch_sessions(&mut self, sight: &Sight, passed_ms: u64) {
        let Self { stays, queues, .. } = self;
        let stays = stays.as_mut().expect("asked for before");
        stays.tell_apart(queues.iter().any(|queue| !queue.crowds.is_empty()));
        let records = queues.iter().zip(sight.lanes).flat_map(|(queue, lane)| {
            let of_lane = lane.slots.iter();
            of_lane.map(move |(place, record)| (queue.crowds.kind(place), record))
        });
        stays.watch(records, passed_ms, sight.now);
    }

    /// Learns from earlier forecasts whose outcome is known.
    fn judge(&mut self, sight: &Sight) {
        let settings = sight.settings;
        let under = (
            settings.capacity,
            settings.rate_per_minute,
            settings.mode,
            settings.stock,
            settings.load_control.is_some(),
        );
        // What was forecast before an operator's change says nothing. A controller changes all the time.
        let changed = std::mem::replace(&mut self.under, under) != under;
        if changed {
            self.told.forget_open();
            self.errors.doubt();
        }
        if changed || settings.load_control.is_some() || is_stopped(&sight.limit) {
            self.errors.forget_open();
        }
        self.errors.settle(sight.lanes, sight.now);
        self.told.settle(sight.lanes, sight.now);
    }

    /// Notes some forecasts, to learn from them later.
    fn note(&mut self, sight: &Sight) {
        let Some(curve) = &self.curve else { return };
        let told = |at: usize, ahead: u64| {
            let wait = curve.wait(at, (ahead, sight.calls[at]), sight.now)?;
            let likely = curve.likely(wait, sight.now);
            Some((likely, curve.interval(wait, ahead + 1, sight.now)))
        };
        if sight.is_open && self.told.is_due(sight.now) {
            let interval = |at: usize, ahead: u64| {
                let is_told = |likely: &u64| ahead < sight.reach && *likely < LONGEST_TOLD_MS;
                told(at, ahead)
                    .filter(|(likely, _)| is_told(likely))
                    .map(|(_, interval)| interval)
            };
            self.told.note(sight.lanes, interval, sight.now);
        }
        if !self.errors.is_due(sight.now) {
            return;
        }
        for (at, lane) in sight.lanes.iter().enumerate() {
            self.errors.note(
                (at, lane),
                |ms| curve.passed_after(at, ms),
                |ahead| told(at, ahead),
                sight.now,
            );
        }
    }

    fn forecast(&self, sight: &Sight) -> Curve {
        let stays = self.stays.as_ref().expect("watched before");
        let step_ms = stays.times().step_ms;
        let kind = |at: usize, place: Place| self.queues[at].crowds.kind(place);
        let [likely, fast, slow] = stays.chances([Lean::Likely, Lean::Fast, Lean::Slow]);
        let start = start(sight, stays.times(), &likely, kind);
        let flows: Vec<LaneFlow> = (0..sight.lanes.len())
            .map(|at| self.lane_flow(at, sight, step_ms))
            .collect();
        let by_slot = if likely.is_sorted_by_key(Chances::slot) {
            [Kind::Stream, Kind::Crowd]
        } else {
            [Kind::Crowd, Kind::Stream]
        };
        let run = |lean: Lean, chances: Vec<Chances>, tokens: Option<Tokens>| {
            let mut flows: Vec<LaneFlow> = flows
                .iter()
                .zip(&self.queues)
                .map(|(flow, queue)| flow.leaning(lean, queue.doubt(lean), by_slot))
                .collect();
            let start = Start {
                tokens,
                ..start.clone()
            };
            Flow::new(start, chances).run(&mut flows);
            let passing = |(flow, lane): (LaneFlow, &Lane)| match lane.presence.waiting() {
                0 => Passing::new(&[]),
                _ => Passing::new(&flow.curve),
            };
            flows.into_iter().zip(sight.lanes).map(passing).collect::<Vec<_>>()
        };
        let limit = sight.limit;
        let runs = run(Lean::Likely, likely, limit[0])
            .into_iter()
            .zip(run(Lean::Fast, fast, limit[1]))
            .zip(run(Lean::Slow, slow, limit[2]));
        let lanes = runs.zip(sight.calls).map(|(((likely, fast), slow), calls)| LaneCurve {
            calls: *calls,
            likely,
            fast,
            slow,
        });
        Curve {
            at: sight.now,
            step_ms,
            lanes: lanes.collect(),
            ticks: sight
                .ticks
                .filter(|_| sight.is_rated() && flows.iter().all(LaneFlow::is_closed)),
            errors: self.errors.spans,
        }
    }

    fn lane_flow(&self, at: usize, sight: &Sight, step_ms: u64) -> LaneFlow {
        let queue = &self.queues[at];
        let weight = sight.settings.lane_weights.get(at).copied().unwrap_or(1);
        let leaves = queue.chances(sight.settings.grace_ms / step_ms);
        // Later arrivals delay only visitors of other lanes.
        let arrivals = if sight.lanes.len() > 1 {
            queue.arrivals(step_ms, sight.now)
        } else {
            Arrivals::default()
        };
        LaneFlow::new(&queue.groups(step_ms, sight.now), leaves, u64::from(weight), arrivals)
    }
}
