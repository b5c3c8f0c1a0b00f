//! What the view keeps of a forecast: when calls pass each place, and how sure that is.

use crate::forecast::errors::{Errors, WHOLE};
use crate::forecast::flow::{MASS, end_of};
use ropeline_ids::Clock;

/// A forecast of all lanes of a line, made at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Curve {
    pub at: Clock,
    pub step_ms: u64,
    pub lanes: Vec<LaneCurve>,
    pub errors: Errors,
}

/// One lane's part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LaneCurve {
    /// Calls of the lane until the forecast was made.
    pub calls: u64,
    pub likely: Passing,
    pub fast: Passing,
    pub slow: Passing,
}

/// How many of those present have been passed by the end of each step, in sixteenths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Passing(Vec<u32>);

/// How long a wait is, in milliseconds: the likely one, and those if much goes fast or slowly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Wait {
    pub likely: u64,
    pub fast: u64,
    pub slow: u64,
}

/// What no forecast knows, in thousandths of the wait: at least so many, one more for each so many milliseconds, and the most.
const DRIFT: u64 = 50;
const DRIFT_MS: u64 = 30_000;
const MOST_DRIFT: u64 = 160;

/// Deviations of chance in an interval that holds eight of ten times, in thousandths.
const CHANCE: u64 = 1_280;

/// The longest wait of a forecast, in milliseconds: eleven days.
const LONGEST_MS: u64 = 1_000_000_000;

/// Parts of a visitor that are counted.
const PARTS: u64 = 16;

impl Passing {
    /// From masses passed by the end of each step, which only rise.
    pub fn new(masses: &[u64]) -> Self {
        let counted = |mass: &u64| u32::try_from(mass / (MASS / PARTS)).unwrap_or(u32::MAX);
        Self(masses.iter().map(counted).collect())
    }

    /// When so many have been passed, in milliseconds from the start.
    fn when(&self, passed: u64, step_ms: u64) -> u64 {
        let passed = passed.saturating_mul(PARTS);
        let steps = &self.0;
        let sum = |at: usize| steps.get(at).map_or(0, |sum| u64::from(*sum));
        let begin = |at: usize| at.checked_sub(1).map_or(0, end_of) * step_ms;
        let at = steps.partition_point(|sum| u64::from(*sum) < passed);
        let ms = if at < steps.len() {
            let before = at.checked_sub(1).map_or(0, sum);
            let width = end_of(at) * step_ms - begin(at);
            begin(at) + (passed - before) * width / (sum(at) - before).max(1)
        } else {
            // Behind the last of them it goes on as in the second half.
            let all = steps.last().copied().unwrap_or(0);
            let end = steps.partition_point(|sum| *sum < all);
            let pace = u64::from(all).saturating_sub(sum(end / 2)).max(1);
            let more = passed.saturating_sub(u64::from(all));
            end_of(end) * step_ms + more.saturating_mul(begin(end) - begin(end / 2)) / pace
        };
        ms.min(LONGEST_MS)
    }

    /// How many have been passed after so long; `None` beyond the last step.
    fn after(&self, ms: u64, step_ms: u64) -> Option<u64> {
        let mut steps = (0..).zip(&self.0);
        let step = steps.find(|(at, _)| end_of(*at) * step_ms >= ms);
        step.map(|(_, sum)| u64::from(*sum) / PARTS)
    }
}

impl Curve {
    /// How long until calls pass the place with so many before it in a lane that has made so many calls, as of `now`; `None` for a
    /// lane that the forecast does not have.
    pub fn wait(&self, lane: usize, (ahead, calls): (u64, u64), now: Clock) -> Option<Wait> {
        let lane = self.lanes.get(lane)?;
        let since = calls.saturating_sub(lane.calls);
        let passed = ahead.saturating_add(since).saturating_add(1);
        let of = |passing: &Passing| passing.when(passed, self.step_ms).saturating_sub(now.since(self.at));
        Some(Wait {
            likely: of(&lane.likely),
            fast: of(&lane.fast),
            slow: of(&lane.slow),
        })
    }

    /// The interval of a wait with so many to pass, in milliseconds: the forecast's own doubt, chance, what changes, and half a step,
    /// as wide as errors before have shown.
    pub fn interval(&self, wait: Wait, passed: u64) -> (u64, u64) {
        let factors = self.errors.factors(wait.likely);
        let scaled = |ms: u64| ms.saturating_mul(factors.longer) / WHOLE;
        let (likely, fast, slow) = (scaled(wait.likely), scaled(wait.fast), scaled(wait.slow));
        let chance = likely * CHANCE / passed.max(1).saturating_mul(1_000_000).isqrt();
        let drift = likely * (DRIFT + likely / DRIFT_MS).min(MOST_DRIFT) / 1_000;
        let others = chance * chance + drift * drift + (self.step_ms / 2).pow(2);
        let with = |doubt: u64| (doubt * doubt + others).isqrt() * factors.width / WHOLE;
        let low = likely.saturating_sub(with(likely.saturating_sub(fast)));
        (low, likely + with(slow.saturating_sub(likely)))
    }

    /// How many of a lane will have been passed after so long.
    pub fn passed_after(&self, lane: usize, ms: u64) -> Option<u64> {
        self.lanes.get(lane)?.likely.after(ms, self.step_ms)
    }
}
