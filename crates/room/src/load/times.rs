//! How long requests took, counted in steps of half a power of two from 1 ms on.
//!
//! Counts add up, so those of several gates are one count of all their requests: a percentile of the sum is that of the
//! whole upstream, which no mean of percentiles is.

use std::collections::BTreeMap;

use crate::codec::{Codec, Read, Reader, Writer};

/// Steps: the last one ends at 46 s, and also holds everything longer.
pub const STEPS: usize = 32;

/// The weight of a new request; that of older ones is less.
pub(super) const WEIGHT: u32 = 64;

/// Requests by how long they took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times([u32; STEPS]);

impl Times {
    /// The counts of all steps; see [`Times::step`].
    #[must_use]
    pub fn of(counts: [u32; STEPS]) -> Self {
        Self(counts)
    }

    /// The step of a duration in microseconds.
    #[must_use]
    pub fn step(took_us: u64) -> usize {
        (0..STEPS - 1)
            .find(|step| took_us <= bound_us(*step))
            .unwrap_or(STEPS - 1)
    }

    pub fn note(&mut self, took_us: u64) {
        let count = &mut self.0[Self::step(took_us)];
        *count = count.saturating_add(1);
    }

    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }

    /// Adds new counts with full weight, large enough to be halved several times.
    pub(crate) fn weigh_in(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more.saturating_mul(WEIGHT));
        }
    }

    /// Halves the weight of all counts so far.
    pub(crate) fn halve(&mut self) {
        self.0.iter_mut().for_each(|count| *count /= 2);
    }

    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|count| u64::from(*count)).sum()
    }

    /// 95 of 100 took at most so long; `None` without any.
    #[must_use]
    pub fn p95_us(&self) -> Option<u64> {
        self.percentile_us(95)
    }

    #[must_use]
    pub fn median_us(&self) -> Option<u64> {
        self.percentile_us(50)
    }

    /// Read off evenly within a step.
    fn percentile_us(&self, percent: u64) -> Option<u64> {
        let mut rank = (self.total() * percent).div_ceil(100).max(1);
        for (step, count) in (0..).zip(self.0) {
            let count = u64::from(count);
            if count >= rank {
                let from_us = if step == 0 { 0 } else { bound_us(step - 1) };
                return Some(from_us + (bound_us(step) - from_us) * rank / count);
            }
            rank -= count;
        }
        None
    }
}

/// Only steps that hold something, since most are empty.
impl Codec for Times {
    fn write(&self, w: &mut Writer) {
        let held = (0..).zip(self.0).filter(|(_, count)| *count > 0);
        w.put::<BTreeMap<u8, u32>>(&held.collect());
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut times = Self::default();
        for (step, count) in r.get::<BTreeMap<u8, u32>>()? {
            match times.0.get_mut(usize::from(step)) {
                Some(held) if count > 0 => *held = count,
                _ => return r.wrong(),
            }
        }
        Ok(times)
    }
}

/// Where a step ends.
const fn bound_us(step: usize) -> u64 {
    let whole = 1_000_u64 << (step / 2);
    if step.is_multiple_of(2) {
        whole
    } else {
        whole * 1_414 / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_95th_of_a_hundred_is_found_to_within_its_step() {
        let mut times = Times::default();
        for took_ms in 1..=100_u64 {
            times.note(took_ms * 1_000);
        }
        let p95_us = times.p95_us().unwrap();
        assert!((90_510..=128_000).contains(&p95_us), "{p95_us}");
        assert_eq!(Times::default().p95_us(), None);
    }

    #[test]
    fn counts_of_two_gates_are_those_of_one_that_saw_it_all() {
        let (mut one, mut other, mut both) = (Times::default(), Times::default(), Times::default());
        for took_us in (0..2_000_u64).map(|i| i * i * 17) {
            if took_us % 3 == 0 { &mut one } else { &mut other }.note(took_us);
            both.note(took_us);
        }
        one.add(&other);
        assert_eq!(one, both);
    }

    #[test]
    fn what_takes_for_ever_is_in_the_last_step() {
        assert_eq!(Times::step(u64::MAX), STEPS - 1);
        assert_eq!((Times::step(0), Times::step(1_000), Times::step(1_001)), (0, 0, 1));
    }
}
