//! What the view keeps of a forecast: when calls pass each place, and how sure that is.

use crate::forecast::errors::{Spans, WHOLE};
use crate::forecast::flow::{MASS, end_of};
use crate::forecast::limit::Ticks;
use ropeline_ids::Clock;

/// A forecast of all lanes of a line, made at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Curve {
    pub at: Clock,
    pub step_ms: u64,
    pub lanes: Vec<LaneCurve>,
    /// Set where the rate is the limit, and no other lane takes calls by chance: calls come at known times.
    pub ticks: Option<Ticks>,
    pub errors: Spans,
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
    /// For how long the likely one is over already.
    pub over: u64,
}

/// What no forecast knows, in thousandths of the wait: at least so many, one more for each so many milliseconds, and the most.
const DRIFT: u64 = 60;
const DRIFT_MS: u64 = 35_000;
const MOST_DRIFT: u64 = 110;

/// Deviations of chance in an interval that holds eight of ten times, in thousandths.
const CHANCE: u64 = 1_280;

/// The longest wait of a forecast, in milliseconds: eleven days.
const LONGEST_MS: u64 = 1_000_000_000;

/// Calls are made with entries: the next one comes so long after a tick at most, as a rule.
const ENTRY_MS: u64 = 2_000;

/// Parts of a visitor that are counted.
const PARTS: u64 = 16;

impl Passing {
    /// From masses passed by the end of each step, which only rise.
    pub fn new(masses: &[u64]) -> Self {
        let counted = |mass: &u64| u32::try_from(mass / (MASS / PARTS)).unwrap_or(u32::MAX);
        Self(masses.iter().map(counted).collect())
    }

    /// When so many have been passed, in milliseconds from the start. Without steps nobody waits; where nobody is passed in any
    /// step there is no end of it.
    fn when(&self, passed: u64, step_ms: u64) -> u64 {
        let passed = passed.saturating_mul(PARTS);
        let steps = &self.0;
        if steps.last() == Some(&0) {
            return LONGEST_MS;
        }
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
            let beyond = more.saturating_mul(begin(end) - begin(end / 2)) / pace;
            beyond.saturating_add(end_of(end) * step_ms)
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
        let made = calls.saturating_sub(lane.calls);
        let passed = ahead.saturating_add(made).saturating_add(1);
        let since = now.since(self.at);
        let [likely, fast, slow] =
            [&lane.likely, &lane.fast, &lane.slow].map(|passing| passing.when(passed, self.step_ms));
        Some(Wait {
            likely: likely.saturating_sub(since),
            fast: fast.saturating_sub(since),
            slow: slow.saturating_sub(since),
            over: since.saturating_sub(likely),
        })
    }

    /// The interval of a wait with so many to pass, in milliseconds as of `now`. By a rate it goes from tick to tick.
    pub fn interval(&self, wait: Wait, passed: u64, now: Clock) -> (u64, u64) {
        let (low, high) = self.steady(wait, passed);
        let [low, high] = [low, high].map(|ms| self.ticked(ms, wait.over, now));
        let entry_ms = self.ticks.map_or(0, |_| ENTRY_MS);
        (low, high.saturating_add(entry_ms))
    }

    /// The likely wait: by a rate, until the tick.
    pub fn likely(&self, wait: Wait, now: Clock) -> u64 {
        self.ticked(wait.likely, wait.over, now)
    }

    /// By a rate, the wait until the tick that ends a wait with calls one by one, which was to end so long ago if it is over. Its entry
    /// may be due now, but for an earlier tick none will come.
    fn ticked(&self, ms: u64, over: u64, now: Clock) -> u64 {
        let Some(ticks) = self.ticks else { return ms };
        let since_tick = now.since(ticks.last);
        // The curve begins with the bucket as the last tick before it has left it.
        let steady = ms.saturating_add(now.since(self.at)).saturating_sub(over);
        let due = ticks.next(since_tick.saturating_sub(ENTRY_MS));
        ticks.round_up(steady).max(due).saturating_sub(since_tick)
    }

