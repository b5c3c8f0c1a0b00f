//! Eras that gates bring back: who is at it, and what an entry's word on one does to all rooms.
//!
//! While a gate brings an era back nobody is called, so that its visitors are in their order before anybody behind them
//! is told to come. What was known of its numbers comes in the sections of the same batches.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codec::{Read, Reader, Writer};
use crate::entry::Entry;
use crate::entry::effects::Effects;
use crate::room::Room;
use crate::state::State;
use crate::state::roster::Roster;
use ropeline_ids::{Clock, GateId};

/// The first machine version in which eras, and editions, are brought back.
pub(crate) const SINCE_VERSION: u16 = 2;

/// How long after one batch a gate is waited for to send its next.
const HOLD_MS: u64 = 5_000;

/// Longest that one gate keeps the calls back, from its first batch to its last: ten million waiting at a hundred gates
/// take 40 s.
const HOLD_MOST_MS: u64 = 60_000;

/// Gates that bring an era back, and until when they are waited for.
#[derive(Debug, Default)]
pub(crate) struct Adopting {
    gates: BTreeMap<GateId, Hold>,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Clock,
    /// Whatever comes yet, it is not waited for beyond.
    latest: Clock,
}

impl Adopting {
    /// A batch of a gate has come, and more are to.
    fn wait(&mut self, gate: GateId, now: Clock) {
        let hold = self.gates.entry(gate).or_insert(Hold {
            until: now,
            latest: now.plus(HOLD_MOST_MS),
        });
        hold.until = now.plus(HOLD_MS).min(hold.latest);
    }

    /// Until when nobody is called, if nobody says before that it is done.
    pub fn until(&self) -> Option<Clock> {
        self.gates.values().map(|hold| hold.until).max()
    }

    /// Forgets gates that are gone. One that is only late is remembered, so that its time is not counted anew.
    pub fn forget(&mut self, roster: &Roster) {
        self.gates.retain(|gate, _| roster.gates().any(|on| on.id == *gate));
    }

    pub fn clear(&mut self) {
        self.gates.clear();
    }

    pub fn write(&self, w: &mut Writer) {
        w.count(self.gates.len());
        for (gate, hold) in &self.gates {
            w.u64(gate.0);
            w.clock(hold.until);
            w.clock(hold.latest);
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let gates = r.list(24, read_hold)?;
        Ok(Self {
            gates: gates.into_iter().collect(),
        })
    }
}

fn read_hold(r: &mut Reader) -> Read<(GateId, Hold)> {
    let gate = GateId(r.u64()?);
    let hold = Hold {
        until: r.clock()?,
        latest: r.clock()?,
    };
    Ok((gate, hold))
}

impl State {
    /// The incarnations of logs of which nobody knows more than their visitors' tokens tell: they were lost with every gate.
    pub fn lost_logs(&self) -> impl Iterator<Item = u64> {
        self.context.past.lacking().map(|era| era.0)
    }

    /// Before the sections of an entry that brings back an era: it is known from now on, and nobody is called.
    pub(crate) fn adopt(&mut self, entry: &Entry, effects: &mut Effects) {
        let Some(adopt) = entry.batch.adopt else { return };
        let m = &mut self.context;
        if self.versions.current() < SINCE_VERSION || adopt.era >= m.past.era() {
            return effects.skip(1);
        }
        m.adopts = Some(adopt.era);
        Arc::make_mut(&mut m.past).learn(adopt.era);
        self.adopting.forget(&self.roster);
        self.adopting.wait(entry.gate, m.clock);
        m.barred_until = m.barred_until.max(self.adopting.until().unwrap_or(m.clock));
        self.rooms.values_mut().for_each(Room::repaint);
    }

    /// After its sections: if that was the last of them, the calls go on with the next entry.
    pub(crate) fn adopted(&mut self, entry: &Entry) {
        let brought = self.context.adopts.take();
        let Some(adopt) = entry.batch.adopt.filter(|_| brought.is_some()) else {
            return;
        };
        if adopt.whole {
            let past = Arc::make_mut(&mut self.context.past);
            past.note_end(adopt.era, adopt.sequence);
            // Only now: a line that the gate still has may hold lower numbers.
            past.raise([(adopt.era, adopt.floor)].into_iter());
            if !past.lacks_an_era() {
                self.rooms.values_mut().for_each(|room| room.end_healing(&self.context));
            }
        }
        if adopt.done {
            self.adopting.gates.remove(&entry.gate);
        }
    }
}
