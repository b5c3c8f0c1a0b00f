//! The known addresses of requests that claim to be a crawler's, and which of them to look up next. Pure; `now` is an argument.
//!
//! Verified addresses are kept apart from all others, so that forged ones cannot push one out: only DNS lets an address in. A
//! verified address is looked up again before it expires, and before addresses that were never verified, and stays verified
//! meanwhile. The number of waiting addresses of one network is bounded.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::mem;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ipnet::IpNet;

use crate::limit::Prefixes;

/// The result for a request that names a crawler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verification {
    /// Not looked up yet, or DNS does not answer.
    Unknown,
    Verified,
    /// It is not that crawler's.
    Refuted,
}

/// An address and the crawler that its request names, by its place in the configuration.
pub type Key = (IpAddr, usize);

/// The result of a lookup, and how long it is valid by DNS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Verified(Duration),
    Refuted(Duration),
    /// No answer, or none that says anything.
    Failed,
}

/// The next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    LookUp(Key),
    /// Something, in so long.
    In(Duration),
    /// None until an address is asked about.
    Nothing,
}

/// The result of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// It was not necessary to ask, or is asked already.
    Known,
    Queued,
    /// There is no room in the queue.
    Dropped,
}

/// The addresses there are, and those to look up.
#[derive(Debug)]
pub struct Known {
    verified: HashMap<Key, Verified>,
    others: Halves,
    /// In a queue, or under way.
    asked: HashSet<Key>,
    /// Verified before.
    again: VecDeque<Key>,
    first: VecDeque<Key>,
    /// How many of each network are among those.
    crowd: HashMap<IpNet, usize>,
    /// No lookup begins before this.
    next_at: Duration,
    every: Duration,
    most: usize,
}

#[derive(Clone, Copy, Debug)]
struct Verified {
    again_at: Duration,
    until: Duration,
}

/// When the young half is full it becomes the old one, and the old one is forgotten.
#[derive(Debug, Default)]
struct Halves {
    young: HashMap<Key, Other>,
    old: HashMap<Key, Other>,
}

#[derive(Clone, Copy, Debug)]
struct Other {
    standing: Verification,
    until: Duration,
}

impl Known {
    /// Empty. At most `most` verified addresses will be kept, twice as many others, and `lookups_per_second` lookups begin
    /// each second.
    #[must_use]
    pub fn new(most: usize, lookups_per_second: u32) -> Self {
        Self {
            verified: HashMap::new(),
            others: Halves::default(),
            asked: HashSet::new(),
            again: VecDeque::new(),
            first: VecDeque::new(),
            crowd: HashMap::new(),
            next_at: Duration::ZERO,
            every: Duration::from_secs(1) / lookups_per_second.max(1),
            most: most.max(1),
        }
    }

    /// Takes over verified addresses from `others`, of crawlers that are configured here too.
    pub fn take_over(&mut self, others: &Self, place: impl Fn(usize) -> Option<usize>) {
        let kept = others
            .verified
            .iter()
            .filter_map(|((address, at), known)| Some(((*address, place(*at)?), *known)));
        self.verified.extend(kept.take(self.most));
    }

    /// How an address stands now, and whether it will be looked up.
    pub fn ask(&mut self, key: Key, now: Duration) -> (Verification, Asked) {
        if let Some(known) = self.verified.get(&key).copied() {
            let asked = if now < known.again_at {
                Asked::Known
            } else {
                self.queue(key, true)
            };
            let holds = now < known.until;
            return (
                if holds {
                    Verification::Verified
                } else {
                    Verification::Unknown
                },
                asked,
            );
        }
        match self.others.get(&key) {
            Some(other) if now < other.until => (other.standing, Asked::Known),
            _ => (Verification::Unknown, self.queue(key, false)),
        }
    }

    /// The next address to look up, if its time has come.
    pub fn next(&mut self, now: Duration) -> Next {
        if self.again.is_empty() && self.first.is_empty() {
            return Next::Nothing;
        }
        let wait = self.next_at.saturating_sub(now);
        if !wait.is_zero() {
            return Next::In(wait);
        }
        self.next_at = now + self.every;
        let key = self.again.pop_front().or_else(|| self.pop_first());
        key.map_or(Next::Nothing, Next::LookUp)
    }

