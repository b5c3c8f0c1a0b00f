//! The slots of one lane: the record of each number that was called, and how many of these hold a slot.
//!
//! A record says whether a slot is held, and the count changes where the record changes, here and nowhere else. The sum over
//! all lanes of a line is compared with its capacity ([`Held::free`]). Records are stored by place in small shared pieces, so
//! that publishing a view costs only the changed pieces.

use std::ops::Range;

use crate::codec::{Codec, Read, Reader, Writer};
use crate::lane::paged::{Leaf, Paged};
use crate::lane::record::Record;
use ropeline_ids::Place;

/// Places in one piece.
const PIECE: u64 = 16;

#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    pieces: Paged<Piece>,
    held: Held,
    /// Slots that have come free since they were last asked for; asked for before an entry ends.
    freed: u32,
}

/// How many hold a slot, or a right without one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Held {
    pub called: u32,
    pub inside: u32,
    /// Of those inside: opened again beyond the room's own calls.
    pub excess: u32,
    /// Inside without a slot.
    pub parked: u32,
}

/// The slot that a record holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hold {
    Nothing,
    Called,
    Inside {
        excess: bool,
    },
    /// A right without a slot.
    Parked,
}

/// The effect of a changed record on the counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moved {
    /// A right is held from now on.
    In,
    /// It is not any more.
    Out,
    No,
}

#[derive(Clone, Debug, Default)]
struct Piece {
    records: [Option<Record>; 16],
    held: u16,
}

impl Hold {
    fn is_slot(self) -> bool {
        matches!(self, Self::Called | Self::Inside { .. })
    }
}

impl Held {
    /// Called and inside.
    pub fn slots(self) -> u32 {
        self.called.saturating_add(self.inside)
    }

    /// Called, inside and parked.
    pub fn rights(self) -> u32 {
        self.slots().saturating_add(self.parked)
    }

    /// Slots free under the capacity; none while there are more sessions than that.
    pub fn free(self, capacity: u32) -> u64 {
        u64::from(capacity.saturating_sub(self.slots()))
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            called: self.called.saturating_add(other.called),
            inside: self.inside.saturating_add(other.inside),
            excess: self.excess.saturating_add(other.excess),
            parked: self.parked.saturating_add(other.parked),
        }
    }

    /// One more that holds so, or one less.
    fn count(&mut self, hold: Hold, by: fn(u32, u32) -> u32) {
        match hold {
            Hold::Nothing => {}
            Hold::Called => self.called = by(self.called, 1),
            Hold::Inside { excess } => {
                self.inside = by(self.inside, 1);
                self.excess = by(self.excess, u32::from(excess));
            }
            Hold::Parked => self.parked = by(self.parked, 1),
        }
    }
}

impl Slots {
    pub fn held(&self) -> Held {
        self.held
    }

    pub fn get(&self, place: Place) -> Option<&Record> {
        self.pieces.get(place.0 / PIECE)?.records[of_piece(place)].as_ref()
    }

    /// The record of `place`, replaced or (`None`) removed.
    pub fn put(&mut self, place: Place, record: Option<Record>) -> Moved {
        let before = self.pieces.change(place.0 / PIECE, |piece| {
            let before = std::mem::replace(&mut piece.records[of_piece(place)], record);
            piece.held = piece.held + u16::from(record.is_some()) - u16::from(before.is_some());
            hold(before.as_ref())
        });
        let after = hold(record.as_ref());
        // PERF: most records that change still hold the same.
        if before == after {
            return Moved::No;
        }
        self.held.count(before, u32::saturating_sub);
        self.held.count(after, u32::saturating_add);
        let frees = before.is_slot() && !after.is_slot();
        self.freed = self.freed.saturating_add(u32::from(frees));
        match (before, after) {
            (Hold::Nothing, _) => Moved::In,
            (_, Hold::Nothing) => Moved::Out,
            _ => Moved::No,
        }
    }

