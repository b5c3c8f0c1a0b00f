//! Visitors who want a number in one line, in order of arrival.
//!
//! Every visitor comes with a pending id. The id stands in the log only when the visitor already knows it, that is when a
//! join is repeated. An entry numbers its `joins` before its `pending_joins`, and these before its `tagged`. A new visitor
//! behind a repeated join therefore goes with a later batch, and all visitors behind one with an account go with that
//! visitor, one by one. As a result visitors who waited through an outage stand before those who come as it ends, each at
//! their first arrival.

use std::collections::{BTreeMap, BTreeSet};

use super::sizes::{ITEM_BYTES, Space, TAG_BYTES};
use crate::replica::inbox::{Arrival, Joiner};
use crate::replica::waiters::{At, Newcomer, Waiters};
use crate::room::{LaneId, PendingId, Section, Tag, Tagged};

#[derive(Default)]
pub(super) struct Joiners {
    waiting: BTreeMap<At, Waiting>,
    /// Of these, repeated joins without an account, and joins with an account.
    again: BTreeSet<At>,
    tagged: BTreeSet<At>,
    /// When each of them came.
    came: BTreeMap<Key, At>,
}

struct Waiting {
    key: Key,
    again: bool,
    tags: Vec<Tag>,
    joiners: Vec<Joiner>,
}

type Key = (LaneId, PendingId);

impl Joiners {
    pub fn is_empty(&self) -> bool {
        self.came.is_empty()
    }

    /// An id that is already queued keeps its place in the order.
    pub fn join(&mut self, at: At, lane: LaneId, arrival: Arrival, joiner: Joiner) {
        let key = (lane, arrival.id);
        let at = *self.came.entry(key).or_insert(at);
        let waiting = self.waiting.entry(at).or_insert_with(|| Waiting {
            key,
            again: false,
            tags: Vec::new(),
            joiners: Vec::new(),
        });
        waiting.again |= arrival.again;
        if !arrival.tags.is_empty() {
            waiting.tags = arrival.tags;
        }
        match (waiting.tags.is_empty(), waiting.again) {
            (false, _) => {
                self.again.remove(&at);
                self.tagged.insert(at);
            }
            (true, true) => _ = self.again.insert(at),
            (true, false) => {}
        }
        // A visitor who keeps reloading is one visitor: only attempts whose request still waits are kept.
        waiting.joiners.retain(|waits| !waits.is_idle());
        if joiner.leaves {
            waiting.joiners.retain(|waits| !waits.answer.is_closed());
        }
        waiting.joiners.push(joiner);
    }

    /// Cuts the new joins that have no repeated join and no account before them. Joins whose request was given up are
    /// dropped: those visitors come again with their id.
    pub fn cut_new(&mut self, section: &mut Section, space: &mut Space, waiters: &mut Waiters) {
        let firsts = self.again.first().into_iter().chain(self.tagged.first());
        let end = firsts.min().copied();
        let mut lanes: BTreeMap<LaneId, Vec<Newcomer>> = BTreeMap::new();
        while let Some((at, next)) = self.waiting.first_key_value()
            && end.is_none_or(|end| *at < end)
            && let lane = next.key.0
            && (lanes.contains_key(&lane) || space.takes(ITEM_BYTES))
        {
            let (at, id) = (*at, next.key.1);
            let joiners = self.take(at).into_iter().flat_map(|waiting| waiting.joiners);
            let newcomers = joiners
                .filter(|joiner| !joiner.answer.is_closed())
                .map(|joiner| Newcomer {
                    id,
                    at,
                    joiner: Some(joiner),
                });
            lanes.entry(lane).or_default().extend(newcomers);
        }
        for (lane, newcomers) in lanes {
            if let Ok(count @ 1..) = u32::try_from(newcomers.len()) {
                section.joins.push((lane, count));
                waiters.joins.push(newcomers);
            }
        }
    }

    /// Of those numbered by one batch in one lane, takes those behind the first who stands here again.
    pub fn take_back(&mut self, lane: LaneId, newcomers: &mut [Newcomer]) {
        let stands = |newcomer: &Newcomer| self.came.contains_key(&(lane, newcomer.id));
        let first = newcomers.iter().position(stands).unwrap_or(newcomers.len());
        for newcomer in &mut newcomers[first..] {
            if let Some(joiner) = newcomer.joiner.take_if(|joiner| !joiner.answer.is_closed()) {
                self.join(newcomer.at, lane, Arrival::again(newcomer.id), joiner);
            }
        }
    }

    /// Cuts the repeated joins before the first one with an account, then the joins with accounts together with all joins
    /// before each. Must run after [`cut_new`](Self::cut_new), which needs these joins still in the queue.
    pub fn cut_again(&mut self, section: &mut Section, space: &mut Space, waiters: &mut Waiters) {
        let end = self.tagged.first().copied();
        while let Some(at) = self.again.first().copied().filter(|at| end.is_none_or(|end| *at < end))
            && space.takes(ITEM_BYTES)
        {
            let Some(waiting) = self.take(at) else { continue };
            section.pending_joins.push(waiting.key);
            waiters.pending.push(waiting.joiners);
        }
        self.cut_tagged(section, space, waiters);
    }

    fn cut_tagged(&mut self, section: &mut Section, space: &mut Space, waiters: &mut Waiters) {
        while !self.tagged.is_empty()
            && let Some((at, next)) = self.waiting.first_key_value()
            && space.takes(ITEM_BYTES + TAG_BYTES * next.tags.len())
        {
            let Some(mut waiting) = self.take(*at) else { continue };
            waiting.joiners.retain(|joiner| !joiner.is_idle());
            if waiting.joiners.is_empty() && !waiting.again {
                continue;
            }
            let new = !waiting.again && waiting.tags.is_empty();
            let (lane, id) = waiting.key;
            let id = waiting.again.then_some(id);
            section.tagged.push(Tagged {
                lane,
                tags: waiting.tags,
                id,
            });
            waiters.tagged.push((waiting.joiners, new));
        }
    }

    fn take(&mut self, at: At) -> Option<Waiting> {
        self.again.remove(&at);
        self.tagged.remove(&at);
        let waiting = self.waiting.remove(&at)?;
        self.came.remove(&waiting.key);
        Some(waiting)
    }
}
