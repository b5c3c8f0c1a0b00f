//! The slots that calls leave free for visitors who return, as many as the log has shown to be needed.
//!
//! A return request takes a slot of the reserve, and a slot that comes free fills it up again. The line counts both, and looks twice a
//! second how many slots the reserve is short of, and how many of these were missing at the look before already. Of this number it keeps
//! what was enough at 999 of 1,000 looks: a request that would wait for more than a second is seen by two looks. A rush for which the
//! most that may be kept is too little counts as one look, however long it lasts: no reserve could cover it. All follows from the log
//! alone, and in integers.

use crate::codec::codec;
use ropeline_ids::Clock;

/// Time between looks.
const LOOK_MS: u64 = 500;

/// Steps from none to the most that is kept.
const STEPS: u32 = 64;

/// So many looks are remembered at most; then all weigh half.
const REMEMBERED: u32 = 8_192;

/// At one in so many looks more may be needed.
const ONE_IN: u32 = 1_000;

/// Before so many looks, which take a minute, a tenth is kept.
const FEW: u32 = 120;

/// So many looks tell as much as one, since one is like the next.
const ALIKE: u32 = 8;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reserve {
    /// When the last look was, and requests and free slots since then.
    since: Clock,
    asked: u32,
    freed: u32,
    /// Slots that the reserve was short of at the last look.
    short: u32,
    /// It has been short of more than may be kept, and is short of some since then.
    is_rush: bool,
    /// At how many looks so many steps were needed.
    looks: Vec<u32>,
    /// Slots of a step.
    step: u32,
}

codec! {
    struct Reserve { since, asked, freed, short, is_rush, looks, step } where is_sound;
}

impl Reserve {
    pub fn new(now: Clock) -> Self {
        Self {
            since: now,
            ..Self::default()
        }
    }

    /// Goes on to `now`, with so many of the slots held, and so many sessions parked. Looks at which nobody was parked, and none short,
    /// do not count.
    pub fn go_on(&mut self, capacity: u32, (held, parked): (u32, u32), now: Clock) {
        let passed = now.since(self.since) / LOOK_MS;
        if passed == 0 {
            return;
        }
        self.since = self.since.plus(passed * LOOK_MS);
        let most = most(capacity);
        let step = most.div_ceil(STEPS).max(1);
        if step != self.step {
            (self.looks, self.step) = (Vec::new(), step);
        }
        let (asked, freed) = (std::mem::take(&mut self.asked), std::mem::take(&mut self.freed));
        let mut missing_before = self.short.saturating_sub(freed);
        self.short = self.short.saturating_add(asked).saturating_sub(freed);
        if held < capacity {
            // Slots that are free for any other reason are no part of the reserve.
            self.short = self.short.min(held.saturating_add(most).saturating_sub(capacity));
            missing_before = missing_before.min(self.short);
        }
        let was_rush = self.is_rush;
        self.is_rush = self.short > most || (was_rush && self.short > 0);
        if self.is_rush && !was_rush {
            self.note(most.div_ceil(step), 1);
        }
        if self.is_rush || (parked == 0 && self.short == 0) {
            return;
        }
        self.note(missing_before.div_ceil(step), 1);
        let quiet = u32::try_from(passed - 1).unwrap_or(u32::MAX).min(REMEMBERED);
        if quiet > 0 {
            self.note(self.short.div_ceil(step), quiet);
        }
    }

    pub fn ask(&mut self) {
        self.asked = self.asked.saturating_add(1);
    }

    pub fn free(&mut self, slots: u32) {
        self.freed = self.freed.saturating_add(slots);
    }

    /// When it looks next.
    pub fn next(&self) -> Clock {
        self.since.plus(LOOK_MS)
    }

    /// Slots to leave free, of so many, while so many sessions are parked.
    pub fn slots(&self, capacity: u32, parked: u32) -> u32 {
        self.needed().max(1).min(most(capacity)).min(parked)
    }

