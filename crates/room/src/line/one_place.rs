//! One place per account: finds an account's place, and decides which of two it keeps.

use crate::lane::Lane;
use crate::lane::record::Record;
use crate::line::accounts::{Accounts, Tags};
use ropeline_ids::{LaneId, Number, Place, Tag};

pub(crate) type Seat = (LaneId, Place);

/// How good a live place is: inside before called before waiting, and then the lower one.
type Rank = (u8, Place, LaneId);

impl Accounts {
    /// The number that an account has, by any of its tags: in line or able to come back, called, or inside.
    pub fn number_of(&self, tags: &[Tag], lanes: &[Lane]) -> Option<(LaneId, Number)> {
        let (id, place) = tags.iter().find_map(|tag| self.seat(*tag, lanes))?;
        Some((id, lanes.get(usize::from(id.0))?.epochs.number(place)?))
    }

    /// A live number is an account's, from now on by the first of its tags; of several places the account keeps the best one, and the
    /// others are returned: they are given up. `None` for a number that is over, or another account's.
    pub fn bind(&mut self, seat: Seat, tags: &[Tag], lanes: &mut [Lane]) -> Option<Vec<Seat>> {
        let first = tags.first().copied()?;
        let (id, place) = seat;
        let lane = lanes.get_mut(usize::from(id.0))?;
        let owner = lane.tags.get(place);
        if rank(lane, id, place).is_none() || owner.is_some_and(|owner| !tags.contains(&owner)) {
            return None;
        }
        lane.tags.put(place, Some(first));
        let others: Vec<Seat> = tags.iter().filter_map(|tag| self.seat(*tag, lanes)).collect();
        for tag in tags.iter().filter(|tag| **tag != first) {
            self.remove(*tag);
        }
        let (mut best, mut given_up) = (seat, Vec::new());
        for other in others {
            best = better(best, other, lanes, &mut given_up);
        }
        if let Some(lane) = lanes.get_mut(usize::from(best.0.0)) {
            lane.tags.put(best.1, Some(first));
        }
        self.note(best, first, lanes);
        Some(given_up)
    }

    /// A number is valid again. If its account has another number meanwhile, the account keeps the better one and gives up
    /// the other.
    pub fn revive(&mut self, seat: Seat, lanes: &[Lane]) -> Vec<Seat> {
        let mut given_up = Vec::new();
        let lane = lanes.get(usize::from(seat.0.0));
        if let Some(tag) = lane.and_then(|lane| lane.tags.get(seat.1)) {
            let best = match self.seat(tag, lanes) {
                Some(other) => better(seat, other, lanes, &mut given_up),
                None => seat,
            };
            self.note(best, tag, lanes);
        }
        given_up
    }

    /// Forgets the owners of the places: a visitor who is still inside joins the next sale as all others do.
    pub fn forget(&mut self, lanes: &mut [Lane]) {
        *self = Self::default();
        for lane in lanes {
            lane.tags = Tags::default();
        }
    }

    /// Drops entries that are not used any more, once they are most of the table.
    pub fn tidy(&mut self, lanes: &[Lane]) {
        if self.is_stale(tags(lanes)) {
            *self = Self::index(lanes);
        }
    }

    /// Works the accounts out from the tags.
    pub fn index(lanes: &[Lane]) -> Self {
        let lanes = (0..).map(LaneId).zip(lanes);
        let live = lanes.flat_map(|(id, lane)| {
            let tags = lane.tags.iter_from(Place(0));
            tags.filter(move |(place, _)| rank(lane, id, *place).is_some())
                .map(move |(place, tag)| (tag, (id, lane.epochs.draws.came(place))))
        });
        live.collect()
    }

    /// Where an account's live place stands.
    fn seat(&self, tag: Tag, lanes: &[Lane]) -> Option<Seat> {
        let (id, came) = self.get(tag)?;
        let lane = lanes.get(usize::from(id.0))?;
        let place = lane.epochs.draws.stands(came);
        let live = lane.tags.get(place) == Some(tag) && rank(lane, id, place).is_some();
        live.then_some((id, place))
    }

    fn note(&mut self, (id, place): Seat, tag: Tag, lanes: &[Lane]) {
        if let Some(lane) = lanes.get(usize::from(id.0)) {
            let came = lane.epochs.draws.came(place);
            self.put(tag, (id, came));
        }
    }
}

pub(crate) fn tags(lanes: &[Lane]) -> u64 {
    lanes.iter().map(|lane| lane.tags.total()).sum()
}

/// Of two places of one account the better; the other is given up.
fn better(one: Seat, other: Seat, lanes: &[Lane], given_up: &mut Vec<Seat>) -> Seat {
    // One that is given up already is over, as far as a second look goes.
    if one == other || given_up.contains(&other) {
        return one;
    }
    let of = |(id, place): Seat| {
        let lane = lanes.get(usize::from(id.0));
        lane.and_then(|lane| rank(lane, id, place))
            .unwrap_or((u8::MAX, place, id))
    };
    let (best, worse) = if of(one) <= of(other) {
        (one, other)
    } else {
        (other, one)
    };
    given_up.push(worse);
    best
}

/// `None` for a place that is over: ended, left, spent or void.
pub(crate) fn rank(lane: &Lane, id: LaneId, place: Place) -> Option<Rank> {
    let class = match lane.slots.get(place) {
        Some(Record::Inside(_)) => 0,
        Some(Record::Called(_)) => 1,
        Some(Record::Missed { .. }) | None if lane.is_in_line(place) => 2,
        Some(Record::Missed { .. } | Record::Over { .. } | Record::Spent { .. }) | None => return None,
    };
    Some((class, place, id))
}
