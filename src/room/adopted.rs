//! Eras that gates bring back: who is at it, and what an entry's word on one does to all rooms.
//!
//! While a gate brings an era back nobody is called, so that its visitors are in their order before anybody behind them
//! is told to come. What was known of its numbers comes in the sections of the same batches.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::codec::{Read, Reader, Writer};
use super::entry::{Effects, Entry};
use super::ids::{Clock, GateId};
use super::rooms::Room;
use super::roster::Roster;
use super::state::State;

/// The first machine version in which eras are brought back.
const SINCE_VERSION: u16 = 2;

/// How long a gate may take before the calls go on; a batch that comes later stops them again.
const HOLD_MS: u64 = 5_000;

/// Gates that bring an era back, and until when they are waited for.
#[derive(Debug, Default)]
pub(super) struct Adopting {
    gates: BTreeMap<GateId, Clock>,
}

impl Adopting {
    /// Until when nobody is called, if nobody says before that it is done.
    pub fn until(&self) -> Option<Clock> {
        self.gates.values().max().copied()
    }

    /// Forgets whom nobody waits for any more.
    pub fn forget(&mut self, roster: &Roster, now: Clock) {
        self.gates
            .retain(|gate, until| now < *until && roster.gates().any(|on| on.id == *gate));
    }

    pub fn clear(&mut self) {
        self.gates.clear();
    }

    pub fn write(&self, w: &mut Writer) {
        w.count(self.gates.len());
        for (gate, until) in &self.gates {
            w.u64(gate.0);
            w.clock(*until);
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let gates = r.list(16, |r| Ok((GateId(r.u64()?), r.clock()?)))?;
        Ok(Self {
            gates: gates.into_iter().collect(),
        })
    }
}

impl State {
    /// Before the sections of an entry that brings back an era: it is known from now on, and nobody is called.
    pub(super) fn adopt(&mut self, entry: &Entry, effects: &mut Effects) {
        let Some(adopt) = entry.batch.adopt else { return };
        let m = &mut self.moment;
        if self.versions.current() < SINCE_VERSION || adopt.era >= m.past.era() {
            return effects.skip(1);
        }
        m.adopts = Some(adopt.era);
        Arc::make_mut(&mut m.past).learn(adopt.era);
        self.adopting.forget(&self.roster, m.clock);
        let until = m.clock.plus(HOLD_MS);
        let until = *self.adopting.gates.entry(entry.gate).or_insert(until);
        m.quiet_until = m.quiet_until.max(until);
        self.rooms.values_mut().for_each(Room::repaint);
    }

    /// After its sections: if that was the last of them, the calls go on with the next entry.
    pub(super) fn adopted(&mut self, entry: &Entry) {
        let brought = self.moment.adopts.take();
        let Some(adopt) = entry.batch.adopt.filter(|_| brought.is_some()) else {
            return;
        };
        if adopt.whole {
            let past = Arc::make_mut(&mut self.moment.past);
            past.note_end(adopt.era, adopt.sequence);
            // Only now: a line that the gate still has may hold lower numbers.
            past.raise([(adopt.era, adopt.floor)].into_iter());
        }
        if adopt.done {
            self.adopting.gates.remove(&entry.gate);
        }
    }
}
