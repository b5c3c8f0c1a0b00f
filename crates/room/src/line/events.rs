//! What gates saw and did, one item at a time: each method says whether the item was for anybody.

use super::Line;
use crate::entry::{Claim, End, Section};
use crate::lane::Lane;
use crate::lane::era::Found;
use crate::lane::record::{Call, EndedBy, Record, Session};
use crate::line::deadlines::Due;
use crate::room::edition::Current;
use crate::settings::Settings;
use crate::state::context::Context;
use crate::state::past::Proof;
use crate::version::WITH_SCHEDULES;
use ropeline_ids::{Clock, Edition, Era, LaneId, Number};

impl Line {
    /// Applies everything of a section but its joins, in the design's order. Says how many items were passed over.
    pub fn apply(&mut self, section: &Section, settings: &Settings, current: Current, m: &mut Context) -> u32 {
        let mut skipped = 0;
        let mut note = |applied: bool| skipped += u32::from(!applied);
        for (lane, number) in &section.leaves {
            note(self.leave(*lane, *number, settings, m));
        }
        for end in &section.ends {
            note(self.end(end, settings, m));
        }
        for done in &section.completions {
            // Nobody virtual buys anything.
            note(match section.rehearsal {
                Some(_) => self.end(&done.end(), settings, m),
                None => self.complete(done, settings, current, m),
            });
        }
        for claim in &section.claims {
            note(self.claim(claim, settings, m));
        }
        for (lane, number) in &section.taken {
            note(self.use_up(*lane, *number, None, settings, m));
        }
        for (lane, number) in &section.spent {
            let spent = Record::Spent { at: m.time };
            note(self.use_up(*lane, *number, Some(spent), settings, m));
        }
        for (lane, number) in &section.reopens {
            note(self.reopen(*lane, *number, settings, m));
        }
        for (lane, number) in &section.renewals {
            note(self.renew(*lane, *number, settings, m));
        }
        for (lane, number) in &section.marks {
            note(self.mark(*lane, *number, settings, m));
        }
        for (lane, number) in &section.voids {
            note(self.void_below(*lane, *number, settings, m));
        }
        for bound in &section.bound {
            note(self.bind(bound.lane, bound.number, &bound.tags, settings, m));
        }
        skipped
    }

    /// Numbers `count` newcomers and says the first number.
    pub fn join(&mut self, lane: LaneId, count: u32, settings: &Settings, now: Clock) -> Option<Number> {
        let first = self.lane(lane)?.issue(count, settings, now)?;
        self.figures.joins += u64::from(count);
        Some(first)
    }

    pub(crate) fn leave(&mut self, id: LaneId, number: Number, settings: &Settings, m: &Context) -> bool {
        let Some(lane) = self.lane(id) else { return false };
        let Some(place) = lane.place(number) else { return false };
        let in_line = lane.is_in_line(place);
        match lane.slots.get(place).copied() {
            Some(Record::Inside(session)) => self.close((id, place), &session, EndedBy::Word, settings, m),
            Some(Record::Called(call)) => {
                self.count((id, place), |figures| {
                    figures.called -= 1;
                    figures.left += 1;
                });
                self.free_piece((id, place));
                self.leave_over((id, place), EndedBy::Word, call.count, settings, m);
            }
            Some(Record::Over {
                end: EndedBy::Idling,
                count,
                ..
            }) => {
                self.leave_over((id, place), EndedBy::Word, count, settings, m);
            }
            Some(Record::Missed { .. }) | None if in_line => {
                lane.slots.put(place, None);
                lane.presence.take(place);
                self.count((id, place), |figures| figures.left += 1);
            }
            _ => return false,
        }
        true
    }

    /// The shop ends a session. A claim of the same batch comes after its end, so a called number is let in to end.
    pub fn end(&mut self, end: &End, settings: &Settings, m: &Context) -> bool {
        let Some(lane) = self.lane(end.lane) else { return false };
        let Some(place) = lane.place(end.number) else {
            return false;
        };
        let session = match lane.slots.get(place).copied() {
            Some(Record::Inside(session)) => session,
            Some(Record::Called(call)) => self.admit((end.lane, place), &call, settings, m),
            _ => return false,
        };
        let expires = session.expires.min(m.clock.plus(end.after_ms));
        self.keep(
            (end.lane, place),
            Record::Inside(Session {
                expires,
                ending: true,
                ..session
            }),
        );
        true
    }

