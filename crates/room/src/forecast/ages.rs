//! Chances by age: how many events there were at an age, by how long anybody was of that age.
//!
//! A life table of the recent past, as demography has it (period life table): events and time count less the longer ago they were, so
//! that a change shows, and nobody who is still there is counted as gone.

/// Classes of age: single steps at first, then eight for each doubling.
pub(crate) const CLASSES: usize = 96;

/// One, in the chances of a step.
pub(crate) const SURE: u64 = 1 << 16;

/// One event, or one visitor for one step.
pub(crate) const ONE: u64 = 1 << 10;

/// The class of an age in steps.
pub(crate) fn class(age: u64) -> usize {
    let class = match age.checked_ilog2() {
        Some(log) if log >= 4 => 16 + u64::from(log - 4) * 8 + ((age >> (log - 3)) & 7),
        _ => age,
    };
    usize::try_from(class).unwrap_or(CLASSES).min(CLASSES - 1)
}

/// Events, and the time in which they could happen, in steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rate {
    pub events: u64,
    pub exposure: u64,
}

impl Rate {
    pub fn note(&mut self) {
        self.events = self.events.saturating_add(ONE);
    }

    /// The chance of an event in one step: what was seen, and `weight` events at the chance `prior`.
    pub fn chance(self, prior: u64, weight: u64) -> u64 {
        self.with(weight * ONE, weight * ONE * SURE / prior.max(1))
    }

    /// As [`Rate::chance`], with what was supposed weighing so many steps.
    pub fn chance_in(self, prior: u64, steps: u64) -> u64 {
        self.with(steps * ONE * prior / SURE, steps * ONE)
    }

    /// The chance with so many events and steps more. An event happens in the middle of its step.
    fn with(self, events: u64, steps: u64) -> u64 {
        let events = self.events.saturating_add(events);
        let exposure = (self.exposure + self.events / 2).saturating_add(steps);
        (events.saturating_mul(SURE) / exposure.max(1)).min(SURE * 15 / 16)
    }

    /// What happened counts a `1 / parts` less.
    pub fn fade(&mut self, parts: u64) {
        self.events -= self.events / parts;
        self.exposure -= self.exposure / parts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_rise_one_by_one_up_to_the_last() {
        let mut before = class(0);
        assert_eq!(before, 0);
        for age in 1..1 << 15 {
            let at = class(age);
            assert!(at == before || at == before + 1, "{age}");
            before = at;
        }
        assert_eq!([before, class(u64::MAX)], [CLASSES - 1; 2]);
    }

    #[test]
    fn steps_are_apart_at_first_and_then_eight_classes_make_a_doubling() {
        assert!((0..16).all(|age| u64::try_from(class(age)) == Ok(age)));
        for log in 4..13 {
            assert_eq!(class(2 << log) - class(1 << log), 8, "{log}");
        }
    }

    #[test]
    fn without_events_a_chance_is_as_supposed() {
        assert_eq!(Rate::default().chance(64, 2), 64);
        assert_eq!(Rate::default().chance_in(SURE / 8, 50), SURE / 8);
        // A chance of nothing is supposed to be the smallest one.
        assert_eq!(Rate::default().chance(0, 2), 1);
    }

    #[test]
    fn with_many_events_a_chance_is_as_seen() {
        let rate = Rate {
            events: 100_000 * ONE,
            exposure: 1_000_000 * ONE,
        };
        // A tenth in each moment leaves a little less than a tenth of the whole step.
        let seen = SURE * 94 / 1_000..SURE * 97 / 1_000;
        assert!(seen.contains(&rate.chance(64, 2)), "{}", rate.chance(64, 2));
        assert!(seen.contains(&rate.chance_in(64, 4)), "{}", rate.chance_in(64, 4));
    }

    #[test]
    fn few_events_weigh_as_much_as_what_was_supposed() {
        let rate = Rate {
            events: 2 * ONE,
            exposure: 20 * ONE,
        };
        let chance = rate.chance(SURE / 100, 2);
        assert!((SURE / 100..SURE / 10).contains(&chance), "{chance}");
        let nobody = Rate {
            events: 0,
            exposure: 200 * ONE,
        };
        assert_eq!(nobody.chance(SURE / 100, 2), SURE / 200);
    }

    #[test]
    fn an_event_is_never_sure() {
        let mut rate = Rate::default();
        (0..1_000).for_each(|_| rate.note());
        assert_eq!(rate.events, 1_000 * ONE);
        assert_eq!(rate.chance(SURE, 1), SURE * 15 / 16);
        assert_eq!(rate.chance_in(SURE, 1), SURE * 15 / 16);
    }

    #[test]
    fn fading_lessens_the_weight_and_keeps_the_chance() {
        let mut rate = Rate {
            events: 700 * ONE,
            exposure: 7_000 * ONE,
        };
        let before = rate.chance(SURE / 10, 1);
        (0..64).for_each(|_| rate.fade(64));
        assert!((200 * ONE..300 * ONE).contains(&rate.events), "{rate:?}");
        assert!(rate.chance(SURE / 10, 1).abs_diff(before) < before / 50, "{rate:?}");
    }
}
