//! Calls that something else than slots limits: a rate, or the controller of a room that follows its shop.

use crate::forecast::flow::{MASS, Tokens};
use crate::line::rate::Bucket;
use crate::load::Allowance;
use crate::settings::Settings;
use ropeline_ids::Clock;

/// The limit in three forecasts: the likely, the fast, and the slow one; `None` where slots alone limit calls.
pub(crate) type Limit = [Option<Tokens>; 3];

/// Steps of the mean of a controlled room's calls.
const MEMORY: u64 = 60;

/// The mean calls of a step, in masses, of the time in which the controller allowed calls. A controller's allowance swings around what
/// the shop can take, so the mean says more about the next half hour than the allowance of now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MeanCalls {
    mean: u64,
    /// Steps that it is of.
    steps: u64,
    at: Clock,
    calls: u64,
}

/// A rate brings its tokens in any case.
pub(crate) fn by_rate(bucket: Bucket, settings: &Settings, step_ms: u64, now: Clock) -> Limit {
    let tokens = settings.rate_per_minute.map(|rate| Tokens {
        now: bucket.at(settings, now).tokens(settings).min(u64::from(u32::MAX)) * MASS,
        step: u64::from(rate) * MASS * step_ms / 60_000,
    });
    [tokens; 3]
}

impl MeanCalls {
    /// By a controller: what it has let through, between that and what it allows now. Wide while little is known.
    pub fn limit(
        &mut self,
        allowance: Allowance,
        calls: u64,
        (settings, step_ms): (&Settings, u64),
        now: Clock,
    ) -> Limit {
        let allowed =
            allowance.step_milli().min(u64::from(u32::MAX)) * MASS / 1_000 * step_ms / settings.call_every_ms.max(1);
        self.note(calls, allowed > 0, step_ms, now);
        let mean = if allowed > 0 { self.mean } else { 0 };
        let most = mean.max(allowed.min(mean * 3));
        let least = mean.min(allowed.max(mean / 3));
        let slow = least * self.steps / (self.steps + MEMORY / 4);
        [mean, most + most / 5, slow].map(|step| Some(Tokens { now: 0, step }))
    }

    fn note(&mut self, calls: u64, counts: bool, step_ms: u64, now: Clock) {
        let passed = now.since(self.at);
        if passed < step_ms {
            return;
        }
        let made = calls
            .saturating_sub(self.calls)
            .saturating_mul(MASS)
            .saturating_mul(step_ms)
            / passed;
        (self.at, self.calls) = (now, calls);
        if counts {
            self.steps = (self.steps + 1).min(MEMORY);
            self.mean = (self.mean * (self.steps - 1) + made) / self.steps;
        }
    }
}

/// No call can be made.
pub(crate) fn is_stopped(limit: &Limit) -> bool {
    limit[0].is_some_and(|tokens| tokens.now + tokens.step == 0)
}
