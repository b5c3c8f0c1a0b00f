//! The rate bucket: how many visitors may be called now, when a room limits calls per minute.
//!
//! Tokens come once a step, and the bucket holds at most one step's (rounded up to a whole token). It counts in
//! sixty-thousandths of a token, so that no fraction is lost: rate × step is then a whole number.

use crate::codec::codec;
use crate::line::turns::gcd;
use crate::settings::Settings;
use ropeline_ids::Clock;

/// One token: a minute in milliseconds, since a step of s ms brings rate × s units.
const TOKEN: u64 = 60_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bucket {
    /// The last step that was counted in.
    stepped: Clock,
    units: u64,
}

codec! {
    struct Bucket { stepped, units };
}

impl Bucket {
    /// One step's tokens, the next step counted from `now`.
    pub fn full(settings: &Settings, now: Clock) -> Self {
        Self {
            stepped: now,
            units: most(settings),
        }
    }

    /// The bucket with the steps up to `now` counted in. Counting in between changes nothing.
    pub fn at(self, settings: &Settings, now: Clock) -> Self {
        let steps = now.since(self.stepped) / settings.call_every_ms.max(1);
        let units = self
            .units
            .saturating_add(steps.saturating_mul(step(settings)))
            .min(most(settings));
        Self {
            stepped: self.stepped.plus(steps.saturating_mul(settings.call_every_ms)),
            units,
        }
    }

    /// Units that the steps up to `now` bring, and how many of these the bucket cannot hold.
    pub fn brought(self, settings: &Settings, now: Clock) -> (u64, u64) {
        let steps = now.since(self.stepped) / settings.call_every_ms.max(1);
        let brought = steps.saturating_mul(step(settings));
        (
            brought,
            self.units.saturating_add(brought).saturating_sub(most(settings)),
        )
    }

    /// When a step was counted in last.
    pub fn stepped(self) -> Clock {
        self.stepped
    }

    /// Whole tokens in the bucket as it stands; without a rate there is no end of them.
    pub fn tokens(self, settings: &Settings) -> u64 {
        if settings.rate_per_minute.is_some() {
            self.units / TOKEN
        } else {
            u64::MAX
        }
    }

    /// Tokens in the bucket as it stands, with the fraction of the next one, in parts of a token; at most `u32::MAX` tokens. Of the
    /// fraction counts what later steps can complete: where each brings whole tokens, none of it ever does.
    pub fn parts(self, settings: &Settings, parts: u64) -> u64 {
        let counts = gcd(step(settings), TOKEN);
        let fraction = self.units % TOKEN / counts * counts;
        self.units.min(u64::from(u32::MAX) * TOKEN) / TOKEN * parts + fraction * parts / TOKEN
    }

    #[must_use]
    pub fn spend(self, tokens: u64) -> Self {
        Self {
            units: self.units.saturating_sub(tokens.saturating_mul(TOKEN)),
            ..self
        }
    }

    /// When there is a token; `None` if there never will be.
    pub fn next_token(self, settings: &Settings) -> Option<Clock> {
        if self.tokens(settings) > 0 {
            return Some(self.stepped);
        }
        let steps = (TOKEN - self.units).checked_div(step(settings))?;
        let rest = (TOKEN - self.units) % step(settings);
        let steps = steps + u64::from(rest > 0);
        Some(self.stepped.plus(steps.saturating_mul(settings.call_every_ms)))
    }
}

/// Units that one step brings.
fn step(settings: &Settings) -> u64 {
    u64::from(settings.rate_per_minute.unwrap_or(0)).saturating_mul(settings.call_every_ms)
}

/// Units of one step, and the fraction of a token that the steps before left.
fn most(settings: &Settings) -> u64 {
    step(settings).saturating_add(TOKEN - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_minute: u32, call_every_ms: u64) -> Settings {
        Settings {
            rate_per_minute: Some(per_minute),
            call_every_ms,
            ..Settings::default()
        }
    }

    fn called_in(settings: &Settings, ms: u64, every: usize) -> u64 {
        let mut bucket = Bucket::full(settings, Clock(0));
        let mut called = 0;
        for now in (0..=ms).step_by(every) {
            bucket = bucket.at(settings, Clock(now));
            let tokens = bucket.tokens(settings);
            bucket = bucket.spend(tokens);
            called += tokens;
        }
        called
    }

    #[test]
    fn over_an_hour_the_rate_is_kept_to_within_one_step() {
        for (per_minute, step) in [
            (60, 1_000),
            (90, 1_000),
            (7, 1_000),
            (600, 60_000),
            (1, 1_000),
            (1_000_000, 250),
        ] {
            let settings = rate(per_minute, step);
            let hour = u64::from(per_minute) * 60;
            let most = hour + u64::from(per_minute) * step / TOKEN + 1;
            let called = called_in(&settings, 3_600_000, 250);
            assert!((hour..=most).contains(&called), "{per_minute} {step}: {called}");
        }
    }

    #[test]
    fn after_silence_the_bucket_holds_one_step_only() {
        let settings = rate(600, 1_000);
        let bucket = Bucket::full(&settings, Clock(0))
            .spend(10)
            .at(&settings, Clock(3_600_000));
        assert_eq!(bucket.tokens(&settings), 10);
    }

    #[test]
    fn what_a_full_bucket_is_brought_is_lost() {
        let settings = rate(600, 1_000);
        let empty = Bucket::full(&settings, Clock(0)).spend(10);
        assert_eq!(empty.brought(&settings, Clock(1_999)), (10 * TOKEN, 0));
        // Nearly a token is left of the full one.
        assert_eq!(empty.brought(&settings, Clock(3_000)), (30 * TOKEN, 20 * TOKEN));
    }

    #[test]
    fn counting_in_between_changes_nothing() {
        let settings = rate(7, 1_000);
        let empty = Bucket::full(&settings, Clock(0)).spend(1);
        let stepped = (0..100).fold(empty, |bucket, second| bucket.at(&settings, Clock(second * 333)));
        assert_eq!(stepped.at(&settings, Clock(40_000)), empty.at(&settings, Clock(40_000)));
    }

    #[test]
    fn the_next_token_is_there_when_it_is_said_to_be_and_not_before() {
        for per_minute in [1, 7, 60, 90, 10_000] {
            let settings = rate(per_minute, 1_000);
            let bucket = Bucket::full(&settings, Clock(0));
            let empty = bucket.spend(bucket.tokens(&settings));
            let due = empty.next_token(&settings).unwrap();
            assert!(empty.at(&settings, due).tokens(&settings) > 0);
            assert_eq!(empty.at(&settings, Clock(due.0 - 1)).tokens(&settings), 0);
        }
    }

    #[test]
    fn a_rate_of_none_is_no_limit_and_a_rate_of_zero_calls_nobody() {
        let free = Settings::default();
        assert_eq!(Bucket::full(&free, Clock(0)).tokens(&free), u64::MAX);
        let none = rate(0, 1_000);
        let bucket = Bucket::full(&none, Clock(0)).at(&none, Clock(u64::MAX));
        assert_eq!((bucket.tokens(&none), bucket.next_token(&none)), (0, None));
    }
}
