//! Lanes by name: a lane keeps the index that its visitors' tickets contain, in whatever order a configuration lists it.

use std::collections::BTreeMap;

use super::Settings;
use crate::codec::codec;
use ropeline_ids::{LaneId, MAX_LANE_NAME};

/// The lane of a room whose configuration names none.
pub const ONLY_LANE: &str = "main";

/// Most lanes of a line.
pub const MAX_LANES: usize = 8;

/// A lane that a room has, or had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedLane {
    pub name: String,
    /// It is no longer configured: visitors in it are still called, by its former weight, and no new visitor is sent to it.
    pub out: bool,
}

codec! {
    struct NamedLane { name, out };
}

impl NamedLane {
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            out: false,
        }
    }
}

/// The names, if there is one for each weight; none otherwise.
pub(crate) fn bounded_names(lanes: &[NamedLane], weights: usize) -> Vec<NamedLane> {
    let lanes: Vec<NamedLane> = lanes.iter().take(MAX_LANES).cloned().collect();
    let short = |lane: &NamedLane| (1..=MAX_LANE_NAME).contains(&lane.name.len());
    let once = |(at, lane): (usize, &NamedLane)| lanes[..at].iter().all(|before| before.name != lane.name);
    let sound = lanes.len() == weights && lanes.iter().all(short) && lanes.iter().enumerate().all(once);
    if sound { lanes } else { Vec::new() }
}

impl Settings {
    /// The lane of a name, where visitors are sent to it.
    #[must_use]
    pub fn lane_of(&self, name: &str) -> Option<LaneId> {
        let at = self.lanes.iter().position(|lane| lane.name == name && !lane.out)?;
        u8::try_from(at).ok().map(LaneId)
    }

    /// The name of a lane; of lanes without names only a single one has a name.
    #[must_use]
    pub fn lane_name(&self, lane: LaneId) -> Option<&str> {
        let alone = self.lanes.is_empty() && self.lane_weights.len() == 1 && lane == LaneId(0);
        let named = self.lanes.get(usize::from(lane.0)).map(|lane| lane.name.as_str());
        named.or(alone.then_some(ONLY_LANE))
    }

    /// The lanes that visitors are sent to, with their weights; `None` where they have no names.
    fn weighed(&self) -> Option<BTreeMap<&str, u16>> {
        if let ([], [weight]) = (self.lanes.as_slice(), self.lane_weights.as_slice()) {
            return Some([(ONLY_LANE, *weight)].into());
        }
        let open = self.lanes.iter().zip(&self.lane_weights).filter(|(lane, _)| !lane.out);
        let weighed = || open.map(|(lane, weight)| (lane.name.as_str(), *weight)).collect();
        (!self.lanes.is_empty()).then(weighed)
    }

    /// Both have the same lanes, of the same weights.
    pub(crate) fn has_lanes_of(&self, other: &Self) -> bool {
        match (self.weighed(), other.weighed()) {
            (None, None) => self.lane_weights == other.lane_weights,
            (mine, theirs) => mine == theirs,
        }
    }

    /// Gives these settings' lanes the indices that they have `before`. One that is no longer configured stays and goes out;
    /// one that is new stands behind them all, or, where there are as many as can be, in the place of one that is `free`.
    /// One that there is no place for is left out. Says which places are taken over.
    pub(crate) fn place_lanes(&mut self, before: &Self, free: impl Fn(usize) -> bool) -> Vec<usize> {
        if before.lanes.is_empty() {
            return Vec::new();
        }
        if self.lanes.is_empty() && self.lane_weights.len() == 1 {
            self.lanes = vec![NamedLane::new(ONLY_LANE)];
        }
        if self.lanes.is_empty() {
            return Vec::new();
        }
        let mut wanted: Vec<(NamedLane, u16)> = self.lanes.drain(..).zip(self.lane_weights.drain(..)).collect();
        wanted.retain(|(lane, _)| !lane.out);
        for (old, weight) in before.lanes.iter().zip(&before.lane_weights) {
            let found = wanted.iter().position(|(lane, _)| lane.name == old.name);
            let gone = || {
                (
                    NamedLane {
                        out: true,
                        ..old.clone()
                    },
                    *weight,
                )
            };
            let (lane, weight) = found.map_or_else(gone, |at| wanted.remove(at));
            self.lanes.push(lane);
            self.lane_weights.push(weight);
        }
        let mut taken_over = Vec::new();
        for (lane, weight) in wanted {
            if self.lanes.len() < MAX_LANES {
                self.lanes.push(lane);
                self.lane_weights.push(weight);
            } else if let Some(at) = (0..MAX_LANES).find(|at| self.lanes[*at].out && free(*at)) {
                (self.lanes[at], self.lane_weights[at]) = (lane, weight);
                taken_over.push(at);
            }
        }
        taken_over
    }
}
