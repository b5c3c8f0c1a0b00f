//! The present visitors of a lane: the bitmaps, and the rule that reads them.
//!
//! present(n) = not taken, and (n ≥ `fresh` and has not missed a turn, or marked in this or the last generation). The
//! rule is kept as a bitmap of its own, which answers positions; it follows from the others and is no part of the
//! state's bytes.

use std::ops::Range;

use crate::codec::codec;
use crate::lane::bits::{Bits, and, or, pages_of, range_words, without};
use crate::lane::drawn::Drawn;
use ropeline_ids::Place;

#[derive(Clone, Debug, Default)]
pub(crate) struct Presence {
    /// Called, inside, ended or left.
    taken: Bits,
    /// Seen in this generation, and in the one before.
    marked: Bits,
    marked_before: Bits,
    present: Bits,
    /// Places from here on were issued within `firm_within`.
    fresh: Place,
}

codec! {
    struct Presence { fresh, taken, marked, marked_before } derived { present };
}

impl Presence {
    /// No visitors yet; the first place is `start`.
    pub fn new(start: Place) -> Self {
        Self {
            fresh: start,
            ..Self::default()
        }
    }

    pub fn is_present(&self, place: Place) -> bool {
        self.present.get(place)
    }

    pub fn is_taken(&self, place: Place) -> bool {
        self.taken.get(place)
    }

    /// Marked in this generation.
    pub fn is_marked(&self, place: Place) -> bool {
        self.marked.get(place)
    }

    pub fn waiting(&self) -> u64 {
        self.present.total()
    }

    /// Present places below `place`.
    pub fn ahead(&self, place: Place) -> u64 {
        self.present.count_below(place)
    }

    pub fn lowest(&self) -> Option<Place> {
        self.present.first_from(Place(0))
    }

    /// The bits of present places.
    pub fn present(&self) -> &Bits {
        &self.present
    }

    /// The bits of places called, inside, ended or left.
    pub fn taken(&self) -> &Bits {
        &self.taken
    }

    pub fn has_marks(&self) -> bool {
        !self.marked.is_empty() || !self.marked_before.is_empty()
    }

    /// Newcomers are present without a mark.
    pub fn issue(&mut self, from: Place, to: Place) {
        self.present.set_range(from, to);
    }

    /// Seen now. Marks of taken places are the caller's to refuse.
    pub fn mark(&mut self, place: Place) {
        self.marked.set(place);
        self.present.set(place);
    }

    pub fn take(&mut self, place: Place) {
        self.taken.set(place);
        self.present.clear(place);
    }

    /// Clears these places, as if none of their visitors had been seen.
    pub fn void(&mut self, places: &Range<Place>) {
        let none = Bits::default();
        for bits in [&mut self.marked, &mut self.marked_before, &mut self.present] {
            bits.keep_marked(places.start, places.end, [&none, &none]);
        }
    }

    /// Back in line but not present: only a new mark makes it so.
    pub fn untake(&mut self, place: Place) {
        self.taken.clear(place);
        self.marked.clear(place);
        self.marked_before.clear(place);
    }

    /// A generation ends: visitors who are not fresh and were not marked in it are gone. `missed` are the fresh places that
    /// missed a turn.
    pub fn turn(&mut self, missed: impl Iterator<Item = Place>) {
        self.marked_before = std::mem::take(&mut self.marked);
        self.present
            .keep_marked(Place(0), self.fresh, [&self.marked_before, &self.marked]);
        for place in missed {
            self.lapse(place);
        }
    }

    /// Places issued before `fresh` need a mark from now on.
    pub fn freshen(&mut self, fresh: Place) {
        if fresh > self.fresh {
            self.present
                .keep_marked(self.fresh, fresh, [&self.marked, &self.marked_before]);
            self.fresh = fresh;
        }
    }

    /// Moves all visitors as a draw says. A visitor who is present only because of a recent join stays so until this
    /// generation ends.
    pub fn draw(&mut self, drawn: &Drawn) {
        let (ranges, to) = (
            || drawn.stretches.ranges(),
            |place| drawn.stands(place).unwrap_or(place),
        );
        for range in ranges() {
            let new: Vec<Place> = self.present.ones(range.start.max(self.fresh), range.end).collect();
            for place in new.into_iter().filter(|place| !self.marked.get(*place)) {
                self.marked_before.set(place);
            }
        }
        self.freshen(drawn.stretches.end());
        for bits in [
            &mut self.taken,
            &mut self.marked,
            &mut self.marked_before,
            &mut self.present,
        ] {
            bits.permute(ranges(), to);
        }
    }

    /// Visitors who are present because of a recent join and were not marked in this generation.
    pub fn newcomers(&self) -> impl Iterator<Item = Place> {
        let fresh = self.present.ones(self.fresh, Place(u64::MAX));
        fresh.filter(|place| !self.marked.get(*place))
    }

