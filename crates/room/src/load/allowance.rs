//! How many a controller lets a room call now: tokens that come once a step, and never more than one step's of them.

use crate::codec::codec;
use ropeline_ids::Clock;

/// Counts in thousandths of a call, so that less than one a step is something too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allowance {
    stepped: Clock,
    milli: u64,
    /// Calls that one step adds; 0: no visitor is called.
    step_milli: u64,
}

codec! {
    struct Allowance { stepped, milli, step_milli };
}

impl Allowance {
    /// Sets the number of calls that a step adds from now on.
    pub fn set(&mut self, step_milli: u64, now: Clock) {
        if self.step_milli == 0 {
            self.stepped = now;
        }
        self.step_milli = step_milli;
        self.milli = self.milli.min(self.most());
    }

    #[must_use]
    pub fn at(self, step_ms: u64, now: Clock) -> Self {
        let steps = now.since(self.stepped) / step_ms.max(1);
        let milli = self.milli.saturating_add(steps.saturating_mul(self.step_milli));
        Self {
            stepped: self.stepped.plus(steps.saturating_mul(step_ms)),
            milli: milli.min(self.most()),
            ..self
        }
    }

    #[must_use]
    pub fn calls(self) -> u64 {
        self.milli / 1_000
    }

    #[must_use]
    pub fn spend(self, calls: u64) -> Self {
        Self {
            milli: self.milli.saturating_sub(calls.saturating_mul(1_000)),
            ..self
        }
    }

    /// When a call can be made; `None` while no visitor is called.
    #[must_use]
    pub fn next(self, step_ms: u64) -> Option<Clock> {
        if self.calls() > 0 {
            return Some(self.stepped);
        }
        let steps = 1_000_u64.saturating_sub(self.milli).div_ceil(self.step_milli.max(1));
        (self.step_milli > 0).then(|| self.stepped.plus(steps.saturating_mul(step_ms)))
    }

    pub fn step_milli(self) -> u64 {
        self.step_milli
    }

    /// One step's, and the fraction of a call that the steps before left.
    fn most(self) -> u64 {
        if self.step_milli == 0 {
            0
        } else {
            self.step_milli.saturating_add(999)
        }
    }
}
