//! The slots that calls leave free for visitors who return, as many as the log has shown to be needed.
//!
//! In windows of two seconds the line counts return requests less the slots that came free. The reserve is the smallest number
//! that was enough in 999 of 1,000 windows. It follows from the log alone, and in integers.

use crate::codec::codec;
use ropeline_ids::Clock;

/// Length of a window.
const WINDOW_MS: u64 = 2_000;

/// Steps from none to the most that is kept.
const STEPS: u32 = 64;

/// So many windows are remembered at most; then all weigh half.
const REMEMBERED: u32 = 4_096;

/// One in so many windows may need more.
const ONE_IN: u32 = 1_000;

/// Before so many windows have been seen, as much is kept as ever: a minute.
const FEW: u32 = 30;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reserve {
    /// When the window under way began.
    since: Clock,
    asked: u32,
    freed: u32,
    /// How many windows needed so many steps.
    windows: Vec<u32>,
    /// Slots of a step.
    step: u32,
}

codec! {
    struct Reserve { since, asked, freed, windows, step } where is_sound;
}

impl Reserve {
    pub fn new(now: Clock) -> Self {
        Self {
            since: now,
            ..Self::default()
        }
    }

    /// Goes on to the window of `now`. Those in which nobody was parked, and nobody asked, do not count.
    pub fn go_on(&mut self, capacity: u32, parked: u32, now: Clock) {
        let passed = now.since(self.since) / WINDOW_MS;
        if passed == 0 {
            return;
        }
        self.since = self.since.plus(passed * WINDOW_MS);
        let step = most(capacity).div_ceil(STEPS).max(1);
        if step != self.step {
            (self.windows, self.step) = (Vec::new(), step);
        }
        let needed = std::mem::take(&mut self.asked).saturating_sub(std::mem::take(&mut self.freed));
        if parked == 0 && needed == 0 {
            return;
        }
        self.note(needed.div_ceil(step).min(STEPS), 1);
        let quiet = u32::try_from(passed - 1).unwrap_or(u32::MAX).min(REMEMBERED);
        if quiet > 0 {
            self.note(0, quiet);
        }
    }

    pub fn ask(&mut self) {
        self.asked = self.asked.saturating_add(1);
    }

    pub fn free(&mut self, slots: u32) {
        self.freed = self.freed.saturating_add(slots);
    }

    /// When another window begins.
    pub fn next(&self) -> Clock {
        self.since.plus(WINDOW_MS)
    }

    /// Slots to leave free, of so many, while so many sessions are parked.
    pub fn slots(&self, capacity: u32, parked: u32) -> u32 {
        self.needed().max(1).min(most(capacity)).min(parked)
    }

    /// The number that was enough; after less than a minute there is no telling. A short memory has not seen what happens once in a thousand windows: half as much is
    /// added, and one.
    fn needed(&self) -> u32 {
        let all: u32 = self.windows.iter().sum();
        let most = all.saturating_sub(all / ONE_IN);
        let mut counted = 0;
        let within = self.windows.iter().take_while(|count| {
            let before = counted;
            counted += **count;
            before < most
        });
        let steps = u32::try_from(within.count().saturating_sub(1)).unwrap_or(u32::MAX);
        let seen = steps.saturating_mul(self.step);
        match all {
            0..FEW => u32::MAX,
            FEW..ONE_IN => seen + seen / 2 + 1,
            _ => seen,
        }
    }

    fn note(&mut self, steps: u32, windows: u32) {
        let at = usize::try_from(steps).unwrap_or(usize::MAX);
        if self.windows.len() <= at {
            self.windows.resize(at + 1, 0);
        }
        self.windows[at] += windows;
        while self.windows.iter().sum::<u32>() > REMEMBERED {
            self.windows.iter_mut().for_each(|count| *count /= 2);
        }
    }

