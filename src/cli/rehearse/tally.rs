//! The results of all virtual visitors, as they saw them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::charts::{Histogram, Spread};

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
    /// The room took no visitor: closed, or sold out.
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

/// The visits, in order of arrival, and the requests sent for them.
#[derive(Debug)]
pub struct Seen {
    pub visits: Vec<Visit>,
    pub requests: u64,
    /// By kind.
    pub errors: BTreeMap<String, u64>,
    /// Requests that the shop would have seen, and ends of sessions: when, in milliseconds, and whose.
    pub uses: Vec<(u64, usize, Use)>,
    /// Pages that said that no slot was free, and the longest time from a request inside to its answer.
    pub parked: u64,
    pub longest: Duration,
}

/// How a visitor uses the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    Ends,
    Asks,
}

#[derive(Debug)]
pub struct Tally(Mutex<Seen>);

impl Tally {
    pub fn new(visitors: usize) -> Self {
        let visit = Visit {
            fate: Fate::Ahead,
            joined: None,
            called: None,
            inside: None,
            again: 0,
        };
        Self(Mutex::new(Seen {
            visits: vec![visit; visitors],
            requests: 0,
            errors: BTreeMap::new(),
            uses: Vec::new(),
            parked: 0,
            longest: Duration::ZERO,
        }))
    }

    /// A visitor has come to be this, so long after the beginning. The first time counts.
    pub fn is(&self, at: usize, fate: Fate, since: Duration) {
        let ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let visit = &mut self.seen().visits[at];
        visit.fate = fate;
        if matches!(fate, Fate::Waiting | Fate::Inside) {
            visit.joined.get_or_insert(ms);
        }
        if matches!(fate, Fate::Called | Fate::Inside) {
            visit.called.get_or_insert(ms);
        }
        if fate == Fate::Inside {
            visit.inside.get_or_insert(ms);
        }
    }

    /// A visitor's place is gone, and it takes a new one.
    pub fn again(&self, at: usize) {
        self.seen().visits[at].again += 1;
    }

    /// A request of a visitor inside was answered as the shop's, or one that ends the session is sent, so long after the beginning.
    pub fn uses(&self, at: usize, how: Use, since: Duration) {
        let ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        self.seen().uses.push((ms, at, how));
    }

    /// That took so long; `had_none`: a page said meanwhile that no slot was free.
    pub fn returned(&self, waited: Duration, had_none: bool) {
        let mut seen = self.seen();
        seen.parked += u64::from(had_none);
        seen.longest = seen.longest.max(waited);
    }

    pub fn sent(&self) {
        self.seen().requests += 1;
    }

    /// An error of a few kinds.
    pub fn error(&self, kind: &str) {
        *self.seen().errors.entry(kind.to_owned()).or_default() += 1;
    }

    /// The results so far, which do not change while this is held.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    pub fn fates(&self) -> BTreeMap<Fate, u64> {
        let mut fates = BTreeMap::new();
        for visit in &self.visits {
            *fates.entry(visit.fate).or_default() += 1;
        }
        fates
    }

    /// The most visitors who, at one moment, had sent a request within the last `idle_ms`, and had not ended the session since.
    pub fn most_active(&self, idle_ms: u64) -> usize {
        let mut uses = self.uses.clone();
        // In the same millisecond in the order in which they came.
        uses.sort_by_key(|(ms, ..)| *ms);
        let (mut last, mut first, mut most) = (BTreeMap::new(), 0, 0);
        for (ms, at, how) in &uses {
            while uses[first].0 + idle_ms <= *ms {
                let (gone, whose, _) = uses[first];
                if last.get(&whose) == Some(&gone) {
                    last.remove(&whose);
                }
                first += 1;
            }
            match how {
                Use::Ends => last.remove(at),
                Use::Asks => last.insert(*at, *ms),
            };
            most = most.max(last.len());
        }
        most
    }

    /// From joining until one of the times after it.
    pub fn waits(&self, until: fn(&Visit) -> Option<u64>) -> Spread {
        let mut waits = Histogram::default();
        for visit in &self.visits {
            if let (Some(joined), Some(until)) = (visit.joined, until(visit)) {
                waits.add(until.saturating_sub(joined));
            }
        }
        waits.spread()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_is_active_for_a_while_after_each_request() {
        let tally = Tally::new(3);
        for (ms, at) in [(0, 0), (4, 1), (8, 0), (13, 2), (17, 1), (40, 0)] {
            tally.uses(at, Use::Asks, Duration::from_millis(ms));
        }
        let most = |idle_ms| tally.seen().most_active(idle_ms);
        assert_eq!((most(10), most(9), most(1), most(5)), (3, 2, 1, 2));
        tally.uses(0, Use::Ends, Duration::from_millis(12));
        assert_eq!(
            tally.seen().most_active(10),
            2,
            "the session is over before the third comes"
        );
        let tally = Tally::new(2);
        for (at, how) in [(0, Use::Asks), (0, Use::Ends), (1, Use::Asks)] {
            tally.uses(at, how, Duration::from_millis(7));
        }
        assert_eq!(tally.seen().most_active(10), 1, "in the same millisecond");
    }

    #[test]
    fn the_first_time_counts() {
        let tally = Tally::new(2);
        let at = Duration::from_secs;
        tally.is(0, Fate::Waiting, at(1));
        tally.is(0, Fate::Called, at(5));
        tally.is(0, Fate::Waiting, at(6));
        tally.is(0, Fate::Inside, at(9));
        tally.is(1, Fate::Inside, at(2));
        let seen = tally.seen();
        let times = |visit: &Visit| (visit.joined, visit.called, visit.inside);
        assert_eq!(times(&seen.visits[0]), (Some(1_000), Some(5_000), Some(9_000)));
        assert_eq!(times(&seen.visits[1]), (Some(2_000), Some(2_000), Some(2_000)));
        assert_eq!(seen.fates(), BTreeMap::from([(Fate::Inside, 2)]));
        let waits = seen.waits(|visit| visit.inside);
        assert_eq!((waits.count, waits.max_secs), (2, 8.0));
    }
}
