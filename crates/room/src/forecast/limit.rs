//! Calls that something else than slots limits: a rate, or the controller of a room that follows its shop.

use crate::forecast::ages::ONE;
use crate::forecast::flow::{MASS, Tokens};
use crate::line::rate::Bucket;
use crate::load::Allowance;
use crate::settings::Settings;
use ropeline_ids::Clock;

/// The limit in three forecasts: the likely, the fast, and the slow one; `None` where slots alone limit calls.
pub(crate) type Limit = [Option<Tokens>; 3];

/// Steps of the mean of a controlled room's calls.
const MEMORY: u64 = 60;

/// A controller that allows nothing for a shorter time pauses, and does not stop.
const PAUSE_MS: u64 = 60_000;

/// The mean calls of a step, in masses, of the time in which the controller allowed calls, pauses included. A controller's allowance
/// swings around what the shop can take, so the mean says more about the next half hour than the allowance of now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MeanCalls {
    mean: u64,
    /// Steps that it is of, and steps in all.
    steps: u64,
    known: u64,
    at: Clock,
    calls: u64,
    /// When the controller last allowed a call.
    allowed_at: Clock,
}

/// A rate brings its tokens in any case. The fraction of the next one counts: with a call a minute it may come in a second, or in a
/// minute.
pub(crate) fn by_rate(bucket: Bucket, (settings, step_ms): (&Settings, u64), losses: Losses, now: Clock) -> Limit {
    let bucket = bucket.at(settings, now);
    let tokens = settings.rate_per_minute.map(|rate| Tokens {
        now: bucket.parts(settings, MASS),
        step: u64::from(rate) * MASS * step_ms / 60_000 * losses.share() / ONE,
    });
    [tokens; 3]
}

/// When a rate brings its tokens: at the end of each step of its bucket, all of the step at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ticks {
    pub last: Clock,
    every_ms: u64,
    /// The time in which a steady rate brings one.
    token_ms: u64,
}

impl Ticks {
    pub fn of(bucket: Bucket, settings: &Settings, now: Clock) -> Option<Self> {
        let rate = settings.rate_per_minute.filter(|rate| *rate > 0)?;
        Some(Self {
            last: bucket.at(settings, now).stepped(),
            every_ms: settings.call_every_ms.max(1),
            token_ms: 60_000 / u64::from(rate),
        })
    }

    /// The tick that brings what a steady rate would have brought by then, both in milliseconds after the last tick. What is less than
    /// half a token late is a rounding.
    pub fn round_up(self, ms: u64) -> u64 {
        let rounding = self.token_ms.min(self.every_ms) / 2;
        self.next(ms.saturating_sub(rounding))
    }

    /// The first tick then or later, both in milliseconds after the last one.
    pub fn next(self, ms: u64) -> u64 {
        ms.div_ceil(self.every_ms).saturating_mul(self.every_ms)
    }
}

/// What a rate brings and loses. Calls are made with entries alone, and the bucket holds no more than a step's tokens and the fraction of
/// another, so where calls wait for tokens and entries are rarer than steps, some are lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Losses {
    /// The rate and the steps of which all this is.
    of: (Option<u32>, u64),
    /// The bucket as the last entry left it, where somebody waits for its next token.
    empty: Option<Bucket>,
    /// Units of the last entries, the older the less.
    brought: u64,
    lost: u64,
}

impl Losses {
    /// The bucket as an entry leaves it; whether somebody waits whom nothing but the rate keeps from being called.
    pub fn note(&mut self, bucket: Bucket, waits: bool, settings: &Settings, now: Clock) {
        let of = (settings.rate_per_minute, settings.call_every_ms);
        if self.of != of {
            *self = Self { of, ..Self::default() };
        }
        if let Some(empty) = self.empty {
            let (brought, lost) = empty.brought(settings, now);
            self.brought = (self.brought - self.brought / FADES).saturating_add(brought);
            self.lost = (self.lost - self.lost / FADES).saturating_add(lost);
        }
        let bucket = bucket.at(settings, now);
        self.empty = Some(bucket).filter(|bucket| waits && bucket.tokens(settings) == 0);
    }

    /// The share of a rate's tokens that become calls, in parts of [`ONE`].
    fn share(self) -> u64 {
        let kept = u128::from(self.brought.saturating_sub(self.lost)) * u128::from(ONE);
        let share = kept.checked_div(u128::from(self.brought));
        share.and_then(|share| u64::try_from(share).ok()).unwrap_or(ONE)
    }
}

