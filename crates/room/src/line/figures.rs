//! Counters and figures of a line.

use crate::codec::codec;
use crate::lane::slots::Held;

/// A line's figures at the view's clock; totals count from the line's first entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Present visitors in line, all lanes.
    pub waiting: u64,
    pub called: u32,
    pub inside: u32,
    pub capacity: u32,
    /// Inside without a slot, in a room with active slots; not among `inside`.
    pub parked: u32,
    /// Slots that calls leave free for them.
    pub reserve: u32,
    /// Most called, inside and parked; `None` in a room without active slots.
    pub max_sessions: Option<u32>,
    /// Sessions beyond the room's own calls.
    pub excess: u32,
    pub joins: u64,
    pub calls: u64,
    pub claims: u64,
    pub no_shows: u64,
    /// Sessions that ended, for any reason.
    pub ends: u64,
    pub left: u64,
    /// Visitors let past the line.
    pub bypasses: u64,
    /// Pieces that there are; `None` for a line that sells none.
    pub stock: Option<u32>,
    /// Visitors of this edition who have completed; may exceed the stock.
    pub completed: u32,
    /// Called or inside, and not complete: a piece is held for each. 0 without a stock.
    pub unfinished: u32,
}

impl Figures {
    /// Pieces that are neither sold nor held; `None` without a stock.
    #[must_use]
    pub fn left(&self) -> Option<u32> {
        let unsold = self.stock?.saturating_sub(self.completed);
        Some(unsold.saturating_sub(self.unfinished))
    }

    /// All of the stock has been completed.
    #[must_use]
    pub fn is_sold_out(&self) -> bool {
        self.stock.is_some_and(|stock| self.completed >= stock)
    }
}

/// Counts of events in a line since its first entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Totals {
    pub joins: u64,
    pub calls: u64,
    pub claims: u64,
    pub no_shows: u64,
    pub ends: u64,
    pub left: u64,
    pub bypasses: u64,
}

codec! {
    struct Totals sparse { joins, calls, claims, no_shows, ends, left, bypasses };
}

impl Totals {
    /// Adds the numbers held at the moment; the view adds the rest.
    pub fn figures(&self, held: Held) -> Figures {
        Figures {
            called: held.called,
            inside: held.inside,
            excess: held.excess,
            parked: held.parked,
            joins: self.joins,
            calls: self.calls,
            claims: self.claims,
            no_shows: self.no_shows,
            ends: self.ends,
            left: self.left,
            bypasses: self.bypasses,
            ..Figures::default()
        }
    }
}
