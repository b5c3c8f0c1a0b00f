//! Crowds: visitors who joined in one moment, many times as many as in the minutes before.

use std::ops::Range;

use crate::forecast::ages::ONE;
use ropeline_ids::Place;

/// Newcomers of one look are a crowd if they are so many, and come so many times as fast as those of the minutes before.
const LEAST: u64 = 32;
const TIMES: u64 = 6;

/// If the next look brings so many parts of a crowd again, it was the beginning of a rise.
const RISE: u64 = 3;

/// Crowds of a lane that are told apart; older ones are forgotten.
const MOST: usize = 32;

/// How a visitor came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// One after another.
    Stream,
    /// With many in one moment.
    Crowd,
}

impl Kind {
    /// Where it stands in lists of both.
    pub fn at(self) -> usize {
        match self {
            Self::Stream => 0,
            Self::Crowd => 1,
        }
    }

    /// So many halves of these visitors came in crowds.
    pub fn as_halves(self) -> u64 {
        match self {
            Self::Stream => 0,
            Self::Crowd => 2,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Crowds {
    /// Their places, in order.
    places: Vec<Range<Place>>,
    /// How fast the newcomers of the last look came, if they were a crowd.
    last: Option<u64>,
}

impl Crowds {
    /// These came since the last look: so many in a step, and before them so many in a step, in parts of [`ONE`].
    pub fn note(&mut self, came: Range<Place>, rate: u64, before: u64) {
        if self.last.take().is_some_and(|crowd| rate >= crowd / RISE) {
            self.places.pop();
        }
        let count = came.end.0.saturating_sub(came.start.0);
        if count >= LEAST && rate >= before.saturating_mul(TIMES).max(ONE) {
            self.last = Some(rate);
            self.places.push(came);
            let over = self.places.len().saturating_sub(MOST);
            self.places.drain(..over);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The visitor with this place came in a crowd of which calls have not passed a fourth, and not in the first crowd. Of such a crowd
    /// it is not known whether it behaves like those before.
    pub fn is_untried(&self, place: Place, head: Place) -> bool {
        let at = self.places.partition_point(|crowd| crowd.end <= place);
        at > 0
            && self.places.get(at).is_some_and(|crowd| {
                let tried = crowd.start.0 + (crowd.end.0 - crowd.start.0) / 4;
                crowd.contains(&place) && head.0 <= tried
            })
    }

    /// How the visitor with this place came.
    pub fn kind(&self, place: Place) -> Kind {
        let at = self.places.partition_point(|crowd| crowd.end <= place);
        match self.places.get(at) {
            Some(crowd) if crowd.contains(&place) => Kind::Crowd,
            _ => Kind::Stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_untried_until_a_fourth_of_it_is_passed() {
        let mut crowds = Crowds::default();
        crowds.note(Place(0)..Place(100), 100 * ONE, 0);
        crowds.note(Place(100)..Place(100), 0, 100 * ONE);
        crowds.note(Place(100)..Place(500), 400 * ONE, 0);
        let is_untried = |place: u64, head: u64| crowds.is_untried(Place(place), Place(head));
        assert!(is_untried(100, 0) && is_untried(499, 200));
        assert!(!is_untried(499, 201));
        assert!(!is_untried(500, 0));
        // Before the first crowd there is none that it could be unlike.
        assert!(!is_untried(0, 0) && !is_untried(99, 0));
    }

    impl Crowds {
        pub fn bytes(&self) -> usize {
            self.places.capacity() * size_of::<Range<Place>>()
        }
    }

    /// A lane that so many join in each step.
    #[derive(Default)]
    struct Lane {
        crowds: Crowds,
        next: u64,
        before: u64,
    }

    impl Lane {
        fn join(&mut self, count: u64) -> Range<Place> {
            let came = Place(self.next)..Place(self.next + count);
            self.next += count;
            self.crowds.note(came.clone(), count * ONE, self.before);
            self.before = u64::midpoint(self.before, count * ONE);
            came
        }

        fn after(counts: &[u64]) -> (Self, Vec<Range<Place>>) {
            let mut lane = Self::default();
            let came = counts.iter().map(|count| lane.join(*count)).collect();
            (lane, came)
        }
    }

    #[test]
    fn many_in_one_moment_are_a_crowd_and_those_around_them_are_not() {
        let (lane, came) = Lane::after(&[5, 5, 5, 200, 5, 5]);
        for (at, came) in came.iter().enumerate() {
            let want = if at == 3 { Kind::Crowd } else { Kind::Stream };
            let ends = [came.start, Place(came.end.0 - 1)];
            assert_eq!(ends.map(|place| lane.crowds.kind(place)), [want; 2], "{at}");
        }
        assert_eq!(lane.crowds.kind(Place(1_000)), Kind::Stream);
    }

    #[test]
    fn those_who_wait_at_the_first_look_are_a_crowd_if_they_are_many() {
        assert!(!Lane::after(&[100]).0.crowds.is_empty());
        assert!(Lane::after(&[31]).0.crowds.is_empty());
    }

    #[test]
    fn a_rise_is_no_crowd() {
        for rise in [&[5, 5, 200, 150][..], &[0, 100, 100, 100], &[100, 40]] {
            assert!(Lane::after(rise).0.crowds.is_empty(), "{rise:?}");
        }
        assert!(!Lane::after(&[5, 5, 200, 60]).0.crowds.is_empty());
    }

    #[test]
    fn a_few_more_than_usual_are_no_crowd() {
        assert!(Lane::after(&[5, 5, 5, 31, 5]).0.crowds.is_empty());
        assert!(Lane::after(&[50, 50, 50, 250, 5]).0.crowds.is_empty());
    }

    #[test]
    fn old_crowds_are_forgotten() {
        let counts: Vec<u64> = (0..100).flat_map(|_| [500, 0, 0, 0, 0]).collect();
        let (lane, came) = Lane::after(&counts);
        assert_eq!(lane.crowds.places.len(), MOST);
        assert_eq!(lane.crowds.kind(came[0].start), Kind::Stream);
        assert_eq!(lane.crowds.kind(came[495].start), Kind::Crowd);
    }
}
