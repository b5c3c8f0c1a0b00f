//! The forecast of a line: when its calls will reach those who wait.
//!
//! `stays` learns how sessions go on, `queue` who leaves, `flow` works out the hours to come, and a [`Curve`] is what the view keeps
//! of it. All of it follows from the entries that this replica has applied, and from the state's records; it is no part of the state's
//! bytes, since no call depends on it.

pub(crate) mod ages;
pub(crate) mod errors;
pub(crate) mod flow;
pub(crate) mod queue;
pub(crate) mod stays;

use std::sync::Arc;

use crate::forecast::ages::SURE;
use crate::forecast::errors::{Errors, WHOLE};
use crate::forecast::flow::{Flow, LaneFlow, MASS, Start};
use crate::forecast::queue::Queue;
use crate::forecast::stays::{Stays, Times};
use crate::lane::Lane;
use crate::lane::record::Record;
use crate::settings::{Mode, Settings};
use ropeline_ids::Clock;

#[derive(Debug, Default)]
pub(crate) struct Forecast {
    pub stays: Option<Box<Stays>>,
    queues: Vec<Queue>,
    watched: Clock,
    /// The first watch has been.
    begun: bool,
    pub curve: Option<Arc<Curve>>,
    errors: Errors,
    pace: u64,
    paces: u64,
    paced: Clock,
    paced_calls: u64,
    /// What an operator sets, as of the last watch.
    under: (u32, Option<u32>, Mode),
}

/// How many of those who wait will have been passed when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Curve {
    at: Clock,
    step_ms: u64,
    lanes: Vec<[Passing; 3]>,
    /// Calls of each lane until then.
    calls: Vec<u64>,
    errors: Errors,
}

/// How many have been passed by the end of each step.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Passing(Vec<u32>);

/// Times from now on in milliseconds: as it is likely, if all goes fast, and if all goes slowly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Times3 {
    pub likely: u64,
    pub fast: u64,
    pub slow: u64,
}

/// What no forecast knows, in thousandths of the wait.
const DRIFT: u64 = 50;
const DRIFT_MS: u64 = 30_000;
const MOST_DRIFT: u64 = 160;

/// Waits are told up to this one: eleven days.
const LONGEST_MS: u64 = 1_000_000_000;

impl Passing {
    fn of(lane: &LaneFlow) -> Self {
        let whole = |mass: &u64| u32::try_from(mass * 16 / MASS).unwrap_or(u32::MAX);
        Self(lane.curve.iter().map(whole).collect())
    }

    /// When so many, in sixteenths, have been passed.
    fn when(&self, passed: u64, step_ms: u64) -> u64 {
        let steps = &self.0;
        let at = steps.partition_point(|sum| u64::from(*sum) < passed);
        let sum = |at: usize| steps.get(at).map_or(0, |sum| u64::from(*sum));
        let count = |at: usize| u64::try_from(at).unwrap_or(0);
        if at < steps.len() {
            let before = if at == 0 { 0 } else { sum(at - 1) };
            let part = (passed - before) * step_ms / (sum(at) - before).max(1);
            return count(at) * step_ms + part;
        }
        // Behind the last of them it goes on as in the second half.
        let all = steps.last().copied().unwrap_or(0);
        let end = steps.partition_point(|sum| *sum < all);
        let half = end / 2;
        let pace = u64::from(all).saturating_sub(sum(half)).max(1);
        let more = passed.saturating_sub(u64::from(all)).saturating_mul(count(end - half) * step_ms);
        count(end + 1) * step_ms + more / pace
    }
}

impl Curve {
    /// When calls pass the place with so many before it in the lane, from `now` on.
    pub fn passes(&self, lane: usize, (ahead, calls): (u64, u64), now: Clock) -> Option<Times3> {
        let lanes = self.lanes.get(lane)?;
        let since = calls.saturating_sub(*self.calls.get(lane)?);
        let passed = (ahead + 1 + since) * 16;
        let gone = now.since(self.at);
        let of = |one: &Passing| one.when(passed, self.step_ms).min(LONGEST_MS).saturating_sub(gone);
        let [likely, fast, slow] = lanes;
        Some(Times3 {
            likely: of(likely),
            fast: of(fast),
            slow: of(slow),
        })
    }

    /// The interval of a wait, in milliseconds, with so many visitors to pass.
    pub fn interval(&self, times: Times3, passed: u64) -> (u64, u64) {
        let (longer, width) = self.errors.factors(times.likely);
        let scaled = |ms: u64| ms.saturating_mul(longer) / WHOLE;
        let (likely, fast, slow) = (scaled(times.likely), scaled(times.fast), scaled(times.slow));
        let chance = likely * 1_280 / passed.max(1).saturating_mul(1_000_000).isqrt().max(1);
        let drift = likely * (DRIFT + likely / DRIFT_MS).min(MOST_DRIFT) / 1_000;
        let step = self.step_ms / 2;
        let with = |away: u64| (away * away + chance * chance + drift * drift + step * step).isqrt() * width / WHOLE;
        let low = likely.saturating_sub(with(likely.saturating_sub(fast)));
        (low, likely + with(slow.saturating_sub(likely)))
    }

