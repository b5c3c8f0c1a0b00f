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
    /// Steps that it is of, and steps in all.
    steps: u64,
    known: u64,
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
    /// By a controller: the mean that it has let through. The fast forecast follows what it allows now, up to three times the mean; the
    /// slow one is below the mean, the less the longer the room has called.
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
        let slow = mean * self.known / (self.known + MEMORY);
        [mean, most + most / 3, slow].map(|step| Some(Tokens { now: 0, step }))
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
            self.known = self.known.saturating_add(1);
            self.steps = self.known.min(MEMORY);
            self.mean = (self.mean * (self.steps - 1) + made) / self.steps;
        }
    }
}

/// No call can be made.
pub(crate) fn is_stopped(limit: &Limit) -> bool {
    limit[0].is_some_and(|tokens| tokens.now + tokens.step == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_MS: u64 = 5_000;

    fn rated(rate: Option<u32>) -> Limit {
        let settings = Settings {
            rate_per_minute: rate,
            ..Settings::default()
        };
        by_rate(Bucket::full(&settings, Clock(0)), &settings, STEP_MS, Clock(0))
    }

    fn allowance(step_milli: u64) -> Allowance {
        let mut allowance = Allowance::default();
        allowance.set(step_milli, Clock(0));
        allowance
    }

    /// The limit after steps with so many calls each, in a room that allows this many thousandths a second.
    fn controlled(mean: &mut MeanCalls, steps: u64, calls: u64, milli: u64) -> Limit {
        let settings = Settings::default();
        let mut limit = [None; 3];
        for _ in 0..steps {
            let (now, all) = (mean.at.plus(STEP_MS), mean.calls + calls);
            limit = mean.limit(allowance(milli), all, (&settings, STEP_MS), now);
        }
        limit
    }

    fn steps_of(limit: Limit) -> [u64; 3] {
        limit.map(|tokens| tokens.expect("a controller limits calls").step)
    }

    /// As steps of these many calls, in thousandths, but for what rounding takes.
    fn is_about(limit: Limit, milli: [u64; 3]) -> bool {
        let is_near = |(step, milli): (u64, u64)| step.abs_diff(MASS * milli / 1_000) <= MASS / 1_000;
        steps_of(limit).into_iter().zip(milli).all(is_near)
    }

    #[test]
    fn without_a_rate_slots_alone_limit_calls() {
        assert_eq!(rated(None), [None; 3]);
        assert!(!is_stopped(&rated(None)));
    }

    #[test]
    fn a_rate_brings_its_tokens_in_every_forecast() {
        let tokens = Tokens {
            now: MASS,
            step: 5 * MASS,
        };
        assert_eq!(rated(Some(60)), [Some(tokens); 3]);
        // A third of a token in a step.
        assert_eq!(rated(Some(4)).map(|tokens| tokens.unwrap().step), [MASS / 3; 3]);
    }

    #[test]
    fn the_highest_rate_is_counted_without_overflow() {
        let tokens = rated(Some(u32::MAX))[0].unwrap();
        assert_eq!(tokens.step, u64::from(u32::MAX) * MASS / 12);
    }

    #[test]
    fn a_rate_of_nothing_is_a_stop() {
        assert!(is_stopped(&rated(Some(0))));
        assert!(!is_stopped(&rated(Some(1))));
    }

    #[test]
    fn a_controlled_room_goes_on_with_its_mean_calls() {
        let limit = controlled(&mut MeanCalls::default(), 100, 2, 400);
        assert!(is_about(limit, [2_000, 2_667, 1_250]), "{limit:?}");
    }

    #[test]
    fn an_allowance_of_now_moves_the_fast_edge_alone() {
        let mut mean = MeanCalls::default();
        controlled(&mut mean, 99, 2, 400);
        // However high it is, it counts three times the mean at most.
        for (milli, fast) in [(800, 5_333), (200, 2_667), (u64::MAX, 8_000), (1, 2_667)] {
            let limit = controlled(&mut mean.clone(), 1, 2, milli);
            assert!(is_about(limit, [2_000, fast, 1_250]), "{milli} {limit:?}");
        }
    }

    #[test]
    fn the_less_is_known_of_a_controlled_room_the_slower_it_may_be() {
        let mut mean = MeanCalls::default();
        let [_, _, new] = steps_of(controlled(&mut mean, 2, 2, 400));
        let [_, _, known] = steps_of(controlled(&mut mean, 100, 2, 400));
        assert!(new * 4 < known, "{new} {known}");
    }

    #[test]
    fn a_controller_that_allows_nothing_stops_the_room_and_spoils_no_mean() {
        let mut mean = MeanCalls::default();
        controlled(&mut mean, 99, 2, 400);
        let before = controlled(&mut mean.clone(), 1, 2, 400);
        let stopped = controlled(&mut mean, 50, 0, 0);
        assert_eq!(steps_of(stopped), [0; 3]);
        assert!(is_stopped(&stopped));
        assert_eq!(controlled(&mut mean, 1, 2, 400), before);
    }

    #[test]
    fn a_new_mean_follows_within_minutes() {
        let mut mean = MeanCalls::default();
        controlled(&mut mean, 100, 2, 400);
        let [likely, ..] = steps_of(controlled(&mut mean, 60, 6, 1_200));
        assert!((4 * MASS..5 * MASS).contains(&likely), "{likely}");
    }

    #[test]
    fn looks_within_one_step_are_not_counted() {
        let mut mean = MeanCalls::default();
        controlled(&mut mean, 10, 2, 400);
        let before = mean;
        let settings = Settings::default();
        let soon = mean.at.plus(STEP_MS - 1);
        mean.limit(allowance(400), mean.calls + 50, (&settings, STEP_MS), soon);
        assert_eq!(mean, before);
    }
}