/// Of what was noted, one part in so many is forgotten with each entry.
const FADES: u64 = 64;

impl MeanCalls {
    /// By a controller: the mean that it has let through, in the first 60 steps with what it allows now. The fast forecast follows what it
    /// allows now, up to three times the mean, and in the first steps up to many times the mean. The slow one is below the mean, the less the longer the room
    /// has called, and a fourth of it at least.
    pub fn limit(
        &mut self,
        allowance: Allowance,
        calls: u64,
        (settings, step_ms): (&Settings, u64),
        now: Clock,
    ) -> Limit {
        let allowed =
            allowance.step_milli().min(u64::from(u32::MAX)) * MASS / 1_000 * step_ms / settings.call_every_ms.max(1);
        if allowed > 0 {
            self.allowed_at = now;
        }
        let goes_on = now.since(self.allowed_at) <= PAUSE_MS;
        self.note(calls, goes_on, step_ms, now);
        // In the first steps the mean says little: the room fills, and the controller looks for its limit.
        let early = MEMORY.saturating_sub(self.known);
        let doubt = early / (self.known + 1);
        let mean = if goes_on { self.with(allowed, early / 15) } else { 0 };
        let most = mean.max(allowed.min(mean * (3 + doubt)));
        let fast = most + most / 3 + most * doubt / 4;
        let known = self.known.max(MEMORY / 3);
        let slow = mean * known / (known + MEMORY);
        [mean, fast, slow].map(|step| Some(Tokens { now: 0, step }))
    }

    /// The mean, with what is allowed now as that of so many steps more.
    fn with(&self, allowed: u64, steps: u64) -> u64 {
        (self.mean * self.steps + allowed * steps) / (self.steps + steps).max(1)
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
        by_rate(
            Bucket::full(&settings, Clock(0)),
            (&settings, STEP_MS),
            Losses::default(),
            Clock(0),
        )
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
        // The fraction of another that a full bucket holds never counts, since each step brings a whole one.
        let tokens = Tokens {
            now: MASS,
            step: 5 * MASS,
        };
        assert_eq!(rated(Some(60)), [Some(tokens); 3]);
        // A third of a token in a step.
        assert_eq!(rated(Some(4)).map(|tokens| tokens.unwrap().step), [MASS / 3; 3]);
    }

    #[test]
    fn with_a_slow_rate_half_a_token_is_half_of_the_wait_for_it() {
        let settings = Settings {
            rate_per_minute: Some(1),
            ..Settings::default()
        };
        let empty = Bucket::full(&settings, Clock(0)).at(&settings, Clock(60_000)).spend(1);
        let at = |now: Clock| by_rate(empty, (&settings, STEP_MS), Losses::default(), now)[0].unwrap();
        let now = |ms: u64| at(Clock(60_000 + ms)).now;
        let half = now(30_000) - now(0);
        assert!(half.abs_diff(MASS / 2) <= MASS / 1_000, "{half}");
    }

    /// What the rate brings in a step, in thousandths of all, after entries with such gaps that each call as many as they can.
    fn share_with(rate: u32, gap_ms: impl Fn(Bucket, Clock) -> u64) -> u64 {
        let settings = rated_at(rate);
        let (mut losses, mut now) = (Losses::default(), Clock(0));
        let mut bucket = Bucket::full(&settings, now);
        for _ in 0..200 {
            bucket = bucket.at(&settings, now);
            bucket = bucket.spend(bucket.tokens(&settings));
            losses.note(bucket, true, &settings, now);
            now = now.plus(gap_ms(bucket, now));
        }
        let step = |losses: Losses| by_rate(bucket, (&settings, STEP_MS), losses, now)[0].unwrap().step;
        step(losses) * 1_000 / step(Losses::default())
    }

    fn rated_at(rate: u32) -> Settings {
        Settings {
            rate_per_minute: Some(rate),
            call_every_ms: 1_000,
            ..Settings::default()
        }
    }

    #[test]
    fn entries_rarer_than_calls_lose_tokens() {
        assert_eq!(share_with(600, |_, _| 250), 1_000);
        assert_eq!(share_with(600, |_, _| 1_000), 1_000);
        // The tokens of every other second.
        let half = share_with(600, |_, _| 2_000);
        assert!((495..=510).contains(&half), "{half}");
        assert_eq!(share_with(6, |_, _| 2_000), 1_000);
    }

