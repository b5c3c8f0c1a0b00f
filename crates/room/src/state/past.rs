//! The log's memory of epochs, and of numbers that no line holds any more.
//!
//! A line that is forgotten or reset leaves, for each epoch, a floor: one past the highest number it may have issued. A later
//! line of any room begins above it, so no number is ever issued twice, and a ticket below it is late rather than lost. A
//! ticket of an unknown epoch proves that the store and every gate were lost at once.

use std::collections::BTreeMap;

use crate::codec::codec;
use crate::lane::epoch::MAX_EPOCHS;
use ropeline_ids::{Clock, Epoch, Number};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Past {
    /// Epochs the rooms have known; the last is the one that issues. At most `MAX_EPOCHS`.
    epochs: BTreeMap<Epoch, Known>,
    /// When this log began.
    since: Clock,
    /// Until when a ticket of an unknown epoch is taken as proof of a loss: the longest session after the log began. After
    /// that no visitor can still be inside with it, and a waiting visitor is long late.
    trusted_until: Clock,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Known {
    floor: u32,
    /// The last sequence of its log that was read; 0 while it issues, or if only a ticket told of it.
    end: u64,
}

codec! {
    struct Past { epochs, since, trusted_until } where is_sound;
    struct Known { floor, end };
}

/// The proof given by a genuine number of an epoch that its line does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Proof {
    /// Nothing was lost: its line was forgotten, or it comes too late to matter.
    Late,
    /// Of an epoch the rooms know: the line was lost with the end of that epoch.
    LostLine,
    /// Of an epoch that is known from tokens only: everything was lost.
    LostEpoch,
    /// Of a later epoch than the rooms': this replica is behind, or its log is.
    Ahead,
}

impl Past {
    pub fn new(epoch: Epoch) -> Self {
        Self {
            epochs: BTreeMap::from([(epoch, Known::default())]),
            since: Clock(0),
            trusted_until: Clock(0),
        }
    }

    /// The epoch that issues numbers.
    pub fn epoch(&self) -> Epoch {
        self.epochs.last_key_value().map_or(Epoch(0), |(epoch, _)| *epoch)
    }

    /// The first number that a new line may issue.
    pub fn floor(&self) -> u32 {
        self.epochs.last_key_value().map_or(0, |(_, known)| known.floor)
    }

    /// Numbers of an epoch below this are late wherever their line is not known.
    pub fn floor_of(&self, epoch: Epoch) -> u32 {
        self.epochs.get(&epoch).map_or(0, |known| known.floor)
    }

    pub fn prove(&self, number: Number, now: Clock) -> Proof {
        if number.epoch > self.epoch() {
            return Proof::Ahead;
        }
        match self.epochs.get(&number.epoch) {
            Some(known) if number.n < known.floor => Proof::Late,
            // This log has lost nothing of its own: the number was issued after the last entry that this replica has read.
            Some(_) if number.epoch == self.epoch() => Proof::Ahead,
            Some(known) if known.end == 0 && now < self.trusted_until => Proof::LostEpoch,
            Some(_) => Proof::LostLine,
            None if now >= self.trusted_until || self.is_older_than_all(number.epoch) => Proof::Late,
            None => Proof::LostEpoch,
        }
    }

    /// A ticket of an unknown epoch still proves a loss.
    pub fn trusts(&self, now: Clock) -> bool {
        now < self.trusted_until
    }

    /// An epoch is known by its tokens only.
    pub fn lacks_an_epoch(&self) -> bool {
        self.lacking().next().is_some()
    }

    /// The epochs that are known by their tokens only. The first, of a store that gates share, begins from an empty one that has no number.
    pub fn lacking(&self) -> impl Iterator<Item = Epoch> {
        let older = self.epochs.range(Epoch(1)..self.epoch().max(Epoch(1)));
        older.filter(|(_, known)| known.end == 0).map(|(epoch, _)| *epoch)
    }

    /// A number of an earlier log that its line may have lost.
    pub fn may_be_lost(&self, number: Number, now: Clock) -> bool {
        matches!(self.prove(number, now), Proof::LostEpoch | Proof::LostLine)
    }

    /// The epoch before the one that issues, and the last sequence of its log that was read.
    pub fn before(&self) -> Option<(Epoch, u64)> {
        let (epoch, known) = self.epochs.range(..self.epoch()).next_back()?;
        Some((*epoch, known.end))
    }

    /// The log begins anew: the epoch that issued ended at sequence `end`, and `epoch` issues from now on.
    pub fn open(&mut self, epoch: Epoch, end: u64, now: Clock) {
        self.note_end(self.epoch(), end);
        self.learn(epoch);
        self.since = now;
    }

    /// Notes how far an epoch went, unless it is known to have gone further.
    pub fn note_end(&mut self, epoch: Epoch, end: u64) {
        self.learn(epoch);
        if let Some(known) = self.epochs.get_mut(&epoch) {
            known.end = known.end.max(end);
        }
    }

