//! Visitors and operators who wait for a batch, in the order of its items, and their answers when it is read back.

use std::time::Duration;

use tokio::sync::oneshot;

use super::inbox::{Changing, Granted, JoinOutcome, Joiner, Redeeming, Redemption, Unrecorded};
use crate::room::{Changed, Denied, Effects, Joined, Number, PendingId, Redeemed, Visitor};

/// The waiters of one batch.
#[derive(Default)]
pub(super) struct Waiters {
    /// For each item of the batch's `joins`, who came, in order of arrival.
    pub joins: Vec<Vec<Newcomer>>,
    /// For each item of its `pending_joins`, all who asked with that id.
    pub pending: Vec<Vec<Joiner>>,
    /// For each item of its `tagged`, all requests that asked with it, and whether a number whose answer reaches no request
    /// belongs to no visitor.
    pub tagged: Vec<(Vec<Joiner>, bool)>,
    /// For each of its `redeems`, who waits.
    pub redeems: Vec<Redeeming>,
    pub records: Vec<oneshot::Sender<()>>,
    /// For each of its `rooms`, the change and the revision that it must produce; `None` for a change that is sent once.
    pub changes: Vec<Option<(Changing, u64)>>,
}

/// Order of arrival at the gate: the uptime, and the number of joins before, which is unique.
pub(super) type At = (Duration, u64);

/// A visitor whom a batch numbers, without their id.
pub(super) struct Newcomer {
    pub id: PendingId,
    pub at: At,
    /// `None` where another batch is waited for.
    pub joiner: Option<Joiner>,
}

/// The parts of a batch that are to be sent again.
#[derive(Default)]
pub(super) struct Left {
    /// Visitors who were numbered but hung up before the answer, or who leave: no request will ever come with that number.
    pub gone: Vec<Visitor>,
    /// Changes before which another came.
    pub beaten: Vec<Changing>,
}

impl Waiters {
    /// Number of the batch's items with a waiting request.
    pub fn number(&self) -> usize {
        let joins = self.joins.iter().map(Vec::len).sum::<usize>();
        let joins = joins + self.pending.iter().map(Vec::len).sum::<usize>();
        joins + self.tagged.len() + self.redeems.len() + self.records.len() + self.changes.len()
    }

    /// Answers all requests, once the view is published that shows the results.
    pub fn resolve(self, effects: &Effects) -> Left {
        let mut left = Left::default();
        for (newcomers, joined) in self.joins.into_iter().zip(&effects.joined) {
            for (index, newcomer) in newcomers.into_iter().enumerate() {
                let outcome = numbered(joined, index);
                let heard = newcomer.joiner.map_or(Err(outcome), |joiner| answer(joiner, outcome));
                if let Err(JoinOutcome::Numbered(_, number)) = heard {
                    left.gone.push(visitor(joined, number));
                }
            }
        }
        for (joiners, joined) in self.pending.into_iter().zip(&effects.pending_joined) {
            for joiner in joiners {
                let (outcome, leaves) = (numbered(joined, 0), joiner.leaves);
                if let (JoinOutcome::Numbered(_, number), true) = (outcome, leaves) {
                    left.gone.push(visitor(joined, number));
                }
                // A visitor whose request was given up comes again with the same id.
                let _ = answer(joiner, outcome);
            }
        }
        for ((joiners, new), joined) in self.tagged.into_iter().zip(&effects.tagged_joined) {
            for joiner in joiners {
                let (outcome, leaves) = (numbered(joined, 0), joiner.leaves);
                let unheard = answer(joiner, outcome).is_err() && new;
                if let (JoinOutcome::Numbered(_, number), true) = (outcome, unheard || leaves) {
                    left.gone.push(visitor(joined, number));
                }
            }
        }
        for (redeeming, redeemed) in self.redeems.into_iter().zip(&effects.redeemed) {
            let Redeeming { answer, permit, .. } = redeeming;
            drop(permit);
            // A visitor whose request was given up asks again as the same holder.
            let _ = answer.send(redemption(redeemed));
        }
        for record in self.records {
            let _ = record.send(());
        }
        // A batch that was found in a snapshot has no results of its changes.
        let outcomes = effects.changed.iter().copied().map(Some);
        let outcomes = outcomes.chain(std::iter::repeat(None));
        for (said, changed) in self.changes.into_iter().zip(outcomes) {
            left.beaten
                .extend(said.and_then(|(said, revision)| settle(said, revision, changed)));
        }
        left
    }
}

/// Answers a change, or gives it back to be sent again; but not one that would be applied twice, if it may have been applied
/// already.
fn settle(said: Changing, revision: u64, changed: Option<Changed>) -> Option<Changing> {
    let again = said.over.is_none() && said.beaten < BEATEN_MOST && !(said.is_once() && changed.is_none());
    let outcome = match changed {
        Some(Changed::Taken) => Ok(revision),
        Some(Changed::Refused) => Err(Unrecorded::Refused),
        Some(Changed::Stale) | None if again => {
            return Some(Changing {
                beaten: said.beaten + 1,
                ..said
            });
        }
        Some(Changed::Stale) => Err(Unrecorded::Stale),
        None => Err(Unrecorded::CutOff),
    };
    match said.answer {
        Some(answer) => _ = answer.send(outcome),
        None if outcome.is_err() => tracing::warn!(room = %said.room, "a change of a room was not taken"),
        None => {}
    }
    None
}

/// Gives the outcome back when no request waits for it any more.
fn answer(joiner: Joiner, outcome: JoinOutcome) -> Result<(), JoinOutcome> {
    let Joiner { answer, permit, .. } = joiner;
    drop(permit);
    answer.send(outcome)
}

fn redemption(redeemed: &Redeemed) -> Redemption {
    let number = redeemed
        .joined
        .first
        .ok_or(redeemed.denied.unwrap_or(Denied::Refused))?;
    Ok(Granted {
        lane: redeemed.joined.lane,
        number,
        new: redeemed.new,
    })
}

fn visitor(joined: &Joined, number: Number) -> Visitor {
    Visitor {
        room: joined.room.clone(),
        line: joined.line.clone(),
        lane: joined.lane,
        number,
        rehearsal: None,
    }
}

fn numbered(joined: &Joined, index: usize) -> JoinOutcome {
    let Some(first) = joined.first else {
        return if joined.later {
            JoinOutcome::Later
        } else {
            JoinOutcome::Refused
        };
    };
    let Ok(index) = u32::try_from(index) else {
        return JoinOutcome::Later;
    };
    match first.n.checked_add(index) {
        Some(n) if index < joined.count => JoinOutcome::Numbered(joined.lane, Number { epoch: first.epoch, n }),
        _ => JoinOutcome::Later,
    }
}

/// How often a change is sent again because another came first. Each time it is based on the room's present state, so that
/// only this many others in a row prevent it.
const BEATEN_MOST: u8 = 16;

#[cfg(test)]
mod tests;
