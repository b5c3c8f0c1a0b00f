//! The results of all virtual visitors, as they saw them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

/// Where a visitor is, or how it ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Has not come yet.
    Ahead,
    /// Has come, and has no place: early, or the gate cannot give one yet.
    Trying,
    Waiting,
    Called,
    Inside,
    /// Was inside until the end of the visit.
    Ended,
    /// Gave up in line.
    Left,
    /// Was called and did not come.
    NoShow,
    /// The session was over sooner than the visit.
    Lost,
    /// The room took no visitor: closed, early, or sold out.
    Refused,
}

/// One visitor's times, in milliseconds since the rehearsal began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Visit {
    pub fate: Fate,
    pub joined: Option<u64>,
    /// When the visitor first heard of the call, and when it was inside.
    pub called: Option<u64>,
    pub inside: Option<u64>,
    /// How often the place was gone and a new one was taken, behind all others.
    pub again: u32,
}

/// The visits and the requests sent for them.
#[derive(Debug)]
pub struct Tally {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    visits: Vec<Visit>,
    requests: u64,
    errors: BTreeMap<String, u64>,
}

/// A look at a tally.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Look {
    pub fates: BTreeMap<Fate, u64>,
    /// How many have heard of their call.
    pub called: u64,
    pub requests: u64,
    pub errors: BTreeMap<String, u64>,
}

/// Waits by percentile, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Waits {
    pub count: usize,
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Tally {
    pub fn new(visitors: u32) -> Self {
        let visit = Visit {
            fate: Fate::Ahead,
            joined: None,
            called: None,
            inside: None,
            again: 0,
        };
        let visits = (0..visitors).map(|_| visit).collect();
        Self {
            inner: Mutex::new(Inner {
                visits,
                ..Inner::default()
            }),
        }
    }

    /// A visitor has come to be this, so long after the beginning. The first time counts.
    pub fn is(&self, at: usize, fate: Fate, since: Duration) {
        let ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        if let Some(visit) = self.lock().visits.get_mut(at) {
            visit.fate = fate;
            match fate {
                Fate::Waiting => _ = visit.joined.get_or_insert(ms),
                Fate::Called => _ = visit.called.get_or_insert(ms),
                Fate::Inside => {
                    visit.joined.get_or_insert(ms);
                    visit.called.get_or_insert(ms);
                    visit.inside.get_or_insert(ms);
                }
                _ => {}
            }
        }
    }

    /// A visitor's place is gone, and it takes a new one.
    pub fn again(&self, at: usize) {
        if let Some(visit) = self.lock().visits.get_mut(at) {
            visit.again = visit.again.saturating_add(1);
        }
    }

    pub fn sent(&self) {
        self.lock().requests += 1;
    }

    /// Of few kinds.
    pub fn error(&self, word: &str) {
        let mut inner = self.lock();
        if inner.errors.len() < KINDS || inner.errors.contains_key(word) {
            *inner.errors.entry(word.to_owned()).or_default() += 1;
        }
    }

    pub fn look(&self) -> Look {
        let inner = self.lock();
        let mut look = Look {
            requests: inner.requests,
            errors: inner.errors.clone(),
            ..Look::default()
        };
        for visit in &inner.visits {
            *look.fates.entry(visit.fate).or_default() += 1;
            look.called += u64::from(visit.called.is_some());
        }
        look
    }

    pub fn visits(&self) -> Vec<Visit> {
        self.lock().visits.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Look {
    pub fn of(&self, fate: Fate) -> u64 {
        self.fates.get(&fate).copied().unwrap_or(0)
    }

    pub fn errors(&self) -> u64 {
        self.errors.values().sum()
    }
}

impl Waits {
    /// Of waits in milliseconds; a percentile is one that was measured, by the nearest rank.
    pub fn of(mut waits: Vec<u64>) -> Self {
        waits.sort_unstable();
        let Some(max) = waits.last().copied() else {
            return Self::default();
        };
        let rank = |percent: usize| {
            let at = (waits.len() * percent).div_ceil(100).saturating_sub(1);
            secs(waits.get(at).copied().unwrap_or(max))
        };
        let sum: u64 = waits.iter().sum();
        Self {
            count: waits.len(),
            mean: secs(sum) / float(waits.len()),
            p50: rank(50),
            p90: rank(90),
            p95: rank(95),
            p99: rank(99),
            max: secs(max),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds of a day at most, of visitors that fit in memory"
)]
fn secs(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

#[expect(clippy::cast_precision_loss, reason = "visitors that fit in memory")]
fn float(count: usize) -> f64 {
    count as f64
}

/// Most kinds of errors that are distinguished.
const KINDS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_waits_that_were_measured() {
        let waits = Waits::of((1..=100).map(|i| i * 1_000).rev().collect());
        assert_eq!((waits.count, waits.p50, waits.p90, waits.p99), (100, 50.0, 90.0, 99.0));
        assert!((waits.mean - 50.5).abs() < 1e-9 && (waits.max - 100.0).abs() < 1e-9);
        assert!((Waits::of(vec![7_000]).p50 - 7.0).abs() < 1e-9);
        assert_eq!(Waits::of(Vec::new()), Waits::default());
    }

    #[test]
    fn what_was_first_counts() {
        let tally = Tally::new(2);
        let at = Duration::from_secs;
        tally.is(0, Fate::Waiting, at(1));
        tally.is(0, Fate::Called, at(5));
        tally.is(0, Fate::Waiting, at(6));
        tally.is(0, Fate::Inside, at(9));
        tally.is(1, Fate::Inside, at(2));
        let visits = tally.visits();
        let times = |visit: &Visit| (visit.joined, visit.called, visit.inside);
        assert_eq!(times(&visits[0]), (Some(1_000), Some(5_000), Some(9_000)));
        assert_eq!(times(&visits[1]), (Some(2_000), Some(2_000), Some(2_000)));
        let look = tally.look();
        assert_eq!((look.of(Fate::Inside), look.of(Fate::Waiting), look.called), (2, 0, 2));
    }
}
