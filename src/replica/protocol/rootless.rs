//! While a log has no root: this gate says how far it has read, and the furthest names what the log starts from.
//!
//! [`Rootless`] is the sum of what was said, the same on every gate. The first root in the order of the log whose snapshot
//! can be had is the one; from it every gate applies the log from its first entry on.

use std::time::Duration;

use super::{Ask, Asked, Phase, Protocol, Saving, Step};
use crate::replica::publish::Condition;
use crate::replica::recover::{decode, snapshot};
use crate::room::{Batch, GateId, Root, State, StateHash, VERSION};
use crate::store::{Append, Exchanged, Occasion, Rootless, Snapshot};

/// A log without a root, as this gate has read it.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Healing {
    sum: Rootless,
    /// The rooms as this gate had them.
    pub old: Option<State>,
    /// Roots that were looked at: their snapshots are not to be had.
    tried: usize,
    /// This gate's own snapshot, under its hash, once it is saved.
    saved: Option<StateHash>,
    /// What this gate says next, sent unchanged until it is read back.
    word: Option<Append>,
    acknowledged: bool,
    /// It has named its root, and said goodbye.
    named: bool,
    left: bool,
    /// Gates live on the log: it has a root that they could have.
    gone_on: bool,
}

impl Healing {
    pub fn new(incarnation: u64, old: Option<State>) -> Self {
        Self {
            sum: Rootless::new(incarnation),
            old,
            tried: 0,
            saved: None,
            word: None,
            acknowledged: false,
            named: false,
            left: false,
            gone_on: false,
        }
    }

    /// The gate that has read furthest.
    pub fn furthest(&self) -> Option<GateId> {
        self.sum.furthest()
    }

    /// The gate has said goodbye.
    pub fn has_left(&self) -> bool {
        self.left
    }

    /// The gate has said what it knows, and others have read as far or further.
    fn can_go_without(&self, gate: GateId) -> bool {
        self.sum.spoken(gate) && self.sum.furthest() != Some(gate)
    }

    /// The gates that are waited for.
    pub fn missing(&self) -> Vec<GateId> {
        self.sum.missing().collect()
    }

    /// Time between two looks. Everybody waits for the root, which takes three of them: few gates look often.
    fn reads_apart(&self) -> Duration {
        let gates = u32::try_from(self.sum.speakers()).unwrap_or(u32::MAX);
        READ_APART.saturating_mul(gates).clamp(READ_APART, READ_APART_MOST)
    }

    pub fn condition(&self) -> Condition {
        Condition::Healing {
            left: Duration::from_millis(self.sum.left_ms()),
            missing: self.sum.missing().count(),
        }
    }
}

impl Protocol {
    /// The next step on the way to a root.
    pub(super) fn find_root(&mut self, now: Duration) -> Step {
        let gate = self.gate;
        let Phase::Rootless(healing) = &mut self.phase else {
            return Step::Wait(now);
        };
        if let Some(hash) = healing.sum.roots().get(healing.tried).copied() {
            return self.ask(Asked::Root(hash), Ask::Root(hash));
        }
        let at = healing.sum.position();
        let read = healing.sum.position().sequence > 0;
        let mine = healing.sum.may_root(gate) || (self.root_now && healing.sum.furthest() == Some(gate));
        if read && mine && healing.saved.is_none() {
            return self.save_root();
        }
        if read && healing.word.is_none() {
            let spoken = healing.sum.spoken(gate);
            let due = now >= self.heard + TICK + self.tick_apart();
            self.say_in_healing(spoken, mine, due);
        }
        let Phase::Rootless(healing) = &self.phase else {
            return Step::Wait(now);
        };
        let append = healing.word.clone().filter(|_| !healing.acknowledged);
        let next = self.exchanged + healing.reads_apart();
        if append.is_none() && now < next {
            return Step::Wait(next);
        }
        self.exchanged = now;
        self.ask(
            Asked::Exchange {
                appended: append.is_some(),
            },
            Ask::Exchange { at, append },
        )
    }

    fn say_in_healing(&mut self, spoken: bool, mine: bool, due: bool) {
        let Phase::Rootless(mut healing) = self.take_phase() else {
            return;
        };
        healing.acknowledged = false;
        let leaves = self.leaves_rootless() && healing.can_go_without(self.gate);
        healing.word = match healing.saved {
            _ if !spoken => Some(self.word(healing.old.as_ref())),
            Some(hash) if mine && !healing.named => Some(self.append(Batch {
                root: Some(hash),
                ..Batch::default()
            })),
            _ if leaves => Some(self.append(Batch {
                goodbye: true,
                ..Batch::default()
            })),
            _ => due.then(|| self.append(Batch::default())),
        };
        self.phase = Phase::Rootless(healing);
    }

