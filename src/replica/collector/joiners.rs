//! Who wants a number in one line, in order of arrival.
//!
//! Everybody comes with a pending id, which stands in the log only once it is known to the visitor: a join that comes again.
//! An entry numbers its `joins` before its `pending_joins`, so who is new and behind somebody who came again goes with a
//! later batch. So those who waited through an outage stand before those who come as it ends, each where they first came.

use std::collections::BTreeMap;

use super::{ITEM_BYTES, Room};
use crate::replica::inbox::{Arrival, Joiner};
use crate::replica::waiters::Waiters;
use crate::room::{LaneId, PendingId, Section};

#[derive(Default)]
pub(super) struct Joiners {
    /// By order of arrival, which is that of nobody else in the line.
    new: BTreeMap<u64, (Key, Joiner)>,
    again: BTreeMap<u64, (Key, Vec<Joiner>)>,
    /// When each of them came.
    came: BTreeMap<Key, u64>,
    arrivals: u64,
}

type Key = (LaneId, PendingId);

impl Joiners {
    pub fn is_empty(&self) -> bool {
        self.came.is_empty()
    }

    /// An id that is here already keeps its place in the order.
    pub fn join(&mut self, lane: LaneId, arrival: Arrival, joiner: Joiner) {
        let key = (lane, arrival.id);
        let at = *self.came.entry(key).or_insert(self.arrivals);
        self.arrivals += 1;
        if !arrival.again {
            self.new.insert(at, (key, joiner));
            return;
        }
        self.new.remove(&at);
        let (_, joiners) = self.again.entry(at).or_insert_with(|| (key, Vec::new()));
        // A visitor who keeps reloading is one visitor: only attempts that somebody still waits for are kept.
        joiners.retain(|joiner| !joiner.answer.is_closed());
        joiners.push(joiner);
    }

    /// Those who are new and behind nobody who came again. Who gave up is let go: they come again with their id.
    pub fn cut_new(&mut self, section: &mut Section, room: &mut Room, waiters: &mut Waiters) {
        let first_again = self.again.first_key_value().map_or(u64::MAX, |(at, _)| *at);
        let mut lanes: BTreeMap<LaneId, Vec<Joiner>> = BTreeMap::new();
        while let Some(next) = self.new.first_entry()
            && *next.key() < first_again
            && let lane = next.get().0.0
            && (lanes.contains_key(&lane) || room.takes(ITEM_BYTES))
        {
            let (key, joiner) = next.remove();
            self.came.remove(&key);
            lanes.entry(lane).or_default().push(joiner);
        }
        for (lane, mut joiners) in lanes {
            joiners.retain(|joiner| !joiner.answer.is_closed());
            if let Ok(count @ 1..) = u32::try_from(joiners.len()) {
                section.joins.push((lane, count));
                waiters.joins.push(joiners);
            }
        }
    }

    /// Those who came again. It comes after [`cut_new`](Self::cut_new), for which they are still in front.
    pub fn cut_again(&mut self, section: &mut Section, room: &mut Room, waiters: &mut Waiters) {
        while let Some(next) = self.again.first_entry()
            && room.takes(ITEM_BYTES)
        {
            let (key, joiners) = next.remove();
            self.came.remove(&key);
            section.pending_joins.push(key);
            waiters.pending.push(joiners);
        }
    }
}
