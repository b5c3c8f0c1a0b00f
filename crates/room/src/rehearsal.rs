//! A rehearsal: virtual visitors of an operator, who are gone once nobody says any more that it goes on.
//!
//! What virtual visitors do comes in sections that name their rehearsal, and such a section counts only while that is under
//! way. Which places are theirs stands in bitmaps, so the room itself sends them all off, in one step: when the rehearsal is
//! ended, when its time is over, and when its lease has not been renewed. The lease runs on the room's clock, so that all
//! gates agree.

use super::codec::{Read, Reader, Writer};
use super::deadlines::Due;
use super::lane::Lane;
use super::line::Line;
use super::orders::Who;
use super::record::Record;
use super::view::Figures;
use ropeline_ids::{Clock, LaneId, Place, RehearsalId, Wall};

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

/// Most virtual visitors of one rehearsal.
pub const MAX_REHEARSED: u32 = 200_000;

/// Longest that a rehearsal goes on without being renewed, and longest that it goes on at all.
pub const MAX_LEASE_MS: u64 = 60_000;
pub const MAX_REHEARSAL_MS: u64 = 24 * 3_600_000;

impl Rehearsal {
    /// As an operator wants it; `None` where its bounds are none.
    pub(super) fn of(order: &RehearsalOrder, time: Wall, now: Clock) -> Option<Self> {
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
    pub(super) fn renew(&mut self, lease_ms: u64, now: Clock) {
        self.until = now.plus(lease_ms.min(MAX_LEASE_MS)).min(self.ends_by);
    }

    /// What makes it anew in another history, where its lease has as long to run as here.
    pub(super) fn order(&self, now: Clock) -> RehearsalOrder {
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

    pub(super) fn write(&self, w: &mut Writer) {
        w.raw(&self.id.0);
        w.u32(self.size);
        w.u32(self.joined);
        w.flag(self.forward);
        w.flag(self.anyway);
        self.by.write(w);
        w.wall(self.since);
        w.wall(self.ends_at);
        w.clock(self.ends_by);
        w.clock(self.until);
    }

    pub(super) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            id: RehearsalId(r.array()?),
            size: r.u32()?,
            joined: r.u32()?,
            forward: r.flag()?,
            anyway: r.flag()?,
            by: Who::read(r)?,
            since: r.wall()?,
            ends_at: r.wall()?,
            ends_by: r.clock()?,
            until: r.clock()?,
        })
    }
}

impl RehearsalOrder {
    /// Upper bound of the encoded size.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.by.bytes() + 40
    }

    pub(super) fn write(&self, w: &mut Writer) {
        w.raw(&self.id.0);
        w.u32(self.size);
        w.u32(self.joined);
        w.flag(self.forward);
        w.flag(self.anyway);
        w.var(self.lease_ms);
        w.var(self.for_ms);
        self.by.write(w);
    }

    pub(super) fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            id: RehearsalId(r.array()?),
            size: r.u32()?,
            joined: r.u32()?,
            forward: r.flag()?,
            anyway: r.flag()?,
            lease_ms: r.var()?,
            for_ms: r.var()?,
            by: Who::read(r)?,
        })
    }
}

impl Line {
    /// Counts what happened to a number; what happened to a virtual visitor's, among those too.
    pub fn count(&mut self, (id, place): Due, add: impl Fn(&mut Figures)) {
        add(&mut self.figures);
        // PERF: hardly any line has virtual visitors, and a look into no bits costs next to nothing.
        if self
            .lanes
            .get(usize::from(id.0))
            .is_some_and(|lane| lane.virtuals.get(place))
        {
            add(&mut self.rehearsed);
        }
    }

    /// A virtual visitor is called. All calls of a step are counted together.
    pub fn count_virtual_call(&mut self, (id, place): Due) {
        let lane = self.lanes.get(usize::from(id.0));
        self.rehearsed.calls += u64::from(lane.is_some_and(|lane| lane.virtuals.get(place)));
    }

    /// Where each lane's next number will stand.
    pub fn nexts(&self) -> Vec<Place> {
        self.lanes.iter().map(|lane| lane.eras.next()).collect()
    }

    /// Everybody numbered since is a virtual visitor; says how many these are.
    pub fn take_in(&mut self, nexts: &[Place]) -> u32 {
        let mut joined = 0;
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            let from = nexts.get(at).copied().unwrap_or(lane.eras.start());
            let next = lane.eras.next();
            lane.virtuals.set_range(from, next);
            joined += next.0.saturating_sub(from.0);
        }
        self.rehearsed.joins += joined;
        u32::try_from(joined).unwrap_or(u32::MAX)
    }

    /// A number that is known here only now is a virtual visitor's.
    pub fn know_virtual(&mut self, id: LaneId, place: Place) {
        let Some(lane) = self.lanes.get_mut(usize::from(id.0)) else {
            return;
        };
        if !lane.virtuals.set(place) {
            return;
        }
        match lane.slots.get(place) {
            Some(Record::Called(_)) => self.rehearsed.called += 1,
            Some(Record::Inside(session)) => {
                self.rehearsed.inside += 1;
                self.rehearsed.excess += u32::from(session.excess);
            }
            _ => {}
        }
    }

    /// Sends every virtual visitor off: from the line, from their calls and from their slots. False where there was nobody.
    pub fn send_off(&mut self) -> bool {
        let mut any = false;
        for id in (0..).map(LaneId).take(self.lanes.len()) {
            let places: Vec<Place> = self.lane(id).map(all_virtual).unwrap_or_default();
            any |= !places.is_empty();
            for place in places {
                self.send_one_off((id, place));
            }
            if let Some(lane) = self.lane(id) {
                lane.virtuals = super::bits::Bits::default();
            }
        }
        any
    }

    /// Nothing is left of it but a number that is used up: nobody comes back with it.
    fn send_one_off(&mut self, due: Due) {
        let (id, place) = due;
        let Some(lane) = self.lane(id) else { return };
        let in_line = lane.is_in_line(place);
        match lane.slots.get(place).copied() {
            Some(Record::Inside(session)) => {
                self.free_piece(due);
                self.count(due, |figures| {
                    figures.inside -= 1;
                    figures.excess -= u32::from(session.excess);
                    figures.ends += 1;
                });
            }
            Some(Record::Called(_)) => {
                self.free_piece(due);
                self.count(due, |figures| {
                    figures.called -= 1;
                    figures.left += 1;
                });
            }
            Some(Record::Missed { .. }) | None if in_line => self.count(due, |figures| figures.left += 1),
            _ => {}
        }
        if let Some(lane) = self.lane(id) {
            lane.slots.put(place, None);
            if !lane.is_void(place) {
                lane.presence.take(place);
            }
        }
    }

    /// Whether there is anything to tell of virtual visitors here: who came back by a mark alone is in no figure.
    pub fn is_rehearsed(&self) -> bool {
        self.rehearsed != Figures::default() || self.virtual_lanes().next().is_some()
    }

    /// Lanes that have any.
    pub fn virtual_lanes(&self) -> impl Iterator<Item = (LaneId, &Lane)> {
        let lanes = (0..).map(LaneId).zip(&self.lanes);
        lanes.filter(|(_, lane)| !lane.virtuals.is_empty())
    }

    /// How many of those who wait are virtual.
    pub fn virtual_waiting(&self) -> u64 {
        let waiting = |lane: &Lane| lane.virtuals.common(lane.presence.present());
        self.lanes.iter().map(waiting).sum()
    }
}

fn all_virtual(lane: &mut Lane) -> Vec<Place> {
    lane.virtuals.ones(Place(0), Place(u64::MAX)).collect()
}
