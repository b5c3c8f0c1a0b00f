//! Behaviour of virtual visitors: wait, give up, come when called, shop, leave.

use std::sync::Arc;

use crate::pages::Stall;
use crate::room::{Claim, Completion, End, Standing, pace};

use super::guesses::Seen;
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
    fn part(&self, id: u32) -> Option<&Scripted> {
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

    /// The line is over for its visitors.
    pub fn sent_away(&mut self, id: u32, over: Over) {
        self.people[id as usize].is = Is::Gone;
        self.guesses.forget(id, self.now);
        match over {
            Over::Sold => self.tally.sold_out_in_line += 1,
            Over::Closed => self.tally.closed_in_line += 1,
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
        if let Some(pages) = self.part(id).map(|part| part.pages) {
            self.claims(id, pages.max(1));
            return self.asks(id);
        }
        let pauses = self.pauses(id);
        self.claims(id, pauses);
        self.asks(id);
    }

    /// How often a visitor who is inside from now on looks at an answer and asks again.
    fn pauses(&mut self, id: u32) -> u32 {
        let now = self.now;
        let mean_ms = self.plan.stays.at(now);
        let stays_ms = match self.people[id as usize].nature {
            Nature::Bot => self.plan.settings.session_max_ms,
            _ => around(mean_ms, &mut self.rng),
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
        self.tally.counts.requests += 1;
        self.sessions.ask(id, self.now);
        match &mut self.serving {
            Some(serving) => serving.ask(id, self.now),
            None => self.looks_at_page(id),
        }
    }

    fn looks_at_page(&mut self, id: u32) {
        if self.people[id as usize].pauses == 0 {
            return self.later(id, self.now + BRIEF_MS, Deed::Page);
        }
        if let Some(part) = self.part(id) {
            let at = self.now + part.stay_ms / u64::from(part.pages.max(1));
            return self.later(id, at, Deed::Page);
        }
        let mean_ms = self.plan.stays.at(self.now);
        self.next_page(id, (mean_ms / u64::from(self.plan.stays.pages.max(1))).max(1));
    }

    /// Takes the answers of a shop with a limit. A visitor without an answer tries again once.
    pub fn hear_answers(&mut self) {
        let Some(serving) = &mut self.serving else { return };
        for (id, answered) in serving.advance(self.now) {
            let person = &mut self.people[id as usize];
            let again = person.failed == 0;
            person.failed = u8::from(!answered);
            match (person.is, answered) {
                (Is::Inside, true) => self.looks_at_page(id),
                (Is::Inside, false) if again => {
                    person.pauses = person.pauses.max(1).saturating_add(1);
                    self.later(id, self.now + TRY_AGAIN_MS, Deed::Page);
                }
                (Is::Inside, false) => self.goes(id),
                _ => {}
            }
        }
    }

    fn next_page(&mut self, id: u32, every_ms: u64) {
        let wait_ms = every_ms / 2 + self.rng.u64(0..=every_ms);
        self.later(id, self.now + wait_ms, Deed::Page);
    }

    fn asks_for_page(&mut self, id: u32) {
        let inside = match self.standing(id) {
            Some(Standing::Inside(inside)) => Some(inside),
            _ => None,
        };
        let person = &mut self.people[id as usize];
        let (seat, finishes) = (seat(person), person.finishes);
        person.pauses = person.pauses.saturating_sub(1);
        if person.pauses == 0 {
            self.goes(id);
            if self.part(id).is_some() {
                self.sessions.end(id);
                return self.gate.said.leaves.push(seat);
            }
            if let Some(after_ms) = self.plan.end_grace_ms.filter(|_| finishes && inside.is_some()) {
                self.sessions.end(id);
                self.ends(seat, after_ms);
            }
            return;
        }
        let Some(inside) = inside else {
            self.tally.thrown_out += 1;
            return self.goes(id);
        };
        if inside.renewal_due(self.gate.view.clock) {
            self.gate.said.renewals.push(seat);
        }
        self.asks(id);
    }

    /// Leaves the shop.
    fn goes(&mut self, id: u32) {
        self.people[id as usize].is = Is::Gone;
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

    fn quits(&mut self, id: u32) {
        let person = &mut self.people[id as usize];
        if person.is != Is::Waiting || person.calls > 0 || person.nature == Nature::NoShow {
            return;
        }
        person.is = Is::Gone;
        self.tally.gave_up += 1;
        if person.nature == Nature::Leaver {
            let seat = seat(person);
            self.gate.said.leaves.push(seat);
        }
        self.guesses.forget(id, self.now);
        self.lets_the_other_be(id);
    }

    fn dozes(&mut self, id: u32) {
        let person = &mut self.people[id as usize];
        if person.is == Is::Waiting && person.calls == 0 {
            person.asleep = true;
            self.guesses.forget(id, self.now);
            let length = match self.part(id).map(|part| part.does) {
                Some(Doing::Sleeps(_, length)) => length,
                _ => self.rng.u64(0..SLEEP_MS),
            };
            self.later(id, self.now + length, Deed::Wake);
        }
    }

    fn wakes(&mut self, id: u32) {
        self.people[id as usize].asleep = false;
        self.comes(id);
    }

    /// Checks in out of turn.
    fn marks(&mut self, id: u32) {
        let person = &mut self.people[id as usize];
        person.marked = self.generation;
        let seat = seat(person);
        self.gate.said.marks.push(seat);
    }

    /// The place is lost: at the back again.
    pub fn joins_again(&mut self, id: u32) {
        self.tally.late += 1;
        self.hidden.joins_again(id);
        self.tally.again.push(id);
    }

    /// Reads the estimate as a status answer would have it.
    fn looks(&mut self, id: u32) {
        let person = &self.people[id as usize];
        if person.is != Is::Waiting || person.calls > 0 || person.asleep {
            return;
        }
        let lane = seat(person).0;
        let (view, standing) = (Arc::clone(&self.gate.view), self.standing(id));
        if let (Some(Standing::Waiting(waiting)), Some(line), Some(room)) =
            (standing, self.gate.line(), self.gate.room_view())
        {
            let why = Stall::of(&view, room, line, view.time);
            let told = !why.is_some_and(Stall::pauses);
            let seen = Seen {
                estimate: line.estimate(lane, waiting.ahead, view.clock).filter(|_| told),
                why,
                beyond: !line.is_reachable(lane, waiting.ahead),
            };
            let after_ms = self.guesses.note(id, seen, self.now);
            self.later(id, self.now + after_ms, Deed::Look);
        }
    }
}

/// Longest time after joining that a phone goes to sleep, and that it sleeps.
const SLEEP_MS: u64 = 900_000;

/// How long after the turn a late visitor comes.
const LATE_MS: u64 = 30_000;

/// When who got no answer tries again.
const TRY_AGAIN_MS: u64 = 5_000;

/// How long the briefest visit takes.
const BRIEF_MS: u64 = 1_000;

/// When an estimate is looked at first.
const FIRST_LOOK_MS: u64 = 15_000;