    fn passed_in(&self, lane: usize, ms: u64) -> Option<u64> {
        let at = usize::try_from(ms / self.step_ms).ok()?;
        let [likely, ..] = self.lanes.get(lane)?;
        likely.0.get(at).map(|sum| u64::from(*sum / 16))
    }
}

impl Forecast {
    /// What is learnt of sessions; begins where the settings' times have changed.
    pub fn learn(&mut self, settings: &Settings) -> &mut Stays {
        if self.stays.as_ref().is_none_or(|stays| stays.times != Times::of(settings)) {
            self.stays = Some(Box::new(Stays::new(settings)));
            self.begun = false;
        }
        self.stays.as_mut().expect("it was just made")
    }

    /// Mean calls of a step, in masses, while the controller allows calls: of about five minutes.
    pub fn pace(&mut self, calls: u64, allowed: u64, step_ms: u64, now: Clock) -> u64 {
        let passed = now.since(self.paced);
        if passed >= step_ms {
            let made = calls.saturating_sub(self.paced_calls) * MASS * step_ms / passed;
            (self.paced, self.paced_calls) = (now, calls);
            if allowed > 0 {
                self.paces = (self.paces + 1).min(60);
                self.pace = (self.pace * (self.paces - 1) + made) / self.paces;
            }
        }
        if allowed == 0 { 0 } else { self.pace }
    }

    /// Steps that the pace is the mean of.
    pub fn paces(&self) -> u64 {
        self.paces
    }

    /// Looks at the line, and forecasts anew once a step.
    pub fn watch(&mut self, lanes: &[Lane], calls: &[u64], (settings, tokens): (&Settings, [Option<(u64, u64)>; 3]), now: Clock) {
        let step_ms = self.learn(settings).times.step_ms;
        let passed = now.since(self.watched);
        if self.begun && passed < step_ms {
            return;
        }
        let passed = if self.begun { passed } else { 0 };
        (self.watched, self.begun) = (now, true);
        let stays = self.stays.as_mut().expect("it was just made");
        for lane in lanes {
            stays.watch(&lane.slots, passed, now);
        }
        while self.queues.len() < lanes.len() {
            self.queues.push(Queue::new(&lanes[self.queues.len()]));
        }
        for (queue, lane) in self.queues.iter_mut().zip(lanes) {
            queue.watch(lane, (step_ms, settings.grace_ms / step_ms), passed.max(1), now);
            queue.fade();
        }
        stays.fade(passed.max(1));
        let waiting = lanes.iter().any(|lane| lane.presence.waiting() > 0);
        let under = (settings.capacity, settings.rate_per_minute, settings.mode);
        let stopped = tokens[0].is_some_and(|(now, step)| now + step == 0);
        if std::mem::replace(&mut self.under, under) != under || stopped {
            self.errors.forget_open();
        }
        if settings.load_control.is_none() {
            self.errors.settle(lanes, now);
        }
        self.curve = waiting.then(|| Arc::new(self.forecast(lanes, calls, (settings, tokens), now)));
        if let Some(curve) = self.curve.clone()
            && self.errors.is_due(now)
        {
            for (at, lane) in lanes.iter().enumerate() {
                let told = |ahead: u64| {
                    let times = curve.passes(at, (ahead, calls[at]), now).unwrap_or_default();
                    let (low, high) = curve.interval(times, ahead + 1);
                    (times, low, high)
                };
                self.errors.note((at, lane), |ms| curve.passed_in(at, ms), told, now);
            }
        }
    }

