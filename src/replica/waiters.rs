//! Who waits for what in a batch, in the order of its items, and how they are answered when it is read back.

use tokio::sync::oneshot;

use super::inbox::{JoinOutcome, Joiner, Unrecorded};
use crate::room::{Effects, Joined, Number, RoomName, View};

/// The waiters of one batch.
#[derive(Default)]
pub(super) struct Waiters {
    /// For each item of the batch's `joins`, the joiners in order of arrival.
    pub joins: Vec<Vec<Joiner>>,
    /// For each item of its `pending_joins`, all who asked with that id.
    pub pending: Vec<Vec<Joiner>>,
    pub records: Vec<oneshot::Sender<()>>,
    pub changes: Vec<ChangeWaiter>,
}

pub(super) struct ChangeWaiter {
    pub room: RoomName,
    pub revision: u64,
    pub answer: oneshot::Sender<Result<u64, Unrecorded>>,
}

impl Waiters {
    /// Tells everybody what became of them; `view` is the one published with the entry.
    pub fn resolve(self, effects: &Effects, view: &View) {
        for (joiners, joined) in self.joins.into_iter().zip(&effects.joined) {
            for (index, joiner) in joiners.into_iter().enumerate() {
                answer(joiner, numbered(joined, index));
            }
        }
        for (joiners, joined) in self.pending.into_iter().zip(&effects.pending_joined) {
            for joiner in joiners {
                answer(joiner, numbered(joined, 0));
            }
        }
        for record in self.records {
            let _ = record.send(());
        }
        for change in self.changes {
            // A room that is gone has taken its removal.
            let taken = view
                .rooms
                .get(&change.room)
                .is_none_or(|room| room.revision >= change.revision);
            let _ = change.answer.send(if taken {
                Ok(change.revision)
            } else {
                Err(Unrecorded::Refused)
            });
        }
    }
}

/// Somebody who gave up meanwhile leaves a ghost, gone after `firm_within`.
fn answer(joiner: Joiner, outcome: JoinOutcome) {
    let Joiner { answer, permit } = joiner;
    drop(permit);
    let _ = answer.send(outcome);
}

fn numbered(joined: &Joined, index: usize) -> JoinOutcome {
    let Some(first) = joined.first else {
        return JoinOutcome::Refused;
    };
    let Ok(index) = u32::try_from(index) else {
        return JoinOutcome::Later;
    };
    match first.n.checked_add(index) {
        Some(n) if index < joined.count => JoinOutcome::Numbered(Number { era: first.era, n }),
        _ => JoinOutcome::Later,
    }
}
