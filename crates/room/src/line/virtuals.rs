//! The virtual visitors of a line: which places are theirs, what is counted of them, and how all of them are sent off.

use super::Line;
use crate::lane::Lane;
use crate::lane::bits::Bits;
use crate::lane::record::Record;
use crate::line::deadlines::Due;
use crate::line::figures::Figures;
use ropeline_ids::{LaneId, Place};

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
                lane.virtuals = Bits::default();
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
