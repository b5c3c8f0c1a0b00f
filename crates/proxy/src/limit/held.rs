//! How many items of a kind a client holds at once: connections, event streams.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of items held now, by holder. It grows with the number of holders, so the items need a bound in total.
#[derive(Debug)]
pub struct Held<K: Eq + Hash + Clone>(Mutex<Counts<K>>);

#[derive(Debug)]
struct Counts<K> {
    most: Most,
    in_all: usize,
    each: Each<K>,
}

/// The items of each holder. PERF: among a few holders a linear search is faster than a hash, twice for each item held.
#[derive(Debug)]
enum Each<K> {
    Few(Vec<(K, usize)>),
    Many(HashMap<K, usize>),
}

/// Most of a few.
const FEW: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Most {
    in_all: usize,
    each: usize,
}

/// One thing held; given back when dropped.
#[derive(Debug)]
pub struct Hold<K: Eq + Hash + Clone> {
    held: Arc<Held<K>>,
    key: K,
}

impl<K: Eq + Hash + Clone> Held<K> {
    /// At most `most` for each key.
    #[must_use]
    pub fn new(most: usize) -> Arc<Self> {
        Self::within(usize::MAX, most)
    }

    /// At most `in_all`, and `each` for each key.
    #[must_use]
    pub fn within(in_all: usize, each: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Counts {
            most: Most { in_all, each },
            in_all: 0,
            each: Each::Few(Vec::new()),
        })))
    }

    /// At most `most` for each key from now on; who holds more gives nothing back.
    pub fn allow(&self, most: usize) {
        self.counts().most.each = most;
    }

    /// As [`allow`](Self::allow), with the bound in all.
    pub fn allow_within(&self, in_all: usize, each: usize) {
        self.counts().most = Most { in_all, each };
    }

    /// One more; `None` when `key` has as many as it may, or all together have.
    #[must_use]
    pub fn take(self: &Arc<Self>, key: K) -> Option<Hold<K>> {
        self.take_as(key, None)
    }

    /// As [`take`](Self::take), for a key that may have `most` instead of the general bound.
    #[must_use]
    pub fn take_as(self: &Arc<Self>, key: K, most: Option<usize>) -> Option<Hold<K>> {
        let mut counts = self.counts();
        if counts.in_all >= counts.most.in_all {
            return None;
        }
        let most = most.unwrap_or(counts.most.each);
        let count = counts.each.count(&key);
        if *count >= most {
            // It was looked up, and holds nothing.
            counts.each.forget(&key);
            return None;
        }
        *count += 1;
        counts.in_all += 1;
        let held = Arc::clone(self);
        Some(Hold { held, key })
    }

    /// The total has reached its bound.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let counts = self.counts();
        counts.in_all >= counts.most.in_all
    }

    /// How many hold something.
    #[must_use]
    pub fn holders(&self) -> usize {
        match &self.counts().each {
            Each::Few(few) => few.len(),
            Each::Many(many) => many.len(),
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash + Clone> Each<K> {
    fn count(&mut self, key: &K) -> &mut usize {
        if let Self::Few(few) = self
            && few.len() >= FEW
            && few.iter().all(|(held, _)| held != key)
        {
            *self = Self::Many(mem::take(few).into_iter().collect());
        }
        match self {
            Self::Few(few) => {
                let at = few.iter().position(|(held, _)| held == key).unwrap_or_else(|| {
                    few.push((key.clone(), 0));
                    few.len() - 1
                });
                &mut few[at].1
            }
            Self::Many(many) => many.entry(key.clone()).or_insert(0),
        }
    }

    /// Forgets who holds nothing.
    fn forget(&mut self, key: &K) {
        match self {
            Self::Few(few) => few.retain(|(held, count)| held != key || *count > 0),
            Self::Many(many) => {
                if many.get(key) == Some(&0) {
                    many.remove(key);
                }
                if many.is_empty() {
                    *self = Self::Few(Vec::new());
                }
            }
        }
    }
}

impl<K: Eq + Hash + Clone> Hold<K> {
    /// The holder's key.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.key
    }
}

impl<K: Eq + Hash + Clone> Drop for Hold<K> {
    fn drop(&mut self) {
        let mut counts = self.held.counts();
        *counts.each.count(&self.key) -= 1;
        counts.each.forget(&self.key);
        counts.in_all -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_counts_under_another_bound() {
        let held = Held::new(2);
        let both = [held.take("a").unwrap(), held.take("a").unwrap()];
        held.allow(1);
        assert!(held.take("a").is_none());
        held.allow(3);
        let third = held.take("a").unwrap();
        assert!(held.take("a").is_none());
        held.allow(1);
        drop(both);
        assert!(held.take("a").is_none());
        drop(third);
        assert!(held.take("a").is_some());
    }

    #[test]
    fn many_holders_are_counted_as_a_few_are() {
        let held = Held::new(2);
        let first: Vec<_> = (0..100).map(|key| held.take(key).unwrap()).collect();
        let second: Vec<_> = (0..100).map(|key| held.take(key).unwrap()).collect();
        assert!((0..100).all(|key| held.take(key).is_none()) && held.holders() == 100);
        drop(first);
        assert_eq!(held.holders(), 100);
        drop(second);
        assert_eq!(held.holders(), 0);
        assert!(held.take(7).is_some() && held.holders() == 0);
    }

    #[test]
    fn all_together_have_a_bound_besides() {
        let held = Held::within(3, 2);
        let both = [held.take("a").unwrap(), held.take("a").unwrap()];
        let third = held.take("b").unwrap();
        assert!(held.take("c").is_none() && held.take("b").is_none());
        held.allow_within(4, 1);
        assert!(held.take("b").is_none());
        let fourth = held.take("c").unwrap();
        drop((both, third));
        assert!(held.take("c").is_none() && held.take("a").is_some());
        drop(fourth);
        assert!(held.take("c").is_some());
    }

    #[test]
    fn a_key_with_a_bound_of_its_own_has_that_many_within_the_bound_in_all() {
        let held = Held::within(3, 1);
        let both = [held.take_as("a", Some(2)).unwrap(), held.take_as("a", Some(2)).unwrap()];
        assert!(held.take_as("a", Some(2)).is_none() && held.take("a").is_none());
        let third = held.take("b").unwrap();
        assert!(held.take_as("c", Some(2)).is_none());
        drop((both, third));
        assert_eq!(held.holders(), 0);
    }

    #[test]
    fn everybody_has_so_many_and_no_more_until_one_is_given_back() {
        let held = Held::new(2);
        let first = held.take("a").unwrap();
        let second = held.take("a").unwrap();
        assert!(held.take("a").is_none());
        let other = held.take("b").unwrap();
        drop(first);
        let third = held.take("a").unwrap();
        assert!(held.take("a").is_none());
        drop((second, third, other));
        assert_eq!(held.holders(), 0, "who holds nothing is forgotten");
    }
}