    /// Without what was seen, for a form of the state.
    #[cfg(any(test, feature = "testing"))]
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    fn is_sound(&self) -> bool {
        let few = self.windows.len() <= usize::try_from(STEPS).unwrap_or(0) + 1;
        let all = self
            .windows
            .iter()
            .try_fold(0_u32, |all, count| all.checked_add(*count));
        few && all.is_some_and(|all| all <= REMEMBERED) && self.step <= most(u32::MAX).div_ceil(STEPS)
    }
}

/// A tenth of the slots.
fn most(capacity: u32) -> u32 {
    capacity / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look like chance.
    fn chance(state: &mut u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    /// Many chances of a small one each: the sum is about as a Poisson process has it.
    fn events(state: &mut u64, mean: u64) -> u32 {
        let many = mean * 20;
        u32::try_from((0..many).filter(|_| chance(state).is_multiple_of(20)).count()).unwrap()
    }

    /// The share, in thousandths of a percent, of windows in which the reserve was not enough, from window `from` on.
    fn misses(capacity: u32, mean: u64, from: u64, to: u64) -> u64 {
        let (mut reserve, mut state, mut missed) = (Reserve::new(Clock(0)), mean + 7, 0);
        for window in 0..to {
            reserve.go_on(capacity, capacity, Clock(window * WINDOW_MS));
            let (asked, freed) = (events(&mut state, mean), events(&mut state, mean));
            (0..asked).for_each(|_| reserve.ask());
            reserve.free(freed);
            let kept = reserve.slots(capacity, capacity);
            missed += u64::from(window >= from && asked.saturating_sub(freed) > kept);
        }
        missed * 100_000 / (to - from)
    }

    #[test]
    fn it_is_enough_in_999_of_1000_windows_of_independent_returns() {
        for (capacity, mean) in [(300, 2), (1_000, 10), (5_000, 40)] {
            let missed = misses(capacity, mean, 1_000, 20_000);
            assert!(missed <= 200, "{capacity} {mean}: {missed}");
        }
    }

    #[test]
    fn from_its_first_minutes_it_is_nearly_always_enough() {
        let missed: u64 = (1..6).map(|mean| misses(1_000, mean * 4, 30, 1_030)).sum();
        assert!(missed / 5 <= 300, "{missed}");
    }

    #[test]
    fn it_is_one_slot_at_least_a_tenth_at_most_and_never_more_than_are_parked() {
        let mut reserve = Reserve::new(Clock(0));
        assert_eq!(reserve.slots(300, 50), 30);
        reserve.go_on(300, 50, Clock(100 * WINDOW_MS));
        assert_eq!(reserve.slots(300, 50), 1);
        (0..200).for_each(|_| reserve.ask());
        reserve.go_on(300, 50, Clock(101 * WINDOW_MS));
        assert_eq!(
            (reserve.slots(300, 50), reserve.slots(300, 7), reserve.slots(300, 0)),
            (30, 7, 0)
        );
        assert_eq!((reserve.slots(10, 50), reserve.slots(9, 50)), (1, 0));
    }

    #[test]
    fn a_rush_is_forgotten_and_a_time_without_parked_sessions_is_not_counted() {
        let mut reserve = Reserve::new(Clock(0));
        (0..20).for_each(|_| reserve.ask());
        reserve.go_on(300, 50, Clock(WINDOW_MS));
        let after = reserve.clone();
        reserve.go_on(300, 0, Clock(100_000 * WINDOW_MS));
        assert_eq!(reserve.slots(300, 50), after.slots(300, 50));
        for window in 0..8_000 {
            reserve.go_on(300, 50, Clock((100_001 + window) * WINDOW_MS));
        }
        assert_eq!(reserve.slots(300, 50), 1);
    }

    #[test]
    fn counting_in_between_changes_nothing() {
        let (mut often, mut once) = (Reserve::new(Clock(0)), Reserve::new(Clock(0)));
        for reserve in [&mut often, &mut once] {
            (0..3).for_each(|_| reserve.ask());
        }
        for ms in 1..60_000 {
            often.go_on(300, 50, Clock(ms));
        }
        once.go_on(300, 50, Clock(59_999));
        assert_eq!(often, once);
    }
}
