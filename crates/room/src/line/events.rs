//! Observations and actions that gates report, one item at a time: each method returns whether the item was for a known
//! visitor.

use crate::entry::{Claim, Completion, End, Section};
use crate::lane::Lane;
use crate::lane::epoch::Found;
use crate::lane::record::{Call, EndedBy, Record, Session, Stay};
use crate::lane::virtuals::Virtuals;
use crate::line::Line;
use crate::line::deadlines::Due;
use crate::line::rules::Rules;
use crate::line::stock::Winner;
use crate::room::edition::{Current, is_reset};
use crate::settings::Settings;
use crate::state::context::Context;
use crate::state::past::Proof;
use ropeline_ids::{Clock, Edition, Epoch, LaneId, Number, Place, Tag};

impl Line {
    /// Applies everything of a section but its joins, in the order that `docs/explanation/the-room.md` has. Says how many items were passed over.
    pub fn apply(&mut self, section: &Section, rules: &Rules, current: Current, m: &mut Context) -> u32 {
        let mut skipped = 0;
        let mut note = |applied: bool| skipped += u32::from(!applied);
        for (lane, number) in &section.leaves {
            note(self.leave(*lane, *number, rules, m));
        }
        for end in &section.ends {
            note(self.end(end, rules, m));
        }
        for done in &section.completions {
            // Virtual visitors buy nothing.
            note(match section.rehearsal {
                Some(_) => self.end(&done.end(), rules, m),
                None => self.complete(done, rules, current, m),
            });
        }
        for claim in &section.claims {
            note(self.claim(claim, rules, m));
        }
        for (lane, number) in &section.taken {
            note(self.use_up(*lane, *number, None, rules, m));
        }
        for (lane, number) in &section.spent {
            let spent = Record::Spent { at: m.time };
            note(self.use_up(*lane, *number, Some(spent), rules, m));
        }
        for (lane, number) in &section.reopens {
            note(self.reopen(*lane, *number, rules, m));
        }
        for (lane, number) in &section.renewals {
            note(self.renew(*lane, *number, rules, m));
        }
        for hold in &section.holds {
            note(self.hold(hold, rules, m));
        }
        for (lane, number) in &section.returns {
            note(self.ask(*lane, *number, rules, m));
        }
        for (lane, number) in &section.marks {
            note(self.mark(*lane, *number, rules, m));
        }
        for (lane, number) in &section.voids {
            note(self.void_below(*lane, *number, rules, m));
        }
        for bound in &section.bound {
            note(self.bind(bound.lane, bound.number, &bound.tags, rules, m));
        }
        skipped
    }

    /// Numbers `count` newcomers and says the first number.
    pub fn join(&mut self, lane: LaneId, count: u32, settings: &Settings, now: Clock) -> Option<Number> {
        let first = self.lane(lane)?.issue(count, settings, now)?;
        self.totals.joins += u64::from(count);
        Some(first)
    }

    pub fn leave(&mut self, id: LaneId, number: Number, rules: &Rules, m: &Context) -> bool {
        let Some(lane) = self.lane(id) else { return false };
        let Some(place) = lane.place(number) else { return false };
        let in_line = lane.is_in_line(place);
        match lane.slots.get(place).copied() {
            Some(Record::Inside(session)) => {
                self.forecast
                    .of(rules.settings, (id, place))
                    .note_end(&session, 0, m.clock);
                self.close((id, place), &session, EndedBy::Word, rules, m);
            }
            Some(Record::Called(call)) => {
                self.totals.left += 1;
                self.leave_over((id, place), EndedBy::Word, call.count, rules, m);
            }
            Some(Record::Over {
                end: EndedBy::Idling,
                count,
                ..
            }) => {
                self.leave_over((id, place), EndedBy::Word, count, rules, m);
            }
            Some(Record::Missed { .. }) | None if in_line => {
                lane.slots.put(place, None);
                lane.presence.take(place);
                self.totals.left += 1;
            }
            _ => return false,
        }
        true
    }

