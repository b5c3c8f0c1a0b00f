//! Behaviour of virtual visitors: wait, give up, come when called, shop, leave.

use std::sync::Arc;

use crate::room::{Claim, Completion, End, Hold, Inside, Standing, pace};

use super::active::pauses::Visit;
use super::line::SLEEP_MS;
use super::people::{Is, Nature, Twin, around};
use super::plan::{Doing, Scripted};
use super::run::{Deed, Over, Simulation, seat};

impl Simulation<'_> {
    pub fn does(&mut self, id: u32, deed: Deed) {
        match deed {
            Deed::Come => self.comes(id),
            Deed::Page => self.asks_for_page(id),
            Deed::Quit => self.quits(id),
            Deed::Doze => self.dozes(id),
            Deed::Wake => self.wakes(id),
            Deed::Look => self.looks(id),
            Deed::Hide => self.hides(id),
            Deed::See => self.sees(id),
            Deed::Poll => self.polls(id),
            Deed::Return => self.returns_to_shop(id),
            Deed::Keep => self.keeps_slot(id),
        }
    }

    /// The visitor has a number: the next actions follow from the visitor's kind.
    pub fn waits(&mut self, id: u32, number: u32) {
        let now = self.now;
        let person = &mut self.people[id as usize];
        person.is = Is::Waiting;
        (person.number, person.calls, person.marked) = (number, 0, 0);
        person.joined = person.joined.min(now);
        person.numbered = now;
        let nature = person.nature;
        let asks_ms = pace::refresh_ms(&self.plan.settings, None, self.rng.u16(..));
        self.wheel.put(id, now + asks_ms);
        if self.guesses.watches(id) {
            self.later(id, now + FIRST_LOOK_MS, Deed::Look);
        }
        let patience = self.plan.crowd.patience_ms.max(1);
        match nature {
            _ if self.part(id).is_some() => self.waits_as_told(id),
            Nature::Leaver | Nature::Quitter => {
                let at = now + self.rng.u64(0..patience);
                self.later(id, at, Deed::Quit);
            }
            Nature::Sleepy => {
                let at = now + self.rng.u64(0..SLEEP_MS);
                self.later(id, at, Deed::Doze);
            }
            Nature::HiddenTab | Nature::HiddenPhone => self.watches_tab(id),
            Nature::Patient | Nature::Late | Nature::NoShow | Nature::Bot => {}
        }
    }

    /// The script of the visitor, if there is one.
    pub fn part(&self, id: u32) -> Option<&Scripted> {
        self.plan.script.get(id as usize)
    }

    fn waits_as_told(&mut self, id: u32) {
        let joined = self.people[id as usize].joined;
        let (after, deed) = match self.part(id).map(|part| part.does) {
            Some(Doing::Leaves(after)) => (after, Deed::Quit),
            Some(Doing::Sleeps(after, _)) => (after, Deed::Doze),
            _ => return,
        };
        // A visitor who waits anew has slept already.
        if joined + after >= self.now {
            self.later(id, joined + after, deed);
        }
    }

    /// The room has called the visitor, whose page asks again within `asks_ms`.
    pub fn is_called(&mut self, id: u32, count: u8, asks_ms: u64) {
        let (now, claim_ms) = (self.now, self.plan.settings.claim_deadline_ms);
        let person = &mut self.people[id as usize];
        let first = person.calls == 0;
        person.calls = count;
        let (joined, nature) = (person.joined, person.nature);
        if first && person.is == Is::Waiting {
            self.guesses.is_called(id, now);
            if !std::mem::replace(&mut person.heard, true) && nature != Nature::Bot {
                self.waits.add(now - joined);
            }
            // Two browsers are one visitor.
            if let Some(other) = self.twin(id) {
                self.people[other as usize].heard = true;
            }
        }
        self.is_called_in_tab(id);
        let person = &self.people[id as usize];
        if person.asleep || person.is != Is::Waiting {
            return;
        }
        // The request that joined is in the shop already.
        if person.numbered == now && matches!(self.standing(id), Some(Standing::Called(_))) {
            return self.goes_in(id);
        }
        if nature == Nature::NoShow {
            self.people[id as usize].is = Is::Gone;
            return;
        }
        let wait_ms = self.rng.u64(0..=asks_ms);
        let late_ms = match self.part(id).map(|part| part.does) {
            _ if nature != Nature::Late || !first => 0,
            Some(Doing::ComesLate(after)) => after,
            _ => claim_ms + LATE_MS,
        };
        let held_ms = self.leaves_unclaimed(id, claim_ms.saturating_sub(wait_ms));
        self.later(id, now + wait_ms + late_ms + held_ms, Deed::Come);
    }

    pub fn comes(&mut self, id: u32) {
        if self.people[id as usize].is != Is::Waiting {
            return;
        }
        match (self.standing(id), self.over()) {
            (_, Some(Over::Closed)) => self.sent_away(id, Over::Closed),
            (Some(Standing::Called(_)), _) if self.people[id as usize].nature == Nature::NoShow => {
                self.people[id as usize].is = Is::Gone;
            }
            (Some(Standing::Called(_)), _) if self.hidden.is_unseen(id) => self.claims_unseen(id),
            (Some(Standing::Called(_)), _) => self.goes_in(id),
            (_, Some(over)) => self.sent_away(id, over),
            (Some(Standing::Waiting(_)), None) => self.marks(id),
            _ => self.joins_again(id),
        }
    }

    /// The other browser of the same visitor.
    fn twin(&self, id: u32) -> Option<u32> {
        match self.people[id as usize].twin {
            Twin::None => None,
            Twin::Next => Some(id + 1),
            Twin::Before => Some(id - 1),
        }
    }

    /// The other browser is no longer used, in any state.
    pub fn lets_the_other_be(&mut self, id: u32) {
        if let Some(other) = self.twin(id) {
            self.people[other as usize].nature = Nature::NoShow;
        }
    }

    fn goes_in(&mut self, id: u32) {
        self.lets_the_other_be(id);
        self.hidden.goes_in(id, self.now);
        let pauses = self.pauses(id);
        self.claims(id, pauses);
        self.asks(id);
    }

    /// How often a visitor who is inside from now on looks at an answer and asks again.
    fn pauses(&mut self, id: u32) -> u32 {
        let part = self.part(id).copied();
        let mut visit = match part.and_then(|part| part.pauses) {
            Some(pauses) => Visit::with(pauses),
            None => Visit::of(&self.plan.crowd, self.plan.seed, id),
        };
        let is_bot = self.people[id as usize].nature == Nature::Bot;
        let pauses = match part {
            Some(part) => part.pages.max(1),
            None if self.has_pauses && is_bot => visit.requests_in(self.plan.settings.session_max_ms),
            None if self.has_pauses => visit.requests(self.plan.stays.at(self.now)),
            None => self.even_pauses(is_bot),
        };
        self.visits.insert(id, visit);
        pauses
    }

    /// The same, of a visitor who pauses for about as long each time.
    fn even_pauses(&mut self, is_bot: bool) -> u32 {
        let mean_ms = self.plan.stays.at(self.now);
        let stays_ms = if is_bot {
            self.plan.settings.session_max_ms
        } else {
            around(mean_ms, &mut self.rng)
        };
        let every_ms = (mean_ms / u64::from(self.plan.stays.pages.max(1))).max(1);
        // The request that claims is the first; as many pauses as requests, up or down by chance.
        let pauses = (stays_ms + self.rng.u64(0..every_ms)) / every_ms;
        u32::try_from(pauses).unwrap_or(u32::MAX)
    }

    /// In the shop, with this many pauses to come, each after an answer.
    fn claims(&mut self, id: u32, pauses: u32) {
        // Sent twice: before the first request, which is forwarded without the pass, and with the first that carries it.
        self.tally.counts.words += u64::from(pauses > 1);
        self.claims_turn(id);
        self.is_inside(id, pauses);
    }

    /// The page claims the turn, whether or not the visitor looks.
    pub fn claims_turn(&mut self, id: u32) {
        let (lane, number) = seat(&self.people[id as usize]);
        self.gate.said.claims.push(Claim {
            lane,
            number,
            carried: true,
        });
    }

    fn is_inside(&mut self, id: u32, pauses: u32) {
        let person = &mut self.people[id as usize];
        (person.is, person.pauses) = (Is::Inside, pauses);
        if person.nature != Nature::Bot {
            self.doors.add(self.now - person.joined);
        }
        self.busy += 1;
    }

    /// The visitor looks at a shop that the page has opened before.
    pub fn looks_inside(&mut self, id: u32) {
        self.lets_the_other_be(id);
        let pauses = self.pauses(id);
        self.tally.counts.words += u64::from(pauses > 1);
        self.is_inside(id, pauses);
        self.looks_at_page(id);
    }

    /// Sends a request to the shop; the visitor reads the answer once it has arrived.
    fn asks(&mut self, id: u32) {
        self.uses_session(id);
        self.usage.asks(id);
        let pauses = self.people[id as usize].pauses;
        let hold_ms = self.plan.hold_ms.filter(|_| self.is_active());
        if let Some(visit) = self.visits.get_mut(&id) {
            visit.is_under_way = true;
            visit.kept_ms = hold_ms.filter(|_| visit.pays && pauses == 1).unwrap_or(0);
            if visit.kept_ms > 0 {
                let (lane, number) = seat(&self.people[id as usize]);
                let for_ms = visit.kept_ms;
                self.gate.said.holds.push(Hold { lane, number, for_ms });
            }
        }
        let is_silent = self.plan.silence_ends(self.now).is_some();
        if self.is_active() && (is_silent || self.serving.is_some()) {
            self.later(id, self.now + self.plan.settings.renewal_ms(), Deed::Keep);
        }
        if is_silent {
            return self.hushed.push(id);
        }
        self.is_served(id);
    }

    /// The shop answers at once, or takes the request.
    pub fn is_served(&mut self, id: u32) {
        match &mut self.serving {
            Some(serving) => serving.ask(id, self.now),
            None if self.people[id as usize].is == Is::Inside => self.looks_at_page(id),
            None => {}
        }
    }

    /// The shop has a request that counts as use of the session.
    pub fn uses_session(&mut self, id: u32) {
        self.tally.counts.requests += 1;
        self.usage.count();
        self.sessions.ask(id, self.now);
        if self.is_active() {
            self.active.ask(id, self.now);
        }
    }

    /// The answer is there.
    fn looks_at_page(&mut self, id: u32) {
        if let Some(visit) = self.visits.get_mut(&id) {
            visit.is_under_way = false;
            visit.answered = Some(self.now);
        }
        if self.is_active() {
            self.active.ask(id, self.now);
        }
        if self.has_pauses {
            return self.pauses_after_answer(id);
        }
        if self.people[id as usize].pauses == 0 {
            return self.page_at(id, self.now + BRIEF_MS);
        }
        if let Some(part) = self.part(id) {
            let at = self.now + part.stay_ms / u64::from(part.pages.max(1));
            return self.page_at(id, at);
        }
        let mean_ms = self.plan.stays.at(self.now);
        self.next_page(id, (mean_ms / u64::from(self.plan.stays.pages.max(1))).max(1));
    }

    /// The visitor goes on after a while, or this was the last answer.
    fn pauses_after_answer(&mut self, id: u32) {
        let left = self.people[id as usize].pauses;
        let pause = self.visits.get_mut(&id).map(|visit| visit.pause_ms(left == 1));
        match pause.filter(|_| left > 0) {
            Some(pause_ms) => self.page_at(id, self.now + pause_ms),
            None => self.leaves_shop(id),
        }
    }

    /// The visitor's next request comes then.
    fn page_at(&mut self, id: u32, at: u64) {
        let kept_ms = self.visits.get_mut(&id).map_or(0, |visit| {
            visit.due = at;
            visit.kept_ms
        });
        self.usage.reads(id, at.min(self.now + self.idle_ms.max(kept_ms)));
        self.later(id, at, Deed::Page);
    }

    /// Takes the answers of a shop with a limit. A visitor without an answer tries again once.
    pub fn hear_answers(&mut self) {
        if self.plan.silence_ends(self.now).is_some() {
            return;
        }
        let Some(serving) = &mut self.serving else { return };
        for (id, answered) in serving.advance(self.now) {
            let person = &mut self.people[id as usize];
            let again = person.failed == 0;
            person.failed = u8::from(!answered);
            match (person.is, answered) {
                (Is::Inside, true) => self.looks_at_page(id),
                (Is::Inside, false) if again => {
                    let least = u32::from(!self.has_pauses);
                    person.pauses = person.pauses.max(least).saturating_add(1);
                    self.page_at(id, self.now + TRY_AGAIN_MS);
                }
                (Is::Inside, false) => self.goes(id),
                _ => {}
            }
        }
    }

    fn next_page(&mut self, id: u32, every_ms: u64) {
        let wait_ms = every_ms / 2 + self.rng.u64(0..=every_ms);
        self.page_at(id, self.now + wait_ms);
    }

    /// The session of the visitor, with a slot or parked.
    fn session(&self, id: u32) -> Option<Inside> {
        match self.standing(id) {
            Some(Standing::Inside(inside)) => Some(inside),
            _ => None,
        }
    }

    fn asks_for_page(&mut self, id: u32) {
        // The claim of who was called while joining goes with the next entry, and the request waits for it.
        if matches!(self.standing(id), Some(Standing::Called(_))) {
            return self.page_at(id, self.now + 1);
        }
        let session = self.session(id);
        let must_ask = session.is_some_and(|inside| inside.must_ask(self.gate.clock(self.now)));
        let ends = self.plan.end_grace_ms.is_some() && self.part(id).is_none();
        let person = &mut self.people[id as usize];
        if !self.has_pauses {
            person.pauses = person.pauses.saturating_sub(1);
            // The answer that ends a session needs a slot.
            if person.pauses == 0 && !(must_ask && ends && person.finishes) {
                return self.leaves_shop(id);
            }
        }
        self.has_paused(id);
        match session {
            None => {
                self.tally.thrown_out += 1;
                self.goes(id);
            }
            Some(_) if must_ask => self.wants_slot(id),
            Some(inside) => self.goes_on(id, inside),
        }
    }

    /// The pause of the visitor is over.
    fn has_paused(&mut self, id: u32) {
        let Some(visit) = self.visits.get_mut(&id) else { return };
        let Some(answered) = visit.answered.take() else { return };
        let pause_ms = visit.due.saturating_sub(answered);
        self.usage.pauses.add(pause_ms);
        let kept_ms = pause_ms.min(visit.kept_ms).saturating_sub(self.idle_ms);
        self.usage.forced_ms += u128::from(kept_ms);
    }

    /// The request waits for a slot at the gate.
    fn wants_slot(&mut self, id: u32) {
        self.returns.ask(id, self.now);
        self.gate.said.returns.push(seat(&self.people[id as usize]));
    }

    /// Gates ask again for requests that wait, and pages send theirs again.
    pub fn ask_again(&mut self) {
        let clock = self.gate.clock(self.now);
        let figures = self.gate.line().map(|line| line.figures);
        let has_reserve =
            figures.is_some_and(|figures| figures.called + figures.inside + figures.reserve <= figures.capacity);
        for id in self.returns.advance(self.now, has_reserve) {
            if self.session(id).is_some_and(|inside| inside.must_ask(clock)) {
                self.gate.said.returns.push(seat(&self.people[id as usize]));
            }
        }
    }

    /// Requests that have waited for a slot go on, once there is one.
    pub fn hear_slots(&mut self) {
        let clock = self.gate.clock(self.now);
        for id in self.returns.open() {
            let is_inside = self.people[id as usize].is == Is::Inside;
            match self.session(id) {
                Some(inside) if inside.must_ask(clock) => {}
                Some(inside) => {
                    self.returns.forwarded(id, self.now);
                    if is_inside {
                        self.goes_on(id, inside);
                    } else {
                        self.looks_once(id, inside);
                    }
                }
                None => {
                    self.returns.forget(id);
                    if is_inside {
                        self.tally.thrown_out += 1;
                        self.goes(id);
                    }
                }
            }
        }
    }

    /// The gate forwards a request, and notes the use of the session.
    fn goes_on(&mut self, id: u32, inside: Inside) {
        self.renews(id, inside);
        let has_pauses = self.has_pauses;
        let person = &mut self.people[id as usize];
        if has_pauses {
            person.pauses = person.pauses.saturating_sub(1);
        } else if person.pauses == 0 {
            self.uses_session(id);
            return self.leaves_shop(id);
        }
        self.asks(id);
    }

    fn renews(&mut self, id: u32, inside: Inside) {
        let clock = if self.is_active() {
            self.gate.clock(self.now)
        } else {
            self.gate.view.clock
        };
        if inside.renewal_due(clock) {
            self.gate.said.renewals.push(seat(&self.people[id as usize]));
        }
    }

    /// A request is still under way: the gate notes it as use.
    fn keeps_slot(&mut self, id: u32) {
        let is_under_way = self.visits.get(&id).is_some_and(|visit| visit.is_under_way);
        let Some(inside) = self.session(id).filter(|_| is_under_way) else {
            return;
        };
        self.renews(id, inside);
        self.active.ask(id, self.now);
        self.later(id, self.now + self.plan.settings.renewal_ms(), Deed::Keep);
    }

    /// A tab asks by itself, after the visit. With active slots that is no use of the session.
    fn polls(&mut self, id: u32) {
        let clock = self.gate.clock(self.now);
        let Some(inside) = self.session(id).filter(|inside| !inside.must_ask(clock)) else {
            return;
        };
        if self.is_active() {
            self.tally.counts.requests += 1;
            self.usage.count();
        } else {
            self.renews(id, inside);
            self.uses_session(id);
        }
        if let Some(serving) = self
            .serving
            .as_mut()
            .filter(|_| self.plan.silence_ends(self.now).is_none())
        {
            serving.ask(id, self.now);
        }
        self.later(id, self.now + POLL_MS, Deed::Poll);
    }

    /// The visitor asks then, along with all others, if there is a right to.
    pub fn comes_along(&mut self, id: u32, at: u64) {
        let person = &self.people[id as usize];
        let (is, calls) = (person.is, person.calls);
        if calls == 0 || self.returns.asks(id) || self.session(id).is_none() {
            return;
        }
        match is {
            Is::Inside
                if self
                    .visits
                    .get(&id)
                    .is_some_and(|visit| !visit.is_under_way && visit.due > at) =>
            {
                self.page_at(id, at);
            }
            Is::Gone => self.later(id, at, Deed::Return),
            _ => {}
        }
    }

    /// The visit is over, and the visitor looks once more.
    fn returns_to_shop(&mut self, id: u32) {
        let clock = self.gate.clock(self.now);
        match self.session(id) {
            Some(inside) if inside.must_ask(clock) => self.wants_slot(id),
            Some(inside) => self.looks_once(id, inside),
            None => {}
        }
    }

    fn looks_once(&mut self, id: u32, inside: Inside) {
        self.renews(id, inside);
        self.uses_session(id);
        // The shop has ended it already.
        if inside.ending {
            self.sessions.end(id);
            self.active.end(id);
        }
    }

    /// The visit is over. The last answer ends the session where the visitor has gone to the end.
    fn leaves_shop(&mut self, id: u32) {
        let is_inside = self.session(id).is_some();
        let polls = self.visits.get(&id).is_some_and(|visit| visit.polls);
        self.goes(id);
        let person = &self.people[id as usize];
        let (seat, finishes) = (seat(person), person.finishes);
        if self.part(id).is_some() {
            self.sessions.end(id);
            self.active.end(id);
            return self.gate.said.leaves.push(seat);
        }
        if let Some(after_ms) = self.plan.end_grace_ms.filter(|_| finishes && is_inside) {
            self.sessions.end(id);
            self.active.end(id);
            self.usage.forced_ms += u128::from(after_ms);
            self.ends(seat, after_ms);
        } else if polls {
            self.later(id, self.now + POLL_MS, Deed::Poll);
        }
    }

    /// Leaves the shop.
    fn goes(&mut self, id: u32) {
        self.people[id as usize].is = Is::Gone;
        self.visits.remove(&id);
        self.usage.ends(id);
        self.busy -= 1;
    }

    /// The shop's answer ends the session; where there is a stock, the visitor has bought.
    fn ends(&mut self, (lane, number): (ropeline_ids::LaneId, ropeline_ids::Number), after_ms: u64) {
        let sells = |room: &Arc<crate::room::RoomView>| self.plan.completes && room.settings.stock.is_some();
        let Some(edition) = self
            .gate
            .room_view()
            .filter(|room| sells(room))
            .map(|room| room.edition)
        else {
            return self.gate.said.ends.push(End { lane, number, after_ms });
        };
        self.gate.said.completions.push(Completion {
            lane,
            number,
            edition,
            after_ms,
            at: None,
            tag: None,
        });
    }
}

/// How long after the turn a late visitor comes.
const LATE_MS: u64 = 30_000;

/// When who got no answer tries again.
const TRY_AGAIN_MS: u64 = 5_000;

/// How often a tab asks that is left open.
const POLL_MS: u64 = 20_000;

/// How long the briefest visit takes.
const BRIEF_MS: u64 = 1_000;

/// When an estimate is looked at first.
const FIRST_LOOK_MS: u64 = 15_000;
