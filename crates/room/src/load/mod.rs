//! Load control: figures of a room's upstreams, from gates or from an outside source, and the number of calls that they
//! allow.
//!
//! All decisions use log time and the content of entries, so every gate decides alike. Nothing here makes a call or frees a
//! slot: a room calls within capacity and rate as without load control, and within the allowance computed here.

mod adaptive;
mod allowance;
mod controller;
mod figures;
mod gates;
mod pace;
mod share;
mod times;
mod why;

pub use controller::{Bounds, Controller, Linear, LoadControl, TTL_MS};
pub use figures::{Circuit, MAX_REQUESTS, Measured, OUTSIDE_TTL_MS, Outside, Report, Reported};
pub use times::{STEPS, Times};
pub use why::{LoadView, Why};

use adaptive::{Adaptive, Found};
pub(super) use allowance::Allowance;
use gates::Gates;
use pace::Pace;
pub(super) use share::Share;

use crate::codec::codec;
use crate::entry::commands::Who;
use ropeline_ids::{Clock, GateId, LineName, Wall};

/// A room's controller and its figures.
#[derive(Clone, Debug)]
pub(super) struct Load {
    gates: Gates,
    outside: Option<Given>,
    /// Durations of recent requests, older ones with less weight.
    times: Times,
    ended: u64,
    errors: u64,
    pub share: Share,
    pub allowance: Allowance,
    adaptive: Adaptive,
    pace: Pace,
    decided: Clock,
    /// Calls made since.
    pub calls: u64,
    /// About as many were called as were allowed.
    binds: bool,
    why: Why,
    since: Wall,
    /// The line that called last: those behind it are next.
    pub last: LineName,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Given {
    until: Clock,
    figures: Outside,
    who: Option<Who>,
}

codec! {
    struct Load {
        gates, outside, times, ended, errors, share, allowance, adaptive, pace, decided, calls, binds, why, since,
        last,
    };
    struct Given { until, figures, who };
}

impl Load {
    /// No figures are known, and no visitor is called.
    pub fn new(time: Wall, now: Clock) -> Self {
        Self {
            gates: Gates::default(),
            outside: None,
            times: Times::default(),
            ended: 0,
            errors: 0,
            share: Share::default(),
            allowance: Allowance::default(),
            adaptive: Adaptive::new(),
            pace: Pace::default(),
            decided: now,
            calls: 0,
            binds: false,
            why: Why::Figures,
            since: time,
            last: LineName::ONLY,
        }
    }

    /// A gate reports.
    pub fn take(&mut self, gate: GateId, report: &Report, ttl_ms: u64, now: Clock) {
        self.gates.take(gate, report, now.plus(ttl_ms));
        let weight = u64::from(times::WEIGHT);
        self.times.weigh_in(&report.times);
        self.ended = self.ended.saturating_add(u64::from(report.ended) * weight);
        let errors = u64::from(report.errors.min(report.ended)) * weight;
        self.errors = self.errors.saturating_add(errors);
    }

    /// A gate is gone, and its figures with it.
    pub fn forget(&mut self, gate: GateId) {
        self.gates.forget(gate);
    }

    /// Takes figures from an outside source.
    pub fn give(&mut self, figures: Outside, who: Option<Who>, now: Clock) {
        let until = now.plus(u64::from(figures.ttl_ms));
        self.outside = Some(Given { until, figures, who });
    }

    /// The measured figures count again at once.
    pub fn give_back(&mut self) {
        self.outside = None;
    }

    /// Drops figures that have expired, and decides anew when that is due; `slots` are called or inside. True if the
    /// allowance changed.
    pub fn run(&mut self, load_control: &LoadControl, step_ms: u64, slots: u64, (time, now): (Wall, Clock)) -> bool {
        self.gates.drop_old(now);
        self.outside.take_if(|given| now >= given.until);
        let known = self.outside.is_some() || !self.gates.is_empty();
        if known == (self.why != Why::Figures) && now.since(self.decided) < EVERY_MS {
            return false;
        }
        let before = (self.allowance.step_milli(), self.why);
        self.bind(step_ms, now);
        let is_odd = self.adaptive.is_filling(now);
        self.pace.note(slots, self.calls, is_odd, now.since(self.decided));
        let (step_milli, why) = self.decide(load_control, step_ms, now);
        self.allowance.set(step_milli, now);
        if (why, step_milli == 0) != (self.why, before.0 == 0) {
            (self.why, self.since) = (why, time);
        }
        (self.decided, self.calls) = (now, 0);
        self.fade();
        before != (step_milli, why)
    }

    /// Reduces the weight of older requests. Those of a shop with few requests keep their weight longer, so that there are
    /// enough for a decision. If some have failed, the decision is made as soon as possible.
    fn fade(&mut self) {
        let weight = u64::from(times::WEIGHT);
        let few = self.ended < if self.errors == 0 { ENOUGH } else { FEW } * weight;
        let times = match () {
            // No visitor comes, so no new figures would ever show that the shop is well again.
            () if self.allowance.step_milli() == 0 => 2,
            () if few => 0,
            () => 1,
        };
        for _ in 0..times {
            self.times.halve();
            (self.ended, self.errors) = (self.ended / 2, self.errors / 2);
        }
    }

