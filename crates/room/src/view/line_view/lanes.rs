//! The lanes of a line's view: how many visitors wait and are called, and how future calls are shared.

use super::LineView;
use crate::lane::Lane;
use crate::lane::record::Record;
use crate::line::turns::common;
use ropeline_ids::LaneId;

/// One lane of a line, where lanes have names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneFigures<'a> {
    pub name: &'a str,
    /// It is no longer configured, and goes on until its visitors are gone.
    pub out: bool,
    pub weight: u16,
    pub waiting: u64,
    pub called: u64,
    pub inside: u64,
    /// Counted for as long as the room has had several lanes.
    pub calls: u64,
}

impl LineView {
    /// Present visitors in a lane.
    #[must_use]
    pub fn waiting(&self, lane: LaneId) -> u64 {
        self.lane(lane).map_or(0, |lane| lane.presence.waiting())
    }

    /// The same for each lane, in their order.
    #[must_use]
    pub fn waiting_by_lane(&self) -> Vec<u64> {
        self.lanes.iter().map(|lane| lane.presence.waiting()).collect()
    }

    /// The figures of each lane, where they have names; counted when asked for, so not for the way of a request.
    pub fn lane_figures(&self) -> impl Iterator<Item = LaneFigures<'_>> {
        let named = self.settings.lanes.iter().zip(&self.settings.lane_weights);
        named.zip(&self.lanes).map(|((named, weight), lane)| {
            let count = |wanted: fn(&Record) -> bool| {
                let found = lane.slots.iter().filter(|(_, record)| wanted(record)).count();
                u64::try_from(found).unwrap_or(u64::MAX)
            };
            LaneFigures {
                name: &named.name,
                out: named.out,
                weight: *weight,
                waiting: lane.presence.waiting(),
                called: count(|record| matches!(record, Record::Called(_))),
                inside: count(|record| matches!(record, Record::Inside(_))),
                calls: lane.pulse.total(),
            }
        })
    }

    /// Fewest calls that the line makes until the visitor behind `ahead` others is called: each of the others has had its turns of
    /// whole rounds, and takes no more than wait there.
    pub(crate) fn calls_until(&self, lane: LaneId, ahead: u64) -> u64 {
        let weights = &self.settings.lane_weights;
        let common = common(weights);
        let weight = |i: usize| u64::from(weights.get(i).copied().unwrap_or(1) / common).max(1);
        let own = usize::from(lane.0);
        let rounds = ahead / weight(own);
        let others = self.lanes.iter().enumerate().filter(|(i, _)| *i != own);
        let share = |(i, other): (usize, &Lane)| rounds.saturating_mul(weight(i)).min(other.presence.waiting());
        others.map(share).fold(ahead.saturating_add(1), u64::saturating_add)
    }
}
