//! What every line is told while one entry is applied: the clock, and what holds for the whole log.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::codec::{Read, Reader, Writer};
use super::ids::{Clock, Era, Wall};
use super::past::Past;

#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub clock: Clock,
    /// The entry's own time, for dates that people see.
    pub time: Wall,
    pub healing: Healing,
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
        self.clock < self.healing.until()
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
        self.healing.start(era, self.clock, self.cold_ms);
        self.quiet_until = self.quiet_until.max(self.healing.until());
    }
}

/// Nobody is called while it lasts: something was lost, and whoever was there is coming back.
#[derive(Clone, Debug, Default)]
pub(super) struct Healing {
    /// Of rooms begun from nothing.
    first: Clock,
    /// Of eras that only a token told of; as many as are learnt in one healing's time.
    cold: BTreeMap<Era, Clock>,
}

impl Healing {
    pub fn new(first: Clock) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }

    pub fn until(&self) -> Clock {
        self.cold.values().copied().fold(self.first, Clock::max)
    }

    fn start(&mut self, era: Era, now: Clock, cold_ms: u64) {
        self.cold.retain(|_, until| now < *until);
        self.cold.insert(era, now.plus(cold_ms));
    }

    /// A gate has brought the era back: nothing of it is lost after all.
    pub fn end(&mut self, era: Era) {
        self.cold.remove(&era);
    }

    pub fn write(&self, w: &mut Writer) {
        w.clock(self.first);
        w.count(self.cold.len());
        for (era, until) in &self.cold {
            w.u64(era.0);
            w.clock(*until);
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let first = r.clock()?;
        let cold = r.list(16, |r| Ok((Era(r.u64()?), r.clock()?)))?;
        Ok(Self {
            first,
            cold: cold.into_iter().collect(),
        })
    }
}
