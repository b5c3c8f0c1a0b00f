//! A new log without a root, and which gate may give it one.
//!
//! A log that gates share begins without a state. Until it has one, its entries only say how far each gate has read of the
//! logs before ([`Spoke`]), which gates leave, and which snapshot to start from. [`Rootless`] is the sum of those entries:
//! the same on every gate that has read as far, without a clock of its own. The replica decides when to save a snapshot, and
//! whether a named one can be read.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::room::{Entry, GateId, Position, Spoke, StateHash, Wall};

/// How long the gates of the old rosters are waited for, in log time after the first entry.
const WAIT_MS: u64 = 15_000;

/// Log time for which a gate that has read nothing does not take its word for all there is: gates that know more may be
/// a reconnect away.
const NOTHING_MS: u64 = 2_000;

/// How much later than the gate before it each next furthest may root.
const TURN_MS: u64 = 3_000;

/// Most that one entry advances log time, as in the rooms: a clock step must not end the wait.
const MAX_STEP_MS: u64 = 5_000;

/// Most gates that are waited for, that speak, that leave and that root; a hundred are designed for.
const MAX_GATES: usize = 1_000;

/// A log's entries until it has a root, summed up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rootless {
    position: Position,
    nonce: [u8; 8],
    /// The store's time of the last entry.
    time: Option<Wall>,
    /// Log time since the first entry.
    clock_ms: u64,
    /// How far each gate had read, by its first report.
    spoken: BTreeMap<GateId, Position>,
    /// The highest machine version that all who spoke know.
    known_by_all: Option<u16>,
    /// Gates on somebody's roster that have neither spoken nor left.
    missing: BTreeSet<GateId>,
    gone: BTreeSet<GateId>,
    /// Log time at which the wait ended.
    ready_at_ms: Option<u64>,
    roots: Vec<StateHash>,
    rooted: BTreeSet<GateId>,
}

impl Rootless {
    /// A log of this epoch before its first entry, whose sequence is 1.
    #[must_use]
    pub fn new(epoch: u64) -> Self {
        Self {
            position: Position { epoch, sequence: 0 },
            nonce: [0; 8],
            time: None,
            clock_ms: 0,
            spoken: BTreeMap::new(),
            known_by_all: None,
            missing: BTreeSet::new(),
            gone: BTreeSet::new(),
            ready_at_ms: None,
            roots: Vec::new(),
            rooted: BTreeSet::new(),
        }
    }

    /// Adds the next entry. Total: one of another log, or that was added before, changes nothing.
    pub fn apply(&mut self, entry: &Entry) {
        let mine = entry.position.epoch == self.position.epoch && entry.position > self.position;
        if !mine {
            return;
        }
        let passed = entry.time.since(self.time.unwrap_or(entry.time)).min(MAX_STEP_MS);
        self.clock_ms = self.clock_ms.saturating_add(passed);
        self.time = Some(entry.time);
        self.position = entry.position;
        self.nonce = entry.nonce;
        if let Some(root) = entry.batch.root {
            self.root(entry.gate, root);
        }
        if let Some(spoke) = &entry.batch.spoke {
            self.hear(entry.gate, spoke, entry.batch.knows);
        }
        if entry.batch.goodbye && self.gone.len() < MAX_GATES {
            self.missing.remove(&entry.gate);
            self.gone.insert(entry.gate);
        }
        // A late speaker's roster may name gates that were unknown: then the wait goes on.
        let all = self.missing.is_empty() && (self.clock_ms >= NOTHING_MS || self.anything_is_known());
        let over = self.clock_ms >= WAIT_MS || (all && !self.spoken.is_empty());
        self.ready_at_ms = over.then_some(self.ready_at_ms.unwrap_or(self.clock_ms));
    }

    /// The last entry added.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// That entry's nonce, which the next names as its predecessor's; zeros before the first.
    #[must_use]
    pub fn nonce(&self) -> [u8; 8] {
        self.nonce
    }

