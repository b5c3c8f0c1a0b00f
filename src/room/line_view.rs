//! One line as the request path sees it.

use super::ids::{Clock, Edition, Era, LaneId, Number, Wall};
use super::view::{Estimate, Figures, Frame, Standing};

/// One line of a room; cheap to publish, since pages that did not change are shared with the picture before.
#[derive(Debug)]
pub struct LineView {
    pub edition: Edition,
    pub clock: Clock,
    pub figures: Figures,
}

impl LineView {
    /// Where `number` stands, with deadlines read at `now`. Total: any number of any era has an answer.
    #[must_use]
    pub fn standing(&self, lane: LaneId, number: Number, now: Clock) -> Standing {
        let _ = (lane, number, now);
        todo!()
    }

    /// How long somebody with `ahead` present visitors before them will wait, from the calls of late; `None` when that
    /// cannot be said (nobody is being called, or not for long enough to tell).
    #[must_use]
    pub fn estimate(&self, lane: LaneId, ahead: u64) -> Option<Estimate> {
        let _ = (lane, ahead);
        todo!()
    }

    /// True when a visitor who joined now would be called at once: mode auto, not healing, nobody waiting, a slot and a
    /// rate token free.
    #[must_use]
    pub fn open(&self) -> bool {
        todo!()
    }

    /// The place of a number on the lane's axis, for finding it in a frame; `None` for an era the line does not know.
    #[must_use]
    pub fn place(&self, lane: LaneId, number: Number) -> Option<u64> {
        let _ = (lane, number);
        todo!()
    }

    /// The eras whose numbers the lane still tells apart, oldest first.
    #[must_use]
    pub fn eras(&self, lane: LaneId) -> Vec<Era> {
        let _ = lane;
        todo!()
    }

    /// The event stream's frame for one lane.
    #[must_use]
    pub fn frame(&self, lane: LaneId) -> Frame {
        let _ = lane;
        todo!()
    }

    /// When the line last called somebody.
    #[must_use]
    pub fn last_call(&self) -> Option<Wall> {
        todo!()
    }
}
