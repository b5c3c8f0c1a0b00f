//! How often a waiting visitor asks again.
//!
//! Often enough to stay present and to claim in time, the front every second or two, the far back rarely; spread by
//! chance so that a crowd does not ask in step. The chance is the caller's, since the room draws none.

use crate::settings::Settings;

/// How soon the front asks again.
const FRONT_MS: u64 = 2_000;

/// Longer by this much for each visitor ahead.
const PER_VISITOR_MS: u64 = 20;

/// Milliseconds until the next check-in of a visitor with `ahead` present visitors before them; `None` right after a
/// join, before anything is known. Never above min(`grace`/4, `claim_deadline`/2), right after a join never above
/// `firm_within`/2 either; at least 1. `jitter` takes off up to a half: a random number of 0 to 65,535.
#[must_use]
pub fn refresh_ms(settings: &Settings, ahead: Option<u64>, jitter: u16) -> u64 {
    let most = slowest_ms(settings);
    let wanted = match ahead {
        None => settings.firm_within_ms / 2,
        Some(ahead) => FRONT_MS.saturating_add(ahead.saturating_mul(PER_VISITOR_MS)),
    };
    let base = wanted.min(most);
    let off = (base / 2).saturating_mul(u64::from(jitter)) / u64::from(u16::MAX);
    (base - off).max(1)
}

/// When a visitor who can join in `left_ms` asks again: now and then before, and within five seconds after, not all at once.
#[must_use]
pub fn early_ms(left_ms: u64, jitter: u16) -> u64 {
    let spread = |ms: u64| ms.saturating_mul(u64::from(jitter)) / u64::from(u16::MAX);
    if left_ms > EARLY_MOST_MS {
        return EARLY_MOST_MS - spread(EARLY_MOST_MS / 2);
    }
    left_ms + 1_000 + spread(EARLY_SPREAD_MS - 1_000)
}

/// The slowest pace of a visitor who waits for an opening, and how long after it the last one asks.
pub const EARLY_MOST_MS: u64 = 60_000;
const EARLY_SPREAD_MS: u64 = 5_000;

/// The slowest pace of a waiting visitor, in milliseconds: at this pace a visitor stays present and is informed of a call in
/// time.
#[must_use]
pub fn slowest_ms(settings: &Settings) -> u64 {
    (settings.grace_ms / 4).min(settings.claim_deadline_ms / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(ahead: Option<u64>) -> (u64, u64) {
        let settings = Settings::default();
        (refresh_ms(&settings, ahead, u16::MAX), refresh_ms(&settings, ahead, 0))
    }

    #[test]
    fn the_front_asks_every_second_or_two_and_the_back_rarely() {
        assert_eq!(range(Some(0)), (1_000, 2_000));
        assert_eq!(range(Some(1_000)), (11_000, 22_000));
        assert_eq!(range(Some(u64::MAX)), (22_500, 45_000));
    }

    #[test]
    fn nobody_is_told_to_come_too_late_to_stay_present_or_to_claim() {
        for (grace_ms, claim_deadline_ms) in [(240_000, 90_000), (8_000, 90_000), (240_000, 3_000), (2, 2)] {
            let settings = Settings {
                claim_deadline_ms,
                grace_ms,
                ..Settings::default()
            };
            for ahead in [None, Some(0), Some(50), Some(u64::MAX)] {
                let most = (grace_ms / 4).min(claim_deadline_ms / 2).max(1);
                assert!((1..=most).contains(&refresh_ms(&settings, ahead, 0)));
            }
        }
    }

    #[test]
    fn who_is_early_asks_each_minute_and_then_soon_after_the_line_begins() {
        assert_eq!(
            (early_ms(86_400_000, 0), early_ms(86_400_000, u16::MAX)),
            (60_000, 30_000)
        );
        assert_eq!((early_ms(60_000, 0), early_ms(60_000, u16::MAX)), (61_000, 65_000));
        assert_eq!((early_ms(0, 0), early_ms(0, u16::MAX)), (1_000, 5_000));
    }

    #[test]
    fn the_first_time_after_a_join_comes_while_it_still_counts() {
        assert_eq!(range(None), (5_000, 10_000));
    }
}
