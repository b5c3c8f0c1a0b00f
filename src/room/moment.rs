//! What every line is told while one entry is applied: the clock, and what holds for the whole log.

use std::sync::Arc;

use super::ids::{Clock, Era, Wall};
use super::past::Past;

#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub clock: Clock,
    /// The entry's own time, for dates that people see.
    pub time: Wall,
    /// Nobody is called before: something was lost, and whoever was there is coming back.
    pub healing_until: Clock,
    /// Nobody is called before, for that reason or another; the end of time while the end is not known.
    pub quiet_until: Clock,
    /// No horizon moves before: a gate fell silent, and its visitors could not check in.
    pub held_until: Clock,
    /// How long calls stop when a ticket proves that everything was lost.
    pub cold_ms: u64,
    /// The era that the entry under way brings back.
    pub adopts: Option<Era>,
    /// Numbers that this entry may still issue.
    pub joins_left: u32,
    pub past: Arc<Past>,
}

/// Most visitors that one entry numbers: a bound on memory, far above what a gate can receive between two batches.
pub(super) const MAX_JOINS: u32 = 1 << 20;

impl Moment {
    pub fn heals(&self) -> bool {
        self.clock < self.healing_until
    }

    pub fn is_quiet(&self) -> bool {
        self.clock < self.quiet_until
    }

    pub fn holds(&self) -> bool {
        self.clock < self.held_until
    }

    /// A genuine ticket or pass of an era that nobody remembers: wait until whoever is present has checked in, and until
    /// every session that the rooms have forgotten is over or known again.
    pub fn heal_cold(&mut self, era: Era) {
        Arc::make_mut(&mut self.past).learn(era);
        self.healing_until = self.healing_until.max(self.clock.plus(self.cold_ms));
        self.quiet_until = self.quiet_until.max(self.healing_until);
    }
}
