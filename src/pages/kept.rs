//! The wait that a visitor was shown: not a length but a latest moment, which the visitor's browser keeps.
//!
//! A pace is measured, so an estimate wavers; within a band the moment that was shown stands. Sooner needs no reason. Where it
//! must be later, a reason is shown from that instant on and for a while. `keep` of `static/page.js` is the same rule.

/// The values that a visitor's browser remembers, in milliseconds of one clock; 0 for none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// The latest moment that was shown.
    pub by: u64,
    /// Until then the page says that the line is slower than expected.
    pub slow_until: u64,
}

impl Kept {
    /// The estimate to show, both in seconds from now on. `paused`: no visitor can be called, which the page says in other words.
    pub fn show(&mut self, estimate: Option<(u32, u32)>, paused: bool, now: u64) -> Option<(u32, u32)> {
        let Some((low, high)) = estimate else {
            return self.show_unknown(paused, now);
        };
        let (low_ms, high_ms) = (u64::from(low) * 1_000, u64::from(high) * 1_000);
        let end = now.saturating_add(high_ms);
        let band = BAND_MS.max(self.by.saturating_sub(now) / BAND);
        if self.by == 0 || end.saturating_add(band) < self.by {
            self.by = end;
        } else if end > self.by.saturating_add(band) || now.saturating_add(low_ms) > self.by {
            self.by = end;
            // Below a minute it says "soon", before as now.
            if high_ms > 60_000 {
                self.slow_until = now.saturating_add(SLOW_MS);
            }
        }
        let shown = secs(self.by.saturating_sub(now));
        Some((low.min(shown), shown))
    }

    fn show_unknown(&mut self, paused: bool, now: u64) -> Option<(u32, u32)> {
        if !paused && self.by > now {
            return Some((0, secs(self.by - now)));
        }
        if !paused && self.by > 0 {
            self.slow_until = now.saturating_add(SLOW_MS);
        }
        self.by = 0;
        None
    }

    /// The reason is to be shown.
    #[must_use]
    pub fn is_slow(&self, now: u64) -> bool {
        now < self.slow_until
    }
}

fn secs(ms: u64) -> u32 {
    u32::try_from(ms.div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// A moment stands within a minute, and within this part of the time left.
const BAND_MS: u64 = 60_000;
const BAND: u64 = 8;

/// How long the reason is shown.
const SLOW_MS: u64 = 300_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIN: u64 = 60_000;

    #[test]
    fn a_moment_stands_within_its_band_and_moves_with_a_reason_only_when_later() {
        let mut kept = Kept::default();
        assert_eq!(kept.show(Some((500, 960)), false, MIN), Some((500, 960)));
        // Two minutes later, and a minute more than was shown: within an eighth.
        assert_eq!(kept.show(Some((400, 900)), false, 3 * MIN), Some((400, 840)));
        assert!(!kept.is_slow(3 * MIN));
        // Earlier, without a sentence.
        assert_eq!(kept.show(Some((300, 480)), false, 4 * MIN), Some((300, 480)));
        assert!(!kept.is_slow(4 * MIN));
        // Later, and it says so for five minutes.
        assert_eq!(kept.show(Some((600, 900)), false, 5 * MIN), Some((600, 900)));
        assert!(kept.is_slow(5 * MIN) && kept.is_slow(10 * MIN - 1) && !kept.is_slow(10 * MIN));
    }

    #[test]
    fn a_moment_that_cannot_be_kept_any_more_is_later_whatever_the_band() {
        let mut kept = Kept::default();
        kept.show(Some((30, 120)), false, MIN);
        assert_eq!(kept.show(Some((100, 150)), false, 2 * MIN), Some((100, 150)));
        assert!(kept.is_slow(2 * MIN));
    }

    #[test]
    fn what_was_told_stands_while_nothing_is_known_and_a_pause_takes_it_back() {
        let mut kept = Kept::default();
        kept.show(Some((100, 300)), false, MIN);
        assert_eq!(kept.show(None, false, 2 * MIN), Some((0, 240)));
        assert_eq!(kept.show(None, false, 6 * MIN), None);
        assert!(kept.is_slow(6 * MIN), "the moment has passed");
        let mut kept = Kept::default();
        kept.show(Some((100, 300)), false, MIN);
        assert_eq!((kept.show(None, true, 2 * MIN), kept), (None, Kept::default()));
    }

    #[test]
    fn soon_stays_soon_without_a_reason() {
        let mut kept = Kept::default();
        kept.show(Some((0, 20)), false, MIN);
        assert_eq!(kept.show(Some((0, 50)), false, 2 * MIN), Some((0, 50)));
        assert!(!kept.is_slow(2 * MIN));
    }

    proptest! {
        #[test]
        fn no_later_end_is_shown_without_a_reason_and_none_that_cannot_be(
            looks in prop::collection::vec((0_u64..100_000, prop::option::weighted(0.9, (0_u32..9_000, 0_u32..9_000))), 1..60),
        ) {
            let (mut kept, mut now, mut before) = (Kept::default(), 1, None::<Option<u64>>);
            for (passed, estimate) in looks {
                now += passed;
                let estimate = estimate.map(|(a, b)| (a.min(b), a.max(b)));
                let shown = kept.show(estimate, false, now);
                // To the second, as shown.
                let end = shown.map(|(low, high)| {
                    assert!(low <= high);
                    now + u64::from(high) * 1_000
                });
                let soon = shown.is_some_and(|(_, high)| high <= 60);
                let worse = match (before, end) {
                    (Some(Some(before)), Some(end)) => end >= before + 1_000 && !soon,
                    (Some(Some(before)), None) => before > now,
                    _ => false,
                };
                prop_assert!(!worse || kept.is_slow(now), "{before:?} {end:?}");
                if let (Some((low, _)), Some((_, high))) = (estimate, shown) {
                    prop_assert!(high >= low, "an end that cannot be");
                }
                before = Some(end);
            }
        }
    }
}
