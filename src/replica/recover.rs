//! From snapshots to states and back, and applying the next entry with all that may be wrong with it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::room::{Effects, Encoded, Entry, Position, State, Wall};
use crate::store::Snapshot;

/// The function that applies an entry: [`State::apply`], except in tests of panics in it.
pub(super) type Apply = fn(&mut State, &Encoded) -> Effects;

/// The result of applying an entry.
pub(super) enum Applied {
    Done(Effects),
    /// It is not the next of the history that the state is of; nothing was applied.
    AnotherHistory,
    /// Applying it panicked: the state is not to be used again.
    Panicked,
    /// It asks for a machine version that this binary is not to run; nothing was applied.
    Newer(u16),
}

/// Applies the next entry, or passes it over if it is one of `skips`.
pub(super) fn apply_next(apply: Apply, state: &mut State, entry: &Encoded, skips: &[Position], knows: u16) -> Applied {
    if !follows(state, entry) {
        return Applied::AnotherHistory;
    }
    if skips.contains(&entry.position) {
        state.pass_over(entry);
        return Applied::Done(Effects::default());
    }
    if let Some(version) = state.wants(entry).filter(|version| *version > knows) {
        return Applied::Newer(version);
    }
    guarded(apply, state, entry).map_or(Applied::Panicked, Applied::Done)
}

/// Applies an entry; `None` if that panicked, and then the state is not to be used again.
pub(super) fn guarded(apply: Apply, state: &mut State, entry: &Encoded) -> Option<Effects> {
    catch_unwind(AssertUnwindSafe(|| apply(state, entry))).ok()
}

/// The snapshot's state, if it is one of this version.
pub(super) fn decode(snapshot: &Snapshot) -> Option<State> {
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

/// Whether `entry` is the next of the history that `state` is of.
pub(super) fn follows(state: &State, entry: &Entry) -> bool {
    let at = state.position();
    let next = Position {
        epoch: at.epoch,
        sequence: at.sequence + 1,
    };
    entry.position == next && entry.previous == state.nonce()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_known_by_its_states_hash() {
        let mut state = State::empty(7);
        let of = |state: &State| (state.hash(), snapshot(state, Wall(5)).hash());
        let (before, saved) = of(&state);
        assert_eq!(before, saved);
        state.begin(9, crate::room::Root::Own);
        let (after, saved) = of(&state);
        assert_eq!(after, saved);
        assert_ne!(before, after);
    }
}
