//! Joins: visitors are numbered in the order of a section, with one place for each account, and joins by code after all
//! others.
//!
//! A single-use code gives one number, whichever gates saw it, and its visitor may ask for that number again. All reasons for
//! a refusal are checked before any change, so that a refused code is not spent.

use std::sync::Arc;

use crate::entry::Section;
use crate::entry::effects::{Effects, Joined, Pended, Redeemed};
use crate::lane::record::{EndedBy, Record};
use crate::line::Line;
use crate::line::accounts::Tagged;
use crate::line::one_place::rank;
use crate::room::codes::{BroughtCodes, Denied, MAX_BYPASS, Redeem, Spent};
use crate::room::rehearsal::Rehearsal;
use crate::room::{Room, rules};
use crate::settings::Mode;
use crate::state::context::Context;
use ropeline_ids::{LaneId, LineName, Number, PendingId, Wall};

type Seat = (LaneId, Number);

/// The place that a code gave.
struct Grant {
    seat: Seat,
    past: bool,
    new: bool,
}

impl Grant {
    /// The place that its holder, or the account, has already.
    fn old(seat: Seat) -> Self {
        Self {
            seat,
            past: false,
            new: false,
        }
    }
}

impl Redeemed {
    fn of(redeem: &Redeem, done: Result<Grant, Denied>) -> Self {
        let granted = done.as_ref().ok();
        Self {
            joined: Joined {
                room: redeem.room.clone(),
                line: redeem.line.clone(),
                lane: granted.map_or(redeem.lane, |grant| grant.seat.0),
                first: granted.map(|grant| grant.seat.1),
                count: 1,
                later: false,
            },
            past: granted.is_some_and(|grant| grant.past),
            new: granted.is_some_and(|grant| grant.new),
            denied: done.err(),
        }
    }

    /// Of a room that is not there.
    pub(crate) fn refused(redeem: &Redeem) -> Self {
        Self::of(redeem, Err(Denied::Refused))
    }
}

impl Room {
    /// Counts visitors let past the line. A line of a `per` room without visitors is not created for that.
    pub(super) fn bypass(&mut self, section: &Section, m: &Context) {
        if section.line.is_only() {
            self.make(&section.line, m);
        }
        if let Some(line) = self.lines.get_mut(&section.line) {
            line.count_bypasses(u64::from(section.bypasses) + u64::from(section.networks));
        }
    }

    /// Numbers the visitors who join by a section; of a rehearsal's visitors at most its size.
    pub(super) fn take_joins(&mut self, section: &Section, m: &mut Context, effects: &mut Effects) {
        let rehearsal = self.rehearsal.as_deref().filter(|_| section.rehearsal.is_some());
        let Some(most) = rehearsal.map(Rehearsal::left) else {
            return self.number(section, m, effects);
        };
        let nexts = self.lines.get(&section.line).map(Line::nexts).unwrap_or_default();
        let left = m.joins_left;
        m.joins_left = left.min(most);
        let before = m.joins_left;
        self.number(section, m, effects);
        let joined = before - m.joins_left;
        m.joins_left = left - joined;
        if joined == 0 {
            return;
        }
        if let Some(line) = self.lines.get_mut(&section.line) {
            line.take_in(&nexts);
        }
        if let Some(rehearsal) = &mut self.rehearsal {
            Arc::make_mut(rehearsal).joined += joined;
        }
        self.published.touch();
    }

    /// Numbers of a rehearsal that tokens have brought back are its visitors'.
    pub(super) fn know_virtuals(&mut self, section: &Section) {
        if section.rehearsal.is_some()
            && let Some(line) = self.lines.get_mut(&section.line)
        {
            let back = section.reopens.iter().chain(&section.returns);
            line.know_virtuals(section.marks.iter().chain(back));
        }
    }

    fn number(&mut self, section: &Section, m: &mut Context, effects: &mut Effects) {
        for (lane, count) in &section.joins {
            let first = self.join(&section.line, *lane, *count, m);
            effects.answer(section, (*lane, *count), first);
        }
        for (lane, id) in &section.pending_joins {
            let joined = self.join_pending(&section.line, *lane, *id, m);
            effects.answer_pending(section, *lane, joined);
        }
        self.join_accounts(section, m, effects);
    }