    /// A request of a called visitor is forwarded: from now on they are inside. Of one inside it is a renewal.
    fn claim(&mut self, claim: &Claim, settings: &Settings, m: &Context) -> bool {
        let Some(lane) = self.lane(claim.lane) else {
            return false;
        };
        let Some(place) = lane.place(claim.number) else {
            return false;
        };
        let session = match lane.slots.get(place).copied() {
            Some(Record::Called(call)) => self.admit((claim.lane, place), &call, settings, m),
            Some(Record::Inside(session)) => renewed(session, settings, m),
            _ => return false,
        };
        let carried = session.carried || claim.carried;
        self.keep((claim.lane, place), Record::Inside(Session { carried, ..session }));
        true
    }

    /// Opens a session that a gate went on honouring, or whose genuine pass the room does not know, as excess. What its
    /// visitor, the shop or the operator ended stays ended.
    fn reopen(&mut self, id: LaneId, number: Number, settings: &Settings, m: &mut Context) -> bool {
        let Some(lane) = self.known_lane(id, number, settings, m) else {
            return false;
        };
        let Some(place) = lane.reclaim(number) else {
            return false;
        };
        let in_line = lane.is_in_line(place);
        let session = match lane.slots.get(place).copied() {
            Some(Record::Called(call)) => self.admit((id, place), &call, settings, m),
            Some(
                Record::Over {
                    end: EndedBy::Idling,
                    count,
                    ..
                }
                | Record::Missed { count, .. },
            ) => self.open_excess((id, place), count, settings, m),
            Some(Record::Spent { .. }) => self.open_excess((id, place), 2, settings, m),
            None if in_line => self.open_excess((id, place), 1, settings, m),
            _ => return false,
        };
        if let Some(lane) = self.lane(id) {
            lane.presence.take(place);
        }
        if session.excess {
            self.hold_piece((id, place));
        }
        self.keep(
            (id, place),
            Record::Inside(Session {
                carried: true,
                ..session
            }),
        );
        self.revive((id, place), settings, m);
        true
    }

    fn renew(&mut self, id: LaneId, number: Number, settings: &Settings, m: &Context) -> bool {
        let Some(lane) = self.lane(id) else { return false };
        let Some(place) = lane.place(number) else { return false };
        let Some(Record::Inside(session)) = lane.slots.get(place).copied() else {
            return false;
        };
        self.keep((id, place), Record::Inside(renewed(session, settings, m)));
        !session.ending
    }

    pub(crate) fn mark(&mut self, id: LaneId, number: Number, settings: &Settings, m: &mut Context) -> bool {
        let Some(lane) = self.known_lane(id, number, settings, m) else {
            return false;
        };
        let Some(place) = lane.reclaim(number) else {
            return false;
        };
        // Its second call was lost with its log: it is called a second time again.
        if m.adopts == Some(number.era)
            && let Some(Record::Spent { at }) = lane.slots.get(place).copied()
        {
            lane.presence.untake(place);
            lane.slots.put(place, Some(Record::Missed { at, count: 1 }));
            let marked = lane.mark(place);
            self.revive((id, place), settings, m);
            return marked;
        }
        match lane.slots.get(place).copied() {
            Some(Record::Called(call)) => self.come_back((id, place), call, m),
            _ => lane.mark(place),
        }
    }

    /// Back after the deadline, while the slot is still held: when the turn is missed, the visitor is the next of the lane. A gate that brings
    /// an era back says who was present, and not that they were heard of. SECURITY: the slot is
    /// held all that time, since a gate whose clock is behind may still let the visitor in.
    fn come_back(&mut self, due: Due, call: Call, m: &Context) -> bool {
        let able = m.version >= WITH_SCHEDULES && m.adopts.is_none() && !self.keeps_calls;
        let late = able && m.clock > call.deadline && call.count < 2;
        if late {
            self.keep(due, Record::Called(Call { back: true, ..call }));
        }
        late
    }

