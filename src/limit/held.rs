//! How many of a thing somebody has at once: connections, event streams.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What is held now, by whom; as large as there are holders, so whatever is held needs a bound in all besides.
#[derive(Debug)]
pub struct Held<K: Eq + Hash> {
    most: AtomicUsize,
    now: Mutex<HashMap<K, usize>>,
}

/// One thing held; given back when dropped.
#[derive(Debug)]
pub struct Hold<K: Eq + Hash> {
    held: Arc<Held<K>>,
    key: K,
}

impl<K: Eq + Hash + Clone> Held<K> {
    /// At most `most` for each key.
    #[must_use]
    pub fn new(most: usize) -> Arc<Self> {
        let (most, now) = (AtomicUsize::new(most), Mutex::default());
        Arc::new(Self { most, now })
    }

    /// At most `most` from now on; who holds more gives nothing back.
    pub fn allow(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// One more; `None` when `key` has as many as it may.
    #[must_use]
    pub fn take(self: &Arc<Self>, key: K) -> Option<Hold<K>> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let count = now.get(&key).copied().unwrap_or(0);
        if count >= self.most.load(Ordering::Relaxed) {
            return None;
        }
        now.insert(key.clone(), count + 1);
        let held = Arc::clone(self);
        Some(Hold { held, key })
    }
}

impl<K: Eq + Hash> Held<K> {
    /// How many hold something.
    #[must_use]
    pub fn holders(&self) -> usize {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl<K: Eq + Hash> Hold<K> {
    /// Who holds it.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.key
    }
}

impl<K: Eq + Hash> Drop for Hold<K> {
    fn drop(&mut self) {
        let mut now = self.held.now.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = now.get_mut(&self.key) else { return };
        *count -= 1;
        if *count == 0 {
            now.remove(&self.key);
        }
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
