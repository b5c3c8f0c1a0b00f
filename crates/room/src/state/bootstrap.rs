//! The beginning of a log: with the rooms of the one before, at once or from the entry that names them as its root.
//!
//! A log that gates share begins without a root. Until it comes, the rooms stand still: no time passes, no visitor is called,
//! no slot is freed; gates that append keep the serial and the answers of the log before.

use std::sync::Arc;

use crate::entry::{Entry, StateHash};
use crate::state::State;
use crate::state::checkpoints::Checkpoints;
use ropeline_ids::Epoch;

/// How a state becomes the start of a new log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// It is the only one there is: a gate that has the log to itself.
    Own,
    /// The entry that names this hash.
    Hash(StateHash),
}

impl State {
    /// The same rooms under a new log: a new epoch for every lane, its base at least 2^20 places behind the end of the one
    /// before; sessions, marks and places kept. Gates of the old roster are silent unless they speak before the root
    /// comes; with [`Root::Own`] all of them are. Nothing happens unless `epoch` is above the present one.
    pub fn begin(&mut self, epoch: u64, root: Root) {
        if epoch <= self.head.position().epoch {
            return;
        }
        let (now, last) = (self.context.clock, self.context.past.epoch());
        Arc::make_mut(&mut self.context.past).open(Epoch(epoch), self.head.position().sequence, now);
        self.head.begin(epoch);
        self.checkpoints = Checkpoints::new(now);
        self.roster.begin();
        self.recovery.begin(match root {
            Root::Own => None,
            Root::Hash(hash) => Some(hash),
        });
        if self.rooted() {
            self.roster.close();
        }
        self.rooms.look_over(&mut self.context);
        for room in self.rooms.all_mut() {
            room.begin(Epoch(epoch), last, &self.context);
        }
        self.settle();
        self.published = None;
    }

    /// Visitors who are present only because they joined within `firm_within` get a mark, which keeps them present at least
    /// as long again. It is applied to the rooms with which a new log is to begin, before [`State::begin`], which counts no
    /// visitor as having just joined. It is not a rule of the machine, so that gates of all builds agree: only the root's
    /// bytes count.
    pub fn mark_newcomers(&mut self) {
        let now = self.context.clock;
        self.rooms.all_mut().for_each(|room| room.mark_newcomers(now));
        self.published = None;
    }

    /// The same state apart from this one, with its newcomers marked; `None` where its bytes cannot be read again.
    #[must_use]
    pub fn with_newcomers_marked(&self) -> Option<Self> {
        let mut marked = Self::decode(&self.encode()).ok()?;
        marked.mark_newcomers();
        Some(marked)
    }

    /// Begins the log of one gate that has the `root` of this hash: from these rooms with their newcomers marked, or
    /// unchanged, as gates of earlier builds begin. Unchanged if neither gives that root.
    pub fn go_on(&mut self, epoch: u64, root: StateHash) {
        if epoch <= self.head.position().epoch {
            return;
        }
        if let Some(mut marked) = self.with_newcomers_marked() {
            marked.begin(epoch, Root::Own);
            if marked.hash() == root {
                *self = marked;
                return;
            }
        }
        self.begin(epoch, Root::Own);
    }

    /// A log's first start: before its first entry, and nothing but empty, as [`State::empty`] makes it and as gates that share
    /// a store begin from it.
    #[must_use]
    pub fn is_empty_log(&self) -> bool {
        let (epoch, version) = (self.head.position().epoch, self.version());
        let bytes = self.encode();
        let empty = [Self::empty, Self::first, Self::after_a_loss];
        empty.iter().any(|empty| {
            let own = empty(epoch).with_version(version);
            let mut shared = empty(0).with_version(version);
            shared.begin(epoch, Root::Hash(shared.hash()));
            [own, shared].iter().any(|empty| empty.encode() == bytes)
        })
    }

    /// False from the beginning of a log that gates share to its root.
    #[must_use]
    pub fn rooted(&self) -> bool {
        self.recovery.rooted()
    }

    /// The last sequence of an epoch, as far as these rooms have read it or were informed; `None` for an unknown epoch, and
    /// for the one that issues numbers.
    #[must_use]
    pub fn ended_at(&self, epoch: Epoch) -> Option<u64> {
        self.context.past.ended_at(epoch)
    }

    /// An embedded log names its root in its first entry, so that a state of the log before can go on into it.
    pub(super) fn meet(&mut self, entry: &Entry) {
        if let Some(root) = entry.batch.root.filter(|_| entry.position.sequence == 1) {
            self.go_on(entry.position.epoch, root);
        }
    }

    /// Takes an entry of a log without a root. False if it contains parts that only count in a log with one.
    pub(super) fn gather(&mut self, entry: &Entry) -> bool {
        let batch = &entry.batch;
        self.roster.speak(entry, self.context.clock);
        if batch.goodbye {
            self.roster.goodbye(entry.gate);
        }
        let silent = if self.recovery.take_root(batch.root) {
            self.roster.close()
        } else {
            Vec::new()
        };
        self.recovery.miss(entry, silent, &self.context);
        batch.rooms.is_empty() && batch.sections.is_empty()
    }
}
