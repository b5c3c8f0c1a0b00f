//! How many visitors a line has called lately.
//!
//! Calls are summed in steps of five seconds and looked at over five minutes, or over the last three steps with calls when those lie
//! further back.

use std::collections::VecDeque;

use crate::codec::codec;
use ropeline_ids::Clock;

const STEP_MS: u64 = 5_000;
const WINDOW_MS: u64 = 300_000;

/// Fewest steps kept, however old.
const KEPT: usize = 4;

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
    fn the_memory_of_calls_is_bounded() {
        let pulse = steady(100_000, 300);
        assert!(pulse.beats.len() <= 62, "{}", pulse.beats.len());
    }
}
