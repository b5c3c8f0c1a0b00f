//! From what the log has to a state: the best snapshot that decodes, and the entries that follow it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::log::{Exchanged, Loaded, Log, Snapshot, Unavailable};
use crate::room::{Effects, Entry, Position, State, Wall};

/// A state made from a log, and whether its log may be gone on with.
pub(super) struct Recovered {
    /// `None`: nothing was left to start from.
    pub state: Option<State>,
    pub outcome: Outcome,
    /// The log's incarnation now, 0 for no log.
    pub incarnation: u64,
    /// As [`Loaded`] says.
    pub new: bool,
    pub last_known: u64,
    pub time: Wall,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// All of the log is applied, and its last life ended properly.
    Complete,
    /// All that can be read is applied; what was said last may be lost.
    Unclean,
    /// The history that the state is of goes no further.
    Ended,
    /// Applying an entry panicked; the state is the one before it.
    Poisoned,
}

/// How an entry is applied: [`State::apply`], but for tests of what happens when it panics.
pub(super) type Apply = fn(&mut State, &Entry) -> Effects;

pub(super) fn recover(log: &mut dyn Log, apply: Apply) -> Result<Recovered, Unavailable> {
    let Loaded {
        incarnation,
        last_known,
        new,
        clean,
        time,
        snapshots,
        ..
    } = log.load()?;
    let found = |state, outcome, incarnation| Recovered {
        state,
        outcome,
        incarnation,
        new,
        last_known,
        time,
    };
    for snapshot in &snapshots {
        let Some(state) = decode(snapshot) else { continue };
        let (state, reached) = catch_up(log, state, apply, None)?;
        let outcome = match reached {
            Reached::End if clean => Outcome::Complete,
            Reached::End => Outcome::Unclean,
            Reached::Break(now) => return Ok(found(state, Outcome::Ended, now.unwrap_or(incarnation))),
            Reached::Poison(poison) => {
                tracing::error!(
                    ?poison,
                    "an entry of the log cannot be applied: the rooms stand still before it"
                );
                let Some(again) = decode(snapshot) else { break };
                let (state, _) = catch_up(log, again, apply, Some(poison))?;
                return Ok(found(state, Outcome::Poisoned, incarnation));
            }
        };
        return Ok(found(state, outcome, incarnation));
    }
    Ok(found(None, Outcome::Ended, incarnation))
}

/// The snapshot's state, if it is one of this version.
fn decode(snapshot: &Snapshot) -> Option<State> {
    match catch_unwind(|| State::decode(&snapshot.state)) {
        Ok(Ok(state)) if state.position() == snapshot.position => return Some(state),
        Ok(Ok(state)) => {
            tracing::error!(says = ?snapshot.position, holds = ?state.position(), "a snapshot is of another position");
        }
        Ok(Err(error)) => tracing::error!(%error, "a snapshot cannot be read"),
        Err(_) => tracing::error!("reading a snapshot failed half way"),
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    End,
    /// It goes no further; the log's incarnation now, where that was said.
    Break(Option<u64>),
    Poison(Position),
}

/// Applies what follows, up to `before` if given. After a poison there is no state to return.
fn catch_up(
    log: &mut dyn Log,
    mut state: State,
    apply: Apply,
    before: Option<Position>,
) -> Result<(Option<State>, Reached), Unavailable> {
    loop {
        let entries = match log.exchange(state.position(), None)? {
            Exchanged::Entries { entries, .. } if entries.is_empty() => return Ok((Some(state), Reached::End)),
            Exchanged::Entries { entries, .. } => entries,
            Exchanged::Broken { incarnation } => return Ok((Some(state), Reached::Break(Some(incarnation)))),
            Exchanged::Moved => return Ok((Some(state), Reached::Break(None))),
        };
        for entry in entries {
            if !follows(&state, &entry) || before.is_some_and(|before| entry.position >= before) {
                return Ok((Some(state), Reached::Break(None)));
            }
            if guarded(apply, &mut state, &entry).is_none() {
                return Ok((None, Reached::Poison(entry.position)));
            }
        }
    }
}

/// Whether `entry` is the next of the history that `state` is of.
pub(super) fn follows(state: &State, entry: &Entry) -> bool {
    let at = state.position();
    let next = Position {
        incarnation: at.incarnation,
        sequence: at.sequence + 1,
    };
    entry.position == next && entry.previous == state.nonce()
}

/// Applies an entry; `None` if that panicked, and then the state is not to be used again.
pub(super) fn guarded(apply: Apply, state: &mut State, entry: &Entry) -> Option<Effects> {
    catch_unwind(AssertUnwindSafe(|| apply(state, entry))).ok()
}

/// The state written down.
pub(super) fn snapshot(state: &State, time: Wall) -> Snapshot {
    Snapshot {
        position: state.position(),
        nonce: state.nonce(),
        time,
        state: state.encode(),
    }
}
