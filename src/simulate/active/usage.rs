//! How the slots are used: for how long a slot has a visitor who is busy, and how often visitors ask.
//!
//! A visitor is busy while a request has no answer yet, and then until the next request, but for no longer than `idle_after`. A pause
//! during which the slot is kept on purpose (`hold_slot`) is busy for as long as it is kept.

use std::collections::{BTreeMap, BTreeSet};

use crate::charts::Histogram;

#[derive(Debug, Default)]
pub(in crate::simulate) struct Usage {
    /// Busy visitors, and until when; `OPEN` where an answer is awaited.
    busy: BTreeMap<u32, u64>,
    ends: BTreeSet<(u64, u32)>,
    now: u64,
    /// Time times busy visitors, in all.
    pub busy_ms: u128,
    /// Slot time beyond `idle_after` that answers of the shop force: held payments, and the time to an end of a session.
    pub forced_ms: u128,
    /// From an answer to the next request of a visit.
    pub pauses: Histogram,
    /// Requests of the minute under way, and of the busiest one.
    minute: (u64, u64),
    pub busiest: u64,
}

impl Usage {
    /// The visitor sends a request.
    pub fn asks(&mut self, id: u32) {
        self.set(id, OPEN);
    }

    /// The visitor has the answer, and is busy until then.
    pub fn reads(&mut self, id: u32, until: u64) {
        self.set(id, until);
        self.ends.insert((until, id));
    }

    /// The visit is over.
    pub fn ends(&mut self, id: u32) {
        if let Some(until) = self.busy.remove(&id) {
            self.ends.remove(&(until, id));
        }
    }

    /// The shop has a request.
    pub fn count(&mut self) {
        let minute = self.now / 60_000;
        if self.minute.0 != minute {
            self.minute = (minute, 0);
        }
        self.minute.1 += 1;
        self.busiest = self.busiest.max(self.minute.1);
    }

    /// Time passes. Says for how long visitors were busy meanwhile, all together.
    pub fn advance(&mut self, now: u64) -> u128 {
        let mut busy_ms = 0;
        while let Some((until, id)) = self.ends.first().copied().filter(|(until, _)| *until <= now) {
            busy_ms += self.pass(until);
            self.ends.pop_first();
            self.busy.remove(&id);
        }
        busy_ms += self.pass(now);
        self.busy_ms += busy_ms;
        busy_ms
    }

    fn pass(&mut self, to: u64) -> u128 {
        let ms = to.saturating_sub(self.now);
        self.now = self.now.max(to);
        u128::from(ms) * self.busy.len() as u128
    }

    fn set(&mut self, id: u32, until: u64) {
        if let Some(before) = self.busy.insert(id, until) {
            self.ends.remove(&(before, id));
        }
    }
}

const OPEN: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_is_busy_until_the_answer_and_then_for_as_long_as_is_said() {
        let mut usage = Usage::default();
        usage.asks(1);
        assert_eq!(usage.advance(4), 4, "an answer is awaited");
        usage.reads(1, 10);
        usage.asks(2);
        usage.reads(2, 30);
        assert_eq!(usage.advance(20), 6 + 16);
        usage.asks(2);
        assert_eq!(usage.advance(50), 30, "the next request came before the end");
        usage.ends(2);
        assert_eq!((usage.advance(90), usage.busy_ms), (0, 56));
    }

    #[test]
    fn the_busiest_minute_counts() {
        let mut usage = Usage::default();
        for (now, count) in [(59_000, 2), (61_000, 3), (200_000, 1)] {
            usage.advance(now);
            (0..count).for_each(|_| usage.count());
        }
        assert_eq!(usage.busiest, 3);
    }
}