    /// The shop ends a session. A claim of the same batch comes after its end, so a called number is let in to end.
    pub fn end(&mut self, end: &End, rules: &Rules, m: &Context) -> bool {
        let Some(lane) = self.lane(end.lane) else { return false };
        let Some(place) = lane.place(end.number) else {
            return false;
        };
        let session = match lane.slots.get(place).copied() {
            Some(Record::Inside(session)) => session,
            Some(Record::Called(call)) => self.admit((end.lane, place), &call, rules, m),
            _ => return false,
        };
        let expires = session.expires.min(m.clock.plus(end.after_ms));
        let learnt = self.forecast.of(rules.settings, (end.lane, place));
        learnt.note_end(&session, expires.since(m.clock), m.clock);
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
    fn claim(&mut self, claim: &Claim, rules: &Rules, m: &Context) -> bool {
        let Some(lane) = self.lane(claim.lane) else {
            return false;
        };
        let Some(place) = lane.place(claim.number) else {
            return false;
        };
        let session = match lane.slots.get(place).copied() {
            Some(Record::Called(call)) => self.admit((claim.lane, place), &call, rules, m),
            Some(Record::Inside(session)) => {
                self.forecast
                    .of(rules.settings, (claim.lane, place))
                    .note_use(&session, m.clock);
                used(session, rules.settings, m)
            }
            _ => return false,
        };
        let carried = session.carried || claim.carried;
        self.keep((claim.lane, place), Record::Inside(Session { carried, ..session }));
        true
    }

    /// Opens a session that a gate continued to honour, or whose genuine pass the room does not know, as excess. A session
    /// that its visitor, the shop or the operator ended stays ended.
    pub(super) fn reopen(&mut self, id: LaneId, number: Number, rules: &Rules, m: &mut Context) -> bool {
        let Some(lane) = self.known_lane(id, number, rules, m) else {
            return false;
        };
        let Some(place) = lane.reclaim(number) else {
            return false;
        };
        let in_line = lane.is_in_line(place);
        let is_known = lane.slots.get(place).is_some_and(Record::has_right);
        // It takes a right of those that there are, and a gate that brings an epoch back proves no use.
        let is_right = rules.settings.active.is_some() && !is_known;
        if is_right && self.rights_left(rules.settings) == 0 {
            return false;
        }
        let parks = is_right && m.adopts.is_some();
        let Some(lane) = self.lane(id) else { return false };
        let session = match lane.slots.get(place).copied() {
            Some(Record::Called(call)) => self.admit((id, place), &call, rules, m),
            Some(
                Record::Over {
                    end: EndedBy::Idling,
                    count,
                    ..
                }
                | Record::Missed { count, .. },
            ) => opened(count, true, rules.settings, m),
            Some(Record::Spent { .. }) => opened(2, true, rules.settings, m),
            None if in_line => opened(1, true, rules.settings, m),
            _ => return false,
        };
        if let Some(lane) = self.lane(id) {
            lane.presence.take(place);
        }
        self.keep(
            (id, place),
            Record::Inside(Session {
                carried: true,
                stay: session.stay.or(parks.then_some(Stay::Parked)),
                excess: session.excess && !parks,
                ..session
            }),
        );
        self.revive((id, place), rules, m);
        true
    }

    pub(super) fn renew(&mut self, id: LaneId, number: Number, rules: &Rules, m: &Context) -> bool {
        let Some(lane) = self.lane(id) else { return false };
        let Some(place) = lane.place(number) else { return false };
        let Some(Record::Inside(session)) = lane.slots.get(place).copied() else {
            return false;
        };
        self.forecast
            .of(rules.settings, (id, place))
            .note_use(&session, m.clock);
        self.keep((id, place), Record::Inside(used(session, rules.settings, m)));
        !session.ending
    }

    pub fn mark(&mut self, id: LaneId, number: Number, rules: &Rules, m: &mut Context) -> bool {
        let Some(lane) = self.known_lane(id, number, rules, m) else {
            return false;
        };
        let Some(place) = lane.reclaim(number) else {
            return false;
        };
        // Its second call was lost with its log: it is called a second time again.
        if m.adopts == Some(number.epoch)
            && let Some(Record::Spent { at }) = lane.slots.get(place).copied()
        {
            lane.presence.untake(place);
            lane.slots.put(place, Some(Record::Missed { at, count: 1 }));
            let marked = lane.mark(place);
            self.revive((id, place), rules, m);
            return marked;
        }
        match lane.slots.get(place).copied() {
            Some(Record::Called(call)) => self.come_back((id, place), call, rules, m),
            _ => lane.mark(place),
        }
    }

    /// A visitor is back after the deadline, while the slot is still held: when the turn is missed, the visitor is the next
    /// of the lane. A gate that brings an epoch back reports who was present, not check-ins. SECURITY: the slot is held all
    /// that time, since a gate whose clock is behind may still admit the visitor.
    fn come_back(&mut self, due: Due, call: Call, rules: &Rules, m: &Context) -> bool {
        let able = m.adopts.is_none() && !rules.keeps_calls;
        let late = able && m.clock > call.deadline && call.count < 2;
        if late {
            self.keep(due, Record::Called(Call { back: true, ..call }));
        }
        late
    }

    /// A number that was used up where its epoch went on. A visitor who waits with it here leaves the line, with `record`. A
    /// session goes on, and a call whose number is spent may still be claimed.
    pub fn use_up(
        &mut self,
        id: LaneId,
        number: Number,
        record: Option<Record>,
        rules: &Rules,
        m: &mut Context,
    ) -> bool {
        if m.adopts != Some(number.epoch) {
            return false;
        }
        let Some(lane) = self.known_lane(id, number, rules, m) else {
            return false;
        };
        let Some(place) = lane.reclaim(number) else {
            return false;
        };
        let in_line = lane.is_in_line(place);
        match lane.slots.get(place).copied() {
            Some(Record::Called(call)) if record.is_none() => {
                self.leave_over((id, place), EndedBy::Word, call.count, rules, m);
            }
            Some(Record::Missed { .. }) | None if in_line => {
                lane.slots.put(place, record);
                lane.presence.take(place);
            }
            _ => return false,
        }
        true
    }

    /// Where the horizon stood of an epoch that went on elsewhere.
    fn void_below(&mut self, id: LaneId, number: Number, rules: &Rules, m: &mut Context) -> bool {
        let adopts = m.adopts == Some(number.epoch);
        let lane = if adopts {
            self.known_lane(id, number, rules, m)
        } else {
            None
        };
        lane.is_some_and(|lane| lane.void_below(number))
    }

    /// Closes a lane for a draw as another history closed it, unless it has a draw of that edition.
    pub fn close_as(
        &mut self,
        id: LaneId,
        (edition, runs): (Edition, &[(Epoch, u32, u32)]),
        rules: &Rules,
        m: &mut Context,
    ) {
        for (epoch, from, _) in runs {
            self.known_lane(
                id,
                Number {
                    epoch: *epoch,
                    n: *from,
                },
                rules,
                m,
            );
        }
        if let Some(lane) = self.lane(id).filter(|lane| !lane.epochs.draws.is_made(edition)) {
            lane.epochs.close_as(runs);
        }
    }

    /// The lane, with the number's epoch in its table if a genuine token proves that it was lost.
    pub fn known_lane(&mut self, id: LaneId, number: Number, rules: &Rules, m: &mut Context) -> Option<&mut Lane> {
        let from = m.clock.max(rules.heals_until);
        let lane = self.lane(id)?;
        if lane.epochs.find(number) == Found::Lost {
            match m.past.prove(number, m.clock) {
                Proof::LostEpoch => m.learn(number.epoch),
                Proof::LostLine => {}
                Proof::Late | Proof::Ahead => return None,
            }
            // No visitor is called while healing: the time to come back counts from its end.
            let first = m.past.floor_of(number.epoch);
            lane.insert(number.epoch, first, rules.settings, from);
            self.tally.regain_lane(id, &self.lanes);
        }
        self.lane(id)
    }

    /// A called visitor comes in.
    fn admit(&mut self, at: (LaneId, Place), call: &Call, rules: &Rules, m: &Context) -> Session {
        self.totals.claims += 1;
        self.forecast.of(rules.settings, at).note_claim(call, m.clock);
        opened(call.count, false, rules.settings, m)
    }

    /// A visitor has completed: it is counted once, and the session ends after its grace. A completion brought back from
    /// another log was sold by the settings of that time. If the line sold something before, further ones are counted even if
    /// the stock is removed from the settings.
    pub fn complete(&mut self, done: &Completion, rules: &Rules, current: Current, m: &mut Context) -> bool {
        let sells = rules.settings.stock.is_some() || m.adopts.is_some() || !self.tally.winners().is_empty();
        let of_sale = sells && !is_reset(done.edition, done.number, current.edition, current.spared);
        let counted = of_sale && self.count_completion(done, rules, m);
        // Sessions of the log before come in lists of their own.
        if m.adopts.is_some() {
            if counted {
                self.use_up(done.lane, done.number, None, rules, m);
            }
            return counted;
        }
        let ended = if of_sale {
            self.end_completed(done, rules, m)
        } else {
            self.end(&done.end(), rules, m)
        };
        counted || ended
    }

    fn count_completion(&mut self, done: &Completion, rules: &Rules, m: &mut Context) -> bool {
        let (id, number) = (done.lane, done.number);
        // The visitor was here, even if the epoch is not kept any more; only a number that was never issued was not.
        let place = self
            .known_lane(id, number, rules, m)
            .and_then(|lane| lane.reclaim(number));
        // A completion counts even if its lane is not there yet, or not any more.
        let brought = m.adopts.is_some();
        let issued = self
            .lane(id)
            .map_or(brought, |lane| lane.epochs.find(number) != Found::Ahead);
        let known = || self.lanes.get(usize::from(id.0)).and_then(|lane| lane.tags.get(place?));
        let winner = Winner {
            lane: id,
            number,
            at: done.at.unwrap_or(m.time),
            tag: done.tag.or_else(known),
        };
        let unsettled =
            place.is_some_and(|place| self.has_right((id, place)) && !self.tally.is_settled(&self.lanes, (id, place)));
        let new = issued && self.tally.complete(winner);
        if new && unsettled {
            self.tally.count_settled(true);
        }
        new
    }

    /// Ends the session of a visitor who has completed, as by the shop's answer; it is not opened again. If the rooms do not
    /// know the session, or not any more, its number is used up.
    fn end_completed(&mut self, done: &Completion, rules: &Rules, m: &Context) -> bool {
        let Some(lane) = self.lane(done.lane) else { return false };
        let Some(place) = lane.place(done.number) else {
            return false;
        };
        let in_line = lane.is_in_line(place);
        let count = match lane.slots.get(place).copied() {
            Some(Record::Called(_) | Record::Inside(_)) => return self.end(&done.end(), rules, m),
            Some(
                Record::Over {
                    end: EndedBy::Idling,
                    count,
                    ..
                }
                | Record::Missed { count, .. },
            ) => count,
            Some(Record::Spent { .. }) => 2,
            None if in_line => 1,
            Some(Record::Over { .. }) | None => return false,
        };
        self.leave_over((done.lane, place), EndedBy::Word, count, rules, m);
        true
    }

    fn has_right(&self, (id, place): Due) -> bool {
        let record = self.lanes.get(usize::from(id.0)).and_then(|lane| lane.slots.get(place));
        record.is_some_and(Record::has_right)
    }

    /// A live number is an account's, from now on by the first of its tags; of two the account keeps the better one. False for
    /// one that is over, or another account's.
    pub fn bind(&mut self, id: LaneId, number: Number, tags: &[Tag], rules: &Rules, m: &mut Context) -> bool {
        let place = self.lane(id).and_then(|lane| lane.place(number));
        let bound = place.and_then(|place| self.accounts.bind((id, place), tags, &mut self.lanes));
        let is = bound.is_some();
        self.give_up(bound.unwrap_or_default(), rules, m);
        is
    }

    /// A number lives again, which may be an account's.
    pub(super) fn revive(&mut self, seat: Due, rules: &Rules, m: &mut Context) {
        let given_up = self.accounts.revive(seat, &self.lanes);
        self.give_up(given_up, rules, m);
    }

    /// Places that accounts have better ones for.
    fn give_up(&mut self, seats: Vec<Due>, rules: &Rules, m: &mut Context) {
        for (id, place) in seats {
            let number = self
                .lanes
                .get(usize::from(id.0))
                .and_then(|lane| lane.epochs.number(place));
            if let Some(number) = number {
                let left = self.leave(id, number, rules, m);
                m.given_up.extend(left.then_some((id, number)));
            }
        }
    }

    /// A session is over: its slot is free.
    pub(super) fn close(&mut self, due: Due, session: &Session, end: EndedBy, rules: &Rules, m: &Context) {
        self.totals.ends += 1;
        self.leave_over(due, end, session.count, rules, m);
    }

    /// The record that remains of a number that holds no slot any more.
    fn leave_over(&mut self, due: Due, end: EndedBy, count: u8, rules: &Rules, m: &Context) {
        let until = m.clock.plus(rules.settings.late_window_ms);
        if let Some(lane) = self.lane(due.0) {
            lane.presence.take(due.1);
        }
        self.keep(due, Record::Over { end, until, count });
    }

    /// Everybody numbered since a lane's next number stood there is a virtual visitor.
    pub fn take_in(&mut self, nexts: &[Place]) {
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            let from = nexts.get(at).copied().unwrap_or(lane.epochs.start());
            let next = lane.epochs.next();
            lane.virtuals.places.set_range(from, next);
        }
    }

