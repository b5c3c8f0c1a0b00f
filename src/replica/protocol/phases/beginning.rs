//! Beginning: a new log where the old one ended, after an unclean start, when the store lost its history, or below a foreign epoch.

use std::time::Duration;

use super::transition::{Basis, NewLog, Transition, Turn};
use crate::replica::protocol::checkpoints::Checkpoints;
use crate::replica::protocol::context::Context;
use crate::replica::protocol::step::{Ask, Asked};
use crate::replica::publish::Condition;
use crate::replica::recover::snapshot;
use crate::room::{OLDEST, Position, Root, State};
use crate::store::{self, Append, Begun, Snapshot, next_epoch};

pub struct Beginning {
    /// The epoch that it takes the place of.
    seen: u64,
    epoch: u64,
    /// This gate has no rooms from before.
    from_nothing: bool,
    log: Log,
}

#[expect(clippy::large_enum_variant, reason = "one at a time, in the box of the phase")]
enum Log {
    /// This gate is alone on the log: no other gate can have read further, so the log has its root at once.
    Own {
        root: Snapshot,
        /// The rooms in the new epoch.
        state: State,
        /// They go on from the end of a log, so that the first batch names the root for replays of the logs.
        goes_on: bool,
    },
    /// Gates share it: its first entry says how far this one has read.
    Shared { first: Append, old: Option<State> },
}

impl Beginning {
    /// Readies a new log.
    ///
    /// # Errors
    /// Where no epoch is left above the last: the position at which the rooms freeze.
    pub fn new(context: &mut Context, new: NewLog) -> Result<Self, Position> {
        let NewLog {
            seen,
            last_known,
            basis,
        } = new;
        let known = match &basis {
            Basis::Rooms(state) | Basis::Torn(state) => state.position().epoch,
            Basis::Nothing => 0,
        };
        let random = u32::try_from(context.identity.random() & 0x00FF_FFFF).unwrap_or(0);
        let last_known = last_known.max(seen).max(known);
        let Some(epoch) = next_epoch(last_known, context.reader.time(), random) else {
            tracing::error!(last_known, "no epoch is left above the last: the rooms stand still");
            return Err(Position {
                epoch: known,
                sequence: 0,
            });
        };
        let from_nothing = matches!(basis, Basis::Nothing);
        let log = match basis {
            basis if context.identity.alone() => Self::own(context, epoch, basis),
            Basis::Rooms(state) | Basis::Torn(state) => Self::shared(context, Some(state)),
            Basis::Nothing => Self::shared(context, None),
        };
        Ok(Self {
            seen,
            epoch,
            from_nothing,
            log,
        })
    }

    fn own(context: &mut Context, epoch: u64, basis: Basis) -> Log {
        let time = context.reader.time();
        let goes_on = matches!(basis, Basis::Rooms(_));
        let mut state = match basis {
            Basis::Rooms(mut state) | Basis::Torn(mut state) => {
                state.mark_newcomers();
                state.begin(epoch, Root::Own);
                state
            }
            Basis::Nothing => context.no_rooms(epoch).with_version(context.identity.knows()),
        };
        if !goes_on {
            // SECURITY: a folder that was never taken before does not prove that no code was used: another folder may have
            // existed.
            state.doubt_codes(time);
        }
        context.outgoing.renew(OLDEST, epoch);
        Log::Own {
            root: snapshot(&state, time),
            state,
            goes_on,
        }
    }

    fn shared(context: &mut Context, old: Option<State>) -> Log {
        let first = context.outgoing.append_reading(&mut context.identity, old.as_ref());
        Log::Shared { first, old }
    }

    pub fn next(&self) -> Turn {
        let beginning = match &self.log {
            Log::Own { root, .. } => store::Beginning::Root(root.clone()),
            Log::Shared { first, .. } => store::Beginning::First {
                epoch: self.epoch,
                append: Box::new(first.clone()),
            },
        };
        let ask = Ask::Begin {
            seen: self.seen,
            beginning,
        };
        Turn::Ask(Asked::Begin, ask)
    }

    pub fn begun(self, context: &mut Context, begun: Begun, now: Duration) -> Transition {
        let epoch = self.epoch;
        match (begun, self.log) {
            (
                Begun::Begun,
                Log::Own {
                    root,
                    mut state,
                    goes_on,
                },
            ) => {
                tracing::info!(epoch, "a new log has begun");
                let checkpoints = Checkpoints::of_own_log(&state, root.hash(), goes_on);
                context.reader.archive_from(&state);
                context.publish(&mut state, now);
                context.configure(&state);
                context.reader.is_at_end(now);
                Transition::Live(Box::new(state), Box::new(checkpoints))
            }
            (Begun::Begun, Log::Shared { old, .. }) => {
                if old.is_some() {
                    tracing::warn!(epoch, "a new log has begun; the gates agree on what it starts from");
                } else {
                    tracing::info!(epoch, "a log has begun; the gates agree on what it starts from");
                }
                Transition::Follow { epoch, old }
            }
            (Begun::Lost { epoch: 0 }, Log::Own { state, .. }) => Transition::restart(Some(state), None),
            (Begun::Lost { epoch: 0 }, Log::Shared { old, .. }) => Transition::restart(old, None),
            (Begun::Lost { .. }, Log::Own { .. }) => Transition::restart(None, None),
            (Begun::Lost { epoch }, Log::Shared { old, .. }) => Transition::Follow { epoch, old },
        }
    }

    /// The rooms that the new log starts from.
    pub fn state(&self) -> Option<&State> {
        match &self.log {
            Log::Own { state, .. } => Some(state),
            Log::Shared { old, .. } => old.as_ref(),
        }
    }

    pub fn condition(&self) -> Condition {
        if self.from_nothing {
            return Condition::Opening;
        }
        Condition::Healing {
            left: Duration::from_secs(15),
            missing: 0,
        }
    }
}