    /// A number that was used up where its era went on: whoever is in line with it here is in line no more, and leaves
    /// `record`. A session goes on, and a call whose number is spent may still be claimed.
    pub fn use_up(
        &mut self,
        id: LaneId,
        number: Number,
        record: Option<Record>,
        settings: &Settings,
        m: &mut Context,
    ) -> bool {
        if m.adopts != Some(number.era) {
            return false;
        }
        let Some(lane) = self.known_lane(id, number, settings, m) else {
            return false;
        };
        let Some(place) = lane.reclaim(number) else {
            return false;
        };
        let in_line = lane.is_in_line(place);
        match lane.slots.get(place).copied() {
            Some(Record::Called(call)) if record.is_none() => {
                self.count((id, place), |figures| figures.called -= 1);
                self.free_piece((id, place));
                self.leave_over((id, place), EndedBy::Word, call.count, settings, m);
            }
            Some(Record::Missed { .. }) | None if in_line => {
                lane.slots.put(place, record);
                lane.presence.take(place);
            }
            _ => return false,
        }
        true
    }

    /// Where the horizon stood of an era that went on elsewhere.
    fn void_below(&mut self, id: LaneId, number: Number, settings: &Settings, m: &mut Context) -> bool {
        let adopts = m.adopts == Some(number.era);
        let lane = if adopts {
            self.known_lane(id, number, settings, m)
        } else {
            None
        };
        lane.is_some_and(|lane| lane.void_below(number))
    }

    /// Closes a lane for a draw as another history closed it, unless it has a draw of that edition.
    pub fn close_as(
        &mut self,
        id: LaneId,
        (edition, runs): (Edition, &[(Era, u32, u32)]),
        settings: &Settings,
        m: &mut Context,
    ) {
        for (era, from, _) in runs {
            self.known_lane(id, Number { era: *era, n: *from }, settings, m);
        }
        if let Some(lane) = self.lane(id).filter(|lane| !lane.eras.draws.is_made(edition)) {
            lane.eras.close_as(runs);
        }
    }

    /// The lane, with the number's era in its table if a genuine token proves that it was lost.
    pub fn known_lane(
        &mut self,
        id: LaneId,
        number: Number,
        settings: &Settings,
        m: &mut Context,
    ) -> Option<&mut Lane> {
        let from = m.clock.max(self.heals_until).max(m.first_call);
        let lane = self.lane(id)?;
        if lane.eras.find(number) == Found::Lost {
            match m.past.prove(number, m.clock) {
                Proof::LostEra => m.learn(number.era),
                Proof::LostLine => {}
                Proof::Late | Proof::Ahead => return None,
            }
            // Nobody is called while healing: the time to come back counts from its end.
            let first = m.past.floor_of(number.era);
            lane.insert(number.era, first, settings, from);
            self.regain_lane(id);
        }
        self.lane(id)
    }

    /// A called visitor comes in.
    fn admit(&mut self, due: Due, call: &Call, settings: &Settings, m: &Context) -> Session {
        self.count(due, |figures| {
            figures.called -= 1;
            figures.claims += 1;
        });
        self.open(due, call.count, false, settings, m)
    }

    fn open_excess(&mut self, due: Due, count: u8, settings: &Settings, m: &Context) -> Session {
        self.count(due, |figures| figures.excess += 1);
        self.open(due, count, true, settings, m)
    }

    fn open(&mut self, due: Due, count: u8, excess: bool, settings: &Settings, m: &Context) -> Session {
        self.count(due, |figures| figures.inside += 1);
        let ends_by = m.clock.plus(settings.session_max_ms);
        Session {
            expires: m.clock.plus(settings.hold_ms()).min(ends_by),
            ends_by,
            renewed: m.clock,
            since: m.time,
            count,
            carried: false,
            ending: false,
            excess,
        }
    }
}

/// A session that is in use; one whose end is set keeps that.
fn renewed(session: Session, settings: &Settings, m: &Context) -> Session {
    if session.ending {
        return session;
    }
    let expires = m.clock.plus(settings.hold_ms()).min(session.ends_by);
    Session {
        expires: expires.max(session.expires),
        renewed: m.clock,
        ..session
    }
}
