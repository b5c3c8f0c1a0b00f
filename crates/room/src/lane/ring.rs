//! Marks of (clock, place) that ripen after a span of time. With them the room knows where a line was some time ago.
//!
//! `fresh` is where `next` was `firm_within` ago, the horizon where the calls were `late_window` ago. Marks are kept for at
//! most 64 steps of the span, so a ring is small under any traffic. A mark stands at the end of its step and ripens up to a
//! sixty-fourth late, never early.

use std::collections::VecDeque;

use crate::codec::codec;
use ropeline_ids::{Clock, Place};

/// Steps that a span is cut into.
const STEPS: u64 = 64;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ring {
    /// Rising in clock and in place.
    marks: VecDeque<(Clock, Place)>,
}

codec! {
    struct Ring { marks };
}

impl Ring {
    /// Notes that the line stood at `place` at `now`.
    pub fn note(&mut self, place: Place, span_ms: u64, now: Clock) {
        let step = (span_ms / STEPS).max(1);
        let at = Clock(now.0.saturating_add(step - now.0 % step));
        match self.marks.back_mut() {
            Some(last) if last.0 >= at => last.1 = last.1.max(place),
            _ => self.marks.push_back((at, place)),
        }
    }

    /// Takes the marks that are `span_ms` old and says where the last of them stood.
    pub fn ripe(&mut self, span_ms: u64, now: Clock) -> Option<Place> {
        let mut last = None;
        while self.due(span_ms).is_some_and(|due| due <= now) {
            last = self.marks.pop_front().map(|(_, place)| place);
        }
        last
    }

    /// When the oldest mark ripens.
    pub fn due(&self, span_ms: u64) -> Option<Clock> {
        self.marks.front().map(|(at, _)| at.plus(span_ms))
    }

    pub fn clear(&mut self) {
        self.marks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_ripens_after_its_span_and_at_most_a_step_late() {
        let mut ring = Ring::default();
        ring.note(Place(5), 6_400, Clock(1_000));
        assert_eq!(ring.ripe(6_400, Clock(7_399)), None);
        assert_eq!(ring.ripe(6_400, Clock(7_500)), Some(Place(5)));
        assert_eq!(ring.ripe(6_400, Clock(u64::MAX)), None);
    }

    #[test]
    fn the_latest_ripe_mark_wins_and_later_ones_stay() {
        let mut ring = Ring::default();
        for (place, at) in [(1, 0), (2, 500), (3, 2_000)] {
            ring.note(Place(place), 6_400, Clock(at));
        }
        assert_eq!(ring.ripe(6_400, Clock(7_100)), Some(Place(2)));
        assert_eq!(ring.due(6_400), Some(Clock(8_500)));
    }

    #[test]
    fn a_ring_stays_small_under_any_traffic() {
        let mut ring = Ring::default();
        for at in 0..100_000 {
            ring.note(Place(at), 20_000, Clock(at));
            ring.ripe(20_000, Clock(at));
        }
        assert!(ring.marks.len() <= 66, "{}", ring.marks.len());
    }
}
