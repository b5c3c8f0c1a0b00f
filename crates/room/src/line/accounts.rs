//! Which account has which place of a line: the tags of one lane by place, and a line's accounts by their tags.
//!
//! A place keeps its tag for as long as its number can still be used: until the horizon has passed it and no session is left.
//! An account has only one live place in a line; its dead ones are remembered so that a session that is opened again is
//! recognised as its own. The tags by place are the state's bytes, and are shared with the view; the accounts by tag follow
//! from them.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::codec::{Codec, Read, Reader, Writer, codec};
use crate::lane::paged::{Leaf, Paged};
use ropeline_ids::{LaneId, Number, PendingId, Place, Tag};

/// Most tags that a line keeps; a visitor beyond that is not numbered yet. They take about 40 bytes each.
pub(crate) const MAX_TAGS: u64 = 1 << 24;

/// A visitor who joins among those with an account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tagged {
    pub lane: LaneId,
    /// The account's tags, first the one that is to be kept; none for a visitor without an account.
    pub tags: Vec<Tag>,
    /// From a pending ticket: the number that it was given before belongs to the account from now on.
    pub id: Option<PendingId>,
}

/// A number that is an account's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    pub lane: LaneId,
    pub number: Number,
    /// As of [`Tagged`].
    pub tags: Vec<Tag>,
}

codec! {
    struct Tagged { lane, tags, id };
}

/// Places in one piece.
const PIECE: u64 = 64;

/// The tags of one lane, by the place where each stands. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tags {
    pieces: Paged<Piece>,
}

#[derive(Clone, Debug)]
struct Piece {
    tags: [Tag; 64],
    /// Bit i: there is a tag at place i.
    held: u64,
}

impl Tags {
    pub fn total(&self) -> u64 {
        self.pieces.total()
    }

    pub fn get(&self, place: Place) -> Option<Tag> {
        let (at, bit) = within(place);
        let piece = self.pieces.get(place.0 / PIECE)?;
        (piece.held & bit != 0).then(|| piece.tags[at])
    }

    pub fn put(&mut self, place: Place, tag: Option<Tag>) {
        // PERF: the check first keeps an unchanged piece shared with the view.
        if self.get(place) == tag {
            return;
        }
        let (at, bit) = within(place);
        self.pieces.change(place.0 / PIECE, |piece| {
            piece.tags[at] = tag.unwrap_or(NOBODY);
            piece.held = if tag.is_some() {
                piece.held | bit
            } else {
                piece.held & !bit
            };
        });
    }

    pub fn iter_from(&self, from: Place) -> impl Iterator<Item = (Place, Tag)> {
        let pieces = self.pieces.iter_from(from.0 / PIECE);
        pieces
            .flat_map(|(index, piece)| piece.iter(index))
            .skip_while(move |(place, _)| *place < from)
    }

    /// The tags of these places move to other places of them.
    pub fn permute(&mut self, ranges: impl Iterator<Item = Range<Place>>, to: impl Fn(Place) -> Place) {
        let within = |range: Range<Place>| {
            self.iter_from(range.start)
                .take_while(move |(place, _)| *place < range.end)
        };
        let held: Vec<(Place, Tag)> = ranges.flat_map(within).collect();
        for (place, _) in &held {
            self.put(*place, None);
        }
        for (place, tag) in held {
            self.put(to(place), Some(tag));
        }
    }
}

impl Codec for Tags {
    fn write(&self, w: &mut Writer) {
        w.var(self.total());
        let mut last = 0;
        for (place, tag) in self.iter_from(Place(0)) {
            w.var(place.0 - last);
            w.put(&tag);
            last = place.0;
        }
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut tags = Self::default();
        let mut last = None;
        for _ in 0..r.count()? {
            let step = r.var()?;
            let place = last.unwrap_or(0_u64).checked_add(step);
            let Some(place) = place.filter(|_| step > 0 || last.is_none()) else {
                return r.wrong();
            };
            tags.put(Place(place), Some(r.get()?));
            last = Some(place);
        }
        Ok(tags)
    }
}

impl Piece {
    fn iter(&self, index: u64) -> impl Iterator<Item = (Place, Tag)> {
        let places = (index * PIECE..).map(Place);
        places
            .zip(self.tags)
            .filter(|(place, _)| self.held & within(*place).1 != 0)
    }
}

impl Default for Piece {
    fn default() -> Self {
        Self {
            tags: [NOBODY; 64],
            held: 0,
        }
    }
}

impl Leaf for Piece {
    fn count(&self) -> u16 {
        u16::try_from(self.held.count_ones()).expect("a piece has 64 places")
    }
}

/// Where there is no tag.
const NOBODY: Tag = Tag([0; 8]);

fn within(place: Place) -> (usize, u64) {
    let at = place.0 % PIECE;
    (usize::try_from(at).expect("a piece has 64 places"), 1 << at)
}