    /// Removes every virtual visitor from the line, from calls and from slots. False if there was none.
    pub fn send_off(&mut self) -> bool {
        let mut any = false;
        for id in (0..).map(LaneId).take(self.lanes.len()) {
            let places: Vec<Place> = self.lane(id).map(all_virtual).unwrap_or_default();
            any |= !places.is_empty();
            for place in places {
                self.send_one_off((id, place));
            }
            if let Some(lane) = self.lane(id) {
                lane.virtuals = Virtuals::default();
            }
        }
        any
    }

    /// Leaves only a number that is used up and that no visitor will present again.
    fn send_one_off(&mut self, due: Due) {
        let (id, place) = due;
        let Some(lane) = self.lane(id) else { return };
        let in_line = lane.is_in_line(place);
        match lane.slots.get(place).copied() {
            Some(Record::Inside(_)) => self.totals.ends += 1,
            Some(Record::Called(_)) => self.totals.left += 1,
            Some(Record::Missed { .. }) | None if in_line => self.totals.left += 1,
            _ => {}
        }
        self.put(due, None);
        if let Some(lane) = self.lane(id).filter(|lane| !lane.is_void(place)) {
            lane.presence.take(place);
        }
    }
}

/// A session that begins now.
pub(super) fn opened(count: u8, excess: bool, settings: &Settings, m: &Context) -> Session {
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
        stay: None,
    }
}