    /// The records of these places move to other places of them.
    pub fn permute(&mut self, ranges: impl Iterator<Item = Range<Place>>, to: impl Fn(Place) -> Place) {
        let freed = self.freed;
        let held: Vec<(Place, Record)> = ranges
            .flat_map(|range| self.within(range).collect::<Vec<_>>())
            .collect();
        for (place, _) in &held {
            self.put(*place, None);
        }
        for (place, record) in held {
            self.put(to(place), Some(record));
        }
        self.freed = freed;
    }

    /// How many slots have come free since the last call of this function.
    pub fn take_freed(&mut self) -> u32 {
        std::mem::take(&mut self.freed)
    }

    fn within(&self, range: Range<Place>) -> impl Iterator<Item = (Place, Record)> {
        let records = self
            .iter_from(range.start)
            .take_while(move |(place, _)| *place < range.end);
        records.map(|(place, record)| (place, *record))
    }

    /// All records, by place.
    pub fn iter(&self) -> impl Iterator<Item = (Place, &Record)> {
        self.iter_from(Place(0))
    }

    pub fn iter_from(&self, from: Place) -> impl Iterator<Item = (Place, &Record)> {
        let pieces = self.pieces.iter_from(from.0 / PIECE);
        pieces
            .flat_map(|(index, piece)| piece.iter(index))
            .skip_while(move |(place, _)| *place < from)
    }

    /// Records that are new or other than in `before`.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = (Place, &'a Record)> {
        let pieces = self.pieces.changed_since(&before.pieces);
        pieces
            .flat_map(|(index, piece)| piece.iter(index))
            .filter(|(place, record)| before.get(*place) != Some(record))
    }
}

impl Codec for Slots {
    fn write(&self, w: &mut Writer) {
        w.var(self.pieces.total());
        for (place, record) in self.iter() {
            w.put(&place);
            w.put(record);
        }
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut slots = Self::default();
        for _ in 0..r.count()? {
            let place = r.get()?;
            slots.put(place, Some(r.get()?));
        }
        Ok(slots)
    }
}

impl Piece {
    fn iter(&self, index: u64) -> impl Iterator<Item = (Place, &Record)> {
        let places = (index * PIECE..).map(Place);
        places
            .zip(&self.records)
            .filter_map(|(place, record)| record.as_ref().map(|record| (place, record)))
    }
}

impl Leaf for Piece {
    fn count(&self) -> u16 {
        self.held
    }
}

fn hold(record: Option<&Record>) -> Hold {
    match record {
        Some(Record::Called(_)) => Hold::Called,
        Some(Record::Inside(session)) if session.is_parked() => Hold::Parked,
        Some(Record::Inside(session)) => Hold::Inside { excess: session.excess },
        Some(Record::Missed { .. } | Record::Spent { .. } | Record::Over { .. }) | None => Hold::Nothing,
    }
}

fn of_piece(place: Place) -> usize {
    usize::try_from(place.0 % PIECE).expect("a piece has 16 places")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline_ids::Wall;

    fn missed(at: u64) -> Record {
        Record::Missed { at: Wall(at), count: 1 }
    }

    #[test]
    fn records_are_put_replaced_removed_and_listed_by_place() {
        let mut slots = Slots::default();
        for place in [40, 3, 17] {
            slots.put(Place(place), Some(missed(place)));
        }
        slots.put(Place(3), Some(missed(9)));
        slots.put(Place(17), None);
        slots.put(Place(18), None);
        let all: Vec<_> = slots.iter().map(|(place, record)| (place.0, *record)).collect();
        assert_eq!(all, [(3, missed(9)), (40, missed(40))]);
        assert_eq!(slots.iter_from(Place(4)).count(), 1);
        assert_eq!(slots.get(Place(17)), None);
    }

    /// A session in a room with active slots takes no more memory than another.
    #[test]
    fn a_record_takes_forty_bytes() {
        assert_eq!(size_of::<Option<Record>>(), 40);
    }

    #[test]
    fn records_come_back_from_bytes() {
        let mut slots = Slots::default();
        slots.put(Place(1 << 52), Some(missed(7)));
        let mut w = Writer::default();
        w.put(&slots);
        let back = Reader::new(&w.bytes, "slots").get::<Slots>().unwrap();
        assert_eq!(back.iter().collect::<Vec<_>>(), slots.iter().collect::<Vec<_>>());
    }
}
