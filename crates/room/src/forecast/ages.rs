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
        let prior = prior.max(1);
        let events = self.events.saturating_add(weight * ONE);
        let exposure = (self.exposure + self.events / 2).saturating_add(weight * ONE * SURE / prior);
        (events.saturating_mul(SURE) / exposure.max(1)).min(SURE * 15 / 16)
    }

    /// As [`Rate::chance`], with what was supposed weighing so many steps.
    pub fn chance_in(self, prior: u64, steps: u64) -> u64 {
        let events = self.events.saturating_add(steps * ONE * prior / SURE);
        let exposure = (self.exposure + self.events / 2).saturating_add(steps * ONE);
        (events.saturating_mul(SURE) / exposure.max(1)).min(SURE * 15 / 16)
    }

    /// What happened counts a `1 / parts` less.
    pub fn fade(&mut self, parts: u64) {
        self.events -= self.events / parts;
        self.exposure -= self.exposure / parts;
    }
}
