//! The effect of a draw on a lane: the stretches of places that are drawn, and the place of each visitor in them.
//!
//! A number gets its first place from its epoch; a draw moves it to another place of the same stretches, which it keeps from
//! then on. All other parts of a lane use the present place, and no data is kept per visitor.

use std::ops::Range;
use std::sync::Arc;

use crate::codec::{Codec, Read, Reader, Writer, codec};
use crate::draw::{AdmissionOrder, Arrangement, Hash};
use ropeline_ids::{Edition, Place};

/// Most places of a lane that are drawn; visitors behind them keep their order of arrival.
pub(crate) const MAX_DRAWN: u64 = 1 << 24;

/// Most draws that a lane remembers, for the sessions of sales before. One more is not made, rather than one forgotten.
pub(crate) const MAX_DRAWS: usize = 64;

/// Stretches of a lane's axis, in order and apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stretches {
    ranges: Vec<Stretch>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Stretch {
    places: Range<u64>,
    /// Places in the stretches before.
    before: u64,
}

/// Past draws of a lane, and the one to come. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Draws {
    /// The line is closed for a draw that is not made yet.
    closed: Option<Arc<Stretches>>,
    /// In the order in which they were made; no place is in two of them.
    made: Vec<Arc<Drawn>>,
}

codec! {
    struct Draws { closed, made } where is_sound;
}

/// One draw that was made.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    edition: Edition,
    pub stretches: Stretches,
    key: Hash,
    order: AdmissionOrder,
    /// Follows from the rest.
    arranged: Arc<dyn Arrangement>,
}

impl PartialEq for Drawn {
    fn eq(&self, other: &Self) -> bool {
        let of = |drawn: &Self| (drawn.edition, drawn.key, drawn.order);
        of(self) == of(other) && self.stretches == other.stretches
    }
}

impl Eq for Drawn {}

impl Stretches {
    /// Of ranges in order and apart; places beyond [`MAX_DRAWN`] are left out.
    pub fn new(ranges: impl Iterator<Item = Range<u64>>) -> Self {
        let mut stretches = Self::default();
        for range in ranges {
            let before = stretches.total();
            let end = range.end.min(range.start.saturating_add(MAX_DRAWN - before));
            if range.start < end {
                let places = range.start..end;
                stretches.ranges.push(Stretch { places, before });
            }
        }
        stretches
    }

    /// How many places.
    pub fn count(&self) -> u32 {
        u32::try_from(self.total()).expect("no more than are drawn at most")
    }

    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The lowest place; for none a place above all.
    pub fn start(&self) -> Place {
        Place(self.ranges.first().map_or(u64::MAX, |stretch| stretch.places.start))
    }

    /// One past the highest place.
    pub fn end(&self) -> Place {
        Place(self.ranges.last().map_or(0, |stretch| stretch.places.end))
    }

    /// In order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<Place>> {
        self.ranges
            .iter()
            .map(|stretch| Place(stretch.places.start)..Place(stretch.places.end))
    }

    /// How many places of the stretches lie below; `None` for one that is not in them.
    pub fn index(&self, place: Place) -> Option<u32> {
        let after = self.ranges.partition_point(|stretch| stretch.places.start <= place.0);
        let stretch = self.ranges.get(after.checked_sub(1)?)?;
        let within = stretch.places.contains(&place.0);
        within.then(|| u32::try_from(stretch.before + place.0 - stretch.places.start).ok())?
    }

    /// The place that has `index` drawn places below it.
    fn place(&self, index: u32) -> Option<Place> {
        let index = u64::from(index);
        let after = self.ranges.partition_point(|stretch| stretch.before <= index);
        let stretch = self.ranges.get(after.checked_sub(1)?)?;
        let place = stretch.places.start + (index - stretch.before);
        (place < stretch.places.end).then_some(Place(place))
    }

    fn total(&self) -> u64 {
        let last = self.ranges.last();
        last.map_or(0, |last| last.before + (last.places.end - last.places.start))
    }
}

