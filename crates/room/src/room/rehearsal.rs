//! A rehearsal: virtual visitors of an operator, who are gone once nobody says any more that it goes on.
//!
//! What virtual visitors do comes in sections that name their rehearsal, and such a section counts only while that is under
//! way. Which places are theirs stands in bitmaps, so the room itself sends them all off, in one step: when the rehearsal is
//! ended, when its time is over, and when its lease has not been renewed. The lease runs on the room's clock, so that all
//! gates agree.

use std::sync::Arc;

use crate::codec::codec;
use crate::entry::commands::Who;
use ropeline_ids::{Clock, RehearsalId, Wall};

/// The rehearsal of a room that is under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rehearsal {
    pub id: RehearsalId,
    /// Most visitors that join in it.
    pub size: u32,
    /// Who has joined so far.
    pub joined: u32,
    /// What its visitors ask of the shop reaches it.
    pub forward: bool,
    /// It goes on where a sale by stock or by a draw is on.
    pub anyway: bool,
    /// Whose it is.
    pub by: Who,
    pub since: Wall,
    /// When it is over in any case, for people.
    pub ends_at: Wall,
    /// The same by the room's clock.
    pub ends_by: Clock,
    /// Everybody is sent off then, unless it is renewed before.
    pub until: Clock,
}

/// An operator begins a rehearsal, or a gate brings one back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RehearsalOrder {
    pub id: RehearsalId,
    pub size: u32,
    pub joined: u32,
    pub forward: bool,
    /// Also where a sale by stock or by a draw is on.
    pub anyway: bool,
    pub lease_ms: u64,
    /// How long it takes at most.
    pub for_ms: u64,
    pub by: Who,
}

codec! {
    struct Rehearsal { id, size, joined, forward, anyway, by, since, ends_at, ends_by, until };
    struct RehearsalOrder { id, size, joined, forward, anyway, lease_ms, for_ms, by };
}

/// Most virtual visitors of one rehearsal.
pub const MAX_REHEARSED: u32 = 200_000;

/// Longest that a rehearsal goes on without being renewed, and longest that it goes on at all.
pub const MAX_LEASE_MS: u64 = 60_000;
pub const MAX_REHEARSAL_MS: u64 = 24 * 3_600_000;

impl Rehearsal {
    /// As an operator wants it; `None` where its bounds are none.
    pub(crate) fn of(order: &RehearsalOrder, time: Wall, now: Clock) -> Option<Self> {
        let bounds = (1..=MAX_REHEARSED).contains(&order.size)
            && (1..=MAX_LEASE_MS).contains(&order.lease_ms)
            && (1..=MAX_REHEARSAL_MS).contains(&order.for_ms);
        let ends_by = now.plus(order.for_ms);
        bounds.then(|| Self {
            id: order.id,
            size: order.size,
            joined: order.joined.min(order.size),
            forward: order.forward,
            anyway: order.anyway,
            by: order.by.bounded(),
            since: time,
            ends_at: time.plus(order.for_ms),
            ends_by,
            until: now.plus(order.lease_ms).min(ends_by),
        })
    }

    /// It goes on for so long from now on.
    pub(crate) fn renew(&mut self, lease_ms: u64, now: Clock) {
        self.until = now.plus(lease_ms.min(MAX_LEASE_MS)).min(self.ends_by);
    }

    /// What makes it anew in another history, where its lease has as long to run as here.
    pub(crate) fn order(&self, now: Clock) -> RehearsalOrder {
        RehearsalOrder {
            id: self.id,
            size: self.size,
            joined: self.joined,
            forward: self.forward,
            anyway: self.anyway,
            lease_ms: self.until.since(now).max(1),
            for_ms: self.ends_by.since(now).max(1),
            by: self.by.clone(),
        }
    }
}

/// The rehearsal that is under way in a room, if one is.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Option<Arc<Rehearsal>>);

codec! {
    struct UnderWay(rehearsal);
}

impl UnderWay {
    pub fn get(&self) -> Option<&Arc<Rehearsal>> {
        self.0.as_ref()
    }

    /// Whether it is that one; any, where none is named.
    pub fn is(&self, id: Option<RehearsalId>) -> bool {
        let of = |rehearsal: &Arc<Rehearsal>| id.is_none_or(|id| rehearsal.id == id);
        self.0.as_ref().is_some_and(of)
    }

    /// Begins one. False while one is under way, where its bounds are none, and where a sale's outcome is more than an order
    /// (`decides`), which virtual visitors would have a part in.
    pub fn begin(&mut self, order: &RehearsalOrder, decides: bool, (time, now): (Wall, Clock)) -> bool {
        if self.0.is_some() || (decides && !order.anyway) {
            return false;
        }
        self.0 = Rehearsal::of(order, time, now).map(Arc::new);
        self.0.is_some()
    }

    /// False for one that is not under way.
    pub fn renew(&mut self, id: RehearsalId, lease_ms: u64, now: Clock) -> bool {
        let rehearsal = self.0.as_mut().filter(|rehearsal| rehearsal.id == id);
        rehearsal
            .map(|rehearsal| Arc::make_mut(rehearsal).renew(lease_ms, now))
            .is_some()
    }

    /// Nobody has renewed it, or a sale with an outcome has come upon it, unless that was wanted.
    pub fn is_over(&self, decides: impl FnOnce() -> bool, now: Clock) -> bool {
        // PERF: every entry passes all rooms, and hardly any rehearses.
        let over = |rehearsal: &Arc<Rehearsal>| rehearsal.until <= now || (!rehearsal.anyway && decides());
        self.0.as_ref().is_some_and(over)
    }

    pub fn end(&mut self) {
        self.0 = None;
    }

    /// How many more may join in it.
    pub fn left(&self) -> Option<u32> {
        let rehearsal = self.0.as_ref()?;
        Some(rehearsal.size.saturating_sub(rehearsal.joined))
    }

    pub fn count_joined(&mut self, joined: u32) {
        if let Some(rehearsal) = self.0.as_mut().filter(|_| joined > 0) {
            Arc::make_mut(rehearsal).joined += joined;
        }
    }
}

impl RehearsalOrder {
    /// Upper bound of the encoded size.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.by.bytes() + 40
    }
}