    /// Takes the result of a lookup.
    pub fn learn(&mut self, key: Key, found: Found, now: Duration) {
        self.asked.remove(&key);
        match found {
            Found::Verified(ttl) => {
                let life = ttl.clamp(VERIFIED.0, VERIFIED.1);
                self.make_room(&key, now);
                self.others.forget(&key);
                let (again_at, until) = (now + life * 3 / 4, now + life);
                self.verified.insert(key, Verified { again_at, until });
            }
            Found::Refuted(ttl) => {
                self.verified.remove(&key);
                let until = now + ttl.clamp(REFUTED.0, REFUTED.1);
                let standing = Verification::Refuted;
                self.others.put(key, Other { standing, until }, self.most);
            }
            Found::Failed => self.fail(key, now),
        }
    }

    /// The number of verified addresses.
    #[must_use]
    pub fn verified(&self) -> usize {
        self.verified.len()
    }

    /// One that is verified stays so to the end of its time; one that was is nothing any more.
    fn fail(&mut self, key: Key, now: Duration) {
        let until = now + FAILED;
        match self.verified.get_mut(&key) {
            Some(known) if now < known.until => known.again_at = until,
            _ => {
                self.verified.remove(&key);
                let standing = Verification::Unknown;
                self.others.put(key, Other { standing, until }, self.most);
            }
        }
    }

    fn queue(&mut self, key: Key, again: bool) -> Asked {
        if self.asked.contains(&key) {
            return Asked::Known;
        }
        let queue = if again { &mut self.again } else { &mut self.first };
        if queue.len() >= QUEUE {
            return Asked::Dropped;
        }
        if !again {
            let neighbours = self.crowd.entry(network(key.0)).or_default();
            if *neighbours >= OF_A_NETWORK {
                return Asked::Dropped;
            }
            *neighbours += 1;
        }
        queue.push_back(key);
        self.asked.insert(key);
        Asked::Queued
    }

    fn pop_first(&mut self) -> Option<Key> {
        let key = self.first.pop_front()?;
        if let Entry::Occupied(mut neighbours) = self.crowd.entry(network(key.0)) {
            *neighbours.get_mut() -= 1;
            if *neighbours.get() == 0 {
                neighbours.remove();
            }
        }
        Some(key)
    }

    /// Forgets expired addresses, or the one that expires first. Walks all of them, which a full table does for each new
    /// address that DNS confirms to be a crawler's.
    fn make_room(&mut self, key: &Key, now: Duration) {
        if self.verified.len() < self.most || self.verified.contains_key(key) {
            return;
        }
        self.verified.retain(|_, known| now < known.until);
        if self.verified.len() < self.most {
            return;
        }
        let first = self.verified.iter().min_by_key(|(_, known)| known.until);
        if let Some(first) = first.map(|(key, _)| *key) {
            self.verified.remove(&first);
        }
    }
}

impl Halves {
    fn get(&self, key: &Key) -> Option<Other> {
        self.young.get(key).or_else(|| self.old.get(key)).copied()
    }

    fn put(&mut self, key: Key, other: Other, most: usize) {
        if self.young.len() >= most && !self.young.contains_key(&key) {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, other);
    }

    fn forget(&mut self, key: &Key) {
        self.young.remove(key);
        self.old.remove(key);
    }
}

fn network(address: IpAddr) -> IpNet {
    Prefixes { ipv4: 24, ipv6: 48 }.network(address)
}

/// How long a verified address holds at least and at most, with any answer of DNS: a crawler does not move within minutes.
const VERIFIED: (Duration, Duration) = (Duration::from_secs(600), Duration::from_secs(24 * 3_600));

/// And one that is none: a new crawler's name may come late.
const REFUTED: (Duration, Duration) = (Duration::from_secs(300), Duration::from_secs(3_600));

/// A lookup that failed is tried again after this.
const FAILED: Duration = Duration::from_secs(60);

/// Most addresses that wait to be looked up, of those verified before and of all others.
const QUEUE: usize = 256;

/// And most of one network (a /24, a /48) that never were verified.
const OF_A_NETWORK: usize = 8;

/// No code that may panic runs under it.
pub fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
