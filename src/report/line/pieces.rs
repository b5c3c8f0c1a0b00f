//! The pieces that a line sells by its stock, counted apart from the room's own count: no visitor may be called for a piece that is not there.
//!
//! A piece is sold to each visitor who, by a gate's entry, has completed, where the room counts it, and held for each visitor
//! who was called in this edition and is still called or inside. A visitor whose part is not certain (sessions that began
//! before the available history, or were opened again) holds no piece here, so that no fault is invented.

use std::collections::BTreeSet;

use super::visits::{Now, Who};
use crate::room::{LineView, Standing, Winners};

/// See the module.
#[derive(Debug, Default)]
pub(in crate::report) struct Pieces {
    held: BTreeSet<Who>,
    sold: BTreeSet<Who>,
    /// Calls of the present entry.
    called: u64,
}

impl Pieces {
    /// Taken up in the middle of a history: the room says how many were sold.
    pub fn resume(&mut self, winners: &Winners) {
        self.begin();
        let sold = winners.iter_from(0).map(|winner| (winner.lane, winner.number));
        self.sold.extend(sold);
    }

    /// Another edition begins, with the whole stock.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    /// An edition came back that the log had lost: of the sales the room knows those of this edition.
    pub fn regain(&mut self, winners: &Winners) {
        self.sold.retain(|(lane, number)| winners.has(*lane, *number));
    }

    /// A gate reports that a visitor has completed. False if that was known, or does not count.
    pub fn complete(&mut self, who: Who, winners: &Winners) -> bool {
        winners.has(who.0, who.1) && self.sold.insert(who)
    }

    pub fn call(&mut self, who: Who) {
        self.held.insert(who);
        self.called += 1;
    }

    /// How many the entry has called that the stock could not serve.
    pub fn judge(&mut self, view: &LineView, now: Now<'_>) -> u64 {
        let stands = |(lane, number)| view.standing(lane, number, now.clock);
        self.beyond(now.settings.stock, |who| {
            matches!(stands(who), Standing::Called(_) | Standing::Inside(_))
        })
    }

    /// `holds` says which visitors are called or inside after the entry.
    fn beyond(&mut self, stock: Option<u32>, holds: impl Fn(Who) -> bool) -> u64 {
        let called = std::mem::take(&mut self.called);
        let Some(stock) = stock.filter(|_| called > 0) else {
            return 0;
        };
        self.held.retain(|who| !self.sold.contains(who) && holds(*who));
        let promised = u64::try_from(self.sold.len() + self.held.len()).unwrap_or(u64::MAX);
        promised.saturating_sub(stock.into()).min(called)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline_ids::{Epoch, LaneId, Number};

    fn who(n: u32) -> Who {
        (LaneId(0), Number { epoch: Epoch(1), n })
    }

    #[test]
    fn whoever_is_called_beyond_the_stock_is_counted_once() {
        let mut pieces = Pieces::default();
        (0..3).for_each(|n| pieces.call(who(n)));
        assert_eq!(pieces.beyond(Some(3), |_| true), 0);
        pieces.call(who(3));
        assert_eq!(pieces.beyond(Some(3), |_| true), 1);
        assert_eq!(pieces.beyond(Some(3), |_| true), 0, "with the entry that called them");
        pieces.call(who(4));
        assert_eq!(pieces.beyond(Some(3), |who| who.1.n > 1), 0, "two have gone");
        pieces.call(who(5));
        assert_eq!(pieces.beyond(None, |_| true), 0, "it sells nothing");
        pieces.call(who(6));
        assert_eq!(
            pieces.beyond(Some(0), |_| true),
            1,
            "those before were called for a stock that was there"
        );
    }

    #[test]
    fn who_completes_is_sold_to_and_only_if_the_room_counts_it() {
        let mut pieces = Pieces::default();
        assert!(!pieces.complete(who(1), &Winners::default()));
        pieces.sold.insert(who(1));
        pieces.call(who(2));
        assert_eq!(pieces.beyond(Some(1), |_| true), 1);
        pieces.begin();
        pieces.call(who(3));
        assert_eq!(pieces.beyond(Some(1), |_| true), 0);
    }
}