    fn join(&mut self, line: &LineName, lane: LaneId, count: u32, m: &mut Context) -> Option<Number> {
        let settings = self.terms.in_force();
        let joinable = matches!(settings.mode, Mode::Auto | Mode::Hold);
        let configured = usize::from(lane.0) < settings.lane_weights.len();
        let left = m.joins_left.checked_sub(count).filter(|_| count > 0)?;
        if !joinable || !configured || !self.make(line, m) {
            return None;
        }
        let settings = self.terms.in_force();
        let line = self.lines.get_mut(line);
        let line = line.filter(|line| !line.tally().is_sold_out(settings))?;
        let first = line.join(lane, count, settings, m.clock)?;
        // Only now: a lane that issues no more must not use up the entry's joins for the others.
        m.joins_left = left;
        Some(first)
    }

    /// Whether one more pending id can be remembered.
    fn has_pending_room(&self, m: &Context) -> bool {
        self.pending.has_room(self.settings().firm_within_ms, m.clock)
    }

    /// An id that was numbered before is answered with its number in any mode.
    fn join_pending(&mut self, line: &LineName, lane: LaneId, id: PendingId, m: &mut Context) -> Pended {
        if let Some((lane, number)) = self.pending.get(id, line) {
            return Pended::Numbered(lane, number);
        }
        if !self.has_pending_room(m) {
            return Pended::Later;
        }
        let Some(number) = self.join(line, lane, 1, m) else {
            return Pended::Refused;
        };
        self.pending.put(id, line, (lane, number), m.clock);
        Pended::Numbered(lane, number)
    }

    fn join_accounts(&mut self, section: &Section, m: &mut Context, effects: &mut Effects) {
        for tagged in &section.tagged {
            let joined = self.join_tagged(&section.line, tagged, m);
            effects.answer_tagged(section, tagged.lane, joined);
        }
    }

    /// An account that has a place is answered with it in any mode. If its pending ticket was numbered before the account was
    /// known, that number is its place from now on. An id that an account was numbered with is refused to others.
    fn join_tagged(&mut self, line: &LineName, tagged: &Tagged, m: &mut Context) -> Pended {
        let Tagged { lane, tags, id } = tagged;
        if tags.is_empty() {
            return match id {
                Some(id) => self.join_pending(line, *lane, *id, m),
                None => self
                    .join(line, *lane, 1, m)
                    .map_or(Pended::Refused, |number| Pended::Numbered(*lane, number)),
            };
        }
        if let Some(answer) = self.account_before(line, tagged, m) {
            return answer;
        }
        let known = id.is_none_or(|id| self.pending.get(id, line).is_some());
        if !known && !self.has_pending_room(m) {
            return Pended::Later;
        }
        let Some(number) = self.join(line, *lane, 1, m) else {
            return Pended::Refused;
        };
        let rules = rules(&self.terms, &self.healing);
        if let Some(line) = self.lines.get_mut(line) {
            line.bind(*lane, number, tags, &rules, m);
        }
        if let Some(id) = id {
            self.pending.put(*id, line, (*lane, number), m.clock);
        }
        Pended::Numbered(*lane, number)
    }

    /// The answer to an account that gets no new number: it has one, its id belongs to another, or there is no room for its
    /// tag.
    fn account_before(&mut self, line: &LineName, tagged: &Tagged, m: &mut Context) -> Option<Pended> {
        let tags = &tagged.tags;
        let rules = rules(&self.terms, &self.healing);
        let before = tagged.id.and_then(|id| self.pending.get(id, line));
        let line = self.lines.get_mut(line)?;
        let has = line.number_of(tags);
        // Bound again: it may have to be under another tag from now on, or be the better of two.
        for (lane, number) in has.into_iter().chain(before) {
            line.bind(lane, number, tags, &rules, m);
        }
        if let Some((lane, number)) = line.number_of(tags) {
            return Some(Pended::Numbered(lane, number));
        }
        // SECURITY: else one proof of work would be good for as many accounts as come with it.
        let owner = before.and_then(|(lane, number)| line.owner(lane, number));
        if owner.is_some_and(|owner| !tags.contains(&owner)) {
            return Some(Pended::Refused);
        }
        (!line.has_room()).then_some(Pended::Later)
    }

    /// Single-use codes that were issued until `doubt` may have been used in the lost part.
    pub fn redeem(&mut self, redeem: &Redeem, doubt: Wall, m: &mut Context) -> Redeemed {
        Redeemed::of(redeem, self.grant(redeem, doubt, m))
    }

