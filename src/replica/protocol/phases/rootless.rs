//! The phase while a new log has no root yet. This gate reports how far it has read, and the gate that has read furthest
//! names the snapshot from which the log starts.
//!
//! [`crate::store::Rootless`] is the sum of all reports, the same on every gate. The root is the first one in the order of
//! the log whose snapshot can be read; from it every gate applies the log from its first entry on.

use std::ops::ControlFlow::{Break, Continue};
use std::time::Duration;

use super::transition::{Basis, Origin, Outcome, Restart, Transition, Turn};
use crate::replica::inbox::NoEnd;
use crate::replica::protocol::context::Context;
use crate::replica::protocol::step::{Ask, Asked, Saving};
use crate::replica::publish::Condition;
use crate::replica::recover::{decode, snapshot};
use crate::room::{Batch, Entry, GateId, NEWEST, Root, State, StateHash};
use crate::store::{self, Append, Exchanged, Occasion, Snapshot};

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Rootless {
    sum: store::Rootless,
    /// The rooms as this gate had them.
    old: Option<State>,
    /// Roots that were looked at: their snapshots are not to be had.
    tried: usize,
    /// This gate's own snapshot, under its hash, once it is saved.
    saved: Option<StateHash>,
    /// This gate's next entry, sent unchanged until it is read back.
    word: Option<Append>,
    acknowledged: bool,
    /// It has named its root, and appended its goodbye.
    named: bool,
    left: bool,
    /// An operator has ended the wait for silent gates.
    root_now: bool,
    /// Gates live on the log: it has a root that they could have.
    gone_on: bool,
}

impl Rootless {
    /// Publishes the rooms that could be read, if none were published before, so that waiting visitors see their places and
    /// visitors inside are known.
    pub fn new(context: &mut Context, epoch: u64, mut old: Option<State>, now: Duration) -> Self {
        if let Some(old) = &mut old {
            context.publish_first(old, now);
        }
        Self {
            sum: store::Rootless::new(epoch),
            old,
            tried: 0,
            saved: None,
            word: None,
            acknowledged: false,
            named: false,
            left: false,
            root_now: false,
            gone_on: false,
        }
    }

    /// The rooms as this gate had them.
    pub fn state(&self) -> Option<&State> {
        self.old.as_ref()
    }

    /// The gate has said goodbye.
    pub fn has_left(&self) -> bool {
        self.left
    }

    /// The gates that are waited for.
    pub fn missing(&self) -> Vec<GateId> {
        self.sum.missing().collect()
    }

    pub fn condition(&self) -> Condition {
        if self.old.is_none() && !self.sum.anything_is_known() {
            return Condition::Opening;
        }
        Condition::Healing {
            left: Duration::from_millis(self.sum.left_ms()),
            missing: self.sum.missing().count(),
        }
    }

    /// The operator ends the wait for silent gates. Only the gate that has read furthest can do that without a loss.
    ///
    /// # Errors
    /// Fails if another gate has read further, or none has reported yet.
    pub fn end_wait(&mut self, gate: GateId) -> Result<(), NoEnd> {
        match self.sum.furthest() {
            Some(furthest) if furthest == gate => {
                self.root_now = true;
                Ok(())
            }
            Some(furthest) => Err(NoEnd::Further(furthest)),
            None => Err(NoEnd::NotYet),
        }
    }

    /// The next step on the way to a root.
    pub fn next(&mut self, context: &mut Context, now: Duration) -> Turn {
        let gate = context.identity.gate();
        if let Some(hash) = self.sum.roots().get(self.tried).copied() {
            return Turn::Ask(Asked::Root(hash), Ask::Root(hash));
        }
        let at = self.sum.position();
        let read = at.sequence > 0;
        let mine = self.sum.may_root(gate) || (self.root_now && self.sum.furthest() == Some(gate));
        if read && mine && self.saved.is_none() {
            return self.save_root(context);
        }
        if read && self.word.is_none() {
            let due = now >= context.reader.heard() + TICK + tick_apart(gate);
            self.word = self.next_word(context, mine, due);
            self.acknowledged = false;
        }
        let append = self.word.clone().filter(|_| !self.acknowledged);
        let next = context.reader.asked() + self.reads_apart();
        if append.is_none() && now < next {
            return Turn::Wait(next);
        }
        context.reader.asks(now);
        let appended = append.is_some();
        Turn::Ask(Asked::Exchange { appended }, Ask::Exchange { at, append })
    }

    fn next_word(&self, context: &mut Context, mine: bool, due: bool) -> Option<Append> {
        let Context {
            identity,
            outgoing,
            leaving,
            reader,
            ..
        } = context;
        let gate = identity.gate();
        if !self.sum.spoken(gate) {
            return Some(outgoing.append_reading(identity, self.old.as_ref()));
        }
        // Others have read as far or further.
        let dispensable = self.sum.furthest() != Some(gate);
        let batch = if let Some(hash) = self.saved.filter(|_| mine && !self.named) {
            Batch {
                root: Some(hash),
                ..Batch::default()
            }
        } else if dispensable && leaving.leaves_rootless(outgoing.final_notes(), reader.asked()) {
            Batch {
                goodbye: true,
                ..Batch::default()
            }
        } else if due {
            Batch::default()
        } else {
            return None;
        };
        Some(outgoing.append(identity, batch))
    }

