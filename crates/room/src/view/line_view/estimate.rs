//! How long a visitor will wait, as an interval.
//!
//! Certain facts go first: a rate brings its tokens at known times. The rest follows from the recent pace, for the expected
//! number of calls: some of the visitors ahead leave, some are called twice. The width of the interval depends on how many
//! calls the pace was measured from and how many are to come; in a room with load control also on recent changes of the pace.
//! Whole numbers only, so that every gate computes the same.

use super::LineView;
use crate::line::pulse::Pace;
use crate::settings::Mode;
use ropeline_ids::{Clock, LaneId};

/// How long until the visitor with `ahead` before them is called, in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    pub low_secs: u32,
    pub high_secs: u32,
}

impl LineView {
    /// How long a visitor with `ahead` present visitors before them in the lane will wait; `None` when that is not known (no
    /// visitor is being called, or not for long enough; or the stock is too small).
    #[must_use]
    pub fn estimate(&self, lane: LaneId, ahead: u64, now: Clock) -> Option<Estimate> {
        let stopped = self.settings.mode != Mode::Auto || self.settings.calls_nobody();
        if stopped || now < self.quiet_until || !self.is_reachable(lane, ahead) {
            return None;
        }
        if let Some(estimate) = self.foreseen(lane, ahead, now) {
            return Some(estimate);
        }
        let fewest = self.calls_until(lane, ahead, true);
        // Some of those ahead leave, some are called twice.
        let likely = self.to_come(fewest);
        let tokens_ms = self.tokens_in(fewest.min(likely), now)?;
        let held = u64::from(self.figures.called) + u64::from(self.figures.inside);
        let slots = u64::from(self.figures.capacity);
        let alone = self.lanes.len() < 2;
        let follows = self.settings.load_control.is_some();
        // A visitor waits although slots are free: the rate is the limit.
        if alone && !follows && tokens_ms > 0 && held < slots {
            let most_ms = self.tokens_in(fewest.max(likely), now)?;
            let slots_ms = self.slots_in(fewest, likely, now)?;
            return Some(within(tokens_ms, most_ms.max(slots_ms), DRIFT));
        }
        let pace = self.pulse.pace(slots, now)?;
        // Above a lowered capacity slots come free in vain.
        let vain = held.saturating_sub(slots);
        let to_come = likely.saturating_add(vain);
        // A controller's allowance changes all the time.
        let ((fastest, slowest), unsteady) = if follows {
            (self.pulse.paces(slots, now)?, UNSTEADY)
        } else {
            ((pace, pace), 0)
        };
        let least_ms = fastest.of(to_come);
        let most_ms = self
            .slowest(lane, ahead, (slowest, slots), now)
            .max(slowest.of(to_come));
        let doubt = doubt(pace, to_come, pace.of(to_come)) + unsteady;
        Some(within(least_ms, most_ms, doubt).no_less(tokens_ms))
    }

    fn foreseen(&self, lane: LaneId, ahead: u64, now: Clock) -> Option<Estimate> {
        let at = usize::from(lane.0);
        let calls = if self.settings.lanes.len() > 1 {
            self.lane(lane)?.pulse.total()
        } else {
            self.figures.calls
        };
        let curve = self.curve.as_ref()?;
        let times = curve.passes(at, (ahead, calls), now)?;
        let (low_ms, high_ms) = curve.interval(times, ahead + 1);
        Some(Estimate {
            low_secs: u32::try_from(low_ms / 1_000).unwrap_or(u32::MAX),
            high_secs: u32::try_from(high_ms.div_ceil(1_000)).unwrap_or(u32::MAX),
        })
    }