    fn forecast(&self, lanes: &[Lane], calls: &[u64], (settings, tokens): (&Settings, [Option<(u64, u64)>; 3]), now: Clock) -> Curve {
        let stays = self.stays.as_ref().expect("it was just made");
        let times = stays.times;
        let idle_steps = usize::try_from(times.steps(times.hold_ms.saturating_sub(times.idle_ms))).unwrap_or(0);
        let groups: Vec<_> = self.queues.iter().map(|queue| queue.groups(times.step_ms, now)).collect();
        let several = lanes.len() > 1;
        let doubt = self.queues.iter().map(Queue::doubt).max().unwrap_or(0);
        let leans = [
            (0, (1, 1), 0),
            (100, (SURE + doubt, SURE), 1),
            (-100, (SURE, SURE + doubt), 2),
        ];
        let runs = leans.map(|(lean, leaving, at)| {
            let chances = stays.chances(lean);
            let start = start(lanes, stays, &chances, settings, tokens[at], now);
            let leaves = self.queues.iter().map(|queue| queue.chances(settings.grace_ms / times.step_ms)).collect();
            let mut flows: Vec<LaneFlow> = (0..lanes.len())
                .map(|at| {
                    let weight = settings.lane_weights.get(at).copied().unwrap_or(1);
                    let arrivals = if several { self.queues[at].arrivals(times.step_ms, now) } else { (0, 0) };
                    LaneFlow::new(&groups[at], u64::from(weight), arrivals)
                })
                .collect();
            Flow::new(&start, &chances, leaves, idle_steps, leaving).run(&mut flows);
            flows.iter().map(Passing::of).collect::<Vec<_>>()
        });
        if std::env::var_os("DBG").is_some() {
            let c = stays.chances(0);
            let p = |at: usize| runs[0][0].0.get(at).copied().unwrap_or(0) / 16;
            let st = start(lanes, stays, &c, settings, tokens[0], now);
            let sum = |v: &[u64]| v.iter().sum::<u64>() / MASS;
            let act: u64 = st.active.iter().sum::<u64>() / MASS;
            let rec: u64 = c.recall * 1000 / SURE;
            let miss = c.claim.iter().fold(1000.0, |a, p| a * (1.0 - *p as f64 / 65536.0));
            let mut s = 1.0; let mut life = 0.0; let mut endw = 0.0;
            for (e, i) in c.end.iter().zip(&c.idle) { life += s; let (e, i) = (*e as f64 / 65536.0, *i as f64 / 65536.0); endw += s * e; s *= 1.0 - e - i * (1.0 - c.back[0] as f64 / 65536.0); }
            eprintln!("t {} calls {} step {} pred+60 {} +120 {} +240 {} called {} active {} due {} recall {} miss {:.0} life {:.1} endw {:.2} back {:.3} delay {} wait {} level {}", now.0/1000, calls[0], times.step_ms, p(59), p(119), p(239), sum(&st.called), act, sum(&st.due), rec, miss, life, endw, c.back[0] as f64/65536.0, c.delay, lanes[0].presence.waiting(), stays.level().0);
        }
        if std::env::var_os("DBL").is_some() && now.0 < 200_000 {
            for lane in 0..lanes.len() {
                let of = |run: usize| (runs[run][lane].0.len(), runs[run][lane].0.last().map(|x| x / 16));
                eprintln!("l {} lane {lane} wait {} {:?} {:?} {:?} arrivals {:?} calls {}", now.0/1000, lanes[lane].presence.waiting(), of(0), of(1), of(2), self.queues[lane].arrivals(times.step_ms, now), calls[lane]);
            }
        }
        if std::env::var_os("DBQ").is_some() && now.0 / 1000 % 120 < 6 {
            let q = &self.queues[0];
            let ch = q.chances(settings.grace_ms / times.step_ms);
            eprintln!("q {} wait {} events {} ch {:?}", now.0 / 1000, lanes[0].presence.waiting(), q.events(), ch.iter().step_by(4).collect::<Vec<_>>());
            eprintln!("   {:?}", q.groups(times.step_ms, now).iter().step_by(6).map(|g| (g.present, g.age, g.factor)).collect::<Vec<_>>());
        }
        let [likely, fast, slow] = runs;
        let each = likely.into_iter().zip(fast).zip(slow);
        Curve {
            at: now,
            step_ms: times.step_ms,
            lanes: each.map(|((likely, fast), slow)| [likely, fast, slow]).collect(),
            calls: calls.to_vec(),
            errors: self.errors.clone(),
        }
    }
}

fn start(
    lanes: &[Lane],
    stays: &Stays,
    chances: &stays::Chances,
    settings: &Settings,
    tokens: Option<(u64, u64)>,
    now: Clock,
) -> Start {
    let times = stays.times;
    let mut start = Start {
        called: vec![0; chances.claim.len()],
        capacity: u64::from(settings.capacity),
        tokens,
        ..Start::default()
    };
    let place = |list: &mut Vec<u64>, at: u64, mass: u64| {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(4_096);
        if list.len() <= at {
            list.resize(at + 1, 0);
        }
        list[at] += mass;
    };
    let mut active = Vec::new();
    for (_, record) in lanes.iter().flat_map(|lane| lane.slots.iter()) {
        match record {
            Record::Called(call) => {
                let left = times.steps(call.deadline.since(now)).saturating_add(1);
                let at = start.called.len() - usize::try_from(left).unwrap_or(1).min(start.called.len());
                start.called[at] += MASS;
            }
            Record::Inside(session) => {
                let idle_ms = now.since(session.renewed);
                let due = times.steps(session.due().since(now));
                if session.ending || session.expires >= session.ends_by {
                    place(&mut start.due, due, MASS);
                } else if idle_ms < times.idle_ms {
                    place(&mut active, times.age(session, now), MASS);
                } else {
                    let back = MASS * Stays::back(chances, times, idle_ms) / SURE;
                    place(&mut start.due, due, MASS - back);
                    place(&mut active, times.age(session, now), back);
                }
            }
            _ => {}
        }
    }
    start.active = active.into();
    start
}
