//! The items of one line since the last batch, and the line's section of the next.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::sync::oneshot;

use super::joiners::Joiners;
use super::sizes::{ITEM_BYTES, Space, TAG_BYTES};
use crate::replica::waiters::Waiters;
use crate::room::{
    Bound, Claim, Completion, Edition, End, Hold, LaneId, LineName, Number, RehearsalId, RoomName, Section, Tag,
};

/// Most bytes of a number that is encoded as its distance from one of the same lane and epoch.
const NEXT_BYTES: usize = 5;

/// A line, and the owner of its items: a rehearsal's visitors have sections of their own.
pub(super) type LineKey = (RoomName, LineName, Option<RehearsalId>);
pub(super) type Seat = (LaneId, Number);

/// The items of one line.
#[derive(Default)]
pub(super) struct Work {
    pub notes: BTreeMap<(Kind, Seat), Word>,
    /// The accounts of numbers.
    pub bound: BTreeMap<Seat, Whose>,
    pub joiners: Joiners,
    pub bypasses: u32,
    /// Of them not, but let past because of their network.
    pub networks: u32,
}

/// The subject of a note, in the order in which a full batch takes them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Claim,
    Reopen,
    Return,
    Hold,
    Complete,
    Leave,
    End,
    Renew,
    Mark,
}

impl Kind {
    /// How many notes may wait before one more of this kind is dropped: kinds that the next request repeats are dropped
    /// first.
    pub fn most(self) -> usize {
        match self {
            Self::Mark | Self::Reopen => MAX_NOTES,
            // Nor do marks of a waiting crowd cost a visitor inside the slot.
            Self::Renew | Self::Return | Self::Claim | Self::Hold | Self::Complete | Self::Leave | Self::End => {
                MAX_WORDS
            }
        }
    }

    /// No later request says it again.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Leave | Self::End)
    }

    /// Its numbers are packed in bulk: each is encoded as the difference from the one before it, if lane and epoch are the
    /// same.
    fn is_bulk(self) -> bool {
        matches!(
            self,
            Self::Leave | Self::Reopen | Self::Return | Self::Renew | Self::Mark
        )
    }
}

#[derive(Default)]
pub(super) struct Word {
    pub carried: bool,
    pub after_ms: u64,
    pub edition: Edition,
    /// Uptime at which it was seen last.
    pub seen: Duration,
    pub recorded: Vec<oneshot::Sender<()>>,
}

/// The tags of a number's account, and who wants to know that it is on record.
#[derive(Default)]
pub(super) struct Whose {
    pub tags: Vec<Tag>,
    pub recorded: Vec<oneshot::Sender<()>>,
}

impl Work {
    /// The number of notes for the bound.
    pub fn notes(&self) -> usize {
        self.notes.len() + self.bound.len()
    }

    pub fn is_empty(&self) -> bool {
        self.notes() == 0 && self.joiners.is_empty() && self.bypasses == 0 && self.networks == 0
    }

    /// This line's section, as far as there is room; `None` when it would be empty.
    pub fn cut(&mut self, key: &LineKey, space: &mut Space, waiters: &mut Waiters) -> Option<Section> {
        let mut section = Section {
            rehearsal: key.2,
            ..Section::new(key.0.clone(), key.1.clone())
        };
        let empty = section.clone();
        section.bypasses = std::mem::take(&mut self.bypasses);
        section.networks = std::mem::take(&mut self.networks);
        self.joiners.cut_new(&mut section, space, waiters);
        self.cut_notes(&mut section, space, waiters);
        self.cut_bound(&mut section, space, waiters);
        self.joiners.cut_again(&mut section, space, waiters);
        (section != empty).then_some(section)
    }

    fn cut_bound(&mut self, section: &mut Section, space: &mut Space, waiters: &mut Waiters) {
        while let Some(next) = self.bound.first_entry()
            && space.takes(ITEM_BYTES + TAG_BYTES * next.get().tags.len())
        {
            let ((lane, number), whose) = next.remove_entry();
            section.bound.push(Bound {
                lane,
                number,
                tags: whose.tags,
            });
            waiters.records.extend(whose.recorded);
        }
    }

