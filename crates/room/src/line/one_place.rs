//! One place per account: who has one already, what an account's place is, and which of two it keeps.

use super::Line;
use crate::lane::Lane;
use crate::lane::record::Record;
use crate::line::accounts::{Accounts, MAX_TAGS, Tags};
use crate::settings::Settings;
use crate::state::context::Context;
use ropeline_ids::{LaneId, Number, Place, Tag};

type Seat = (LaneId, Place);

/// How good a live place is: inside before called before waiting, and then the lower one.
type Rank = (u8, Place, LaneId);

impl Line {
    /// The number that an account has, by any of its tags: in line or able to come back, called, or inside.
    pub fn number_of(&self, tags: &[Tag]) -> Option<(LaneId, Number)> {
        let (id, place) = tags.iter().find_map(|tag| self.seat(*tag))?;
        Some((id, self.lanes.get(usize::from(id.0))?.eras.number(place)?))
    }

    /// Whose a number is, or was when it was last live.
    pub fn owner(&self, id: LaneId, number: Number) -> Option<Tag> {
        let lane = self.lanes.get(usize::from(id.0))?;
        lane.tags.get(lane.place(number)?)
    }

    /// Whether the line can keep one more tag.
    pub fn has_room(&self) -> bool {
        self.tags() < MAX_TAGS
    }

    /// A live number is an account's, from now on by the first of its tags; of two the account keeps the better one. False for
    /// one that is over, or another account's.
    pub fn bind(&mut self, id: LaneId, number: Number, tags: &[Tag], settings: &Settings, m: &mut Context) -> bool {
        let Some(first) = tags.first().copied() else {
            return false;
        };
        let Some(lane) = self.lanes.get(usize::from(id.0)) else {
            return false;
        };
        let Some(place) = lane.place(number) else { return false };
        let owner = lane.tags.get(place);
        if rank(lane, id, place).is_none() || owner.is_some_and(|owner| !tags.contains(&owner)) {
            return false;
        }
        self.tag((id, place), first);
        let others: Vec<Seat> = tags.iter().filter_map(|tag| self.seat(*tag)).collect();
        for tag in tags.iter().filter(|tag| **tag != first) {
            self.accounts.remove(*tag);
        }
        let mut best = (id, place);
        for other in others {
            best = self.better(best, other, settings, m);
        }
        self.tag(best, first);
        self.note(best, first);
        true
    }

    /// A number lives again: if it is an account's that has another by now, the account keeps the better one.
    pub fn revive(&mut self, (id, place): Seat, settings: &Settings, m: &mut Context) {
        let Some(tag) = self.lanes.get(usize::from(id.0)).and_then(|lane| lane.tags.get(place)) else {
            return;
        };
        let best = match self.seat(tag) {
            Some(other) => self.better((id, place), other, settings, m),
            None => (id, place),
        };
        self.note(best, tag);
    }

    /// Forgets whose the places are: whoever is inside still joins the next sale as everybody does.
    pub fn forget_accounts(&mut self) {
        self.accounts = Accounts::default();
        for lane in &mut self.lanes {
            lane.tags = Tags::default();
        }
    }

    /// Drops what stands for nothing any more, once that is most of it.
    pub fn tidy_accounts(&mut self) {
        if self.accounts.is_stale(self.tags()) {
            self.index_accounts();
        }
    }

    /// Works the accounts out from the tags.
    pub fn index_accounts(&mut self) {
        let lanes = (0..).map(LaneId).zip(&self.lanes);
        let live = lanes.flat_map(|(id, lane)| {
            let tags = lane.tags.iter_from(Place(0));
            tags.filter(move |(place, _)| rank(lane, id, *place).is_some())
                .map(move |(place, tag)| (tag, (id, lane.eras.draws.came(place))))
        });
        self.accounts = live.collect();
    }

    fn tags(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.tags.total()).sum()
    }

    /// Where an account's live place stands.
    fn seat(&self, tag: Tag) -> Option<Seat> {
        let (id, came) = self.accounts.get(tag)?;
        let lane = self.lanes.get(usize::from(id.0))?;
        let place = lane.eras.draws.stands(came);
        let live = lane.tags.get(place) == Some(tag) && rank(lane, id, place).is_some();
        live.then_some((id, place))
    }

    /// Of two places of one account the better; the other is given up.
    fn better(&mut self, one: Seat, other: Seat, settings: &Settings, m: &mut Context) -> Seat {
        if one == other {
            return one;
        }
        let of = |(id, place): Seat| {
            let lane = self.lanes.get(usize::from(id.0));
            lane.and_then(|lane| rank(lane, id, place))
                .unwrap_or((u8::MAX, place, id))
        };
        let (best, worse) = if of(one) <= of(other) {
            (one, other)
        } else {
            (other, one)
        };
        let number = self.lanes.get(usize::from(worse.0.0));
        if let Some(number) = number.and_then(|lane| lane.eras.number(worse.1)) {
            let left = self.leave(worse.0, number, settings, m);
            m.given_up.extend(left.then_some((worse.0, number)));
        }
        best
    }

    fn tag(&mut self, (id, place): Seat, tag: Tag) {
        if let Some(lane) = self.lane(id) {
            lane.tags.put(place, Some(tag));
        }
    }

    fn note(&mut self, (id, place): Seat, tag: Tag) {
        if let Some(lane) = self.lanes.get(usize::from(id.0)) {
            let came = lane.eras.draws.came(place);
            self.accounts.put(tag, (id, came));
        }
    }
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