/// As ranges of places.
impl Codec for Stretches {
    fn write(&self, w: &mut Writer) {
        w.list(self.ranges.iter(), |w, stretch| {
            w.put(&stretch.places.start);
            w.put(&stretch.places.end);
        });
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let ranges = r.list(|r| Ok(r.get::<u64>()?..r.get()?))?;
        let rising = ranges
            .iter()
            .all(|range| range.start < range.end && range.end <= 1 << 54);
        let apart = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if !rising || !apart {
            return r.wrong();
        }
        let count: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        if count > MAX_DRAWN {
            return r.wrong();
        }
        Ok(Self::new(ranges.into_iter()))
    }
}

impl Draws {
    /// The visitors whose first places are in these ranges are to be drawn; the ranges are in order and apart.
    pub fn close(&mut self, ranges: impl Iterator<Item = Range<u64>>) {
        let stretches = Stretches::new(ranges);
        let apart = self.made.iter().all(|drawn| drawn.stretches.end() <= stretches.start());
        let fits = apart && self.made.len() < MAX_DRAWS && !stretches.is_empty();
        self.closed = fits.then(|| Arc::new(stretches));
    }

    /// The draw to come is cancelled.
    pub fn give_up(&mut self) {
        self.closed = None;
    }

    /// How many are drawn, or to be drawn, in an edition whose line is closed.
    pub fn count(&self, edition: Edition) -> u32 {
        let made = || self.of(edition).map(|drawn| drawn.stretches.count());
        let closed = self.closed.as_ref().map(|stretches| stretches.count());
        closed.or_else(made).unwrap_or(0)
    }

    /// Which of those drawn in an edition came at a place, and where they stand among them once that is known; from 0 on.
    pub fn entry(&self, edition: Edition, came: Place) -> Option<(u32, Option<u32>)> {
        if let Some(stretches) = &self.closed {
            return stretches.index(came).map(|index| (index, None));
        }
        let drawn = self.of(edition)?;
        let index = drawn.stretches.index(came)?;
        Some((index, drawn.arranged.place(index)))
    }

    /// The stretches drawn in an edition, or to be drawn.
    pub fn stretches(&self, edition: Edition) -> Option<&Stretches> {
        let made = || self.of(edition).map(|drawn| &drawn.stretches);
        self.closed.as_deref().or_else(made)
    }

    /// Makes the draw that the lane is closed for.
    pub fn make(&mut self, edition: Edition, (order, key): (AdmissionOrder, Hash)) -> Option<Arc<Drawn>> {
        let stretches = Arc::unwrap_or_clone(self.closed.take()?);
        let drawn = Arc::new(Drawn::new(edition, stretches, (order, key)));
        self.made.push(Arc::clone(&drawn));
        Some(drawn)
    }

    /// The present place of the visitor whose first place this is.
    pub fn stands(&self, came: Place) -> Place {
        let moved = self.made.iter().rev().find_map(|drawn| drawn.stands(came));
        moved.unwrap_or(came)
    }

    /// The first place of the visitor whose present place this is.
    pub fn came(&self, stands: Place) -> Place {
        let moved = self.made.iter().rev().find_map(|drawn| drawn.came(stands));
        moved.unwrap_or(stands)
    }

    /// The lowest of these places that is drawn, or to be.
    pub fn first_in(&self, places: Range<u64>) -> Option<u64> {
        let made = self.made.iter().map(|drawn| &drawn.stretches);
        let within = |range: Range<Place>| {
            let from = range.start.0.max(places.start);
            (from < range.end.0.min(places.end)).then_some(from)
        };
        let all = made.chain(self.closed.as_deref());
        all.flat_map(Stretches::ranges).filter_map(within).min()
    }

    /// Forgets draws below a place, except the last one, whose result is shown as long as its sale goes on. Returns a place
    /// below which no visitor arrived whose present place is at or behind the given one.
    pub fn drop_below(&mut self, place: Place) -> Place {
        let last = self.made.last().cloned();
        let lasts = |drawn: &Drawn| drawn.stretches.end() > place;
        self.made
            .retain(|drawn| lasts(drawn) || last.as_ref().is_some_and(|last| Arc::ptr_eq(drawn, last)));
        let starts = self.made.iter().filter(|drawn| lasts(drawn));
        let starts = starts.map(|drawn| drawn.stretches.start());
        starts.fold(place, Place::min)
    }

    /// The draw of this edition is made.
    pub fn is_made(&self, edition: Edition) -> bool {
        self.of(edition).is_some()
    }

    /// A visitor's present place may differ from the first.
    pub fn was_made(&self) -> bool {
        !self.made.is_empty()
    }

