//! How long a visitor will wait, as an interval that is to hold in eight of ten cases.
//!
//! It comes from the line's forecast (see `forecast`). Whole numbers only, so that the same entries give the same estimate.

use super::LineView;
use crate::forecast::told::{EstimatesHeld, QUARTERS};
use crate::forecast::{LONGEST_TOLD_MS, calls_of};
use crate::settings::Mode;
use ropeline_ids::{Clock, LaneId};

/// How long until calls pass the place with so many before it, in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    pub low_secs: u32,
    pub high_secs: u32,
}

impl LineView {
    /// How long a visitor with `ahead` present visitors before them in the lane will wait; `None` when that is not known: no
    /// visitor can be called, the stock is too small, nobody has waited here yet, or too few of the told intervals held
    /// (see `forecast/told`).
    #[must_use]
    pub fn estimate(&self, lane: LaneId, ahead: u64, now: Clock) -> Option<Estimate> {
        let stopped = self.settings.mode != Mode::Auto || self.settings.calls_nobody();
        if stopped || now < self.quiet_until || !self.is_reachable(lane, ahead) {
            return None;
        }
        let curve = self.curve.as_ref()?;
        let at = usize::from(lane.0);
        let calls = calls_of(&self.lanes, at, self.figures.calls);
        let wait = curve.wait(at, (ahead, calls), now)?;
        if wait.likely >= LONGEST_TOLD_MS || !self.told.are_worth_telling() {
            return None;
        }
        let (low_ms, high_ms) = curve.interval(wait, ahead.saturating_add(1), now);
        Some(Estimate {
            low_secs: u32::try_from(low_ms / 1_000).unwrap_or(u32::MAX),
            high_secs: u32::try_from(high_ms.div_ceil(1_000)).unwrap_or(u32::MAX),
        })
    }

    /// What came of the intervals that were told since this replica watches the line, by quarter of the line from the front.
    #[must_use]
    pub fn told(&self) -> [EstimatesHeld; QUARTERS] {
        self.told.quarters()
    }
}