/// A session that is in use. If its end is already set, it keeps that. Who is parked here has been forwarded all the same, by
/// a gate that was cut off or slow: the session is in use, in excess of what the room gave.
pub(super) fn used(session: Session, settings: &Settings, m: &Context) -> Session {
    let session = Session {
        excess: session.excess || session.is_parked(),
        stay: None,
        ..session
    };
    if session.ending {
        return session;
    }
    let expires = m.clock.plus(settings.hold_ms()).min(session.ends_by);
    Session {
        expires: expires.max(session.expires),
        renewed: if settings.active.is_some() {
            m.clock.max(session.renewed)
        } else {
            m.clock
        },
        ..session
    }
}

fn all_virtual(lane: &mut Lane) -> Vec<Place> {
    lane.virtuals.places.ones(Place(0), Place(u64::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{AdmissionOrder, Hash};
    use crate::lane::epoch::Epochs;
    use crate::state::past::Past;
    use ropeline_ids::Wall;

    /// Where one comes decides which sale one is of, and not where a draw puts one.
    #[test]
    fn a_draw_changes_nothing_of_what_is_held() {
        let settings = Settings {
            stock: Some(50),
            ..Settings::default()
        };
        let mut line = Line::new(&settings, &Past::new(Epoch(1)), Clock(0));
        line.join(LaneId(0), 40, &settings, Clock(0));
        let start = line.lanes[0].epochs.start();
        let call = Call {
            deadline: Clock(9),
            at: Wall(0),
            count: 1,
            back: false,
        };
        for at in 0..10 {
            line.lanes[0].presence.take(Place(start.0 + at));
            line.keep((LaneId(0), Place(start.0 + at)), Record::Called(call));
        }
        line.tally.begin(vec![Place(start.0 + 5)], None);
        line.tally.recount(&line.lanes);
        line.close_draw(Epochs::close);
        assert_eq!(line.tally.unfinished(line.held().slots()), 5);
        line.draw(Edition(0), (AdmissionOrder::default(), |_, _| Hash([7; 32])), Clock(0));
        let moved = |place: Place| line.lanes[0].slots.get(place).is_none();
        assert!((0..10).any(|at| moved(Place(start.0 + at))));
        line.tally.recount(&line.lanes);
        assert_eq!(line.tally.unfinished(line.held().slots()), 5);
    }
}
