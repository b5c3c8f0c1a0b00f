//! The visitors' pages: they poll, send heartbeats, and see when the sale is over; and those that nobody sees.

use std::sync::Arc;

use crate::pages::Stall;
use crate::room::{LineView, Mode, Standing, pace};

use super::guesses::Seen;
use super::hidden::Claiming;
use super::people::{Is, Nature};
use super::plan::Doing;
use super::run::{Deed, Over, Simulation, seat};

impl Simulation<'_> {
    /// Visitors whose page asks now, and whose mark is due.
    pub fn check_in(&mut self) {
        let (generation, over) = (self.generation, self.over());
        for id in self.wheel.take(self.now) {
            let person = &mut self.people[id as usize];
            if person.is != Is::Waiting || person.asleep {
                continue;
            }
            // A called visitor comes by themselves.
            if let Some(over) = over.filter(|_| person.calls == 0) {
                self.sent_away(id, over);
            } else if person.marked != generation {
                person.marked = generation;
                let seat = seat(person);
                self.gate.said.marks.push(seat);
                // Not the visitor who checked in last: their mark may be of the next generation already.
                self.sentinel.get_or_insert(id);
            }
        }
    }

    /// A generation of marks has turned: everybody in line checks in when their page asks next.
    pub fn turn(&mut self) {
        let Some(sentinel) = self.sentinel else { return };
        match self.standing(sentinel) {
            Some(Standing::Waiting(waiting)) if !waiting.mark_due => return,
            Some(Standing::Waiting(_)) => {}
            _ => return self.sentinel = self.any_marked(),
        }
        self.generation += 1;
        self.sentinel = None;
        self.all_ask();
    }

    /// Everybody in line asks how things stand, when their page does so next.
    pub fn all_ask(&mut self) {
        let people = &self.people;
        self.in_line.retain(|id| people[*id as usize].is == Is::Waiting);
        for (ahead, id) in (0..).zip(&self.in_line) {
            let asks_ms = pace::refresh_ms(&self.plan.settings, Some(ahead), self.rng.u16(..));
            let at = self.now + self.rng.u64(1..=asks_ms);
            if !self.people[*id as usize].asleep {
                self.wheel.put(*id, at);
            }
        }
    }

    pub fn quits(&mut self, id: u32) {
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

    pub fn dozes(&mut self, id: u32) {
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

    pub fn wakes(&mut self, id: u32) {
        self.people[id as usize].asleep = false;
        self.comes(id);
    }

    /// Checks in out of turn.
    pub fn marks(&mut self, id: u32) {
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
    pub fn looks(&mut self, id: u32) {
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

    /// The line is over for its visitors.
    pub fn sent_away(&mut self, id: u32, over: Over) {
        self.people[id as usize].is = Is::Gone;
        self.guesses.forget(id, self.now);
        match over {
            Over::Sold => self.tally.sold_out_in_line += 1,
            Over::Closed => self.tally.closed_in_line += 1,
        }
    }

    /// Why visitors now wait in vain.
    pub fn over(&self) -> Option<Over> {
        let (room, line) = (self.gate.room_view()?, self.gate.line()?);
        match room.settings.mode {
            Mode::Closed => Some(Over::Closed),
            Mode::Off => None,
            _ => line.figures.is_sold_out().then_some(Over::Sold),
        }
    }

    /// A visitor can be called, if a slot is free and the shop that the room follows is well.
    pub fn is_open(&self, line: &LineView) -> bool {
        let room = self.gate.room_view();
        let may = room.is_some_and(|room| room.settings.mode == Mode::Auto && !room.settings.calls_nobody());
        may && line.figures.left() != Some(0)
    }

    /// A visitor in line whose mark of this generation was sent.
    fn any_marked(&self) -> Option<u32> {
        let marked = |id: &&u32| {
            let person = &self.people[**id as usize];
            person.is == Is::Waiting && person.marked == self.generation
        };
        let (front, back) = self.in_line.split_at(self.in_line.len() / 2);
        back.iter().chain(front).find(marked).copied()
    }

    /// The visitor has joined, and soon looks elsewhere. One who joins anew goes on as before.
    pub fn watches_tab(&mut self, id: u32) {
        if self.hidden.tabs.contains_key(&id) {
            return;
        }
        let at = self.now + self.hidden.watch(id, self.plan.seed);
        self.later(id, at, Deed::Hide);
    }

    pub fn hides(&mut self, id: u32) {
        let Some(tab) = self.hidden.tabs.get_mut(&id) else {
            return;
        };
        let person = &mut self.people[id as usize];
        if person.is != Is::Waiting {
            self.hidden.tabs.remove(&id);
            return;
        }
        tab.is_seen = false;
        let at = self.now + tab.away_ms(self.plan.crowd.away_ms);
        if person.nature == Nature::HiddenPhone {
            person.asleep = true;
            self.guesses.forget(id, self.now);
        }
        self.later(id, at, Deed::See);
    }

    /// The visitor looks at the tab again.
    pub fn sees(&mut self, id: u32) {
        let standing = self.standing(id);
        let person = &mut self.people[id as usize];
        person.asleep = false;
        let Some(tab) = self.hidden.tabs.get_mut(&id) else {
            return;
        };
        tab.is_seen = true;
        let mut watches_ms = tab.watches_ms();
        match person.is {
            // Called: the claim is in no entry yet.
            Is::Unseen if matches!(standing, Some(Standing::Inside(_) | Standing::Called(_))) => {
                self.hidden.goes_in(id, self.now);
                return self.looks_inside(id);
            }
            Is::Unseen => {
                person.is = Is::Waiting;
                self.session_is_over(id);
                self.joins_again(id);
            }
            Is::Waiting => {
                if !matches!(standing, Some(Standing::Called(_))) && self.misses(id) {
                    watches_ms = AFTER_A_MISS_MS;
                }
                self.comes(id);
            }
            _ => {}
        }
        if self.people[id as usize].is == Is::Waiting {
            self.later(id, self.now + watches_ms, Deed::Hide);
        } else {
            self.hidden.tabs.remove(&id);
        }
    }

    /// The room has called a visitor: one who looks elsewhere may not notice.
    pub fn is_called_in_tab(&mut self, id: u32) {
        if self.people[id as usize].is != Is::Waiting {
            return;
        }
        self.misses(id);
        if let Some(tab) = self.hidden.tabs.get_mut(&id).filter(|tab| !tab.is_seen) {
            tab.called_at = Some(self.now);
            let person = &mut self.people[id as usize];
            person.asleep |= person.nature == Nature::HiddenTab && self.plan.claiming == Claiming::WhenSeen;
        }
    }

    /// How long the page leaves the turn unclaimed, if nobody looks before.
    pub fn leaves_unclaimed(&mut self, id: u32, remains_ms: u64) -> u64 {
        let Some(tab) = self.hidden.tabs.get_mut(&id).filter(|tab| !tab.is_seen) else {
            return 0;
        };
        tab.holds_ms(self.plan.claiming, remains_ms)
    }

    /// The page claims the turn while nobody looks: the shop answers, and the session begins.
    pub fn claims_unseen(&mut self, id: u32) {
        self.claims_turn(id);
        self.people[id as usize].is = Is::Unseen;
        self.uses_session(id);
        if let Some(serving) = &mut self.serving {
            serving.ask(id, self.now);
        }
        if let Some(tab) = self.hidden.tabs.get_mut(&id) {
            tab.called_at = tab.called_at.or(Some(self.now));
            tab.claimed_at = Some(self.now);
        }
    }

    /// The undecided turn of the visitor is missed, if there is one.
    fn misses(&mut self, id: u32) -> bool {
        let tab = self.hidden.tabs.get_mut(&id);
        let Some(called_at) = tab.and_then(|tab| tab.called_at.take()) else {
            return false;
        };
        let free_at = called_at + self.plan.settings.claim_deadline_ms + SLACK_MS;
        self.hidden.held_ms += free_at.min(self.now) - called_at;
        match self.people[id as usize].nature {
            Nature::HiddenPhone => self.hidden.missed_on_phones += 1,
            Nature::HiddenTab => self.hidden.missed_on_desktops += 1,
            // The visitor is inside with the other browser.
            _ => {}
        }
        true
    }

    /// A session that nobody saw is over.
    fn session_is_over(&mut self, id: u32) {
        let Some(tab) = self.hidden.tabs.get_mut(&id) else {
            return;
        };
        let (called_at, claimed_at) = (tab.called_at.take(), tab.claimed_at.take());
        let settings = &self.plan.settings;
        let lasts_ms = settings.session_ms.min(settings.session_max_ms);
        if let (Some(called_at), Some(claimed_at)) = (called_at, claimed_at) {
            self.hidden.held_ms += (claimed_at + lasts_ms + SLACK_MS).min(self.now) - called_at;
        }
        self.hidden.over_unseen += 1;
    }
}

/// Longest time after joining that a phone goes to sleep, and that it sleeps.
pub(super) const SLEEP_MS: u64 = 900_000;

/// How long a visitor looks at a page that says that a turn was missed.
const AFTER_A_MISS_MS: u64 = 60_000;

/// How long after an end the room frees the slot.
const SLACK_MS: u64 = 2_000;
