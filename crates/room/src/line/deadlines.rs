//! An index of the times at which the clock alone changes a record, so that the cost of expiry depends only on the number of
//! expired records.
//!
//! It is not part of the state's bytes and may hold a record's earlier date: renewing a session does not touch it, and a
//! record found too early is put back. It never holds only a later date.

use std::collections::BTreeMap;

use ropeline_ids::{Clock, LaneId, Place};

pub(crate) type Due = (LaneId, Place);

#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    by_clock: BTreeMap<Clock, Vec<Due>>,
}

impl Deadlines {
    pub fn add(&mut self, at: Clock, due: Due) {
        self.by_clock.entry(at).or_default().push(due);
    }

    /// The earliest clock at which something may be due.
    pub fn first(&self) -> Option<Clock> {
        self.by_clock.first_key_value().map(|(at, _)| *at)
    }

    /// Takes one batch that is not after `now`.
    pub fn pop(&mut self, now: Clock) -> Option<Vec<Due>> {
        let first = self.by_clock.first_entry().filter(|entry| *entry.key() <= now)?;
        Some(first.remove())
    }

    /// Puts back entries that are not due by the records' own dates, until the first is really due or lies after `now`.
    pub fn settle(&mut self, now: Clock, actual: impl Fn(Due) -> Option<Clock>) {
        while let Some(first) = self.by_clock.first_entry().filter(|entry| *entry.key() <= now) {
            if first.get().iter().any(|due| actual(*due).is_some_and(|at| at <= now)) {
                return;
            }
            for due in first.remove() {
                if let Some(at) = actual(due) {
                    self.add(at, due);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUE: Due = (LaneId(0), Place(7));

    #[test]
    fn what_only_seemed_due_is_put_back_or_forgotten() {
        let mut deadlines = Deadlines::default();
        deadlines.add(Clock(10), DUE);
        deadlines.add(Clock(11), (LaneId(0), Place(8)));
        deadlines.settle(Clock(20), |due| (due == DUE).then_some(Clock(30)));
        assert_eq!(deadlines.first(), Some(Clock(30)));
    }

    #[test]
    fn what_is_due_stays_and_is_taken_once() {
        let mut deadlines = Deadlines::default();
        deadlines.add(Clock(10), DUE);
        deadlines.settle(Clock(10), |_| Some(Clock(10)));
        assert_eq!(deadlines.pop(Clock(9)), None);
        assert_eq!(deadlines.pop(Clock(10)), Some(vec![DUE]));
        assert_eq!(deadlines.pop(Clock(10)), None);
    }
}
