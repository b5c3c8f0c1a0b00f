//! One shard: up to a fixed number of clients, and which of them has the most of its burst back.
//!
//! governor's whole state of a client is one time, its TAT (theoretical arrival time): the moment at which its burst is
//! whole again. The client to forget first is the one with the lowest, and if even that one is over its limit, all are.
//! TATs only grow, so a heap that is corrected only when its top is looked at gives the exact lowest, and a request of a
//! known client need not touch it.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};
use std::hash::RandomState;

use governor::nanos::Nanos;

use super::client::Who;

pub(super) struct Shard {
    /// The TAT of each, since the rule began.
    clients: HashMap<Who, Nanos, RandomState>,
    /// Every client once, by a TAT that it had at some time.
    by_tat: BinaryHeap<Listed>,
    most: usize,
}

/// A client by its TAT at some time.
type Listed = Reverse<(Nanos, Who)>;

impl Shard {
    /// Takes memory as clients come, for at most `most` of them.
    pub(super) fn new(most: usize, hasher: RandomState) -> Self {
        Self {
            clients: HashMap::with_hasher(hasher),
            by_tat: BinaryHeap::new(),
            most,
        }
    }

    pub(super) fn get_mut(&mut self, who: Who) -> Option<&mut Nanos> {
        self.clients.get_mut(&who)
    }

    pub(super) fn len(&self) -> usize {
        self.clients.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= self.most
    }

    /// `who` must be new here, and the shard not full.
    pub(super) fn insert(&mut self, who: Who, tat: Nanos) {
        debug_assert!(!self.is_full(), "room is made before a client is added");
        self.by_tat.push(Reverse((tat, who)));
        let before = self.clients.insert(who, tat);
        debug_assert!(before.is_none(), "a client is added once");
    }

    /// Forgets the client with the lowest TAT if `may` allows it; false if it does not, or if the shard is empty.
    pub(super) fn forget_lowest(&mut self, may: impl Fn(Nanos) -> bool) -> bool {
        self.with_lowest(|lowest, tat| {
            let forgets = may(tat);
            forgets.then(|| PeekMut::pop(lowest))
        })
        .flatten()
        .is_some_and(|Reverse((_, who))| self.clients.remove(&who).is_some())
    }

    /// The result of `ask` for the client with the lowest TAT; `None` if the shard is empty.
    pub(super) fn lowest<T>(&mut self, ask: impl FnOnce(Nanos) -> T) -> Option<T> {
        self.with_lowest(|_, tat| ask(tat))
    }

    fn with_lowest<T>(&mut self, ask: impl FnOnce(PeekMut<'_, Listed>, Nanos) -> T) -> Option<T> {
        loop {
            let mut lowest = self.by_tat.peek_mut()?;
            let Reverse((listed, who)) = *lowest;
            let tat = *self.clients.get(&who).expect("the heap lists the clients of the map");
            if listed == tat {
                return Some(ask(lowest, tat));
            }
            // Sinks to where it belongs when the borrow ends. Paid for by the request that raised the TAT.
            *lowest = Reverse((tat, who));
        }
    }

    /// Bytes that the tables hold, by their capacity.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.clients.capacity() * (size_of::<(Who, Nanos)>() + 1) * 8 / 7 + self.by_tat.capacity() * size_of::<Listed>()
    }
}