    /// Gates tick a little apart, so that one of them does it.
    fn tick_apart(&self) -> Duration {
        Duration::from_millis(20 * (self.gate.0 % 8))
    }

    fn save_root(&mut self) -> Step {
        let Phase::Rootless(healing) = &self.phase else {
            return Step::Wait(Duration::ZERO);
        };
        let nothing = || {
            let version = healing.sum.known_by_all().unwrap_or(self.options.knows);
            State::empty(0, false).with_version(version)
        };
        let snapshot = match &healing.old {
            // The other gates read this as it is, so the newcomers' marks must be in it.
            Some(state) => match state.with_newcomers_marked() {
                Some(marked) => snapshot(&marked, self.time),
                None => snapshot(state, self.time),
            },
            None => snapshot(&nothing(), self.time),
        };
        let saving = Saving::Root(snapshot.hash());
        let occasion = Occasion::Root;
        self.ask(Asked::Save(saving), Ask::Save { snapshot, occasion })
    }

    pub(super) fn root_saved(&mut self, hash: StateHash) {
        if let Phase::Rootless(healing) = &mut self.phase {
            healing.saved = Some(hash);
            // A tick that is waiting to be sent makes way.
            healing.word = healing.word.take().filter(|_| healing.acknowledged);
        }
    }

    pub(super) fn rootless_read(&mut self, appended: bool, exchanged: Exchanged, now: Duration) {
        let Phase::Rootless(mut healing) = self.take_phase() else {
            return;
        };
        let at = healing.sum.position();
        match exchanged {
            Exchanged::Entries { entries, newer, .. } => {
                healing.acknowledged |= appended;
                for entry in entries {
                    let follows = entry.position.sequence == healing.sum.position().sequence + 1
                        && entry.previous == healing.sum.nonce();
                    if !follows {
                        self.odd("the log tells another history", now);
                        return self.restart(healing.old, now);
                    }
                    if entry.gate == self.gate
                        && let Some(word) = healing.word.take_if(|word| word.serial == entry.serial)
                    {
                        healing.named |= word.batch.root.is_some();
                        healing.left |= word.batch.goodbye;
                    }
                    let lives = entry.batch.hello || entry.batch.vote.is_some() || !entry.batch.sections.is_empty();
                    healing.gone_on |= lives && !healing.sum.roots().is_empty();
                    healing.sum.apply(&entry);
                    self.time = entry.time;
                    self.heard = now;
                }
                if let Some(version) = newer.filter(|_| healing.sum.roots().len() == healing.tried) {
                    self.fall_behind(version, now);
                    return;
                }
                self.enter(Phase::Rootless(healing), now);
            }
            // It has a root, and has gone on from it for long.
            Exchanged::Moved => {
                self.odd("the log without a root has gone on", now);
                self.restart(healing.old, now);
            }
            Exchanged::Broken { incarnation } if incarnation > at.incarnation => {
                self.follow(incarnation, healing.old, now);
            }
            Exchanged::Broken { incarnation } => {
                let from = healing
                    .old
                    .map_or(super::begin::From::Nothing { new: false }, super::begin::From::Rooms);
                self.prepare(incarnation, at.incarnation, from, now);
            }
        }
    }

    /// The snapshot of a root, if it can be had: then that is what the log starts from.
    pub(super) fn root_fetched(&mut self, hash: StateHash, root: Option<Snapshot>, now: Duration) {
        let Phase::Rootless(mut healing) = self.take_phase() else {
            return;
        };
        let root = root.filter(|root| root.hash() == hash);
        let whole = root.is_some();
        let Some(mut state) = root.as_ref().and_then(decode) else {
            if whole {
                return self.fall_behind(VERSION + 1, now);
            }
            if healing.gone_on {
                self.odd("the root of the log is not to be had any more", now);
                return self.restart(healing.old, now);
            }
            tracing::error!("the snapshot of a root cannot be had; the next is waited for");
            healing.tried += 1;
            self.phase = Phase::Rootless(healing);
            return;
        };
        let incarnation = healing.sum.position().incarnation;
        tracing::info!(incarnation, from = ?state.position(), "the log has its root");
        let answered = self.answered(&state);
        state.begin(incarnation, Root::Hash(hash));
        self.root_now = false;
        self.checkpoint.forget();
        self.apply_from(state, answered, healing.old, now);
    }
}

/// A log without a root ticks and is read as one with a line: everybody waits for it.
const TICK: Duration = Duration::from_millis(250);

/// For each gate that has spoken, so that a hundred of them ask no more than a thousand times a second.
const READ_APART: Duration = Duration::from_millis(10);
const READ_APART_MOST: Duration = Duration::from_millis(100);
