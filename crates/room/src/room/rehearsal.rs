//! A rehearsal: virtual visitors of an operator, who are gone once nobody says any more that it goes on.
//!
//! What virtual visitors do comes in sections that name their rehearsal, and such a section counts only while that is under
//! way. Which places are theirs stands in bitmaps, so the room itself sends them all off, in one step: when the rehearsal is
//! ended, when its time is over, and when its lease has not been renewed. The lease runs on the room's clock, so that all
//! gates agree.

use crate::codec::codec;
use crate::entry::commands::Who;
use ropeline_ids::{Clock, RehearsalId, Wall};

/// The rehearsal of a room that is under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rehearsal {
    pub order: RehearsalOrder,
    /// How many have joined so far.
    pub joined: u32,
    pub since: Wall,
    /// The same by the room's clock.
    began: Clock,
    /// Everybody is sent off then, unless it is renewed before.
    until: Clock,
}

/// An operator begins a rehearsal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RehearsalOrder {
    pub id: RehearsalId,
    /// Most visitors that join in it.
    pub size: u32,
    /// The requests of its visitors are forwarded to the upstream.
    pub forward: bool,
    /// It goes on where a sale by stock or by a draw is on.
    pub anyway: bool,
    /// How long it takes at most.
    pub for_ms: u64,
    pub by: Who,
}

codec! {
    struct Rehearsal { order, joined, since, began, until };
    struct RehearsalOrder { id, size, forward, anyway, for_ms, by };
}

/// Most virtual visitors of one rehearsal.
pub const MAX_REHEARSED: u32 = 200_000;

/// How long a rehearsal goes on without being renewed, and longest that it goes on at all.
pub const LEASE_MS: u64 = 15_000;
pub const MAX_REHEARSAL_MS: u64 = 24 * 3_600_000;

impl Rehearsal {
    /// As an operator wants it; `None` where its bounds are none.
    pub(crate) fn of(order: &RehearsalOrder, since: Wall, now: Clock) -> Option<Self> {
        let bounds = (1..=MAX_REHEARSED).contains(&order.size) && (1..=MAX_REHEARSAL_MS).contains(&order.for_ms);
        let order = RehearsalOrder {
            by: order.by.bounded(),
            ..order.clone()
        };
        let mut rehearsal = Self {
            order,
            joined: 0,
            since,
            began: now,
            until: now,
        };
        rehearsal.renew(now);
        bounds.then_some(rehearsal)
    }

    /// How many more may join in it.
    pub(crate) fn left(&self) -> u32 {
        self.order.size.saturating_sub(self.joined)
    }

    /// Nobody has renewed it.
    pub(crate) fn is_over(&self, now: Clock) -> bool {
        self.until <= now
    }

    /// When it is over in any case.
    #[must_use]
    pub fn ends_at(&self) -> Wall {
        self.since.plus(self.order.for_ms)
    }

    /// Whether requests of this rehearsal are accepted now. The time bounds a gate that is cut off, and does not hear of the end.
    #[must_use]
    pub fn accepts(&self, id: RehearsalId, now: Wall) -> bool {
        self.order.id == id && now < self.ends_at()
    }

    /// It goes on for a lease from now on.
    pub(crate) fn renew(&mut self, now: Clock) {
        self.until = now.plus(LEASE_MS).min(self.began.plus(self.order.for_ms));
    }
}

impl RehearsalOrder {
    /// Upper bound of the encoded size.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.by.bytes() + 40
    }
}
