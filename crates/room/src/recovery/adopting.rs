//! Epochs that gates bring back, and the gates that are doing so.
//!
//! While a gate brings an epoch back, no visitor is called, so that its visitors are in order before any visitor behind them
//! is called. The known facts about its numbers come in the sections of the same batches.

use std::collections::BTreeMap;

use crate::codec::codec;
use crate::state::roster::Roster;
use ropeline_ids::{Clock, GateId};

/// How long after one batch a gate is waited for to send its next.
const HOLD_MS: u64 = 5_000;

/// Longest that one gate keeps the calls back, from its first batch to its last: ten million waiting at a hundred gates
/// take 40 s.
const HOLD_MOST_MS: u64 = 60_000;

/// Gates that bring an epoch back, and until when they are waited for.
#[derive(Debug, Default)]
pub(crate) struct Adopting {
    gates: BTreeMap<GateId, Hold>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Clock,
    /// The latest end of the wait, whatever entries still come.
    latest: Clock,
}

codec! {
    struct Adopting { gates };
    struct Hold { until, latest };
}

impl Adopting {
    /// A batch of a gate has come, and more are to.
    pub fn wait(&mut self, gate: GateId, now: Clock) {
        let hold = self.gates.entry(gate).or_insert(Hold {
            until: now,
            latest: now.plus(HOLD_MOST_MS),
        });
        hold.until = now.plus(HOLD_MS).min(hold.latest);
    }

    /// Until when no visitor is called, unless the gate reports before that it is done.
    pub fn until(&self) -> Option<Clock> {
        self.gates.values().map(|hold| hold.until).max()
    }

    /// Forgets gates that are gone. One that is only late is remembered, so that its time is not counted anew.
    pub fn forget(&mut self, roster: &Roster) {
        self.gates.retain(|gate, _| roster.gates().any(|on| on.id == *gate));
    }

    /// A gate has brought all that it has.
    pub fn done(&mut self, gate: GateId) {
        self.gates.remove(&gate);
    }

    pub fn clear(&mut self) {
        self.gates.clear();
    }
}
