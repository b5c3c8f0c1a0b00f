//! Checkpoints: the entries at which every gate hashes its state, and the result of their votes.
//!
//! A checkpoint falls every ten seconds or four megabytes. The hash with the votes of more than half of the roster is
//! confirmed. When all have voted and no hash has that many, gates compute theirs anew; when that brings no majority either,
//! there is an alarm: no visitor is called until a later checkpoint is confirmed.

use std::collections::BTreeMap;

use crate::codec::codec;
use crate::entry::{StateHash, Vote};
use crate::state::roster::Roster;
use ropeline_ids::Clock;

/// Room clock from one checkpoint to the next.
const EVERY_MS: u64 = 10_000;

/// Bytes of encoded entries from one checkpoint to the next.
const EVERY_BYTES: u64 = 4_000_000;

/// A landmark falls in each.
const HOUR_MS: u64 = 3_600_000;

/// How long a dispute waits for the gates that work their states out anew.
const DISPUTE_MS: u64 = 30_000;

#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    /// When the last checkpoint fell, and the bytes of the entries since.
    clock: Clock,
    bytes: u64,
    /// The last checkpoint, until it is decided; its sequence.
    open: Option<u64>,
    /// Since when second votes are awaited for it.
    disputed: Option<Clock>,
    confirmed: Option<(u64, StateHash)>,
    saved: Option<u64>,
    alarm: bool,
    /// The entry applied last is a checkpoint, and the first one of an hour of the room clock. Not part of the state's bytes.
    landmark: bool,
}

codec! {
    struct Checkpoints { clock, bytes, open, disputed, confirmed, saved, alarm } derived { landmark };
}

impl Checkpoints {
    /// A log begins, or gets its root.
    pub fn new(now: Clock) -> Self {
        Self {
            clock: now,
            ..Self::default()
        }
    }

    /// An entry of `bytes` was applied at `sequence`.
    pub fn pass(&mut self, sequence: u64, bytes: u64, now: Clock) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.landmark = false;
        // By bytes only when the last is decided: in a flood each would be outrun by the next before its votes are in.
        let due = now.since(self.clock) >= EVERY_MS || (self.bytes >= EVERY_BYTES && self.open.is_none());
        // One that is disputed is settled first: else the next would be disputed in its place, and so on.
        if due && self.disputed.is_none() {
            *self = Self {
                clock: now,
                bytes: 0,
                open: Some(sequence),
                landmark: self.clock.0 / HOUR_MS != now.0 / HOUR_MS,
                ..*self
            };
        }
    }

    /// Counts the votes for the present roster.
    pub fn count(&mut self, roster: &Roster, now: Clock) {
        let Some(sequence) = self.open else { return };
        let mut votes: BTreeMap<StateHash, usize> = BTreeMap::new();
        let mut all = true;
        for gate in roster.gates() {
            let counts = |vote: &Vote| vote.sequence == sequence && vote.again == self.disputed.is_some();
            match gate.vote.filter(counts) {
                Some(vote) => *votes.entry(vote.hash).or_default() += 1,
                None => all = false,
            }
        }
        let most = votes.iter().max_by_key(|(_, votes)| **votes);
        let size = roster.gates().count();
        match most {
            Some((hash, votes)) if votes * 2 > size => self.confirm(sequence, *hash),
            Some(_) if all => self.disagree(now),
            _ if self.disputed.is_some_and(|since| now.since(since) >= DISPUTE_MS) => self.disagree(now),
            _ => {}
        }
    }

    /// The last checkpoint, at the entry of `sequence` where that is the last one applied.
    pub fn at(&self, sequence: u64) -> Option<u64> {
        self.open.filter(|open| *open == sequence)
    }

    /// The entry applied last is the first checkpoint of an hour of the room clock.
    pub fn is_landmark(&self) -> bool {
        self.landmark
    }

    pub fn confirmed(&self) -> Option<(u64, StateHash)> {
        self.confirmed
    }

    pub fn saved(&self) -> Option<u64> {
        self.saved
    }

    /// The last checkpoint, while second votes are awaited for it.
    pub fn disputed(&self) -> Option<u64> {
        self.open.filter(|_| self.disputed.is_some())
    }

    pub fn alarm(&self) -> bool {
        self.alarm
    }

    /// A gate says that it has saved the confirmed snapshot at `sequence`.
    pub fn save(&mut self, sequence: u64) {
        if self.confirmed.is_some_and(|(confirmed, _)| sequence <= confirmed) {
            self.saved = self.saved.max(Some(sequence));
        }
    }

    fn confirm(&mut self, sequence: u64, hash: StateHash) {
        *self = Self {
            open: None,
            disputed: None,
            confirmed: Some((sequence, hash)),
            alarm: false,
            ..*self
        };
    }

    /// Once it is a dispute, twice an alarm.
    fn disagree(&mut self, now: Clock) {
        if self.disputed.is_none() {
            self.disputed = Some(now);
            return;
        }
        *self = Self {
            open: None,
            disputed: None,
            alarm: true,
            ..*self
        };
    }
}