    /// Time between two looks. Everybody waits for the root, which takes three of them: few gates look often.
    fn reads_apart(&self) -> Duration {
        let gates = u32::try_from(self.sum.speakers()).unwrap_or(u32::MAX);
        READ_APART.saturating_mul(gates).clamp(READ_APART, READ_APART_MOST)
    }

    fn save_root(&self, context: &Context) -> Turn {
        let time = context.reader.time();
        let snapshot = if let Some(state) = &self.old {
            // The other gates read these bytes, so the newcomers' marks must be in them.
            let marked = state.with_newcomers_marked();
            snapshot(marked.as_ref().unwrap_or(state), time)
        } else {
            let version = self.sum.known_by_all().unwrap_or(context.identity.knows());
            snapshot(&context.no_rooms(0).with_version(version), time)
        };
        let saving = Saving::Root(snapshot.hash());
        let occasion = Occasion::Root;
        Turn::Ask(Asked::Save(saving), Ask::Save { snapshot, occasion })
    }

    pub fn root_saved(&mut self, hash: StateHash) {
        self.saved = Some(hash);
        // A tick that is waiting to be sent makes way.
        self.word = self.word.take().filter(|_| self.acknowledged);
    }

    pub fn read(
        mut self: Box<Self>,
        context: &mut Context,
        appended: bool,
        exchanged: Exchanged,
        now: Duration,
    ) -> Outcome<Self> {
        let at = self.sum.position();
        match exchanged {
            Exchanged::Entries { entries, newer, .. } => {
                self.acknowledged |= appended;
                for entry in entries {
                    let follows = entry.position.sequence == self.sum.position().sequence + 1
                        && entry.previous == self.sum.nonce();
                    if !follows {
                        context.odd("the log tells another history", now);
                        return Break(Transition::restart(self.old, None));
                    }
                    self.hear(context.identity.gate(), &entry);
                    context.reader.hears(entry.time, now);
                }
                // Another gate knew rooms: the word for a first start was not for this.
                if self.sum.anything_is_known() {
                    context.finds_log();
                }
                if let Some(version) = newer.filter(|_| self.sum.roots().len() == self.tried) {
                    return Break(Transition::FallBehind(version));
                }
                Continue(self)
            }
            // It has a root, and has gone on from it for long.
            Exchanged::Moved => {
                context.odd("the log without a root has gone on", now);
                Break(Transition::restart(self.old, None))
            }
            Exchanged::Broken { epoch } if epoch > at.epoch => Break(Transition::Follow { epoch, old: self.old }),
            Exchanged::Broken { epoch } => {
                let basis = self.old.map_or(Basis::Nothing, Basis::Rooms);
                Break(Transition::begin(epoch, at.epoch, basis))
            }
        }
    }

    fn hear(&mut self, gate: GateId, entry: &Entry) {
        if entry.gate == gate
            && let Some(word) = self.word.take_if(|word| word.serial == entry.serial)
        {
            self.named |= word.batch.root.is_some();
            self.left |= word.batch.goodbye;
        }
        let batch = &entry.batch;
        let lives = batch.hello || batch.vote.is_some() || !batch.sections.is_empty();
        self.gone_on |= lives && !self.sum.roots().is_empty();
        self.sum.apply(entry);
    }

    /// The snapshot of a root: if it could be read, the log starts from it.
    pub fn root_fetched(
        mut self: Box<Self>,
        context: &mut Context,
        hash: StateHash,
        root: Option<Snapshot>,
        now: Duration,
    ) -> Outcome<Self> {
        let root = root.filter(|root| root.hash() == hash);
        let whole = root.is_some();
        let Some(mut state) = root.as_ref().and_then(decode) else {
            if whole {
                return Break(Transition::FallBehind(NEWEST + 1));
            }
            if self.gone_on {
                context.odd("the first snapshot of the log cannot be found any more", now);
                return Break(Transition::restart(self.old, None));
            }
            tracing::error!("the snapshot of a root cannot be had; the next is waited for");
            self.tried += 1;
            return Continue(self);
        };
        if !self.sum.spoken(context.identity.gate()) {
            context.finds_log();
        }
        let epoch = self.sum.position().epoch;
        tracing::info!(epoch, from = ?state.position(), "the log has its root");
        let answered = state.answered(context.identity.gate());
        let answered = answered.map(|(serial, joined)| (serial, joined.to_vec()));
        state.begin(epoch, Root::Hash(hash));
        Break(Transition::CatchUp(Box::new(Origin {
            base: snapshot(&state, context.reader.time()),
            state,
            clean: true,
            torn: false,
            last_known: 0,
            answered,
            restart: Restart {
                old: self.old,
                disputed: None,
            },
        })))
    }
}

/// Gates tick a little apart, so that one of them does it.
fn tick_apart(gate: GateId) -> Duration {
    Duration::from_millis(20 * (gate.0 % 8))
}

/// A log without a root ticks and is read as one with a line: everybody waits for it.
const TICK: Duration = Duration::from_millis(250);

/// For each gate that has spoken, so that a hundred of them ask no more than a thousand times a second.
const READ_APART: Duration = Duration::from_millis(10);
const READ_APART_MOST: Duration = Duration::from_millis(100);
