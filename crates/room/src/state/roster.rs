//! The gates that share the log: who may speak, and up to which batch each was heard.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::codec::codec;
use crate::entry::effects::Joined;
use crate::entry::{Entry, Vote};
use ropeline_ids::{Clock, GateId};

/// A gate that appends nothing for this long is off the roster.
pub(super) const SILENCE_MS: u64 = 15_000;

/// How long a gate that fell silent without goodbye holds every horizon: its visitors may still come back with it.
const HOLD_MS: u64 = 3_600_000;

/// Most gates on the roster, and most remembered as silent; a hundred are designed for.
pub const MAX_GATES: usize = 1_000;

/// A gate on the roster, by its last batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RosterGate {
    pub id: GateId,
    /// Of its last batch that counted.
    pub serial: u64,
    /// When it was last heard.
    pub heard: Clock,
    /// The highest machine version that it knows.
    pub knows: u16,
    /// The sequence that it had applied when it cut its last batch.
    pub applied: u64,
    /// Entries of others that it had not applied then. Not written: known again with its next batch.
    pub behind: u64,
    /// How long its last exchange with the log took, in microseconds.
    pub lag_us: u32,
    /// Its last word on a checkpoint of this log.
    pub vote: Option<Vote>,
    /// Up to this time of the rooms' clock the log has its notes: it had read so far when it cut a batch that had all of them.
    pub notes_until: Option<Clock>,
}

#[derive(Debug, Default)]
pub(crate) struct Roster {
    gates: BTreeMap<GateId, Gate>,
    /// Gates that are off it, for an hour.
    gone: BTreeMap<GateId, Gone>,
}

/// A gate that left, or fell silent.
#[derive(Debug)]
struct Gone {
    since: Clock,
    /// Of its last batch: a copy that comes late must not count again.
    serial: u64,
    /// The gate said no goodbye.
    silent: bool,
}

#[derive(Debug)]
struct Gate {
    told: RosterGate,
    /// The answers to the joins of its last batch.
    joined: Vec<Joined>,
    /// Heard in this log: false for a gate of the log before, until it speaks.
    here: bool,
}

codec! {
    struct Roster { gates, gone } where is_sound then derived;
    struct Gate { told, joined, here };
    struct RosterGate { serial, heard, knows, applied, lag_us } parts { vote, notes_until } derived { id, behind };
    struct Gone { since, serial, silent };
}

impl Roster {
    fn is_sound(&self) -> bool {
        self.gates.len().max(self.gone.len()) <= MAX_GATES
    }

    /// With the ids of the gates, by which they are written.
    fn derived(mut self) -> Self {
        for (id, gate) in &mut self.gates {
            gate.told.id = *id;
        }
        self
    }

    /// Whether the entry's batch counts: of a gate on the roster, or its hello, and not a repeat.
    pub fn admit(&mut self, entry: &Entry, now: Clock) -> bool {
        let counts = self.admits(entry);
        if counts && !self.gates.contains_key(&entry.gate) {
            self.gone.remove(&entry.gate);
            self.gates.insert(entry.gate, Gate::new(entry.gate));
        }
        let Some(gate) = self.gates.get_mut(&entry.gate) else {
            return false;
        };
        // Heard is heard: a repeat keeps a gate on the roster, though its batch does not count.
        gate.told.heard = now;
        if counts {
            gate.tell(entry, now);
            gate.told.serial = entry.serial;
        }
        counts
    }

    /// The result that [`Roster::admit`] would give, without a change. For a gate that only reports how far it has read,
    /// nothing counts: its serial is not of the batches that go to rooms.
    pub fn admits(&self, entry: &Entry) -> bool {
        if entry.batch.spoke.is_some() {
            return false;
        }
        if let Some(gate) = self.gates.get(&entry.gate) {
            return entry.serial > gate.told.serial;
        }
        let copy = self
            .gone
            .get(&entry.gate)
            .is_some_and(|gone| entry.serial <= gone.serial);
        entry.batch.hello && !copy && self.gates.len() < MAX_GATES
    }

    /// A gate speaks while the log has no root: it keeps the serial and the answers of the log before.
    pub fn speak(&mut self, entry: &Entry, now: Clock) {
        if entry.batch.spoke.is_some() && self.gates.len() < MAX_GATES {
            let gone = self.gone.remove(&entry.gate);
            let gate = self.gates.entry(entry.gate).or_insert_with(|| Gate::new(entry.gate));
            gate.told.serial = gate.told.serial.max(gone.map_or(0, |gone| gone.serial));
        }
        if let Some(gate) = self.gates.get_mut(&entry.gate) {
            gate.told.heard = now;
            gate.tell(entry, now);
            gate.here |= entry.batch.spoke.is_some();
        }
    }

    /// Keeps the answers to the gate's batch, for a gate that resumes from a snapshot.
    pub fn answer(&mut self, gate: GateId, joined: &[Joined]) {
        if let Some(gate) = self.gates.get_mut(&gate) {
            gate.joined = joined.to_vec();
        }
    }

    /// The serial of a gate's last batch, and the answers to its joins.
    pub fn answered(&self, gate: GateId) -> Option<(u64, &[Joined])> {
        self.gates.get(&gate).map(|gate| (gate.told.serial, &*gate.joined))
    }