    fn grant(&mut self, redeem: &Redeem, doubt: Wall, m: &mut Context) -> Result<Grant, Denied> {
        if self.codes.is_over(redeem.expires, m.time) {
            return Err(Denied::Expired);
        }
        if let Some(before) = self.redeemed_before(redeem, m) {
            return before;
        }
        if let Some(called) = self.called_already(redeem) {
            return Ok(Grant::old(called));
        }
        // Neither calls nor codes are trusted while something that was lost may come back.
        if self.waits_for_lost(m) && (redeem.single || redeem.bypass) {
            return Err(Denied::NotNow);
        }
        if redeem.single && redeem.issued <= doubt {
            return Err(Denied::Doubtful);
        }
        // Used before its date by the log's clock it could be used again after a loss in between.
        let early = redeem.issued > m.time;
        if redeem.single && (early || redeem.expires.is_none() || self.codes.is_full()) {
            return Err(Denied::NotNow);
        }
        if let Some(has) = self.has_already(redeem) {
            return Ok(Grant::old(has));
        }
        if redeem.bypass {
            self.may_pass(redeem)?;
        }
        let seat = self.seat_by_code(redeem, m)?;
        if redeem.bypass {
            self.call_past(&redeem.line, seat, m);
        }
        self.remember(redeem, seat, m);
        Ok(Grant {
            seat,
            past: redeem.bypass,
            new: true,
        })
    }

    /// The answer to a visitor who asks again, or comes with a code that another used. Asking again counts as a check-in.
    fn redeemed_before(&mut self, redeem: &Redeem, m: &mut Context) -> Option<Result<Grant, Denied>> {
        if !redeem.single {
            let seat = self.pending.get(redeem.holder, &redeem.line)?;
            let line = self.lines.get(&redeem.line)?;
            return lives(line, seat).then(|| Ok(Grant::old(seat)));
        }
        let spent = self.codes.spent.get(redeem.code)?;
        let seat = (spent.lane, spent.number);
        // The gate has seen the ticket of the place that is left.
        let own = spent.holder == redeem.holder || redeem.leaves == Some(seat);
        if !own || spent.line != redeem.line {
            return Some(Err(Denied::Spent));
        }
        if m.past.may_be_lost(seat.1, m.clock) {
            self.make(&redeem.line, m);
        }
        let rules = rules(&self.terms, &self.healing);
        let line = self.lines.get_mut(&redeem.line);
        let lives = line.is_some_and(|line| {
            line.mark(seat.0, seat.1, &rules, m);
            lives(line, seat)
        });
        Some(if lives {
            Ok(Grant::old(seat))
        } else {
            Err(Denied::Spent)
        })
    }

    /// A visitor whom the gate saw in line, and who was called meanwhile, stays called.
    fn called_already(&self, redeem: &Redeem) -> Option<Seat> {
        let line = self.lines.get(&redeem.line)?;
        redeem
            .leaves
            .filter(|seat| class(line, *seat).is_some_and(|class| class < WAITING))
    }

    /// A place that the code would not better: the account's, unless it waits and is led past; or the holder's in that lane.
    fn has_already(&self, redeem: &Redeem) -> Option<Seat> {
        let line = self.lines.get(&redeem.line)?;
        let own = line.number_of(&redeem.tags);
        let waits = |seat: &Seat| class(line, *seat) == Some(WAITING);
        if redeem.bypass {
            return own.filter(|seat| !waits(seat));
        }
        let leaves = redeem.leaves.filter(waits);
        let stays = |seat: &Seat| seat.0 == redeem.lane || leaves != Some(*seat);
        own.or(leaves).filter(stays)
    }

    /// Whether one more may come past the line.
    fn may_pass(&mut self, redeem: &Redeem) -> Result<(), Denied> {
        let settings = self.terms.in_force();
        let most = settings.bypass_most;
        if most == 0 {
            return Err(Denied::Refused);
        }
        let line = self.lines.get(&redeem.line);
        let inside = |seat: Seat| line.is_some_and(|line| class(line, seat).is_some_and(|class| class < WAITING));
        let back = |seat: Seat| line.is_some_and(|line| may_come_back(line, seat));
        let past = self.codes.past(&redeem.line, inside, back);
        match line {
            _ if settings.mode != Mode::Auto || past >= most => Err(Denied::NotNow),
            Some(line) if line.tally().is_sold_out(settings) => Err(Denied::Refused),
            Some(line) if line.reach(settings) == 0 => Err(Denied::NotNow),
            _ => Ok(()),
        }
    }