/// A line's accounts: the first place of each one's number, lane and place in one word. Some are not used any more.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    /// By the tag as a number, which is compared at once.
    seats: BTreeMap<u64, u64>,
}

impl Accounts {
    /// The lane in which an account's number was issued, and the place where that came, before any draw.
    pub fn get(&self, tag: Tag) -> Option<(LaneId, Place)> {
        let seat = self.seats.get(&key(tag))?;
        let lane = LaneId((seat & LANES).to_le_bytes()[0]);
        Some((lane, Place(seat >> LANE_BITS)))
    }

    pub fn put(&mut self, tag: Tag, seat: (LaneId, Place)) {
        self.seats.insert(key(tag), word(seat));
    }

    pub fn remove(&mut self, tag: Tag) {
        self.seats.remove(&key(tag));
    }

    /// At least half of the tags are not used any more.
    pub fn is_stale(&self, tags: u64) -> bool {
        u64::try_from(self.seats.len()).is_ok_and(|seats| seats > 2 * tags + STALE)
    }
}

/// PERF: with this, and tags compared as numbers, a snapshot with 1.2 million accounts is read in 0.12 s; one by one, as bytes, it took 1.03 s.
impl FromIterator<(Tag, (LaneId, Place))> for Accounts {
    /// The last of several of one tag counts.
    fn from_iter<I: IntoIterator<Item = (Tag, (LaneId, Place))>>(seats: I) -> Self {
        Self {
            seats: seats.into_iter().map(|(tag, seat)| (key(tag), word(seat))).collect(),
        }
    }
}

fn key(tag: Tag) -> u64 {
    u64::from_be_bytes(tag.0)
}

fn word((lane, came): (LaneId, Place)) -> u64 {
    came.0 << LANE_BITS | u64::from(lane.0)
}

/// A line has eight lanes at most, and no place is at 2^54 or above.
const LANE_BITS: u32 = 3;
const LANES: u64 = 7;

/// As many as this are not worth a look.
const STALE: u64 = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(byte: u8) -> Tag {
        Tag([byte; 8])
    }

    fn all(tags: &Tags) -> Vec<(u64, u8)> {
        tags.iter_from(Place(0))
            .map(|(place, tag)| (place.0, tag.0[0]))
            .collect()
    }

    #[test]
    fn tags_are_put_replaced_removed_and_listed_by_place() {
        let mut tags = Tags::default();
        for (place, byte) in [(1 << 52, 1), (3, 2), (64, 0), (63, 4)] {
            tags.put(Place(place), Some(tag(byte)));
        }
        tags.put(Place(3), Some(tag(9)));
        tags.put(Place(63), None);
        tags.put(Place(62), None);
        assert_eq!(all(&tags), [(3, 9), (64, 0), (1 << 52, 1)]);
        assert_eq!((tags.get(Place(64)), tags.get(Place(63))), (Some(tag(0)), None));
        assert_eq!((tags.total(), tags.iter_from(Place(4)).count()), (3, 2));
    }

    #[test]
    fn tags_move_within_their_ranges() {
        let mut tags = Tags::default();
        (0..6).for_each(|place| tags.put(Place(u64::from(place)), Some(tag(place))));
        let ranges = [Place(1)..Place(3), Place(4)..Place(5)];
        let to = |place: Place| Place([0, 2, 4, 3, 1, 5][usize::try_from(place.0).unwrap()]);
        tags.permute(ranges.into_iter(), to);
        assert_eq!(all(&tags), [(0, 0), (1, 4), (2, 1), (3, 3), (4, 2), (5, 5)]);
    }

    #[test]
    fn tags_come_back_from_bytes_that_rise() {
        let mut tags = Tags::default();
        for (place, byte) in [(0, 1), (7, 2), (1 << 52, 3)] {
            tags.put(Place(place), Some(tag(byte)));
        }
        let mut w = Writer::default();
        w.put(&tags);
        assert_eq!(all(&Reader::new(&w.bytes, "tags").get().unwrap()), all(&tags));
        let mut twice = w.bytes.clone();
        // The second has the place of the first.
        twice[10] = 0;
        assert!(Reader::new(&twice, "tags").get::<Tags>().is_err());
        assert!(Reader::new(&w.bytes[..30], "tags").get::<Tags>().is_err());
    }

    #[test]
    fn an_accounts_lane_and_place_come_back() {
        let mut accounts = Accounts::default();
        let seat = (LaneId(7), Place((1 << 54) - 1));
        accounts.put(tag(1), seat);
        assert_eq!((accounts.get(tag(1)), accounts.get(tag(2))), (Some(seat), None));
        accounts.remove(tag(1));
        assert_eq!(accounts.get(tag(1)), None);
        let all = [(tag(1), (LaneId(0), Place(3))), (tag(2), seat), (tag(1), seat)];
        let accounts = Accounts::from_iter(all);
        assert_eq!((accounts.get(tag(1)), accounts.get(tag(2))), (Some(seat), Some(seat)));
    }
}
