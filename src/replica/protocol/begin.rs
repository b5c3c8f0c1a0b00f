//! A new log where the old one ended: after an unclean start, when the store lost its history, or below a foreign era.

use std::time::Duration;

use super::rootless::Healing;
use super::{Ask, Asked, Phase, Protocol, Step};
use crate::replica::recover::snapshot;
use crate::room::{Batch, Position, Root, Spoke, State};
use crate::store::{Append, Beginning, Begun, next_incarnation};

/// A log that is to begin.
pub(super) struct NewLog {
    /// The incarnation that it takes the place of.
    seen: u64,
    incarnation: u64,
    beginning: Beginning,
    /// Alone: the rooms go on from the end of the log, so that the first batch names the root for who replays the logs.
    goes_on: bool,
    /// Alone: the rooms in the new era. Shared: the rooms as they were.
    pub state: Option<State>,
}

/// What a new log starts from.
pub(super) enum From {
    /// The rooms as they are here.
    Rooms(State),
    /// The rooms as they were some time before the end of a log that one gate had to itself.
    Torn(State),
    /// Nothing; `new` when there was never anything.
    Nothing { new: bool },
}

impl Protocol {
    /// Readies a new log above `last_known`, in place of `seen`.
    pub(super) fn prepare(&mut self, seen: u64, last_known: u64, from: From, now: Duration) {
        let known = match &from {
            From::Rooms(state) | From::Torn(state) => state.position().incarnation,
            From::Nothing { .. } => 0,
        };
        let random = u32::try_from((self.random)() & 0x00FF_FFFF).unwrap_or(0);
        let last_known = last_known.max(seen).max(known);
        let Some(incarnation) = next_incarnation(last_known, self.time, random) else {
            tracing::error!(
                last_known,
                "no incarnation is left above the last: the rooms stand still"
            );
            let at = Position {
                incarnation: known,
                sequence: 0,
            };
            return self.freeze(at, None, now);
        };
        let new = match from {
            from if self.alone => self.own_log(seen, incarnation, from),
            From::Rooms(state) | From::Torn(state) => self.shared_log(seen, incarnation, Some(state)),
            From::Nothing { .. } => self.shared_log(seen, incarnation, None),
        };
        self.enter(Phase::Beginning(Box::new(new)), now);
    }

    /// Nobody else can have read further: the log has its root at once.
    fn own_log(&mut self, seen: u64, incarnation: u64, from: From) -> NewLog {
        let goes_on = matches!(from, From::Rooms(_));
        let state = match from {
            From::Rooms(mut state) => {
                state.mark_newcomers();
                state.begin(incarnation, Root::Own);
                state
            }
            From::Torn(mut state) => {
                state.mark_newcomers();
                state.begin(incarnation, Root::Own);
                state.doubt_codes(self.time);
                state
            }
            From::Nothing { new } => {
                let mut state = State::empty(incarnation, new).with_version(self.options.knows);
                // SECURITY: that nobody took this folder before does not say that no code was used: there may have been another.
                state.doubt_codes(self.time);
                state
            }
        };
        let root = snapshot(&state, self.time);
        self.renew_under_way(incarnation);
        NewLog {
            seen,
            incarnation,
            beginning: Beginning::Root(root),
            goes_on,
            state: Some(state),
        }
    }

    fn shared_log(&mut self, seen: u64, incarnation: u64, state: Option<State>) -> NewLog {
        let append = self.word(state.as_ref());
        NewLog {
            seen,
            incarnation,
            beginning: Beginning::First {
                incarnation,
                append: Box::new(append),
            },
            goes_on: state.is_some(),
            state,
        }
    }

    /// What this gate has read, as an entry of a log without a root.
    pub(super) fn word(&mut self, state: Option<&State>) -> Append {
        let mut spoke = state.map_or_else(Spoke::default, |state| Spoke {
            position: state.position(),
            nonce: state.nonce(),
            roster: state.roster().map(|gate| gate.id).collect(),
        });
        if !spoke.roster.contains(&self.gate) {
            spoke.roster.push(self.gate);
        }
        self.append(Batch {
            spoke: Some(spoke),
            ..Batch::default()
        })
    }

    /// A batch that says nothing about visitors, under the next serial.
    pub(super) fn append(&mut self, batch: Batch) -> Append {
        self.serial += 1;
        Append {
            gate: self.gate,
            serial: self.serial,
            nonce: (self.random)().to_le_bytes(),
            version: self.version(),
            batch: Batch {
                knows: self.options.knows,
                ..batch
            },
        }
    }

    pub(super) fn ask_to_begin(&mut self, now: Duration) -> Step {
        let Phase::Beginning(new) = &self.phase else {
            return Step::Wait(now);
        };
        let ask = Ask::Begin {
            seen: new.seen,
            beginning: new.beginning.clone(),
        };
        self.ask(Asked::Begin, ask)
    }

    pub(super) fn begun(&mut self, begun: Begun, now: Duration) {
        let Phase::Beginning(new) = self.take_phase() else {
            return;
        };
        let NewLog {
            incarnation,
            beginning,
            goes_on,
            state,
            ..
        } = *new;
        match (begun, beginning) {
            (Begun::Begun, Beginning::Root(root)) => {
                tracing::info!(incarnation, "a new log has begun");
                let Some(mut state) = state else { return };
                self.checkpoint.begin(&state, root.hash(), goes_on);
                self.archive_from(&state);
                self.publish(&mut state, now);
                self.configure(&state);
                self.heard = now;
                self.enter(Phase::Live(Box::new(state)), now);
            }
            (Begun::Begun, Beginning::First { .. }) => {
                tracing::warn!(
                    incarnation,
                    "a new log has begun; the gates agree on what it starts from"
                );
                self.enter(Phase::Rootless(Box::new(Healing::new(incarnation, state))), now);
            }
            (Begun::Lost { incarnation: 0 }, _) => self.restart(state, now),
            (Begun::Lost { .. }, Beginning::Root(_)) => self.restart(None, now),
            (Begun::Lost { incarnation }, Beginning::First { .. }) => self.follow(incarnation, state, now),
        }
    }

    /// Goes over to another log, which somebody else began.
    pub(super) fn follow(&mut self, incarnation: u64, old: Option<State>, now: Duration) {
        self.root_now = false;
        self.enter(Phase::Rootless(Box::new(Healing::new(incarnation, old))), now);
    }

    /// A batch that another log did not take, or may not have taken, says hello again with whatever visitors did. Its
    /// words about the other log are left out.
    pub(super) fn renew_under_way(&mut self, incarnation: u64) {
        self.hello = true;
        let version = self.version();
        if let Some(sent) = &mut self.under_way {
            self.serial += 1;
            sent.append.version = version;
            sent.append.serial = self.serial;
            sent.acknowledged = false;
            sent.incarnation = incarnation;
            let batch = &mut sent.append.batch;
            batch.hello = true;
            (batch.vote, batch.saved, batch.raise, batch.root, batch.adopt) = (None, None, None, None, None);
            batch.applied = 0;
            // The new log may run an earlier machine version than the one before did.
            sent.append.batch = std::mem::take(batch).under(version);
        }
    }
}
