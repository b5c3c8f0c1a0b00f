//! What of a line is virtual visitors'.

use super::LineView;
use ropeline_ids::{LaneId, Number, Place};

impl LineView {
    /// The numbers that were virtual visitors' in `before`, an earlier view of the line, and are nobody's here: their rehearsal
    /// is over, and all of them were sent off. By lane and place.
    #[must_use]
    pub fn sent_off_since(&self, before: Option<&Self>) -> Vec<(LaneId, Number)> {
        let mut gone = Vec::new();
        for (id, was) in (0..).map(LaneId).zip(before.iter().flat_map(|line| &line.lanes)) {
            // PERF: nearly always there are none.
            if was.virtuals.is_empty() || self.lane(id).is_some_and(|lane| !lane.virtuals.is_empty()) {
                continue;
            }
            let places = was.virtuals.ones(Place(0), Place(u64::MAX));
            gone.extend(places.filter_map(|place| Some((id, was.eras.number(place)?))));
        }
        gone
    }
}
