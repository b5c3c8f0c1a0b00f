//! The forecast of a line: when its calls will reach those who wait.
//!
//! `stays` learns how sessions go on, `queue` learns who leaves, `limit` knows the rate, and `flow` works out the hours to come from
//! that. `errors` learns how far off forecasts were. A `Curve` is what the view keeps. All of it follows from the entries that this
//! replica has applied and from the state's records. It is no part of the state's bytes, since no call depends on it: a gate that
//! begins from a snapshot learns anew, and says wider intervals for a while.

pub(crate) mod ages;
pub(crate) mod curve;
pub(crate) mod errors;
pub(crate) mod flow;
pub(crate) mod limit;
pub(crate) mod queue;
mod start;
pub(crate) mod stays;

use std::sync::Arc;

use crate::forecast::curve::{Curve, LaneCurve, Passing};
use crate::forecast::errors::Errors;
use crate::forecast::flow::{Arrivals, Flow, LaneFlow};
use crate::forecast::limit::{Limit, MeanCalls, is_stopped};
use crate::forecast::queue::{Group, Queue};
use crate::forecast::start::start;
use crate::forecast::stays::{Lean, Stays, Times};
use crate::lane::Lane;
use crate::settings::{Mode, Settings};
use ropeline_ids::Clock;

/// What a line has learnt, and its last forecast.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    stays: Option<Box<Stays>>,
    queues: Vec<Queue>,
    pub mean_calls: MeanCalls,
    errors: Errors,
    /// When the line was last looked at.
    watched: Option<Clock>,
    /// What operators set, as of then.
    under: (u32, Option<u32>, Mode),
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
    pub now: Clock,
}

impl Forecast {
    /// The last forecast, if visitors wait.
    pub fn curve(&self) -> Option<&Arc<Curve>> {
        self.curve.as_ref()
    }

    /// What is known of sessions; learnt anew when the settings' times have changed.
    pub fn stays(&mut self, settings: &Settings) -> &mut Stays {
        let times = Times::of(settings);
        if self.stays.as_ref().is_some_and(|stays| stays.times != times) {
            self.stays = None;
            self.watched = None;
        }
        self.stays.get_or_insert_with(|| Box::new(Stays::new(times)))
    }

    /// Looks at the line, and forecasts anew, once in so many steps. Costs a look at every record, and about 0.2 ms.
    pub fn watch(&mut self, sight: Sight, every: u64) {
        let Sight {
            lanes, settings, now, ..
        } = sight;
        let step_ms = self.stays(settings).times.step_ms;
        let passed_ms = self.watched.map(|at| now.since(at));
        if passed_ms.is_some_and(|passed| passed < step_ms.saturating_mul(every)) {
            return;
        }
        self.watched = Some(now);
        let passed_ms = passed_ms.unwrap_or(0);
        let stays = self.stays(settings);
        stays.watch(lanes.iter().map(|lane| &lane.slots), passed_ms, now);
        let grace_steps = settings.grace_ms / step_ms;
        self.queues.extend(lanes.iter().skip(self.queues.len()).map(Queue::new));
        for (queue, lane) in self.queues.iter_mut().zip(lanes) {
            queue.watch(lane, (step_ms, grace_steps), passed_ms, now);
        }
        self.judge(&sight);
        let waiting = lanes.iter().any(|lane| lane.presence.waiting() > 0);
        self.curve = waiting.then(|| Arc::new(self.forecast(&sight)));
        self.note(&sight);
    }

    /// Learns from forecasts whose outcome is known by now.
    fn judge(&mut self, sight: &Sight) {
        let settings = sight.settings;
        let under = (settings.capacity, settings.rate_per_minute, settings.mode);
        // What was forecast before an operator's change says nothing. A controller changes all the time.
        let changed = std::mem::replace(&mut self.under, under) != under;
        if changed || settings.load_control.is_some() || is_stopped(&sight.limit) {
            self.errors.forget_open();
        }
        self.errors.settle(sight.lanes, sight.now);
    }

    /// Notes some forecasts, to learn from them later.
    fn note(&mut self, sight: &Sight) {
        let (Some(curve), true) = (&self.curve, self.errors.is_due(sight.now)) else {
            return;
        };
        for (at, lane) in sight.lanes.iter().enumerate() {
            let told = |ahead: u64| {
                let wait = curve.wait(at, (ahead, sight.calls[at]), sight.now)?;
                Some((wait.likely, curve.interval(wait, ahead + 1)))
            };
            self.errors
                .note((at, lane), |ms| curve.passed_after(at, ms), told, sight.now);
        }
    }

    fn forecast(&self, sight: &Sight) -> Curve {
        let stays = self.stays.as_ref().expect("watched before");
        let step_ms = stays.times.step_ms;
        let groups: Vec<Vec<Group>> = self
            .queues
            .iter()
            .map(|queue| queue.groups(step_ms, sight.now))
            .collect();
        let doubt = self.queues.iter().map(Queue::doubt).max().unwrap_or(0);
        let run = |lean: Lean, at: usize| {
            let chances = stays.chances(lean);
            let start = start(sight, stays.times, &chances, sight.limit[at]);
            let mut flows: Vec<LaneFlow> = (0..sight.lanes.len())
                .map(|at| self.lane_flow(at, &groups[at], (sight, step_ms), lean))
                .collect();
            Flow::new(start, chances, lean.leaving(doubt)).run(&mut flows);
            flows
                .into_iter()
                .map(|flow| Passing::new(&flow.curve))
                .collect::<Vec<_>>()
        };
        let runs = run(Lean::Likely, 0)
            .into_iter()
            .zip(run(Lean::Fast, 1))
            .zip(run(Lean::Slow, 2));
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
            errors: self.errors.clone(),
        }
    }

    fn lane_flow(&self, at: usize, groups: &[Group], (sight, step_ms): (&Sight, u64), lean: Lean) -> LaneFlow {
        let queue = &self.queues[at];
        let weight = sight.settings.lane_weights.get(at).copied().unwrap_or(1);
        let leaves = queue.chances(sight.settings.grace_ms / step_ms);
        // Those who come later delay only visitors of other lanes.
        let arrivals = if sight.lanes.len() > 1 {
            lean.arrivals(queue.arrivals(step_ms, sight.now))
        } else {
            Arrivals::default()
        };
        LaneFlow::new(groups, leaves, u64::from(weight), arrivals)
    }
}
