//! Operators' commands on a room: kept for the admin API, and carried out with the entry under way.

use std::sync::Arc;

use crate::codec::codec;
use crate::entry::commands::{CallOrder, Deed, Order, Orders, Who};
use crate::entry::eviction::Eviction;
use ropeline_ids::{LineName, Wall};

#[derive(Debug, Default)]
pub(super) struct Commands {
    /// Recent commands.
    done: Arc<Orders>,
    /// Visitors whom operators remove with the entry under way.
    evictions: Vec<Eviction>,
    /// Visitors whom they admit with it: calls with their revisions.
    calls: Vec<(u64, CallOrder)>,
}

codec! {
    struct Commands { done } derived { evictions, calls };
}

impl Commands {
    pub fn done(&self) -> &Arc<Orders> {
        &self.done
    }

    /// Takes note of a change; one of the oldest is forgotten for it.
    pub fn note(&mut self, revision: u64, (who, deed): (Option<Who>, Deed), at: Wall) {
        let who = who.map(|who| who.bounded());
        Arc::make_mut(&mut self.done).note(Order {
            at,
            revision,
            who,
            deed,
        });
    }

    pub fn evict(&mut self, eviction: &Eviction) {
        self.evictions.push(eviction.clone());
    }

    pub fn take_evictions(&mut self) -> Vec<Eviction> {
        std::mem::take(&mut self.evictions)
    }

    pub fn call(&mut self, revision: u64, order: &CallOrder) {
        self.calls.push((revision, order.clone()));
    }

    /// The calls from a line, which it makes now.
    pub fn take_calls(&mut self, line: &LineName) -> Vec<(u64, CallOrder)> {
        // PERF: operators hardly ever call.
        if self.calls.is_empty() {
            return Vec::new();
        }
        let (of_line, others) = std::mem::take(&mut self.calls)
            .into_iter()
            .partition(|(_, order)| order.line == *line);
        self.calls = others;
        of_line
    }

    /// Records how many visitors each call has called.
    pub fn answer(&mut self, answered: &[(u64, u32)]) {
        for (revision, called) in answered {
            Arc::make_mut(&mut self.done).called(*revision, *called);
        }
    }
}