    /// No place is in two of them.
    fn is_sound(&self) -> bool {
        let stretches = self.made.iter().map(|drawn| &drawn.stretches);
        let stretches: Vec<_> = stretches.chain(self.closed.as_deref()).collect();
        let apart = stretches.windows(2).all(|pair| pair[0].end() <= pair[1].start());
        apart && self.made.len() <= MAX_DRAWS
    }

    fn of(&self, edition: Edition) -> Option<&Drawn> {
        let made = self.made.iter().rev().map(Arc::as_ref);
        made.into_iter().find(|drawn| drawn.edition == edition)
    }
}

impl Drawn {
    /// The order that a key gives the places of the stretches.
    pub fn new(edition: Edition, stretches: Stretches, (order, key): (AdmissionOrder, Hash)) -> Self {
        let arranged = order.arrange(&key.0, stretches.count());
        Self {
            edition,
            stretches,
            key,
            order,
            arranged,
        }
    }

    /// The present place of the visitor whose first place this is; `None` for a place that was not drawn.
    pub fn stands(&self, came: Place) -> Option<Place> {
        let index = self.arranged.place(self.stretches.index(came)?)?;
        self.stretches.place(index)
    }

    /// The first place of the visitor whose present place this is; `None` for a place that was not drawn.
    pub fn came(&self, stands: Place) -> Option<Place> {
        let index = self.arranged.number(self.stretches.index(stands)?)?;
        self.stretches.place(index)
    }
}

impl Codec for Drawn {
    fn write(&self, w: &mut Writer) {
        w.put(&self.edition);
        w.put(&self.stretches);
        w.put(&self.order);
        w.put(&self.key);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self::new(r.get()?, r.get()?, (r.get()?, r.get()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(ranges: &[Range<u64>]) -> Stretches {
        Stretches::new(ranges.iter().cloned())
    }

    #[test]
    fn places_are_counted_over_gaps_and_back() {
        let three = stretches(&[10..13, 20..20, 100..101, 200..205]);
        assert_eq!((three.count(), three.start(), three.end()), (9, Place(10), Place(205)));
        let found: Vec<_> = (0..300).filter_map(|place| three.index(Place(place))).collect();
        assert_eq!(found, (0..9).collect::<Vec<_>>());
        for index in 0..9 {
            assert_eq!(three.place(index).and_then(|place| three.index(place)), Some(index));
        }
        assert_eq!(three.place(9), None);
        assert_eq!(stretches(&[]).place(0), None);
    }

    #[test]
    fn no_more_are_drawn_than_can_be() {
        let most = stretches(&[0..MAX_DRAWN - 1, 1 << 30..(1 << 30) + 5, 1 << 40..1 << 41]);
        assert_eq!(u64::from(most.count()), MAX_DRAWN);
        assert_eq!(most.end(), Place((1 << 30) + 1));
    }

    #[test]
    fn a_draw_moves_everybody_within_the_stretches_and_nobody_else() {
        let drawn = Drawn::new(
            Edition(3),
            stretches(&[10..17, 100..106]),
            (AdmissionOrder::default(), Hash([7; 32])),
        );
        let came: Vec<Place> = (10..17).chain(100..106).map(Place).collect();
        let mut stand: Vec<Place> = came.iter().filter_map(|place| drawn.stands(*place)).collect();
        assert_ne!(stand, came);
        let back: Vec<Place> = stand.iter().filter_map(|place| drawn.came(*place)).collect();
        assert_eq!(back, came);
        stand.sort_unstable();
        assert_eq!(stand, came);
        assert_eq!((drawn.stands(Place(17)), drawn.came(Place(99))), (None, None));
    }

    #[test]
    fn what_overlaps_or_falls_is_no_draw() {
        let read = |ranges: &[(u64, u64)]| {
            let mut w = Writer::default();
            w.put(&ranges.to_vec());
            Reader::new(&w.bytes, "stretches").get::<Stretches>().is_ok()
        };
        assert!(read(&[(1, 3), (3, 9)]) && read(&[]));
        for wrong in [
            &[(3, 3)][..],
            &[(1, 4), (3, 9)],
            &[(5, 9), (1, 2)],
            &[(0, MAX_DRAWN + 1)],
        ] {
            assert!(!read(wrong), "{wrong:?}");
        }
    }
}
