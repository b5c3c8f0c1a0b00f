//! Gates, changes and interruptions of a history.

use std::collections::{BTreeMap, BTreeSet};

use super::describe;
use super::findings::{Change, Gate, Interruption, NotListed, Routine, Stamp};
use crate::charts::secs;
use crate::room::{self, Changed, Effects, Entry, GateId, Settings, View, Wall};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Trail {
    gates: BTreeMap<GateId, Gate>,
    pub changes: Vec<Change>,
    pub routine: Routine,
    interruptions: Vec<Interruption>,
    /// Counts beyond the bounds.
    pub more: NotListed,
    unlisted_gates: BTreeSet<GateId>,
    /// Why no visitor is called since the last interruption began.
    standing: Option<&'static str>,
    last: Option<(Stamp, Wall)>,
}

impl Trail {
    /// `before` and `after` are the views around the entry; `configured` the configured settings that it replaces.
    pub fn entry(&mut self, entry: &Entry, effects: &Effects, after: &View, was: &Was) {
        let stamp = Stamp::new(entry.position, entry.time);
        self.gate(entry, effects, &stamp);
        self.silence(entry.time, &stamp);
        self.stands(after, &stamp);
        for (at, change) in entry.batch.rooms.iter().enumerate() {
            if self.routine.counts(&change.change) {
                continue;
            }
            if self.changes.len() >= MOST_CHANGES {
                self.more.changes += 1;
                continue;
            }
            self.changes.push(Change {
                at: stamp.clone(),
                gate: describe::gate(entry.gate),
                room: change.room.to_string(),
                revision: change.revision,
                what: describe::change(&change.change, was.get(&change.room)),
                who: change.who.as_ref().map(|who| who.name.clone()),
                reason: change.who.as_ref().map(|who| who.reason.clone()),
                counted: effects.changed.get(at) == Some(&Changed::Taken),
            });
        }
        self.last = Some((stamp, entry.time));
    }

    pub fn gates(&self) -> Vec<Gate> {
        self.gates.values().cloned().collect()
    }

    /// One that goes on is as long as the history, so far.
    pub fn interruptions(&self) -> Vec<Interruption> {
        let mut all = self.interruptions.clone();
        let end = self.last.as_ref().map_or(0, |(_, time)| time.0);
        for open in all.iter_mut().filter(|interruption| interruption.to.is_none()) {
            open.secs = secs(end.saturating_sub(open.from.time_ms));
        }
        all
    }

    fn gate(&mut self, entry: &Entry, effects: &Effects, stamp: &Stamp) {
        if self.gates.len() >= MOST_GATES && !self.gates.contains_key(&entry.gate) {
            if self.unlisted_gates.len() < MOST_GATES && self.unlisted_gates.insert(entry.gate) {
                self.more.gates += 1;
            }
            return;
        }
        let gate = self.gates.entry(entry.gate).or_insert_with(|| Gate {
            gate: describe::gate(entry.gate),
            first: stamp.clone(),
            last: stamp.clone(),
            entries: 0,
            entries_ignored: 0,
            said_goodbye: false,
        });
        gate.last = stamp.clone();
        gate.entries += 1;
        gate.entries_ignored += u64::from(effects.ignored);
        gate.said_goodbye |= entry.batch.goodbye;
    }

    /// Some gate always appends: a longer pause means that no gate reached the log, or that a clock was set.
    fn silence(&mut self, time: Wall, stamp: &Stamp) {
        let Some((from, since)) = &self.last else { return };
        let ms = time.since(*since);
        if ms > SILENCE_MS {
            let silence = Interruption {
                kind: "silence",
                from: from.clone(),
                to: Some(stamp.clone()),
                secs: secs(ms),
            };
            self.interrupt(silence);
        }
    }

    fn interrupt(&mut self, interruption: Interruption) {
        if self.interruptions.len() < MOST_INTERRUPTIONS {
            self.interruptions.push(interruption);
        } else {
            self.more.interruptions += 1;
        }
    }

    /// Follows why no visitor is called.
    fn stands(&mut self, view: &View, stamp: &Stamp) {
        let rooms = || view.rooms.values();
        let why = match () {
            () if !view.rooted => Some("no root"),
            () if view.alarm => Some("alarm"),
            () if view.adopting.is_some() => Some("adopting"),
            () if rooms().any(|room| view.healing_of(room).is_some() && !view.is_opening(room)) => Some("healing"),
            () if rooms().any(|room| view.is_opening(room)) => Some("opening"),
            () => None,
        };
        if why == self.standing {
            return;
        }
        let open = |interruption: &&mut Interruption| interruption.to.is_none();
        if let Some(interruption) = self.interruptions.iter_mut().rev().find(open) {
            let ms = stamp.time_ms.saturating_sub(interruption.from.time_ms);
            interruption.to = Some(stamp.clone());
            interruption.secs = secs(ms);
        }
        self.standing = why;
        if let Some(kind) = why {
            self.interrupt(Interruption {
                kind,
                from: stamp.clone(),
                to: None,
                secs: 0.0,
            });
        }
    }
}

impl Routine {
    /// Counts changes that gates and programs make again and again; false for everything else. Their number in an honest
    /// history is unbounded.
    fn counts(&mut self, change: &room::Change) -> bool {
        let count = match change {
            room::Change::Load(_) => &mut self.load_figures,
            room::Change::Renew(_) => &mut self.rehearsal_renewals,
            room::Change::Windows { .. } => &mut self.schedule_windows,
            room::Change::Commit { .. } => &mut self.draw_promises,
            _ => return false,
        };
        *count += 1;
        true
    }
}

/// The former configured settings of rooms that an entry changes.
pub(super) type Was = BTreeMap<ropeline_ids::RoomName, Settings>;

/// A gate that has nothing to say speaks every four seconds, and another after it.
const SILENCE_MS: u64 = 6_000;

const MOST_GATES: usize = 10_000;
const MOST_CHANGES: usize = 10_000;
const MOST_INTERRUPTIONS: usize = 1_000;
