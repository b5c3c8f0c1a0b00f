//! How fast a line has been calling recently, and the estimate of a wait that follows.
//!
//! Calls are summed in steps of five seconds and looked at over five minutes, or over the last three steps with calls
//! when those lie further back. The interval is the rate give or take the square root of the calls it was measured from:
//! few calls, a wide interval; too few, none.

use std::collections::VecDeque;

use crate::codec::codec;
use ropeline_ids::Clock;

const STEP_MS: u64 = 5_000;
const WINDOW_MS: u64 = 300_000;

/// Further spans over which a line's pace is measured.
const LATELY_MS: [u64; 2] = [60_000, 120_000];

/// Fewest calls that an estimate is made from.
const FEWEST: u64 = 3;

/// Fewest steps kept, however old.
const KEPT: usize = 4;

/// Calls at once that may be a filling; fewer are a busy step.
const BURST: u64 = 8;

/// A number of calls in a span of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pace {
    pub made: u64,
    pub ms: u64,
}

impl Pace {
    /// How long this number of calls takes.
    pub fn of(self, calls: u64) -> u64 {
        calls.saturating_mul(self.ms) / self.made.max(1)
    }

    fn is_faster(self, than: Self) -> bool {
        u128::from(self.made) * u128::from(than.ms) > u128::from(than.made) * u128::from(self.ms)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pulse {
    /// (the last call of a step, all calls up to then), both rising. The others are counted from the first.
    beats: VecDeque<(Clock, u64)>,
}

codec! {
    struct Pulse { beats };
}

impl Pulse {
    /// Notes that the line has called `total` visitors so far, some of them at `now`.
    pub fn beat(&mut self, total: u64, now: Clock) {
        match self.beats.back_mut() {
            Some(last) if last.0.0 / STEP_MS == now.0 / STEP_MS => *last = (now, total),
            _ => self.beats.push_back((now, total)),
        }
        while self.beats.len() > KEPT && now.since(self.beats[1].0) > WINDOW_MS {
            self.beats.pop_front();
        }
    }

    /// All calls so far.
    pub fn total(&self) -> u64 {
        self.beats.back().map_or(0, |(_, total)| *total)
    }

    /// The calls of the last five minutes, to within a step: those of the step in which they began are counted whole.
    pub fn lately(&self, now: Clock) -> u64 {
        let is_older = |beat: &&(Clock, u64)| now.since(beat.0) >= WINDOW_MS;
        let before = self.beats.iter().rfind(is_older).map_or(0, |beat| beat.1);
        self.total().saturating_sub(before)
    }

    /// The recent pace of a line of `slots`; `None` when it is not known. After slots that became free were filled at once,
    /// calls count from that time on: the calls before say nothing about how fast slots become free, and the pace is unknown
    /// until half of these slots have become free again.
    pub fn pace(&self, slots: u64, now: Clock) -> Option<Pace> {
        let (from, filled) = self.since(slots);
        let (first, last) = (self.beats.get(from)?, self.beats.back()?);
        let made = last.1.saturating_sub(first.1);
        let enough = if filled { FEWEST.max(slots / 2) } else { FEWEST };
        (made >= enough).then(|| Pace {
            made,
            ms: now.max(last.0).since(first.0),
        })
    }

    /// The fastest and the slowest of three paces: the recent one, and those of the last minute and the last two; `None` if
    /// they are not known. For a line whose calls speed up and slow down all the time: the next calls are somewhere between.
    pub fn paces(&self, slots: u64, now: Clock) -> Option<(Pace, Pace)> {
        let all = self.pace(slots, now)?;
        let (from, _) = self.since(slots);
        let last = self.total();
        let within = |ms: u64| {
            let older = |beat: &&(Clock, u64)| now.since(beat.0) >= ms;
            let first = self.beats.iter().skip(from).rfind(older)?;
            let made = last.saturating_sub(first.1);
            (made >= FEWEST).then(|| Pace {
                made,
                ms: now.since(first.0),
            })
        };
        let paces = LATELY_MS.into_iter().filter_map(within);
        Some(paces.fold((all, all), |(fastest, slowest), pace| {
            (
                if pace.is_faster(fastest) { pace } else { fastest },
                if slowest.is_faster(pace) { pace } else { slowest },
            )
        }))
    }

    /// The beat to count from: the last that filled half of the slots within a step, or the first there is.
    fn since(&self, slots: u64) -> (usize, bool) {
        let many = (slots / 2).max(BURST);
        let steps = self.beats.iter().zip(self.beats.iter().skip(1));
        let burst = steps
            .map(|(before, beat)| beat.1 - before.1)
            .rposition(|calls| calls > many);
        match burst {
            Some(at) => (at + 1, true),
            // All calls there have been fill no more than the slots: the line's first.
            None => (
                0,
                self.beats
                    .front()
                    .is_some_and(|first| first.1 > many && first.1 <= slots),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(calls: u64, every_ms: u64) -> Pulse {
        let mut pulse = Pulse::default();
        for i in 0..calls {
            pulse.beat(i + 1, Clock(i * every_ms));
        }
        pulse
    }

    fn secs(pulse: &Pulse, calls: u64, now: u64) -> Option<u64> {
        pulse.pace(100, Clock(now)).map(|pace| pace.of(calls) / 1_000)
    }

    #[test]
    fn a_steady_pace_says_how_long_calls_take() {
        for every_ms in [100, 1_000, 7_000, 60_000] {
            let told = secs(&steady(600, every_ms), 20, 599 * every_ms).unwrap();
            let wait = 20 * every_ms / 1_000;
            assert!(told.abs_diff(wait) <= wait / 10 + 1, "{every_ms}: {told}");
        }
    }

    #[test]
    fn a_pace_that_changes_is_told_from_its_fastest_to_its_slowest() {
        let paces = |pulse: &Pulse, now| {
            let (fastest, slowest) = pulse.paces(100, Clock(now)).unwrap();
            (fastest.of(60) / 1_000, slowest.of(60) / 1_000)
        };
        let even = paces(&steady(300, 1_000), 299_000);
        assert!((58..=62).contains(&even.0) && (58..=62).contains(&even.1), "{even:?}");
        // A call a second for four minutes, and two in the last.
        let mut faster = steady(240, 1_000);
        (0..120).for_each(|i| faster.beat(240 + i, Clock(240_000 + i * 500)));
        let (fastest, slowest) = paces(&faster, 300_000);
        assert!(
            (30..=34).contains(&fastest) && (48..=52).contains(&slowest),
            "{fastest} {slowest}"
        );
        // A minute without calls says nothing about a fast line, and makes the others slower.
        let (fastest, slowest) = paces(&steady(240, 1_000), 300_000);
        assert!((70..=80).contains(&fastest) && slowest >= 110, "{fastest} {slowest}");
        assert_eq!(Pulse::default().paces(100, Clock(0)), None);
    }

    #[test]
    fn the_calls_of_the_last_five_minutes_are_counted_to_within_a_step() {
        assert_eq!(Pulse::default().lately(Clock(0)), 0);
        let mut pulse = steady(60, 1_000);
        assert_eq!(pulse.lately(Clock(60_000)), 60, "all that the line has called");
        // They count as one by one five minutes go by, and a step is counted whole.
        assert_eq!(pulse.lately(Clock(304_000)), 55);
        assert_eq!(pulse.lately(Clock(308_999)), 55);
        assert_eq!(pulse.lately(Clock(309_000)), 50);
        assert_eq!(pulse.lately(Clock(359_000)), 0);
        // A line that goes on for hours keeps no more than it needs for that.
        for i in 0..7_200 {
            pulse.beat(61 + i, Clock(400_000 + i * 1_000));
        }
        let lately = pulse.lately(Clock(400_000 + 7_199_000));
        assert!((300..=305).contains(&lately), "{lately}");
    }

    #[test]
    fn too_few_calls_say_nothing() {
        assert_eq!(secs(&Pulse::default(), 1, 0), None);
        assert_eq!(secs(&steady(1, 10_000), 1, 0), None);
        assert_eq!(secs(&steady(3, 10_000), 1, 30_000), None);
        assert!(secs(&steady(4, 10_000), 1, 30_000).is_some());
    }

    #[test]
    fn a_pause_makes_the_wait_longer() {
        let pulse = steady(50, 1_000);
        assert!(secs(&pulse, 10, 500_000).unwrap() > 2 * secs(&pulse, 10, 50_000).unwrap());
    }

    /// A hundred slots, filled at once after a minute of a call a second; then a call every two seconds.
    fn filled(calls: u64) -> Pulse {
        let mut pulse = steady(60, 1_000);
        pulse.beat(160, Clock(60_000));
        for i in 1..=calls {
            pulse.beat(160 + i, Clock(60_000 + i * 2_000));
        }
        pulse
    }

    #[test]
    fn filling_free_slots_at_once_is_no_pace_and_what_was_before_is_over() {
        let now = |calls: u64| Clock(60_000 + calls * 2_000);
        assert_eq!(filled(20).pace(100, now(20)), None, "a half has not come free again");
        let pace = filled(60).pace(100, now(60)).unwrap();
        // The calls of the filling's own step are not counted.
        assert_eq!((pace.made, pace.ms), (58, 116_000));
        assert_eq!(pace.of(30), 60_000);
        // Later the filling is forgotten.
        assert!(
            filled(300)
                .pace(100, now(300))
                .is_some_and(|pace| pace.of(30).abs_diff(60_000) < 2_000)
        );
    }

    #[test]
    fn the_memory_of_calls_is_bounded() {
        let pulse = steady(100_000, 300);
        assert!(pulse.beats.len() <= 62, "{}", pulse.beats.len());
    }
}
