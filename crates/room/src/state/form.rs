//! The form of a state, for tests that look at every state a small room can reach: equal for states that behave alike, however
//! and whenever each was reached.
//!
//! It is the state's bytes with times written against the present clock, and without what only counts or is only shown: the
//! chain, the position, gates' serials, checkpoints, totals, the pace of calls, and dates for people. It holds for rooms without
//! rate, schedule, stock or load control, with one lane, and in a world where no gate votes on a checkpoint.

use std::sync::Arc;

use crate::codec::Writer;
use crate::lane::record::SLACK_MS;
use crate::state::State;
use crate::state::roster::SILENCE_MS;
use ropeline_ids::Clock;

impl State {
    /// The same state without what only counts, or is only shown.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.roster.forget_serials();
        // Only parking depends on it.
        if self.rooms.all().all(|room| room.settings().active.is_none()) {
            self.roster.forget_notes_until();
        }
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

    /// When the clock alone changes a line next, or lets sessions be parked that were to be parked before.
    pub fn next_due(&mut self) -> Option<Clock> {
        let (m, roster) = (&self.context, &self.roster);
        let mut dues = Vec::new();
        for room in self.rooms.all_mut() {
            dues.extend(room.next_due(m));
            if let Some(parks) = room.parks_first(m) {
                dues.push(parks);
                // A gate that stays silent leaves the roster, and is remembered for a while.
                let idle_ms = room.settings().active.map_or(0, |active| active.idle_after_ms);
                let gone = roster
                    .fell_silent()
                    .map(|since| since.plus(SILENCE_MS + idle_ms + SLACK_MS));
                let leaves = roster.gates().map(|gate| gate.heard.plus(SILENCE_MS + 1)).min();
                dues.extend(gone.into_iter().chain(leaves).filter(|due| *due > m.clock));
            }
        }
        dues.into_iter().filter(|due| *due > m.clock).min()
    }
}
