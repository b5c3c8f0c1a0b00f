//! The results of an entry: the answers for requests that wait at the gate that appended it.

use super::Section;
use crate::codec::codec;
use crate::room::codes::Denied;
use ropeline_ids::{Clock, LaneId, LineName, Number, RoomName};

/// The results of applying an entry, for the gate that appended it. Metrics come from the view's totals.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// One for each of the batch's `joins` items, in order: the first of `count` consecutive numbers.
    pub joined: Vec<Joined>,
    /// One for each of the batch's `pending_joins` items, in order.
    pub pending_joined: Vec<Joined>,
    /// One for each of the batch's `tagged` items, in order.
    pub tagged_joined: Vec<Joined>,
    /// One for each of the batch's `redeems`, in order.
    pub redeemed: Vec<Redeemed>,
    /// One for each of the batch's `rooms`, in order.
    pub changed: Vec<Changed>,
    /// Places that accounts gave up, since each keeps the better of two.
    pub given_up: Vec<GivenUp>,
    /// Items that were skipped because they were out of range, repeated or for no known visitor.
    pub skipped: u32,
    /// The entry was a repeat or of a gate not on the roster: nothing was applied.
    pub ignored: bool,
    /// The clock after the entry.
    pub clock: Clock,
}

/// `first` is `None` when no number was assigned: too many lines, lane unknown, room closed or gone; or `later`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Joined {
    pub room: RoomName,
    pub line: LineName,
    pub lane: LaneId,
    pub first: Option<Number>,
    pub count: u32,
    /// No more pending ids can be remembered: the join must be sent again.
    pub later: bool,
}

codec! {
    struct Joined { room, line, lane, first, count } derived { later };
}

/// The result of a [`Redeem`](crate::Redeem).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redeemed {
    pub joined: Joined,
    /// Why no number was assigned.
    pub denied: Option<Denied>,
    /// Called past all waiting visitors.
    pub past: bool,
    /// The code took effect with this entry: it was not so before.
    pub new: bool,
}

/// A place that an account gave up for a better one of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenUp {
    pub room: RoomName,
    pub line: LineName,
    pub lane: LaneId,
    pub number: Number,
}

/// The result of a change of a room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    Taken,
    /// Its revision is not above the room's: another change came first.
    Stale,
    /// There is no such room, or no room for one more, or it makes no sense there.
    Refused,
}

/// The result of a pending join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pended {
    Numbered(LaneId, Number),
    Refused,
    Later,
}

impl Effects {
    /// The answers to every kind of join.
    pub fn all_joined(&self) -> impl Iterator<Item = &Joined> {
        let joined = self.joined.iter().chain(&self.pending_joined);
        let codes = self.redeemed.iter().map(|redeemed| &redeemed.joined);
        joined.chain(&self.tagged_joined).chain(codes)
    }

    pub(crate) fn skip(&mut self, items: u32) {
        self.skipped = self.skipped.saturating_add(items);
    }

    /// Records the places that accounts gave up in a line.
    pub(crate) fn give_up(&mut self, room: &RoomName, line: &LineName, numbers: Vec<(LaneId, Number)>) {
        let of = |(lane, number)| GivenUp {
            room: room.clone(),
            line: line.clone(),
            lane,
            number,
        };
        self.given_up.extend(numbers.into_iter().map(of));
    }

    pub(crate) fn change(&mut self, changed: Changed) {
        self.skip(u32::from(changed != Changed::Taken));
        self.changed.push(changed);
    }

    /// Answers a join; a join without a number counts as skipped.
    pub(crate) fn answer(&mut self, section: &Section, (lane, count): (LaneId, u32), first: Option<Number>) {
        self.skip(u32::from(first.is_none()));
        self.joined.push(Joined {
            room: section.room.clone(),
            line: section.line.clone(),
            lane,
            first,
            count,
            later: false,
        });
    }

    pub(crate) fn answer_pending(&mut self, section: &Section, asked: LaneId, pended: Pended) {
        let joined = self.pended(section, asked, pended);
        self.pending_joined.push(joined);
    }

    pub(crate) fn answer_tagged(&mut self, section: &Section, asked: LaneId, pended: Pended) {
        let joined = self.pended(section, asked, pended);
        self.tagged_joined.push(joined);
    }

    /// A section of a room that is not there.
    pub(crate) fn refuse(&mut self, section: &Section) {
        self.skip(section.items());
        for join in &section.joins {
            self.answer(section, *join, None);
        }
        for (lane, _) in &section.pending_joins {
            self.answer_pending(section, *lane, Pended::Refused);
        }
        for tagged in &section.tagged {
            self.answer_tagged(section, tagged.lane, Pended::Refused);
        }
    }

    fn pended(&mut self, section: &Section, asked: LaneId, pended: Pended) -> Joined {
        let (lane, first) = match pended {
            Pended::Numbered(lane, number) => (lane, Some(number)),
            Pended::Refused | Pended::Later => (asked, None),
        };
        self.skip(u32::from(first.is_none()));
        Joined {
            room: section.room.clone(),
            line: section.line.clone(),
            lane,
            first,
            count: 1,
            later: pended == Pended::Later,
        }
    }
}
