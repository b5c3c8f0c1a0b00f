//! The states that a replay begins from: who vouches for each.
//!
//! A file of an archive may hold the state before its first entry. Where the entries before are available, they have to lead
//! to that state. Otherwise it has to be an empty one at a log's first start, or a gate has to have voted on it in a later
//! entry: the chain covers entries, and so it covers the vote.

use crate::archive::Link;
use crate::room::{Chain, Entry, Position, Root, State, StateHash};

/// A state that a replay began from, until its votes are counted.
#[derive(Debug)]
pub(super) struct Start {
    file: String,
    position: Position,
    hash: StateHash,
    votes: u64,
    votes_for: u64,
}

impl Start {
    pub fn new(file: &str, position: Position, state: &[u8]) -> Self {
        Self {
            file: file.to_owned(),
            position,
            hash: State::hash_of(state),
            votes: 0,
            votes_for: 0,
        }
    }

    /// Counts the entry's vote, if it is one on this state.
    pub fn count(&mut self, entry: &Entry) {
        let same_log = entry.position.epoch == self.position.epoch;
        let vote = entry.batch.vote.filter(|vote| vote.sequence == self.position.sequence);
        if let Some(vote) = vote.filter(|_| same_log) {
            self.votes += 1;
            self.votes_for += u64::from(vote.hash == self.hash);
        }
    }

    /// Its fault, once all entries have been read.
    pub fn fault(&self) -> Option<String> {
        let Self { file, position, .. } = self;
        match self.votes {
            0 => Some(format!(
                "{file}: no gate vouches for the state at {position}, from which the replay begins"
            )),
            votes if self.votes_for * 2 <= votes => Some(format!(
                "{file}: the state at {position}, from which the replay begins, is not the one that gates voted on"
            )),
            _ => None,
        }
    }
}

/// Whether the first state of a log needs no vote: it is the empty one, or follows from where the log before ended.
pub(super) fn is_proved(state: &State, bytes: &[u8], link: Option<Link>, before: Option<&State>) -> bool {
    match (link, before) {
        (Some(Link::Nothing), _) => state.is_empty_log(),
        // The loss is in the verdict, and the state that was gone on from is not here.
        (Some(Link::Lost { .. }), _) => true,
        (Some(Link::Whole), Some(before)) => {
            let begun = |from: &State, root: Root| {
                let mut begun = State::decode(&from.encode()).ok()?;
                begun.begin(state.position().epoch, root);
                Some(begun.encode())
            };
            let leads = |from: &State| {
                let roots = [Root::Hash(from.hash()), Root::Own];
                roots
                    .into_iter()
                    .any(|root| begun(from, root).as_deref() == Some(bytes))
            };
            // Gates of earlier builds left out visitors who had just joined.
            let marked = || before.with_newcomers_marked();
            state.position().sequence == 0 && (leads(before) || marked().as_ref().is_some_and(leads))
        }
        _ => false,
    }
}

/// The fault of where the history begins: it has to be a log's first start, or a `hash` that was asked for.
pub(super) fn beginning(first: Option<(Link, Position, Chain)>, from: Option<Chain>) -> Option<String> {
    let (link, position, before) = first?;
    match (link, from) {
        (_, Some(from)) if from == before => None,
        (_, Some(from)) => Some(format!(
            "the history does not begin behind the hash {from}: the first entry here, {position}, is behind {before}"
        )),
        (Link::Nothing, None) => None,
        (_, None) => Some(format!(
            "the history begins in the middle, at {position}: what was before is not here (behind the hash {before}, which an \
             earlier report may have)"
        )),
    }
}