    /// Newcomers are present by a mark from now on: until this generation ends if it is `long` enough, else until the next.
    pub fn mark_newcomers(&mut self, long: bool) {
        for place in self.newcomers().collect::<Vec<_>>() {
            if long {
                self.marked_before.set(place);
            } else {
                self.marked.set(place);
            }
        }
    }

    pub fn fresh(&self) -> Place {
        self.fresh
    }

    pub fn drop_below(&mut self, horizon: Place) {
        self.fresh = self.fresh.max(horizon);
        for bits in [
            &mut self.taken,
            &mut self.marked,
            &mut self.marked_before,
            &mut self.present,
        ] {
            bits.drop_below(horizon);
        }
    }

    fn lapse(&mut self, place: Place) {
        if !self.marked.get(place) && !self.marked_before.get(place) {
            self.present.clear(place);
        }
    }

    /// Computes the present places from the other bitmaps.
    pub fn derive(&mut self, next: Place, missed: impl Iterator<Item = Place>) {
        let marked = self
            .marked
            .pages()
            .chain(self.marked_before.pages())
            .map(|(index, _)| index);
        let fresh = pages_of(self.fresh, next);
        for index in marked.filter(|index| !fresh.contains(index)).collect::<Vec<_>>() {
            self.derive_page(index, next);
        }
        for index in fresh {
            self.derive_page(index, next);
        }
        for place in missed {
            self.lapse(place);
        }
    }

    fn derive_page(&mut self, index: u64, next: Place) {
        let none = [0; 64];
        let of = |bits: &Bits| *bits.page(index).unwrap_or(&none);
        let seen = or(&of(&self.marked), &of(&self.marked_before));
        let seen = or(&seen, &range_words(index, self.fresh, next));
        let seen = without(&and(&seen, &range_words(index, Place(0), next)), &of(&self.taken));
        self.present.change_page(index, |_| seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(issued: u64) -> Presence {
        let mut presence = Presence::new(Place(0));
        presence.issue(Place(0), Place(issued));
        presence
    }

    fn present(presence: &Presence, below: u64) -> Vec<u64> {
        (0..below).filter(|place| presence.is_present(Place(*place))).collect()
    }

    /// The result of decoding the same bitmaps.
    fn derived(presence: &Presence, next: u64, missed: &[u64]) -> Vec<u64> {
        let mut again = Presence {
            present: Bits::default(),
            ..presence.clone()
        };
        again.derive(Place(next), missed.iter().copied().map(Place));
        present(&again, next)
    }

    #[test]
    fn newcomers_are_present_until_they_are_no_longer_fresh() {
        let mut presence = with(5);
        presence.mark(Place(1));
        presence.freshen(Place(3));
        assert_eq!(present(&presence, 5), [1, 3, 4]);
        assert_eq!(derived(&presence, 5, &[]), [1, 3, 4]);
    }

    #[test]
    fn a_mark_lasts_this_generation_and_the_next() {
        let mut presence = with(3);
        presence.freshen(Place(3));
        presence.mark(Place(1));
        presence.turn(std::iter::empty());
        assert_eq!(present(&presence, 3), [1]);
        assert!(!presence.is_marked(Place(1)));
        presence.turn(std::iter::empty());
        assert!(present(&presence, 3).is_empty());
        assert!(!presence.has_marks());
    }

    #[test]
    fn taken_places_are_absent_and_back_in_line_only_with_a_new_mark() {
        let mut presence = with(3);
        presence.mark(Place(1));
        presence.take(Place(1));
        assert_eq!((present(&presence, 3), presence.is_taken(Place(1))), (vec![0, 2], true));
        presence.untake(Place(1));
        assert_eq!(present(&presence, 3), [0, 2]);
        assert_eq!(derived(&presence, 3, &[1]), [0, 2]);
        presence.mark(Place(1));
        assert_eq!(present(&presence, 3), [0, 1, 2]);
    }

    #[test]
    fn a_fresh_place_that_missed_its_turn_lapses_with_its_mark() {
        let mut presence = with(3);
        presence.take(Place(1));
        presence.untake(Place(1));
        presence.mark(Place(1));
        presence.turn([Place(1)].into_iter());
        assert_eq!(present(&presence, 3), [0, 1, 2]);
        presence.turn([Place(1)].into_iter());
        assert_eq!(present(&presence, 3), [0, 2]);
        assert_eq!(derived(&presence, 3, &[1]), [0, 2]);
    }

    #[test]
    fn positions_count_the_present_below() {
        let mut presence = with(10_000);
        presence.take(Place(3));
        presence.take(Place(5_000));
        assert_eq!((presence.ahead(Place(4)), presence.ahead(Place(9_999))), (3, 9_997));
        assert_eq!((presence.waiting(), presence.lowest()), (9_998, Some(Place(0))));
    }

    #[test]
    fn nothing_below_the_horizon_is_kept() {
        let mut presence = with(10);
        presence.mark(Place(2));
        presence.take(Place(3));
        presence.drop_below(Place(6));
        assert_eq!(present(&presence, 10), [6, 7, 8, 9]);
        assert!(!presence.has_marks() && !presence.is_taken(Place(3)));
    }
}
