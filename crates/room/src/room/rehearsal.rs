//! A rehearsal: virtual visitors of an operator, who are gone once nobody says any more that it goes on.
//!
//! What virtual visitors do comes in sections that name their rehearsal, and such a section counts only while that is under
//! way. Which places are theirs stands in bitmaps, so the room itself sends them all off, in one step: when the rehearsal is
//! ended, when its time is over, and when its lease has not been renewed. The lease runs on the room's clock, so that all
//! gates agree.

use std::sync::Arc;

use crate::codec::{Read, Reader, Writer};
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

/// Most virtual visitors of one rehearsal.
pub const MAX_REHEARSED: u32 = 200_000;

/// How long a rehearsal goes on without being renewed, and longest that it goes on at all.
pub const LEASE_MS: u64 = 15_000;
pub const MAX_REHEARSAL_MS: u64 = 24 * 3_600_000;

impl Rehearsal {
    /// As an operator wants it; `None` where its bounds are none.
    fn of(order: &RehearsalOrder, since: Wall, now: Clock) -> Option<Self> {
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

    /// When it is over in any case.
    #[must_use]
    pub fn ends_at(&self) -> Wall {
        self.since.plus(self.order.for_ms)
    }

    fn renew(&mut self, now: Clock) {
        self.until = now.plus(LEASE_MS).min(self.began.plus(self.order.for_ms));
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        self.order.write(w);
        w.u32(self.joined);
        w.wall(self.since);
        w.clock(self.began);
        w.clock(self.until);
    }

    pub(crate) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            order: RehearsalOrder::read(r)?,
            joined: r.u32()?,
            since: r.wall()?,
            began: r.clock()?,
            until: r.clock()?,
        })
    }
}

/// The rehearsal that is under way in a room, if one is.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Option<Arc<Rehearsal>>);

impl UnderWay {
    pub fn of(rehearsal: Rehearsal) -> Self {
        Self(Some(Arc::new(rehearsal)))
    }

    pub fn get(&self) -> Option<&Arc<Rehearsal>> {
        self.0.as_ref()
    }

    /// Whether it is that one.
    pub fn is(&self, id: RehearsalId) -> bool {
        self.0.as_ref().is_some_and(|rehearsal| rehearsal.order.id == id)
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
    pub fn renew(&mut self, id: RehearsalId, now: Clock) -> bool {
        let rehearsal = self.0.as_mut().filter(|rehearsal| rehearsal.order.id == id);
        rehearsal.map(|rehearsal| Arc::make_mut(rehearsal).renew(now)).is_some()
    }

    /// Nobody has renewed it, or a sale with an outcome has come upon it, unless that was wanted.
    pub fn is_over(&self, decides: impl FnOnce() -> bool, now: Clock) -> bool {
        // PERF: every entry passes all rooms, and hardly any rehearses.
        let over = |rehearsal: &Arc<Rehearsal>| rehearsal.until <= now || (!rehearsal.order.anyway && decides());
        self.0.as_ref().is_some_and(over)
    }

    pub fn end(&mut self) {
        self.0 = None;
    }

    /// How many more may join in it.
    pub fn left(&self) -> Option<u32> {
        let rehearsal = self.0.as_ref()?;
        Some(rehearsal.order.size.saturating_sub(rehearsal.joined))
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

    pub(crate) fn write(&self, w: &mut Writer) {
        w.raw(&self.id.0);
        w.u32(self.size);
        w.flag(self.forward);
        w.flag(self.anyway);
        w.var(self.for_ms);
        self.by.write(w);
    }

    pub(crate) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            id: RehearsalId(r.array()?),
            size: r.u32()?,
            forward: r.flag()?,
            anyway: r.flag()?,
            for_ms: r.var()?,
            by: Who::read(r)?,
        })
    }
}
