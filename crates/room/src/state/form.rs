//! The form of a state, for tests that look at every state a small room can reach: equal for states that behave alike, however
//! and whenever each was reached.
//!
//! It is the state's bytes with times written against the present clock, and without what only counts or is only shown: the
//! chain, the position, gates' serials, checkpoints, totals, the pace of calls, and dates for people. It holds for rooms without
//! rate, schedule, stock or load control, with one lane, and in a world where no gate votes on a checkpoint.

use std::sync::Arc;

use crate::codec::Writer;
use crate::state::State;
use ropeline_ids::Clock;

impl State {
    /// The same state without what only counts, or is only shown.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.roster.forget_serials();
        Arc::make_mut(&mut self.context.past).forget_ends();
        let now = self.context.clock;
        self.rooms.all_mut().for_each(|room| room.forget_totals(now));
        self.published = None;
        self
    }

    /// The form of a [plain](Self::plain) state. A time further back than `memory_ms` is written as that: no rule of the world
    /// may look back further.
    #[must_use]
    pub fn form(&self, memory_ms: u64) -> Vec<u8> {
        let mut w = Writer::against(self.context.clock, memory_ms);
        w.put(&self.recovery);
        w.put(&self.context);
        w.put(&self.roster);
        w.put(&self.rooms);
        w.bytes
    }

    /// When the clock alone changes a line next.
    pub fn next_due(&mut self) -> Option<Clock> {
        let m = &self.context;
        self.rooms.all_mut().filter_map(|room| room.next_due(m)).min()
    }
}