    /// The number to be had by the code: the one that its holder waits with, where that is only to be called, or a new one.
    fn seat_by_code(&mut self, redeem: &Redeem, m: &mut Context) -> Result<Seat, Denied> {
        let waits = |line: &Line, seat: &Seat| class(line, *seat) == Some(WAITING);
        if redeem.bypass
            && let Some(line) = self.lines.get(&redeem.line)
            && let own = line.number_of(&redeem.tags).or(redeem.leaves)
            && let Some(seat) = own.filter(|seat| waits(line, seat))
        {
            return Ok(seat);
        }
        if !redeem.single && !self.has_pending_room(m) {
            return Err(Denied::NotNow);
        }
        let full = |line: &Line| !redeem.tags.is_empty() && !line.has_room();
        if self.lines.get(&redeem.line).is_some_and(full) {
            return Err(Denied::NotNow);
        }
        let number = self.join(&redeem.line, redeem.lane, 1, m).ok_or(Denied::Refused)?;
        let rules = rules(&self.terms, &self.healing);
        if let Some(line) = self.lines.get_mut(&redeem.line) {
            // SECURITY: only a place in line can be given up. The gate has seen its ticket.
            if let Some((lane, left)) = redeem.leaves.filter(|seat| waits(line, seat)) {
                line.leave(lane, left, &rules, m);
            }
            line.bind(redeem.lane, number, &redeem.tags, &rules, m);
        }
        Ok((redeem.lane, number))
    }

    fn call_past(&mut self, name: &LineName, seat: Seat, m: &Context) {
        let rules = rules(&self.terms, &self.healing);
        if let Some(line) = self.lines.get_mut(name) {
            line.call_past(seat.0, seat.1, rules.settings, m);
            self.codes.let_past(name, seat);
        }
    }

    fn remember(&mut self, redeem: &Redeem, (lane, number): Seat, m: &Context) {
        self.published.touch();
        let Some(expires) = redeem.expires.filter(|_| redeem.single) else {
            return self.pending.put(redeem.holder, &redeem.line, (lane, number), m.clock);
        };
        let spent = Spent {
            holder: redeem.holder,
            expires,
            at: m.time,
            line: redeem.line.clone(),
            lane,
            number,
            bypass: redeem.bypass,
        };
        self.codes.spend(redeem.code, spent);
    }

    /// Takes another history's codes. If two masters gave two numbers for one code, this history's number counts.
    pub fn bring_codes(&mut self, brought: &BroughtCodes, m: &mut Context) {
        for (code, spent) in &brought.spent {
            if self.codes.is_over(Some(spent.expires), m.time) {
                continue;
            }
            match self
                .codes
                .spent
                .get(*code)
                .map(|own| (own.line.clone(), own.lane, own.number))
            {
                // However many: each history bounds its own, and one that is forgotten would be good again.
                None => self.codes.spend(*code, spent.clone()),
                Some(own) if own != (spent.line.clone(), spent.lane, spent.number) => {
                    // Its line, or its epoch, may be brought only behind this.
                    if m.past.may_be_lost(spent.number, m.clock) {
                        self.make(&spent.line, m);
                    }
                    let rules = rules(&self.terms, &self.healing);
                    if let Some(line) = self.lines.get_mut(&spent.line) {
                        let adopts = m.adopts.replace(spent.number.epoch);
                        line.use_up(spent.lane, spent.number, None, &rules, m);
                        m.adopts = adopts;
                    }
                }
                _ => {}
            }
        }
        let most = usize::try_from(MAX_PAST).unwrap_or(usize::MAX);
        for (line, lane, number) in brought.past.iter().take(most) {
            self.codes.let_past(line, (*lane, *number));
        }
        self.published.touch();
    }
}

/// How good a live number is, as of [`rank`]; `None` for one that is over.
fn class(line: &Line, (id, number): Seat) -> Option<u8> {
    let lane = line.lanes().get(usize::from(id.0))?;
    rank(lane, id, lane.place(number)?).map(|(class, ..)| class)
}

/// The session idled out, and a gate that was cut off meanwhile may go on with it.
fn may_come_back(line: &Line, (id, number): Seat) -> bool {
    let record = line
        .lanes()
        .get(usize::from(id.0))
        .and_then(|lane| lane.slots.get(lane.place(number)?));
    matches!(
        record,
        Some(Record::Over {
            end: EndedBy::Idling,
            ..
        })
    )
}

fn lives(line: &Line, seat: Seat) -> bool {
    class(line, seat).is_some()
}

const WAITING: u8 = 2;

/// Seats of one part that are taken over at most.
const MAX_PAST: u32 = MAX_BYPASS;