    /// The number that was enough at 999 of 1,000 looks, extended as if each further slot were rarer by the same factor, as in a queue: few
    /// looks have not seen what happens once in a thousand. After less than a minute there is no telling.
    fn needed(&self) -> u32 {
        let all: u32 = self.looks.iter().sum();
        if all < FEW {
            return u32::MAX;
        }
        let enough = all - all / ONE_IN;
        let mut counted = 0;
        let within = self.looks.iter().take_while(|count| {
            let before = counted;
            counted += **count;
            before < enough
        });
        let steps = u32::try_from(within.count().saturating_sub(1)).unwrap_or(u32::MAX);
        let (wanted, seen) = (ONE_IN.next_power_of_two().ilog2(), (all / ALIKE).ilog2());
        (steps * self.step).saturating_mul(wanted).div_ceil(seen)
    }

    fn note(&mut self, steps: u32, looks: u32) {
        let at = usize::try_from(steps).unwrap_or(usize::MAX);
        if self.looks.len() <= at {
            self.looks.resize(at + 1, 0);
        }
        self.looks[at] += looks;
        while self.looks.iter().sum::<u32>() > REMEMBERED {
            self.looks.iter_mut().for_each(|count| *count /= 2);
        }
    }

    /// Without what was seen, for a form of the state.
    #[cfg(any(test, feature = "testing"))]
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    fn is_sound(&self) -> bool {
        let few = self.looks.len() <= usize::try_from(STEPS).unwrap_or(0) + 1;
        let all = self.looks.iter().try_fold(0_u32, |all, count| all.checked_add(*count));
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

    /// A full line's: its reserve has gone to others, or is free.
    fn look(reserve: &mut Reserve, capacity: u32, parked: u32, looks: u64) {
        reserve.go_on(capacity, (capacity, parked), Clock(looks * LOOK_MS));
    }

    /// The share, in thousandths of a percent, of requests that wait for more than a second, from look `from` on; with the reserve, or with
    /// as much kept as `kept` says. Half a second has `returns` requests in the mean, and `ends` slots that come free.
    fn late(capacity: u32, (returns, ends): (u64, u64), (from, to): (u64, u64), kept: Option<u32>) -> u64 {
        let (mut reserve, mut state) = (Reserve::new(Clock(0)), returns + 7);
        let (mut free, mut waiting, mut before) = (most(capacity), 0, 0);
        let (mut late, mut all) = (0, 0);
        for look in 0..to {
            reserve.go_on(capacity, (capacity - free, capacity), Clock(look * LOOK_MS));
            let asked = events(&mut state, returns);
            (0..asked).for_each(|_| reserve.ask());
            let freed = events(&mut state, ends);
            reserve.free(freed);
            let (wanted, slots) = (waiting + asked, free + freed);
            waiting = wanted.saturating_sub(slots);
            let most = kept.unwrap_or_else(|| reserve.slots(capacity, capacity));
            free = slots.saturating_sub(wanted).min(most);
            if look >= from {
                // Asked a second ago, or before.
                let is_late = waiting.saturating_sub(asked + before);
                (late, all) = (late + u64::from(is_late), all + u64::from(asked));
            }
            before = asked;
        }
        late * 100_000 / all
    }

    #[test]
    fn it_is_enough_for_999_of_1000_independent_returns() {
        for (capacity, returns, ends) in [(300, 2, 3), (1_000, 9, 10), (5_000, 39, 40)] {
            let late_with = |kept: Option<u32>| late(capacity, (returns, ends), (2_000, 40_000), kept);
            let late = late_with(None);
            assert!(late <= 100, "{capacity} {returns}: {late}");
            let late = late_with(Some(1));
            assert!(late > 100, "with one slot, {capacity} {returns}: {late}");
        }
    }

    #[test]
    fn from_the_second_minute_to_the_seventh_it_is_enough_as_well() {
        for (returns, ends) in [(2, 3), (4, 5), (6, 7), (10, 11)] {
            let late = late(1_000, (returns, ends), (120, 800), None);
            assert!(late <= 100, "{returns}: {late}");
        }
    }

    #[test]
    fn it_is_one_slot_at_least_a_tenth_at_most_and_never_more_than_are_parked() {
        let mut reserve = Reserve::new(Clock(0));
        assert_eq!(reserve.slots(300, 50), 30);
        look(&mut reserve, 300, 50, 1_000);
        assert_eq!(reserve.slots(300, 50), 1);
        (0..30).for_each(|_| reserve.ask());
        look(&mut reserve, 300, 50, 1_003);
        assert_eq!(
            (reserve.slots(300, 50), reserve.slots(300, 7), reserve.slots(300, 0)),
            (30, 7, 0)
        );
        assert_eq!((reserve.slots(10, 50), reserve.slots(9, 50)), (1, 0));
    }

    #[test]
    fn it_is_short_until_as_many_slots_have_come_free_as_were_asked_for() {
        let mut reserve = Reserve::new(Clock(0));
        look(&mut reserve, 300, 50, 8_000);
        for looks in 8_001..8_011 {
            (0..2).for_each(|_| reserve.ask());
            reserve.free(1);
            look(&mut reserve, 300, 50, looks);
        }
        assert_eq!(reserve.short, 10);
        // At eight of 8,017 looks more than seven were missing since the look before.
        look(&mut reserve, 300, 50, 8_017);
        assert_eq!(reserve.slots(300, 50), (7 * 10_u32).div_ceil(9));
        reserve.free(10);
        look(&mut reserve, 300, 50, 8_018);
        assert_eq!(reserve.short, 0);
    }

    #[test]
    fn a_request_that_a_slot_comes_free_for_within_half_a_second_needs_none() {
        let mut reserve = Reserve::new(Clock(0));
        for looks in 1..1_000 {
            (0..3).for_each(|_| reserve.ask());
            look(&mut reserve, 300, 50, looks);
            reserve.free(3);
        }
        assert_eq!(reserve.slots(300, 50), 1);
    }

    #[test]
    fn slots_that_are_free_anyway_are_no_part_of_it() {
        let mut reserve = Reserve::new(Clock(0));
        (0..40).for_each(|_| reserve.ask());
        reserve.go_on(300, (200, 50), Clock(1_000 * LOOK_MS));
        assert_eq!((reserve.short, reserve.slots(300, 50)), (0, 1));
        (0..40).for_each(|_| reserve.ask());
        reserve.go_on(300, (290, 50), Clock(1_001 * LOOK_MS));
        assert_eq!(reserve.short, 20, "ten of thirty are free");
    }

    #[test]
    fn a_rush_that_no_reserve_could_cover_counts_as_one_look() {
        let mut reserve = Reserve::new(Clock(0));
        look(&mut reserve, 300, 50, 1_000);
        (0..200).for_each(|_| reserve.ask());
        for looks in 1_001..1_200 {
            look(&mut reserve, 300, 50, looks);
            reserve.free(1);
        }
        assert_eq!((reserve.short, reserve.slots(300, 50)), (2, 1));
        reserve.free(1);
        look(&mut reserve, 300, 50, 1_200);
        (0..3).for_each(|_| reserve.ask());
        look(&mut reserve, 300, 50, 1_203);
        assert_eq!(reserve.slots(300, 50), (3 * 10_u32).div_ceil(6), "counts again");
        // Another within a thousand looks.
        (0..200).for_each(|_| reserve.ask());
        look(&mut reserve, 300, 50, 1_300);
        assert_eq!(reserve.slots(300, 50), 30);
    }

    #[test]
    fn what_was_needed_is_forgotten_and_a_time_without_parked_sessions_is_not_counted() {
        let mut reserve = Reserve::new(Clock(0));
        look(&mut reserve, 300, 50, 200);
        (0..5).for_each(|_| reserve.ask());
        look(&mut reserve, 300, 50, 203);
        reserve.free(5);
        look(&mut reserve, 300, 50, 204);
        let after = reserve.clone();
        assert!(after.slots(300, 50) > 5);
        look(&mut reserve, 300, 0, 100_000);
        assert_eq!(reserve.slots(300, 50), after.slots(300, 50));
        look(&mut reserve, 300, 50, 120_000);
        assert_eq!(reserve.slots(300, 50), 1);
    }

    #[test]
    fn counting_in_between_changes_nothing_while_all_looks_are_remembered() {
        let (mut often, mut once) = (Reserve::new(Clock(0)), Reserve::new(Clock(0)));
        for reserve in [&mut often, &mut once] {
            (0..3).for_each(|_| reserve.ask());
        }
        for ms in 1..90_000 {
            often.go_on(300, (300, 50), Clock(ms));
        }
        once.go_on(300, (300, 50), Clock(89_999));
        assert_eq!(often, once);
    }
}
