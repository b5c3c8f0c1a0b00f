//! Who waits for what in a batch, in the order of its items, and how they are answered when it is read back.

use tokio::sync::oneshot;

use super::inbox::{JoinOutcome, Joiner, Unrecorded};
use crate::room::{Effects, Joined, Number, RoomName, View, Visitor};

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
    /// Tells everybody what became of them; `view` is the one published with the entry. Gives back whoever was numbered
    /// and is not there to hear it: nobody will ever come with that number.
    pub fn resolve(self, effects: &Effects, view: &View) -> Vec<Visitor> {
        let mut gone = Vec::new();
        for (joiners, joined) in self.joins.into_iter().zip(&effects.joined) {
            for (index, joiner) in joiners.into_iter().enumerate() {
                if let Err(JoinOutcome::Numbered(number)) = answer(joiner, numbered(joined, index)) {
                    gone.push(visitor(joined, number));
                }
            }
        }
        for (joiners, joined) in self.pending.into_iter().zip(&effects.pending_joined) {
            for joiner in joiners {
                // Whoever gave up comes again with the same id.
                let _ = answer(joiner, numbered(joined, 0));
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
        gone
    }
}

/// The outcome comes back when nobody waits for it any more.
fn answer(joiner: Joiner, outcome: JoinOutcome) -> Result<(), JoinOutcome> {
    let Joiner { answer, permit } = joiner;
    drop(permit);
    answer.send(outcome)
}

fn visitor(joined: &Joined, number: Number) -> Visitor {
    Visitor {
        room: joined.room.clone(),
        line: joined.line.clone(),
        lane: joined.lane,
        number,
    }
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