    /// An entry applies leaves, ends and completions before claims. A visitor who came in and ended since the last batch is
    /// admitted by this one and ended by the next.
    fn cut_notes(&mut self, section: &mut Section, space: &mut Space, waiters: &mut Waiters) {
        let mut opened = BTreeSet::new();
        let mut held = Vec::new();
        let mut asked = Vec::new();
        let mut last = None;
        while let Some(((kind, seat), word)) = self.notes.pop_first() {
            let waits = kind.is_final() && opened.contains(&seat);
            let run = (kind, seat.0, seat.1.epoch);
            let bytes = if kind.is_bulk() && last == Some(run) {
                NEXT_BYTES
            } else {
                ITEM_BYTES
            };
            if waits || !space.takes(bytes) {
                held.push(((kind, seat), word));
                if waits {
                    continue;
                }
                break;
            }
            if matches!(kind, Kind::Claim | Kind::Reopen) {
                opened.insert(seat);
            }
            last = Some(run);
            if kind == Kind::Return {
                asked.push((word.seen, seat));
            }
            put(section, kind, seat, &word);
            waiters.records.extend(word.recorded);
        }
        self.notes.extend(held);
        // Slots go by the time of asking.
        asked.sort_unstable();
        section.returns.extend(asked.into_iter().map(|(_, seat)| seat));
    }
}

fn put(section: &mut Section, kind: Kind, seat: Seat, word: &Word) {
    let (lane, number) = seat;
    match kind {
        Kind::Leave => section.leaves.push(seat),
        Kind::Complete => section.completions.push(Completion {
            lane,
            number,
            edition: word.edition,
            after_ms: word.after_ms,
            at: None,
            tag: None,
        }),
        Kind::End => section.ends.push(End {
            lane,
            number,
            after_ms: word.after_ms,
        }),
        Kind::Claim => section.claims.push(Claim {
            lane,
            number,
            carried: word.carried,
        }),
        Kind::Reopen => section.reopens.push(seat),
        // In the order of asking, all at once.
        Kind::Return => {}
        Kind::Hold => section.holds.push(Hold {
            lane,
            number,
            for_ms: word.after_ms,
        }),
        Kind::Renew => section.renewals.push(seat),
        Kind::Mark => section.marks.push(seat),
    }
}

/// Most notes waiting: one from each of a quarter million visitors. Beyond it they are dropped and counted; the visitor's
/// next request repeats each.
pub(super) const MAX_NOTES: usize = 262_144;

/// Most notes, including use of sessions, and those that no later request repeats: purchases, leaves and admissions.
pub(super) const MAX_WORDS: usize = 2 * MAX_NOTES;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Batch, Epoch, MAX_BATCH_BYTES};

    #[test]
    fn marks_that_lie_together_fill_a_batch_and_those_far_apart_fit_it_too() {
        let key = (RoomName::new("main").unwrap(), LineName::ONLY, None);
        // Differences of one byte and of three.
        for apart in [100, 140_000] {
            let mut work = Work::default();
            for n in (0..30_000).map(|n| n * apart) {
                let seat = (LaneId(0), Number { epoch: Epoch(1), n });
                work.notes.insert((Kind::Mark, seat), Word::default());
            }
            let mut sizes = Vec::new();
            while !work.is_empty() {
                let mut space = Space(MAX_BATCH_BYTES - 256);
                let section = work.cut(&key, &mut space, &mut Waiters::default()).unwrap();
                sizes.push(section.marks.len());
                let batch = Batch {
                    sections: vec![section],
                    ..Batch::default()
                };
                assert!(batch.encoded_len() <= MAX_BATCH_BYTES, "{apart}");
            }
            assert_eq!((sizes.len(), sizes.iter().sum()), (3, 30_000), "{sizes:?}");
        }
    }
}
