//! A visitor's pauses between two requests.
//!
//! Each visitor has a generator of their own, so every way to give slots away meets the same visitors.

use fastrand::Rng;

use crate::simulate::hidden::log_normal;
use crate::simulate::people::around;
use crate::simulate::plan::{Crowd, ScriptedPauses};

/// The pauses of one visitor, log-normal: of a hundred, 8 are longer than four times the median.
#[derive(Clone, Debug)]
pub struct Pauses {
    rng: Rng,
    median_ms: u64,
}

impl Pauses {
    #[must_use]
    pub fn of(scripted: ScriptedPauses) -> Self {
        Self {
            rng: Rng::with_seed(scripted.seed),
            median_ms: scripted.median_ms.max(1),
        }
    }

    /// How many pauses a visit of this time has, up or down by chance.
    #[must_use]
    pub fn requests_in(&mut self, stay_ms: u64) -> u32 {
        let every_ms = mean_ms(self.median_ms);
        let pauses = stay_ms.saturating_add(self.rng.u64(0..every_ms)) / every_ms;
        u32::try_from(pauses).unwrap_or(u32::MAX)
    }

    /// How long the visitor now waits before the next request.
    pub fn next_ms(&mut self) -> u64 {
        log_normal(self.median_ms, &mut self.rng)
    }
}

/// A visit that is under way.
#[derive(Clone, Debug)]
pub(in crate::simulate) struct Visit {
    pauses: Pauses,
    /// When the next request is due. A deed of another time has been put off, or brought forward.
    pub due: u64,
    /// Pays on another host before the last request.
    pub pays: bool,
    /// Leaves a tab open that goes on asking.
    pub polls: bool,
    /// A request has no answer yet.
    pub is_under_way: bool,
    /// When the last answer came, and for how long the slot is kept after it whatever happens.
    pub answered: Option<u64>,
    pub kept_ms: u64,
}

impl Visit {
    /// Of the visitor `id` of the crowd of this seed.
    pub fn of(crowd: &Crowd, seed: u64, id: u32) -> Self {
        let mut rng = Rng::with_seed(seed.rotate_left(32) ^ (u64::from(id) + 1).wrapping_mul(SPREAD));
        let pays = rng.u16(0..1_000) < crowd.pay;
        let polls = rng.u16(0..1_000) < crowd.polling;
        Self {
            pays,
            polls,
            ..Self::with(ScriptedPauses {
                median_ms: crowd.pause_ms.unwrap_or(1),
                seed: rng.u64(..),
            })
        }
    }

    /// One who only looks around, with these pauses.
    pub fn with(pauses: ScriptedPauses) -> Self {
        Self {
            pauses: Pauses::of(pauses),
            due: 0,
            pays: false,
            polls: false,
            is_under_way: false,
            answered: None,
            kept_ms: 0,
        }
    }

    /// How many requests follow the first in a visit of about `mean_ms`, up or down by chance.
    pub fn requests(&mut self, mean_ms: u64) -> u32 {
        let stay_ms = around(mean_ms, &mut self.pauses.rng);
        self.requests_in(stay_ms).max(u32::from(self.pays))
    }

    /// The same in a visit of just this time.
    pub fn requests_in(&mut self, stay_ms: u64) -> u32 {
        self.pauses.requests_in(stay_ms)
    }

    /// The pause before the next request; `is_last` before the last one of the visit.
    pub fn pause_ms(&mut self, is_last: bool) -> u64 {
        if is_last && self.pays {
            return self.pauses.rng.u64(PAY_MS);
        }
        self.pauses.next_ms()
    }
}

/// The mean of log-normal times, by their median: its square root of e times.
#[must_use]
pub fn mean_ms(median_ms: u64) -> u64 {
    (median_ms.saturating_mul(16_487) / 10_000).max(1)
}

/// How long a payment on another host takes.
const PAY_MS: std::ops::RangeInclusive<u64> = 60_000..=300_000;

/// Spreads the seeds of visitors over all numbers.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    const CROWD: Crowd = Crowd {
        pause_ms: Some(15_000),
        pay: 100,
        polling: 200,
        ..Crowd::PATIENT
    };

    #[test]
    fn half_of_the_pauses_are_above_the_median_and_5_to_10_of_a_hundred_above_four_times_it() {
        let mut visits: Vec<Visit> = (0..4_000).map(|id| Visit::of(&CROWD, 1, id)).collect();
        let pauses: Vec<u64> = visits
            .iter_mut()
            .flat_map(|visit| [visit.pause_ms(false), visit.pause_ms(false), visit.pause_ms(false)])
            .collect();
        let above = |ms: u64| pauses.iter().filter(|pause| **pause > ms).count() * 1_000 / pauses.len();
        assert!((480..=520).contains(&above(15_000)), "{}", above(15_000));
        assert!((70..=100).contains(&above(60_000)), "{}", above(60_000));
        let mean = pauses.iter().sum::<u64>() / pauses.len() as u64;
        assert!(mean.abs_diff(mean_ms(15_000)) < 1_000, "{mean}");
    }

    #[test]
    fn shares_and_requests_are_those_of_the_crowd_and_a_payment_takes_one_to_five_minutes() {
        let mut visits: Vec<Visit> = (0..10_000).map(|id| Visit::of(&CROWD, 3, id)).collect();
        let share = |of: fn(&Visit) -> bool| visits.iter().filter(|visit| of(visit)).count() / 100;
        let shares = (share(|visit| visit.pays), share(|visit| visit.polls));
        assert!(
            (9..=11).contains(&shares.0) && (19..=21).contains(&shares.1),
            "{shares:?}"
        );
        let stays: u64 = visits.iter_mut().map(|visit| u64::from(visit.requests(120_000))).sum();
        let wanted = 10_000 * 120_000 / mean_ms(15_000);
        assert!(stays.abs_diff(wanted) < wanted / 20, "{stays} of {wanted}");
        let payments = visits.iter_mut().filter(|visit| visit.pays);
        let payments: Vec<u64> = payments.map(|visit| visit.pause_ms(true)).collect();
        assert!(payments.iter().all(|ms| PAY_MS.contains(ms)), "{payments:?}");
    }
}
