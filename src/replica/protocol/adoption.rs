//! Restores places that a new log lacks: batches made from a state that this gate had before, which go before all others.

use std::collections::VecDeque;
use std::mem::take;

use crate::replica::waiters::Waiters;
use crate::room::{Adopt, Batch, State};

#[derive(Default)]
pub(super) struct Adoption {
    /// Batches that restore places, and behind them the visitors' later actions.
    batches: VecDeque<(Batch, Waiters)>,
    /// The state that they are of, until all is read back: a log that begins anew meanwhile lacks the rest.
    lost: Option<State>,
}

impl Adoption {
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.batches.iter().map(|(batch, _)| batch)
    }

    pub fn next(&mut self) -> Option<(Batch, Waiters)> {
        self.batches.pop_front()
    }

    /// Queues a batch of visitors' actions behind the restored places, because the rooms must know these first.
    pub fn push(&mut self, batch: Batch, waiters: Waiters) {
        self.batches.push_back((batch, waiters));
    }

    /// Computes what this gate knows of earlier logs, the last of them as in `old`, that the log of `state` has lost.
    pub fn bring_back(&mut self, old: Option<State>, state: &State) {
        let elsewhere = |old: &State| old.position().epoch != state.position().epoch;
        // The new log may lack part of an earlier adoption.
        let lost = [self.lost.take(), old].into_iter().flatten().filter(elsewhere);
        let mut visitors = take(&mut self.batches);
        visitors.retain(|(batch, _)| batch.adopt.is_none());
        for lost in lost {
            let batches = lost.adoption(state);
            if !batches.is_empty() {
                tracing::warn!(
                    batches = batches.len(),
                    "bringing back what this gate knows and the log has lost"
                );
                self.batches
                    .extend(batches.into_iter().map(|batch| (batch, Waiters::default())));
                self.lost = Some(lost);
            }
        }
        // Visitors' later actions go behind it, however often the log is lost meanwhile.
        self.batches.extend(visitors);
    }

    /// Drops the parts that another gate has brought back to `state` meanwhile.
    pub fn drop_known(&mut self, state: &State) {
        while self.is_known(state) {
            self.batches.pop_front();
        }
    }

    /// All is read back.
    pub fn is_over(&mut self) {
        self.lost = None;
    }

    /// The rooms know the next part, and the adoption's last one, whose log changed the epochs before it too.
    fn is_known(&self, state: &State) -> bool {
        let known = |adopt: &Adopt| state.ended_at(adopt.epoch) >= Some(adopt.sequence);
        let mut adopts = self.batches.iter().map_while(|(batch, _)| batch.adopt).peekable();
        adopts.peek().is_some_and(known) && adopts.find(|adopt| adopt.done).is_none_or(|last| known(&last))
    }
}