    /// Without how long the epochs were, for a form of the state: only whether an end is known counts.
    #[cfg(any(test, feature = "testing"))]
    pub fn forget_ends(&mut self) {
        self.epochs.values_mut().for_each(|known| known.end = known.end.min(1));
    }

    /// The sequence at which an epoch ended, as far as is known; `None` for one unknown, or that has not.
    pub fn ended_at(&self, epoch: Epoch) -> Option<u64> {
        let known = self.epochs.get(&epoch).filter(|_| epoch < self.epoch())?;
        Some(known.end)
    }

    /// Every epoch with its end and floor; the one that issues has read up to `read`.
    pub fn ends(&self, read: u64) -> impl Iterator<Item = (Epoch, u64, u32)> {
        let issuing = self.epoch();
        let end = move |epoch, known: &Known| if epoch == issuing { read } else { known.end };
        self.epochs
            .iter()
            .map(move |(epoch, known)| (*epoch, end(*epoch, known), known.floor))
    }

    /// Notes that an epoch exists.
    pub fn learn(&mut self, epoch: Epoch) {
        self.epochs.entry(epoch).or_default();
        if self.epochs.len() > MAX_EPOCHS {
            self.epochs.pop_first();
        }
    }

    /// Notes the numbers that a line may have issued before it goes.
    pub fn raise(&mut self, ends: impl Iterator<Item = (Epoch, u32)>) {
        for (epoch, end) in ends {
            if let Some(known) = self.epochs.get_mut(&epoch) {
                known.floor = known.floor.max(end);
            }
        }
    }

    /// `session_max_ms` is the longest of any room.
    pub fn trust(&mut self, session_max_ms: u64) {
        self.trusted_until = self.since.plus(session_max_ms);
    }

    fn is_sound(&self) -> bool {
        (1..=MAX_EPOCHS).contains(&self.epochs.len())
    }

    /// A full table has forgotten its oldest epochs.
    fn is_older_than_all(&self, epoch: Epoch) -> bool {
        self.epochs.len() >= MAX_EPOCHS && self.epochs.first_key_value().is_some_and(|(oldest, _)| epoch < *oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(epoch: u64, n: u32) -> Number {
        Number { epoch: Epoch(epoch), n }
    }

    #[test]
    fn numbers_of_forgotten_lines_are_late_and_never_issued_again() {
        let mut past = Past::new(Epoch(10));
        past.raise([(Epoch(10), 7), (Epoch(9), 5)].into_iter());
        past.raise([(Epoch(10), 3)].into_iter());
        assert_eq!((past.floor(), past.epoch()), (7, Epoch(10)));
        assert_eq!(past.prove(number(10, 6), Clock(0)), Proof::Late);
        assert_eq!(past.prove(number(10, 7), Clock(0)), Proof::Ahead);
        past.open(Epoch(20), 0, Clock(0));
        assert_eq!(past.floor(), 0);
        assert_eq!(past.prove(number(10, 6), Clock(0)), Proof::Late);
        assert_eq!(past.prove(number(10, 7), Clock(0)), Proof::LostLine);
    }

    #[test]
    fn an_unknown_epoch_is_proof_of_a_loss_for_one_longest_session() {
        let mut past = Past::new(Epoch(10));
        past.open(Epoch(20), 0, Clock(500));
        past.trust(1_000);
        assert_eq!(past.prove(number(15, 0), Clock(1_499)), Proof::LostEpoch);
        assert_eq!(past.prove(number(15, 0), Clock(1_500)), Proof::Late);
        assert_eq!(past.prove(number(21, 0), Clock(0)), Proof::Ahead);
        past.learn(Epoch(15));
        assert_eq!(past.prove(number(15, 0), Clock(1_499)), Proof::LostEpoch);
        assert_eq!(past.prove(number(15, 0), Clock(1_500)), Proof::LostLine);
        past.note_end(Epoch(15), 9);
        assert_eq!(past.prove(number(15, 0), Clock(1_499)), Proof::LostLine);
    }

    #[test]
    fn an_epoch_is_lacking_until_it_is_brought_back_and_the_empty_one_before_the_first_never() {
        let mut past = Past::new(Epoch(0));
        past.open(Epoch(20), 0, Clock(0));
        assert!(!past.lacks_an_epoch());
        past.learn(Epoch(15));
        assert_eq!(past.lacking().collect::<Vec<_>>(), [Epoch(15)]);
        past.note_end(Epoch(15), 9);
        assert!(!past.lacks_an_epoch());
    }

    #[test]
    fn a_full_memory_takes_older_epochs_for_late() {
        let mut past = Past::new(Epoch(0));
        past.trust(1_000);
        for epoch in 1..=1_000 {
            past.open(Epoch(epoch), 0, Clock(0));
        }
        assert_eq!(past.prove(number(0, 0), Clock(0)), Proof::Late);
    }
}