    /// The interval with calls one by one: the forecast's own doubt, chance, what changes, and half a step, as wide as errors before
    /// have shown.
    fn steady(&self, wait: Wait, passed: u64) -> (u64, u64) {
        let factors = self.errors.factors(wait.likely);
        let scaled = |ms: u64| ms.saturating_mul(factors.longer) / WHOLE;
        let (likely, fast, slow) = (scaled(wait.likely), scaled(wait.fast), scaled(wait.slow));
        let chance = if self.ticks.is_some() {
            0
        } else {
            likely * CHANCE / passed.max(1).saturating_mul(1_000_000).isqrt()
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::rate::Bucket;
    use crate::settings::Settings;

    const STEP_MS: u64 = 5_000;
    const NOW: Clock = Clock(1_000_000);

    impl LaneCurve {
        pub fn bytes(&self) -> usize {
            let steps = [&self.likely, &self.fast, &self.slow].map(|passing| passing.0.capacity());
            size_of::<Self>() + steps.iter().sum::<usize>() * size_of::<u32>()
        }
    }

    /// So many have been passed by the end of each step.
    fn passing(passed: &[u64]) -> Passing {
        let masses: Vec<u64> = passed.iter().map(|passed| passed * MASS).collect();
        Passing::new(&masses)
    }

    /// A forecast of one lane that passes these many a step, if all goes as is likely, fast, or slowly.
    fn curve([likely, fast, slow]: [u64; 3]) -> Curve {
        let steady = |pace: u64| passing(&(1..=100).map(|step| step * pace).collect::<Vec<_>>());
        let lane = LaneCurve {
            calls: 1_000,
            likely: steady(likely),
            fast: steady(fast),
            slow: steady(slow),
        };
        Curve {
            at: NOW,
            step_ms: STEP_MS,
            lanes: vec![lane],
            ticks: None,
            errors: Spans::default(),
        }
    }

    fn wait(curve: &Curve, ahead: u64) -> Wait {
        curve.wait(0, (ahead, 1_000), NOW).expect("the forecast has the lane")
    }

    #[test]
    fn a_place_is_passed_within_the_step_by_its_share() {
        let passing = passing(&[0, 4, 4, 12]);
        let waits = [1, 2, 4, 5, 12].map(|passed| passing.when(passed, STEP_MS));
        assert_eq!(waits, [6_250, 7_500, 10_000, 15_625, 20_000]);
    }

    #[test]
    fn later_steps_are_as_wide_as_they_are() {
        let mut passed = vec![0; 129];
        passed.push(2);
        // Step 129 is the second of two steps' width.
        assert_eq!(passing(&passed).when(1, STEP_MS), (130 + 1) * STEP_MS);
        assert_eq!(passing(&passed).when(2, STEP_MS), (130 + 2) * STEP_MS);
    }

    #[test]
    fn with_more_ahead_the_wait_is_no_shorter() {
        let curve = curve([3, 4, 2]);
        let waits: Vec<u64> = (0..600).map(|ahead| wait(&curve, ahead).likely).collect();
        assert!(waits.is_sorted_by(|less, more| less < more));
        let Wait { likely, fast, slow, .. } = wait(&curve, 100);
        assert!(fast < likely && likely < slow, "{fast} {likely} {slow}");
    }

    #[test]
    fn a_wait_falls_by_the_time_that_has_passed() {
        let curve = curve([3, 4, 2]);
        let Wait { likely, fast, slow, .. } = wait(&curve, 100);
        let later = curve.wait(0, (100, 1_000), NOW.plus(7_000));
        let want = Wait {
            likely: likely - 7_000,
            fast: fast - 7_000,
            slow: slow - 7_000,
            over: 0,
        };
        assert_eq!(later, Some(want));
        let over = Wait {
            over: 1_000_000 - likely,
            ..Wait::default()
        };
        assert_eq!(curve.wait(0, (100, 1_000), NOW.plus(1_000_000)), Some(over));
    }

    #[test]
    fn calls_made_since_the_forecast_count_as_passed() {
        let curve = curve([3, 4, 2]);
        assert_eq!(curve.wait(0, (80, 1_020), NOW), Some(wait(&curve, 100)));
        // A lane whose calls began anew has made none since.
        assert_eq!(curve.wait(0, (100, 0), NOW), Some(wait(&curve, 100)));
    }

    #[test]
    fn a_lane_that_the_forecast_does_not_have_has_no_wait() {
        assert_eq!(curve([3, 4, 2]).wait(1, (0, 0), NOW), None);
        assert_eq!(curve([3, 4, 2]).passed_after(1, 0), None);
    }

    #[test]
    fn behind_the_last_place_it_goes_on_at_the_pace_of_the_second_half() {
        let sums: Vec<u64> = (1..=50)
            .map(|step| step * 2)
            .chain((1..=50).map(|step| 100 + step * 6))
            .collect();
        let passing = passing(&sums);
        let (last, behind) = (passing.when(400, STEP_MS), passing.when(460, STEP_MS));
        assert_eq!(last, 100 * STEP_MS);
        let want = last + 10 * STEP_MS;
        assert!(behind.abs_diff(want) <= STEP_MS / 2, "{behind} {want}");
    }

    #[test]
    fn where_nobody_is_passed_there_is_no_end_of_the_wait() {
        let passing = passing(&[0; 512]);
        assert_eq!(
            [0, 1, 100].map(|ahead| passing.when(ahead + 1, STEP_MS)),
            [LONGEST_MS; 3]
        );
    }

    #[test]
    fn where_nobody_waits_a_newcomer_waits_a_step() {
        assert_eq!(passing(&[]).when(1, STEP_MS), STEP_MS);
        assert_eq!(passing(&[3]).when(9, STEP_MS), STEP_MS);
    }

    #[test]
    fn the_furthest_place_is_passed_in_eleven_days() {
        let mut passed = vec![0; 511];
        passed.push(1);
        for passing in [passing(&passed), passing(&[0, 0, u64::from(u32::MAX)])] {
            assert_eq!(passing.when(u64::MAX, 10_000), LONGEST_MS);
        }
        let full = curve([u64::from(u32::MAX), u64::MAX / MASS / 100, 0]);
        let Wait { slow, .. } = full.wait(0, (u64::MAX, u64::MAX), NOW).unwrap();
        assert_eq!(slow, LONGEST_MS);
    }

    #[test]
    fn passed_after_a_time_are_those_of_the_step_that_it_falls_in() {
        let curve = curve([3, 4, 2]);
        let passed = [1, 5_000, 5_001, 500_000, 500_001].map(|ms| curve.passed_after(0, ms));
        assert_eq!(passed, [Some(3), Some(3), Some(6), Some(300), None]);
    }

    #[test]
    fn an_interval_holds_the_three_waits() {
        let curve = curve([3, 4, 2]);
        for ahead in [0, 10, 100, 250, 2_000] {
            let wait = wait(&curve, ahead);
            let (low, high) = curve.interval(wait, ahead + 1, NOW);
            assert!(low <= wait.fast && wait.slow <= high, "{ahead}");
        }
    }

    #[test]
    fn an_interval_is_wider_with_fewer_to_pass() {
        let wait = Wait {
            likely: 600_000,
            fast: 600_000,
            slow: 600_000,
            over: 0,
        };
        let curve = curve([3, 3, 3]);
        let widths = [0, 1, 4, 100, 10_000].map(|passed| {
            let (low, high) = curve.interval(wait, passed, NOW);
            assert!(low <= 600_000 && 600_000 <= high);
            high - low
        });
        assert_eq!(widths[0], widths[1]);
        assert!(
            widths[1..].is_sorted_by(|wider, narrower| wider > narrower),
            "{widths:?}"
        );
        // What no forecast knows is left, with any number.
        assert!(
            widths[4] >= 600_000 * 2 * (DRIFT + 600_000 / DRIFT_MS) / 1_000,
            "{widths:?}"
        );
    }

    #[test]
    fn calls_at_known_times_have_no_chance() {
        let slots = curve([3, 3, 3]);
        let rated = Curve {
            ticks: ticks(1_000),
            ..slots.clone()
        };
        let width = |curve: &Curve| {
            let (low, high) = curve.interval(wait(curve, 99), 100, NOW);
            high - low
        };
        assert!(width(&rated) < width(&slots), "{} {}", width(&rated), width(&slots));
    }

    /// A call a second, all of so many milliseconds at once, and the last 20 seconds ago.
    fn ticks(every_ms: u64) -> Option<Ticks> {
        let settings = Settings {
            rate_per_minute: Some(60),
            call_every_ms: every_ms,
            ..Settings::default()
        };
        let bucket = Bucket::full(&settings, Clock(NOW.0 - 20_000));
        Ticks::of(bucket, &settings, NOW)
    }

    #[test]
    fn by_a_rate_an_interval_goes_from_tick_to_tick() {
        let curve = Curve {
            ticks: ticks(60_000),
            ..curve([5, 5, 5])
        };
        let interval = |ahead: u64, passed_ms: u64| {
            let now = NOW.plus(passed_ms);
            let wait = curve.wait(0, (ahead, 1_000), now).unwrap();
            curve.interval(wait, ahead + 1, now)
        };
        let likely = |ahead: u64, passed_ms: u64| {
            let now = NOW.plus(passed_ms);
            curve.likely(curve.wait(0, (ahead, 1_000), now).unwrap(), now)
        };
        let tick = 40_000;
        for ahead in [0, 9, 40] {
            assert_eq!(interval(ahead, 0), (tick, tick + ENTRY_MS), "{ahead}");
        }
        // One that may be in one tick or the next.
        assert_eq!(interval(59, 0), (tick, tick + 60_000 + ENTRY_MS));
        assert_eq!(interval(89, 0), (tick + 60_000, tick + 60_000 + ENTRY_MS));
        // It comes nearer as time passes, however much of the curve is over.
        for (ahead, tick) in [(0, tick), (9, tick), (89, tick + 60_000)] {
            for passed_ms in [1, 15_000, 39_999] {
                let (low, high) = (tick - passed_ms, tick + ENTRY_MS - passed_ms);
                assert_eq!(interval(ahead, passed_ms), (low, high), "{ahead} {passed_ms}");
                assert_eq!(likely(ahead, passed_ms), low, "{ahead} {passed_ms}");
            }
        }
        // The entry that calls may be on its way for two seconds, and then it is the next tick's.
        assert_eq!(interval(0, tick + ENTRY_MS).0, 0);
        assert_eq!(interval(0, tick + ENTRY_MS + 1).0, 60_000 - ENTRY_MS - 1);
    }

    #[test]
    fn the_interval_of_no_wait_is_half_a_step() {
        let curve = curve([3, 3, 3]);
        assert_eq!(curve.interval(Wait::default(), 1, NOW), (0, STEP_MS / 2));
    }

    #[test]
    fn the_longest_wait_has_an_interval_too() {
        let wait = Wait {
            likely: LONGEST_MS,
            fast: 0,
            slow: LONGEST_MS,
            over: 0,
        };
        let (low, high) = curve([3, 3, 3]).interval(wait, u64::MAX, NOW);
        assert!(low < LONGEST_MS && high > LONGEST_MS);
    }
}