    #[test]
    fn entries_that_come_for_the_next_token_lose_none() {
        for rate in [1, 5, 20, 59] {
            let settings = rated_at(rate);
            let share = share_with(rate, |bucket, now| bucket.next_token(&settings).unwrap().since(now));
            assert_eq!(share, 1_000, "{rate}");
        }
    }

    #[test]
    fn tokens_that_nobody_waits_for_are_not_lost() {
        let settings = rated_at(60);
        let (mut losses, mut now) = (Losses::default(), Clock(0));
        // Somebody comes every hour, is called at once with the last token, and nobody else waits.
        for _ in 0..50 {
            let bucket = Bucket::full(&settings, now);
            losses.note(bucket.spend(1), false, &settings, now);
            now = now.plus(3_600_000);
        }
        assert_eq!(losses.share(), ONE);
        // With another rate the losses of before say nothing.
        let empty = Bucket::full(&settings, now).spend(1);
        losses.note(empty, true, &settings, now);
        losses.note(empty, true, &settings, now.plus(5_000));
        assert!(losses.share() < ONE / 2);
        losses.note(empty, true, &rated_at(61), now.plus(6_000));
        assert_eq!(losses.share(), ONE);
    }

    #[test]
    fn the_highest_rate_is_counted_without_overflow() {
        let tokens = rated(Some(u32::MAX))[0].unwrap();
        assert_eq!(tokens.step, u64::from(u32::MAX) * MASS / 12);
    }

    #[test]
    fn a_token_comes_with_the_tick_that_brings_it() {
        let settings = Settings {
            rate_per_minute: Some(60),
            call_every_ms: 10_000,
            ..Settings::default()
        };
        let bucket = Bucket::full(&settings, Clock(0));
        let ticks = Ticks::of(bucket, &settings, Clock(34_000)).unwrap();
        assert_eq!(ticks.last, Clock(30_000));
        // Ten come with a tick; half of one is a rounding.
        let waits = [0, 1_000, 10_000, 10_500, 10_501, 20_000].map(|ms| ticks.round_up(ms));
        assert_eq!(waits, [0, 10_000, 10_000, 10_000, 20_000, 20_000]);
        assert_eq!(Ticks::of(bucket, &rated_at(0), Clock(0)), None);
        assert_eq!(Ticks::of(bucket, &Settings::default(), Clock(0)), None);
        // With less than a token a tick, each is at its own time.
        let slow = Ticks::of(Bucket::full(&rated_at(1), Clock(0)), &rated_at(1), Clock(0)).unwrap();
        assert_eq!(
            [60_000, 60_400, 61_600].map(|ms| slow.round_up(ms)),
            [60_000, 60_000, 62_000]
        );
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
        assert!(new * 2 < known, "{new} {known}");
        assert!(new.abs_diff(2 * MASS / 4) <= MASS / 1_000, "{new}");
    }

    #[test]
    fn at_first_a_controlled_room_goes_on_as_the_controller_allows_and_may_be_much_faster() {
        let of =
            |steps: u64, calls: u64, milli: u64| steps_of(controlled(&mut MeanCalls::default(), steps, calls, milli));
        // Nobody was called yet, and 10 may be in a step.
        let [likely, fast, _] = of(1, 0, 2_000);
        assert!(likely > MASS * 3 && fast > likely * 8, "{likely} {fast}");
        // Later what was allowed is no reason for calls, and the fast forecast ends at four times the mean.
        assert_eq!(of(100, 0, 2_000), [0; 3]);
        let [likely, fast, _] = of(100, 1, u64::MAX);
        assert!(likely <= MASS && fast <= MASS * 4, "{likely} {fast}");
    }

    #[test]
    fn a_controller_that_allows_nothing_for_a_minute_stops_the_room_and_spoils_no_mean() {
        let mut mean = MeanCalls::default();
        controlled(&mut mean, 99, 2, 400);
        // It pauses, and that counts.
        let paused = controlled(&mut mean, PAUSE_MS / STEP_MS, 0, 0);
        assert!(!is_stopped(&paused));
        let [likely, ..] = steps_of(paused);
        assert!(likely < MASS * 2 * 85 / 100, "{likely}");
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
        let allowed_at = soon;
        assert_eq!(mean, MeanCalls { allowed_at, ..before });
    }
}
