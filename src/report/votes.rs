//! The gates' votes on their states, compared with the states of the replay.

use std::collections::BTreeMap;

use super::describe;
use super::findings::Dissent;
use super::replay::MOST_FAULTS;
use crate::room::{Entry, Position, State, StateHash};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Votes {
    /// The replay's own hashes at the beginning of the log and at the last checkpoints, by sequence.
    own: BTreeMap<u64, Own>,
    confirmed: Option<u64>,
    pub matched: u64,
    pub against: Vec<Dissent>,
    /// Votes against that are beyond the list.
    pub more: u64,
    /// States that gates voted on and no vote was for: how many, and the first.
    disowned: u64,
    first_disowned: Option<Position>,
}

#[derive(Debug)]
struct Own {
    position: Position,
    hash: StateHash,
    matched: bool,
    against: bool,
}

impl Votes {
    /// The next log begins.
    pub fn begin(&mut self) {
        for own in std::mem::take(&mut self.own).into_values() {
            self.judge(&own);
        }
        self.confirmed = None;
    }

    /// The replay reached this state, or began from it.
    pub fn know(&mut self, position: Position, hash: StateHash) {
        let own = Own {
            position,
            hash,
            matched: false,
            against: false,
        };
        if let Some(before) = self.own.insert(position.sequence, own) {
            self.judge(&before);
        }
        while self.own.len() > MOST_HASHES
            && let Some((_, own)) = self.own.pop_first()
        {
            self.judge(&own);
        }
    }

    /// Compares the entry's vote.
    pub fn vote(&mut self, entry: &Entry) {
        let Some(vote) = entry.batch.vote else { return };
        let Some(own) = self.own.get_mut(&vote.sequence) else {
            return;
        };
        if own.hash == vote.hash {
            own.matched = true;
            self.matched += 1;
            return;
        }
        own.against = true;
        if self.against.len() >= MOST_FAULTS {
            self.more += 1;
        } else {
            self.against.push(Dissent {
                gate: describe::gate(entry.gate),
                position: own.position.to_string(),
            });
        }
    }

    /// The sequence of a state that most gates newly confirmed, where it is another than the replay's.
    pub fn confirmed_another(&mut self, state: &State) -> Option<u64> {
        let (sequence, hash) = state.confirmed()?;
        if self.confirmed.replace(sequence) == Some(sequence) {
            return None;
        }
        let another = self.own.get(&sequence).is_some_and(|own| own.hash != hash);
        another.then_some(sequence)
    }

    /// At the end: the fault of states that no vote was for.
    pub fn fault(&mut self) -> Option<String> {
        self.begin();
        let first = self.first_disowned?;
        Some(format!(
            "no vote of a gate is for the state at {first}, and there are votes against it ({} such states)",
            self.disowned
        ))
    }

    fn judge(&mut self, own: &Own) {
        if own.against && !own.matched {
            self.disowned += 1;
            self.first_disowned.get_or_insert(own.position);
        }
    }
}

/// Most states whose hashes are remembered: votes come within seconds.
const MOST_HASHES: usize = 64;