    /// Number of calls until this many visitors have left the line, at the past ratio of calls to departures.
    fn to_come(&self, visitors: u64) -> u64 {
        let figures = &self.figures;
        let gone = figures.joins.saturating_sub(figures.waiting);
        let (calls, gone) = (figures.calls.max(1), gone.max(1));
        if gone < ENOUGH {
            return visitors;
        }
        if calls >= gone {
            return visitors.saturating_mul(calls) / gone;
        }
        // Visitors leave anywhere in line. If x times as many leave as are called while the line is as long as now, n
        // visitors take ln(1 + x) / x of n calls, which (6 + x) / (6 + 4x) approximates.
        let left = (gone - calls).saturating_mul(1_000) / calls;
        let x = left.saturating_mul(visitors) / figures.waiting.max(visitors).max(1);
        visitors.saturating_mul(6_000 + x) / (6_000 + 4 * x)
    }

    /// The longest wait where lanes share the calls, in milliseconds. New visitors of the other lanes are called in between
    /// too: as many as the lane's own recent pace suggests, and at most as many as the weights allow.
    fn slowest(&self, lane: LaneId, ahead: u64, (pace, slots): (Pace, u64), now: Clock) -> u64 {
        if self.settings.lanes.len() < 2 {
            return 0;
        }
        let all = pace.of(self.calls_until(lane, ahead, false));
        let own = self.lane(lane).and_then(|lane| lane.pulse.pace(slots, now));
        own.map_or(0, |own| own.of(ahead.saturating_add(1)).min(all))
    }

    /// How long slots may delay a line that waits for its rate; `None` where slots may run out and fewer have become free so
    /// far than are held, so that the time for which one is held is unknown.
    fn slots_in(&self, fewest: u64, likely: u64, now: Clock) -> Option<u64> {
        let held = u64::from(self.figures.called) + u64::from(self.figures.inside);
        let slots = u64::from(self.figures.capacity);
        if held.saturating_add(fewest) <= slots {
            return Some(0);
        }
        let pace = self.pulse.pace(slots, now);
        (self.figures.calls >= held.saturating_mul(2)).then(|| pace.map_or(0, |pace| pace.of(likely)))
    }

    /// When the rate has brought this many tokens, in milliseconds from now on: 0 without a rate, `None` for never.
    fn tokens_in(&self, calls: u64, now: Clock) -> Option<u64> {
        if self.settings.rate_per_minute.is_none() {
            return Some(0);
        }
        let bucket = self.bucket.at(&self.settings, now);
        bucket.until(calls, &self.settings).map(|at| at.since(now))
    }
}

/// The error of an estimate, in thousandths: by chance, in the measurement and in the calls to come, and because things
/// change, more so the longer the wait.
fn doubt(pace: Pace, calls: u64, wait_ms: u64) -> u64 {
    let chance = 1_000_000 / pace.made.max(1) + 1_000_000 / calls.max(1);
    let drift = DRIFT.saturating_add(wait_ms / DRIFT_MS).min(MOST_DRIFT);
    drift + CHANCE * chance.isqrt() / 100
}

/// The interval from the least to the most, widened by so many thousandths.
fn within(least_ms: u64, most_ms: u64, doubt: u64) -> Estimate {
    let low_ms = least_ms.saturating_mul(1_000) / (1_000 + doubt);
    let high_ms = most_ms.saturating_mul(1_000 + doubt) / 1_000;
    Estimate {
        low_secs: u32::try_from(low_ms / 1_000).unwrap_or(u32::MAX),
        high_secs: u32::try_from(high_ms.div_ceil(1_000)).unwrap_or(u32::MAX),
    }
}

impl Estimate {
    fn no_less(self, ms: u64) -> Self {
        let secs = u32::try_from(ms / 1_000).unwrap_or(u32::MAX);
        let low_secs = self.low_secs.max(secs);
        Self {
            low_secs,
            high_secs: self.high_secs.max(low_secs),
        }
    }
}

/// Visitors who must have left the line before it is known how many calls that takes.
const ENOUGH: u64 = 50;

/// The least error, in thousandths, one more for so many milliseconds to wait, and the most; and by chance, in hundredths of
/// a deviation.
const DRIFT: u64 = 60;
const DRIFT_MS: u64 = 12_000;
const MOST_DRIFT: u64 = 200;
const CHANCE: u64 = 140;

/// Further error in a room with load control.
const UNSTEADY: u64 = 150;
