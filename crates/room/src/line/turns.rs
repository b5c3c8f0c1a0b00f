//! The order of turns between a line's lanes: deficit round robin, where a call costs one.
//!
//! A lane in turn calls as many visitors as its weight and passes the turn on. A lane without waiting visitors passes at once
//! and saves nothing up. Weights are first divided by their greatest common divisor, so that 300 to 100 alternates as finely
//! as 3 to 1.

use crate::codec::codec;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turns {
    lane: u8,
    credit: u16,
}

codec! {
    struct Turns { lane, credit };
}

impl Turns {
    /// The lane that calls next, among those with waiting visitors. `None` when no visitor waits in any lane: then the turn
    /// stays.
    pub fn next(&mut self, weights: &[u16], waits: impl Fn(usize) -> bool) -> Option<usize> {
        let common = common(weights);
        let mut turn = *self;
        for _ in 0..=weights.len() {
            let lane = usize::from(turn.lane);
            if turn.credit > 0 && lane < weights.len() && waits(lane) {
                turn.credit -= 1;
                *self = turn;
                return Some(lane);
            }
            let next = if lane + 1 < weights.len() { turn.lane + 1 } else { 0 };
            let weight = weights.get(usize::from(next)).copied()?;
            turn = Self {
                lane: next,
                credit: (weight / common).max(1),
            };
        }
        None
    }
}

/// Before the first call: lane 0 comes next.
impl Default for Turns {
    fn default() -> Self {
        Self {
            lane: u8::MAX,
            credit: 0,
        }
    }
}

/// The common divisor of all weights.
pub(crate) fn common(weights: &[u16]) -> u16 {
    let common = weights.iter().map(|weight| u64::from(*weight)).fold(0, gcd);
    u16::try_from(common).unwrap_or(1).max(1)
}

/// The greatest common divisor.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(weights: &[u16], calls: usize, waits: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut turns = Turns::default();
        (0..calls).map_while(|_| turns.next(weights, &waits)).collect()
    }

    #[test]
    fn any_four_hundred_calls_of_three_to_one_give_three_hundred_to_one_hundred() {
        for weights in [[3, 1], [300, 100]] {
            let order = order(&weights, 2_000, |_| true);
            for window in order.windows(400) {
                let second = window.iter().filter(|lane| **lane == 1).count();
                assert!((99..=101).contains(&second), "{weights:?} {second}");
            }
        }
    }

    #[test]
    fn a_lane_without_visitors_passes_and_a_lone_one_always_calls() {
        assert_eq!(order(&[3, 1, 2], 4, |lane| lane == 1), [1, 1, 1, 1]);
        assert_eq!(order(&[1], 3, |_| true), [0, 0, 0]);
        assert!(order(&[1, 1], 3, |_| false).is_empty());
        assert!(order(&[], 3, |_| true).is_empty());
    }

    #[test]
    fn every_lane_gets_its_turn_whatever_the_weights() {
        let order = order(&[u16::MAX, 1, 0], 70_000, |_| true);
        assert!(order.contains(&1) && order.contains(&2));
    }

    #[test]
    fn looking_for_visitors_in_vain_changes_nothing() {
        let mut turns = Turns::default();
        assert_eq!(turns.next(&[2, 1], |_| true), Some(0));
        let before = turns;
        assert_eq!(turns.next(&[2, 1], |_| false), None);
        assert_eq!(turns, before);
    }

    #[test]
    fn a_turn_of_a_lane_that_is_gone_passes() {
        let mut turns = Turns { lane: 7, credit: 5 };
        assert_eq!(turns.next(&[1, 1], |_| true), Some(0));
    }
}
