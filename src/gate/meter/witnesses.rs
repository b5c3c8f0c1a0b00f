//! Visitors who met an answer that slows a sale, in this report and in those before.
//!
//! SECURITY: every shop has a page that fails, or takes for ever, and a client that finds it can ask for it all day. So one or
//! two visitors are not believed, however often they meet it, unless there are no others to ask.

use std::array;
use std::sync::atomic::{AtomicU16, Ordering};

/// Visitors who are distinguished; they share a cell by chance.
pub(super) const CELLS: usize = 1_024;

/// For each visitor the recent reports in which they met it: the last bit is this report's.
#[derive(Debug)]
pub(super) struct Witnesses([AtomicU16; CELLS]);

/// How many visitors met it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Met {
    /// In this report, and of them the visitors who meet it again and again.
    now: u32,
    often_now: u32,
    /// In the last sixteen reports, and of them the visitors who meet it again and again.
    of_late: u32,
    often: u32,
}

impl Default for Witnesses {
    fn default() -> Self {
        Self(array::from_fn(|_| AtomicU16::new(0)))
    }
}

impl Witnesses {
    /// A visitor meets it.
    pub fn note(&self, cell: usize) {
        self.0[cell].fetch_or(1, Ordering::Relaxed);
    }

    /// Whether this visitor meets it again and again.
    pub fn is_often(&self, cell: usize) -> bool {
        self.0[cell].load(Ordering::Relaxed).count_ones() >= OFTEN
    }

    /// The witnesses so far. The next report begins.
    pub fn turn(&self) -> Met {
        let (mut now, mut of_late, mut often, mut often_now) = (0, 0, 0, 0);
        for cell in &self.0 {
            // Only reports shift, one after the other; a visitor who meets it meanwhile is of the next one or of none.
            let met = cell.load(Ordering::Relaxed);
            cell.store(met << 1, Ordering::Relaxed);
            let (meets, meets_often) = (met & 1 == 1, met.count_ones() >= OFTEN);
            now += u32::from(meets);
            of_late += u32::from(met > 0);
            often += u32::from(meets_often);
            often_now += u32::from(meets && meets_often);
        }
        Met {
            now,
            often_now,
            of_late,
            often,
        }
    }
}

impl Met {
    /// How many of these times are believed in this report, if this many visitors were measured.
    pub fn believed(self, looked_at: usize, times: u32) -> u32 {
        let most_meet_it = usize::try_from(self.now).is_ok_and(|now| now * 2 >= looked_at);
        match () {
            () if most_meet_it => times,
            () if !self.is_met_by_many() => 0,
            () if self.is_looked_for() => times.min(self.now - self.often_now),
            () => times,
        }
    }

    /// Enough visitors have met it recently.
    pub fn is_met_by_many(self) -> bool {
        self.of_late >= ENOUGH
    }

    /// A visitor who meets it again and again looks for it, unless others do too.
    pub fn is_looked_for(self) -> bool {
        (1..ENOUGH).contains(&self.often)
    }
}

/// From this number of witnesses in the last sixteen reports on, they are believed.
pub(super) const ENOUGH: u32 = 3;

/// A visitor who has met it in this many reports is assumed to seek it.
const OFTEN: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_or_two_who_meet_it_all_day_are_not_believed_and_three_are() {
        for (who, expected) in [(1, 0), (2, 0), (3, 12)] {
            let witnesses = Witnesses::default();
            let told = (0..300).map(|_| {
                (0..who).for_each(|cell| witnesses.note(cell));
                witnesses.turn().believed(30, 12)
            });
            assert!(told.into_iter().all(|told| told == expected), "{who}");
        }
    }

    #[test]
    fn one_who_looks_for_it_adds_nothing_to_what_others_meet_now_and_then() {
        let witnesses = Witnesses::default();
        let mut told = 0;
        for report in 0..160 {
            witnesses.note(0);
            if report % 5 == 0 {
                witnesses.note(1 + report);
            }
            told += witnesses.turn().believed(30, 5);
        }
        assert!((29..=34).contains(&told), "{told}");
    }

    #[test]
    fn a_few_who_meet_it_one_after_the_other_are_believed() {
        let witnesses = Witnesses::default();
        let told: Vec<u32> = (0..12)
            .map(|report| {
                if report % 3 == 0 {
                    witnesses.note(report);
                }
                witnesses.turn().believed(30, u32::from(report % 3 == 0))
            })
            .collect();
        assert_eq!(told, [0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn whoever_is_alone_is_believed() {
        let witnesses = Witnesses::default();
        witnesses.note(7);
        assert_eq!(
            (witnesses.turn().believed(2, 4), witnesses.turn().believed(1, 0)),
            (4, 0)
        );
    }
}