    /// The gate's word counts: it need not speak again.
    #[must_use]
    pub fn spoken(&self, gate: GateId) -> bool {
        self.spoken.contains_key(&gate)
    }

    /// How many gates have spoken.
    #[must_use]
    pub fn speakers(&self) -> usize {
        self.spoken.len()
    }

    /// The highest machine version that all gates which spoke know; `None` when none has spoken.
    #[must_use]
    pub fn known_by_all(&self) -> Option<u16> {
        self.known_by_all
    }

    /// Gates on the rosters of gates that reported which have neither reported nor said goodbye, in order of id.
    pub fn missing(&self) -> impl Iterator<Item = GateId> {
        self.missing.iter().copied()
    }

    /// The wait is over: no gate is missing, or 15 s of log time have passed since the first entry.
    #[must_use]
    pub fn ready(&self) -> bool {
        self.ready_at_ms.is_some()
    }

    /// Log time in milliseconds until the wait ends even if gates are missing; 0 when it is over.
    #[must_use]
    pub fn left_ms(&self) -> u64 {
        if self.ready() {
            return 0;
        }
        WAIT_MS.saturating_sub(self.clock_ms)
    }

    /// Whether the gate may save its snapshot and name it as root: the furthest as soon as the log is ready, the next
    /// 3 s of log time after it, and so on.
    #[must_use]
    pub fn may_root(&self, gate: GateId) -> bool {
        let Some(ready_at_ms) = self.ready_at_ms else {
            return false;
        };
        let Some(turn) = self.candidates().iter().position(|candidate| *candidate == gate) else {
            return false;
        };
        let turns = (self.clock_ms - ready_at_ms) / TURN_MS;
        u64::try_from(turn).is_ok_and(|turn| turn <= turns)
    }

    /// Of the gates that spoke and are still there, the one that has read furthest; of equals the lowest id.
    #[must_use]
    pub fn furthest(&self) -> Option<GateId> {
        self.candidates().first().copied()
    }

    /// The snapshots that were named, in log order: the first of each gate that spoke, at most 1,000.
    #[must_use]
    pub fn roots(&self) -> &[StateHash] {
        &self.roots
    }

    fn hear(&mut self, gate: GateId, spoke: &Spoke, knows: u16) {
        if self.spoken.contains_key(&gate) || self.spoken.len() >= MAX_GATES {
            return;
        }
        self.spoken.insert(gate, spoke.position);
        self.known_by_all = Some(self.known_by_all.map_or(knows, |known| known.min(knows)));
        self.missing.remove(&gate);
        for other in &spoke.roster {
            let known = self.spoken.contains_key(other) || self.gone.contains(other);
            if !known && self.missing.len() < MAX_GATES {
                self.missing.insert(*other);
            }
        }
    }

    /// A root counts if it was its gate's to give when it was appended, or if no gate had read further: an operator may end
    /// the wait.
    fn root(&mut self, gate: GateId, root: StateHash) {
        let due = self.may_root(gate) || self.furthest() == Some(gate);
        if due && self.rooted.insert(gate) {
            self.roots.push(root);
        }
    }

    /// A gate has reported that it has read a log before.
    #[must_use]
    pub fn anything_is_known(&self) -> bool {
        self.spoken.values().any(|position| *position != Position::default())
    }

    /// Furthest first. A gate that left is none, unless there is no other.
    fn candidates(&self) -> Vec<GateId> {
        let there = |(gate, _): &(&GateId, &Position)| !self.gone.contains(gate);
        let mut by_position: Vec<_> = self.spoken.iter().filter(there).collect();
        if by_position.is_empty() {
            by_position.extend(&self.spoken);
        }
        // The sort is stable, and the map is in order of id.
        by_position.sort_by(|(_, a), (_, b)| b.cmp(a));
        by_position.into_iter().map(|(gate, _)| *gate).collect()
    }
}
