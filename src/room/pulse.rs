//! How fast a line has been calling of late, and what that says about a wait.
//!
//! Calls are summed in steps of five seconds and looked at over five minutes, or over the last three steps with calls
//! when those lie further back. The interval is the rate give or take the square root of the calls it was measured from:
//! few calls, a wide interval; too few, none.

use std::collections::VecDeque;

use super::codec::{Read, Reader, Writer};
use super::ids::Clock;
use super::view::Estimate;

const STEP_MS: u64 = 5_000;
const WINDOW_MS: u64 = 300_000;

/// Fewest calls that an estimate is made from.
const FEWEST: u64 = 3;

/// Fewest steps kept, however old.
const KEPT: usize = 4;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Pulse {
    /// (the last call of a step, all calls up to then), rising in both. The first is what the others are counted from.
    beats: VecDeque<(Clock, u64)>,
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

    /// How long until `calls` more are made, at the pace of late; `None` when that cannot be said.
    pub fn estimate(&self, calls: u64, now: Clock) -> Option<Estimate> {
        let (first, last) = (self.beats.front()?, self.beats.back()?);
        let made = last.1.saturating_sub(first.1);
        if made < FEWEST {
            return None;
        }
        let calls_ms = calls.saturating_mul(now.max(last.0).since(first.0));
        let doubt = made.isqrt();
        Some(Estimate {
            low_secs: u32::try_from(calls_ms / (made + doubt) / 1_000).unwrap_or(u32::MAX),
            high_secs: u32::try_from((calls_ms / (made - doubt)).div_ceil(1_000)).unwrap_or(u32::MAX),
        })
    }

    pub fn write(&self, w: &mut Writer) {
        w.count(self.beats.len());
        for (at, total) in &self.beats {
            w.clock(*at);
            w.u64(*total);
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            beats: r.list(16, |r| Ok((r.clock()?, r.u64()?)))?.into(),
        })
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
    fn a_steady_pace_puts_the_true_wait_inside_the_interval() {
        for every_ms in [100, 1_000, 7_000, 60_000] {
            let pulse = steady(600, every_ms);
            let estimate = pulse.estimate(20, Clock(599 * every_ms)).unwrap();
            let wait = 20 * every_ms / 1_000;
            let (low, high) = (u64::from(estimate.low_secs), u64::from(estimate.high_secs));
            assert!(
                low <= wait && wait <= high && high <= wait * 2 + 2,
                "{every_ms}: {estimate:?}"
            );
        }
    }

    #[test]
    fn too_few_calls_say_nothing() {
        assert_eq!(Pulse::default().estimate(1, Clock(0)), None);
        assert_eq!(steady(1, 10_000).estimate(1, Clock(0)), None);
        assert_eq!(steady(3, 10_000).estimate(1, Clock(30_000)), None);
        assert!(steady(4, 10_000).estimate(1, Clock(30_000)).is_some());
    }

    #[test]
    fn a_pause_makes_the_estimate_longer() {
        let pulse = steady(50, 1_000);
        let soon = pulse.estimate(10, Clock(50_000)).unwrap();
        let later = pulse.estimate(10, Clock(500_000)).unwrap();
        assert!(later.low_secs > soon.high_secs);
    }

    #[test]
    fn the_memory_of_calls_is_bounded() {
        let pulse = steady(100_000, 300);
        assert!(pulse.beats.len() <= 62, "{}", pulse.beats.len());
    }
}
