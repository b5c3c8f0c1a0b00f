//! The simulated upstream: response times and failures.
//!
//! It is the shop of `docs/reports/load-control-research.md`: a request waits for its answer before the visitor goes on, so a shop that is asked
//! for too much keeps people inside for longer.

use fastrand::Rng;
use serde::Serialize;

use super::observed::Observed;
use super::plan::Upstream;
use super::shop::{Cliff, Done, Shop};
use crate::charts::{Histogram, Spread};
use crate::room::Report;

pub(super) struct Serving {
    shop: Shop,
    rng: Rng,
    /// Levels still to come: when, and requests a second.
    moves: Vec<(u64, u32)>,
    over: Vec<Done>,
    observed: Observed,
    /// When the gate sends its next report; `None` in a room without load control.
    reports: Option<u64>,
    answered: u64,
    failed: u64,
    most: usize,
    times: Histogram,
}

/// The results of a shop with a limit.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Served {
    pub answered: u64,
    /// Took too long, or found too many there.
    pub failed: u64,
    pub most_in_flight: usize,
    /// Of the answered, in seconds.
    pub times: Spread,
}

impl Serving {
    /// `late_us`: the duration that a gate counts as late, in a room with load control.
    pub fn of(upstream: &Upstream, late_us: Option<u64>, seed: u64) -> Self {
        let mut moves = upstream.per_sec.clone();
        moves.reverse();
        let first = moves.pop().map_or(0, |(_, per_sec)| per_sec);
        let highest = upstream.per_sec.iter().map(|(_, per_sec)| *per_sec).max();
        let cliff = Cliff {
            workers_milli: workers(first),
            most: usize::try_from(workers(highest.unwrap_or(0)) / 50)
                .unwrap_or(usize::MAX)
                .max(2_000),
            ..Cliff::default()
        };
        Self {
            shop: Shop::new(cliff),
            rng: Rng::with_seed(seed ^ 0x5409),
            moves,
            over: Vec::new(),
            observed: Observed::of(late_us.unwrap_or(u64::MAX)),
            reports: late_us.map(|_| 0),
            answered: 0,
            failed: 0,
            most: 0,
            times: Histogram::default(),
        }
    }

    /// When something is over, the shop's level moves or a report is due, in milliseconds.
    pub fn next_ms(&self) -> Option<u64> {
        let moves = self.moves.last().map(|(at, _)| *at);
        let over = self.shop.next_us().map(|us| us.div_ceil(1_000));
        moves.into_iter().chain(over).chain(self.reports).min()
    }

    /// A visitor's request comes now, the time having been advanced to it.
    pub fn ask(&mut self, id: u32, now: u64) {
        let (from_us, work) = (now * 1_000, work_us(&mut self.rng));
        self.observed.sent();
        if !self.shop.arrive(u64::from(id), work) {
            self.over.push(Done {
                id: u64::from(id),
                from_us,
                at_us: from_us,
                answered: false,
            });
        }
        self.most = self.most.max(self.shop.in_flight());
    }

    /// Time passes: returns the visitors whose request is over, and whether it was answered.
    pub fn advance(&mut self, now: u64) -> Vec<(u32, bool)> {
        let mut over = std::mem::take(&mut self.over);
        while let Some((at, per_sec)) = self.moves.last().copied().filter(|(at, _)| *at <= now) {
            self.shop.advance(at * 1_000, &mut over);
            self.shop.move_to(workers(per_sec), &mut over);
            self.moves.pop();
        }
        self.shop.advance(now * 1_000, &mut over);
        over.iter().map(|done| self.note(done)).collect()
    }

    /// The gate's report, every two seconds, in a room with load control.
    pub fn report(&mut self, now: u64) -> Option<Report> {
        self.reports.filter(|at| *at <= now)?;
        self.reports = Some(now + REPORT_MS);
        Some(self.observed.take(&self.shop, now * 1_000))
    }

    fn note(&mut self, done: &Done) -> (u32, bool) {
        let took_us = done.at_us - done.from_us;
        self.observed.over(done);
        if done.answered {
            self.answered += 1;
            self.times.add(took_us / 1_000);
        } else {
            self.failed += 1;
        }
        (u32::try_from(done.id).unwrap_or(u32::MAX), done.answered)
    }

    pub fn served(&self) -> Served {
        Served {
            answered: self.answered,
            failed: self.failed,
            most_in_flight: self.most,
            times: self.times.spread(),
        }
    }
}

/// The workers for this many requests per second with the mean work.
fn workers(per_sec: u32) -> u64 {
    u64::from(per_sec) * MEAN_WORK_US / 1_000
}

/// Most requests are quick, a few take six times as long.
fn work_us(rng: &mut Rng) -> u64 {
    let w = MEAN_WORK_US;
    match rng.u32(0..100) {
        0..70 => rng.u64(w / 5..w),
        70..95 => rng.u64(w..2 * w),
        _ => rng.u64(2 * w..w * 62 / 10),
    }
}

/// Work of a mean request.
const MEAN_WORK_US: u64 = 100_000;

/// How often a gate reports.
const REPORT_MS: u64 = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// A request every `every_ms` for a minute, in a shop that takes sixty per second and then another number.
    fn run(every_ms: u64, then: (u64, u32)) -> Served {
        let upstream = Upstream {
            per_sec: vec![(0, 60), then],
        };
        let mut serving = Serving::of(&upstream, None, 1);
        for (id, now) in (0..).zip((0..60_000).step_by(usize::try_from(every_ms).unwrap())) {
            serving.advance(now);
            serving.ask(id, now);
        }
        serving.advance(90_000);
        serving.served()
    }

    #[test]
    fn a_shop_answers_what_it_can_take_and_fails_far_above() {
        let well = run(25, (60_000, 60));
        assert_eq!((well.answered, well.failed), (2_400, 0));
        assert!((0.05..0.15).contains(&well.times.p50_secs), "{well:?}");
        let over = run(8, (60_000, 60));
        assert!(over.failed > 1_000 && over.times.p99_secs > 3.0, "{over:?}");
    }

    #[test]
    fn a_shop_that_goes_down_fails_whoever_is_there_and_whoever_comes() {
        let down = run(25, (30_000, 0));
        assert!(
            (1_190..=1_200).contains(&down.answered) && down.answered + down.failed == 2_400,
            "{down:?}"
        );
    }
}
