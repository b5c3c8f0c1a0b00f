//! The requests under way that are watched: since when each is, and whether it has been counted as late already.

use std::sync::atomic::{AtomicU64, Ordering};

use super::witnesses::CELLS;

/// Requests of one visitor that are watched at once, and in one report. SECURITY: one session that asks for slow or failing
/// pages weighs no more than a few others.
pub(super) const MOST_OF_ONE: u8 = 4;

/// A few slots for each visitor; 0 is a free one. PERF: raised and lowered without a lock.
#[derive(Debug)]
pub(super) struct UnderWay(Box<[[AtomicU64; MOST_OF_ONE as usize]]>);

/// A request that has been under way for too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hanging {
    pub cell: usize,
    pub since_us: u64,
    /// No report has counted it as late yet.
    pub is_new: bool,
    /// It counts as under way already, late or not.
    pub looked_at: bool,
}

/// The content of a slot: microseconds of uptime above these bits.
const TAKEN: u64 = 1;
const TIMED: u64 = 2;
const COUNTED: u64 = 4;
const LOOKED_AT: u64 = 8;
const BITS: u32 = 4;

impl Default for UnderWay {
    fn default() -> Self {
        Self((0..CELLS).map(|_| Default::default()).collect())
    }
}

impl UnderWay {
    /// A request of this visitor is sent; `None` where as many are under way as are watched.
    pub fn raise(&self, cell: usize, since_us: u64, timed: bool, looked_at: bool) -> Option<usize> {
        let marks = [(timed, TIMED), (looked_at, LOOKED_AT)];
        let marks = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| mark);
        let raised = since_us << BITS | TAKEN | marks.sum::<u64>();
        let takes = |slot: &AtomicU64| {
            slot.compare_exchange(0, raised, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        self.0[cell].iter().position(takes)
    }

    /// It is over. True where a report has counted it as late.
    pub fn lower(&self, cell: usize, slot: usize) -> bool {
        self.0[cell][slot].swap(0, Ordering::Relaxed) & COUNTED > 0
    }

    /// Timed requests that were sent until then and have no answer. From now on they are counted.
    pub fn take_hanging(&self, until_us: u64) -> Vec<Hanging> {
        let slots = (0..)
            .zip(&self.0)
            .flat_map(|(cell, slots)| slots.iter().map(move |slot| (cell, slot)));
        let late = slots.filter_map(|(cell, slot)| {
            let held = slot.load(Ordering::Relaxed);
            let hanging = Hanging {
                cell,
                since_us: held >> BITS,
                is_new: held & COUNTED == 0,
                looked_at: held & LOOKED_AT > 0,
            };
            if held & TIMED == 0 || hanging.since_us > until_us {
                return None;
            }
            // If it has ended meanwhile, its end has reported the outcome.
            let counted = slot.compare_exchange(held, held | COUNTED, Ordering::Relaxed, Ordering::Relaxed);
            counted.is_ok().then_some(hanging)
        });
        late.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_has_a_few_slots_and_one_that_is_free_again_is_taken_again() {
        let under_way = UnderWay::default();
        let slots: Vec<_> = (0..6).map(|_| under_way.raise(7, 1, true, true)).collect();
        assert_eq!(slots, [Some(0), Some(1), Some(2), Some(3), None, None]);
        assert!(!under_way.lower(7, 2));
        assert_eq!(
            (under_way.raise(7, 1, true, true), under_way.raise(8, 1, true, true)),
            (Some(2), Some(0))
        );
    }

    #[test]
    fn what_is_late_is_new_once_and_its_end_says_that_it_was_counted() {
        let under_way = UnderWay::default();
        let (early, late) = (
            under_way.raise(3, 100, true, false).unwrap(),
            under_way.raise(4, 900, true, true).unwrap(),
        );
        assert!(
            under_way.raise(5, 100, false, true).is_some(),
            "a body is still to come"
        );
        let hanging = |is_new| Hanging {
            cell: 3,
            since_us: 100,
            is_new,
            looked_at: false,
        };
        assert_eq!(under_way.take_hanging(500), [hanging(true)]);
        assert_eq!(under_way.take_hanging(500), [hanging(false)]);
        assert!(under_way.lower(3, early) && !under_way.lower(4, late));
        assert!(under_way.take_hanging(500).is_empty());
    }
}