    /// How many visitors may be called per step, in thousandths, and the reason for the limit.
    fn decide(&mut self, load_control: &LoadControl, step_ms: u64, now: Clock) -> (u64, Why) {
        let Some(seen) = self.measured() else {
            self.adaptive.stop(&self.pace, now);
            return (0, Why::Figures);
        };
        if seen.circuit != Circuit::Closed {
            self.adaptive.stop(&self.pace, now);
            // A visitor has to come, or the shop's recovery would never be noticed.
            let trial = if seen.circuit == Circuit::Trial { 1_000 } else { 0 };
            return (trial, Why::Circuit);
        }
        match load_control.by {
            Controller::Linear(linear) => self.by_requests(&linear, &seen),
            Controller::Adaptive(bounds) => {
                let why = match self.adaptive.decide(bounds, &seen, self.binds, &self.pace, now) {
                    Found::Fine => Why::Free,
                    Found::Slow => Why::Latency,
                    Found::Failing => Why::Errors,
                };
                let rate_milli = without(self.adaptive.rate_milli(&self.pace), seen.likely_permille());
                (self.share.ahead(rate_milli.saturating_mul(step_ms) / 1_000), why)
            }
        }
    }

    /// Interpolates between many calls and few; a shop that answers no request gets few. The number rises gradually, because
    /// a called visitor becomes load only after a while.
    fn by_requests(&self, linear: &Linear, seen: &Measured) -> (u64, Why) {
        let requests_milli = if seen.silent { u64::MAX } else { seen.load_milli };
        let by_line_milli = linear.calls_milli(requests_milli);
        let calls_milli = self
            .while_some_hang(by_line_milli, seen)
            .max(u64::from(linear.least) * 1_000);
        let rise_milli = (u64::from(linear.most) * 1_000 / RISE).max(1_000);
        let calls_milli = calls_milli.min(self.allowance.step_milli().saturating_add(rise_milli));
        let why = match () {
            () if seen.silent || seen.many_hang() => Why::Latency,
            () if self.binds && seen.requests_milli > u64::from(linear.from) * 1_000 => Why::Requests,
            () => Why::Free,
        };
        (calls_milli, why)
    }

    /// Hanging requests keep others from being sent, so that requests per second are few. The number of calls then does not
    /// rise, and is reduced each time by the share of visitors whose requests hang. SECURITY: some calls are made even if all
    /// requests hang, to show whether the shop is well.
    fn while_some_hang(&self, calls_milli: u64, seen: &Measured) -> u64 {
        let share = seen.hanging_permille();
        let fewer_milli = without(self.allowance.step_milli().min(calls_milli), seen.likely_permille());
        let mixed_milli = (calls_milli * (1_000 - share) + fewer_milli * share) / 1_000;
        mixed_milli.max(calls_milli.min(1_000))
    }

    /// Notes whether about as many were called as were allowed: only then the figures say that more could be. Once it was so
    /// it is until clearly fewer are called.
    fn bind(&mut self, step_ms: u64, now: Clock) {
        let passed_ms = now.since(self.decided).min(60_000);
        let allowed_milli = self.allowance.step_milli().saturating_mul(passed_ms) / step_ms.max(1);
        let enough = |tenths: u64| self.calls.saturating_mul(10_000) >= allowed_milli.saturating_mul(tenths);
        self.binds = enough(7) || self.allowance.calls() == 0 || (self.binds && enough(4));
    }

    /// The figures in force: those of the gates, replaced by outside ones where given. `None` without either.
    fn measured(&self) -> Option<Measured> {
        let weight = u64::from(times::WEIGHT);
        let errors = self.errors.saturating_mul(1_000).checked_div(self.ended);
        let answered = self.times.total();
        let seen = Measured {
            requests_milli: self.gates.requests_milli(),
            load_milli: self.gates.load_milli(),
            p95_us: self.times.p95_us().filter(|_| answered >= FEW * weight),
            median_us: self.times.median_us().filter(|_| answered >= TELLING * weight),
            queue_us: self.gates.queue_us(),
            errors_permille: errors
                .filter(|_| self.ended >= FEW * weight)
                .map_or(0, |errors| u16::try_from(errors).unwrap_or(1_000)),
            in_flight: self.gates.in_flight(),
            hanging: self.gates.hanging(),
            answered: self.gates.answered(),
            silent: self.gates.are_silent(),
            circuit: self.gates.circuit(),
            given: false,
        };
        match &self.outside {
            Some(given) => Some(given.figures.over(seen)),
            None => (!self.gates.is_empty()).then_some(seen),
        }
    }

    pub fn view(&self) -> LoadView {
        LoadView {
            why: self.why,
            since: self.since,
            step_milli: self.allowance.step_milli(),
            binds: self.binds,
            seen: self.measured(),
            gates: self.gates.len(),
            outside: self.outside.as_ref().map(|given| (given.until, given.who.clone())),
            share_permille: self.share.permille(),
        }
    }
}

/// The rest after a share of so many thousandths is removed.
fn without(milli: u64, permille: u64) -> u64 {
    milli.saturating_mul(1_000 - permille.min(1_000)) / 1_000
}

/// How often a controller decides anew.
const EVERY_MS: u64 = 2_000;

/// Requests that a percentile is read from, as far as there are.
const ENOUGH: u64 = 100;

/// Fewer requests are not enough to judge their duration, the slowest of them, or the share of failures.
const TELLING: u64 = 40;
const FEW: u64 = 20;

/// With the linear controller, calls rise to the most in at least this many decisions.
const RISE: u64 = 8;