    pub fn goodbye(&mut self, gate: GateId) {
        if let Some(gate) = self.gates.remove(&gate) {
            self.remember(&gate.told, false);
        }
    }

    /// Takes gates off that have been silent for too long.
    pub fn sweep(&mut self, now: Clock) {
        self.drop_gates(|gate| now.since(gate.told.heard) > SILENCE_MS);
        self.gone.retain(|_, gone| gone.since.plus(HOLD_MS) > now);
    }

    /// A new log begins: everybody has to be heard again.
    pub fn begin(&mut self) {
        for gate in self.gates.values_mut() {
            gate.here = false;
            (gate.told.applied, gate.told.behind) = (0, 0);
            (gate.told.vote, gate.told.notes_until) = (None, None);
        }
    }

    /// The new log has its root: gates that were not heard until now are silent. Returns them.
    pub fn close(&mut self) -> Vec<GateId> {
        self.drop_gates(|gate| !gate.here)
    }

    /// Until when the silence of gates holds the horizons; the start of time if nothing does.
    pub fn held_until(&self) -> Clock {
        let silent = self.gone.values().filter(|gone| gone.silent);
        silent
            .map(|gone| gone.since)
            .max()
            .map_or(Clock(0), |since| since.plus(HOLD_MS))
    }

    /// Up to this time of the rooms' clock the log has the notes of all gates; the start of time if there is no gate.
    pub fn all_notes_until(&self) -> Clock {
        self.gates()
            .map(|gate| gate.notes_until)
            .min()
            .flatten()
            .unwrap_or_default()
    }

    /// When a gate was last heard that left without a goodbye, the last of these.
    pub fn fell_silent(&self) -> Option<Clock> {
        let silent = self.gone.values().filter(|gone| gone.silent);
        silent.map(|gone| gone.since).max()
    }

    /// Gates on the roster of this log, in order of id.
    pub fn gates(&self) -> impl Iterator<Item = &RosterGate> {
        self.gates.values().filter(|gate| gate.here).map(|gate| &gate.told)
    }

    /// Whether every gate on a non-empty roster supports a machine version; `or` replaces the version of one gate.
    pub fn knows(&self, version: u16, or: Option<(GateId, u16)>) -> bool {
        let known = |gate: &RosterGate| {
            or.filter(|(id, _)| *id == gate.id)
                .map_or(gate.knows, |(_, knows)| knows)
        };
        let mut gates = self.gates().map(known).chain(or.map(|(_, knows)| knows)).peekable();
        gates.peek().is_some() && gates.all(|knows| knows >= version)
    }

    /// Without what is only counted, for a form of the state.
    #[cfg(any(test, feature = "testing"))]
    pub fn forget_serials(&mut self) {
        for gate in self.gates.values_mut() {
            gate.joined.clear();
            (gate.told.serial, gate.told.applied, gate.told.lag_us) = (0, 0, 0);
        }
        self.gone.values_mut().for_each(|gone| gone.serial = 0);
    }

    /// Without how far each gate had read when it last sent all its notes.
    #[cfg(any(test, feature = "testing"))]
    pub fn forget_notes_until(&mut self) {
        self.gates.values_mut().for_each(|gate| gate.told.notes_until = None);
    }

    fn drop_gates(&mut self, goes: impl Fn(&Gate) -> bool) -> Vec<GateId> {
        let gone = self.gates.values().filter(|gate| goes(gate));
        let gone: Vec<RosterGate> = gone.map(|gate| gate.told.clone()).collect();
        for gate in &gone {
            self.gates.remove(&gate.id);
            self.remember(gate, true);
        }
        gone.iter().map(|gate| gate.id).collect()
    }

    fn remember(&mut self, gate: &RosterGate, silent: bool) {
        let gone = Gone {
            since: gate.heard,
            serial: gate.serial,
            silent,
        };
        self.gone.insert(gate.id, gone);
        if self.gone.len() > MAX_GATES
            && let Some(oldest) = self.gone.iter().min_by_key(|(_, gone)| gone.since).map(|(id, _)| *id)
        {
            self.gone.remove(&oldest);
        }
    }
}

impl Gate {
    fn new(id: GateId) -> Self {
        Self {
            told: RosterGate {
                id,
                serial: 0,
                heard: Clock(0),
                knows: 0,
                applied: 0,
                behind: 0,
                lag_us: 0,
                vote: None,
                notes_until: None,
            },
            joined: Vec::new(),
            here: true,
        }
    }

    /// Takes the gate's facts about itself.
    fn tell(&mut self, entry: &Entry, now: Clock) {
        let Entry { batch, .. } = entry;
        if batch.hello || batch.spoke.is_some() {
            self.told.knows = batch.knows;
        }
        (self.told.applied, self.told.lag_us) = (batch.applied, batch.lag_us);
        let notes_until = batch.notes_until.map(|until| until.min(now));
        self.told.notes_until = self.told.notes_until.max(notes_until);
        let before = entry.position.sequence.saturating_sub(1);
        self.told.behind = before.saturating_sub(batch.applied);
        self.told.vote = batch.vote.or(self.told.vote);
    }
}
