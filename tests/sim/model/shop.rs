//! The shop behind the gates: the visitors of its requests in the last `session_duration`, compared with the slots.
//!
//! A called visitor's request is forwarded when the log has the claim; where it cannot be asked the gate forwards all the same.

use std::collections::BTreeSet;

use ropeline::replica::Note;
use ropeline::room::{LineView, Number, Standing};

use super::gate::Asking;
use super::judge::Pass;
use super::people::Is;
use super::rooms;
use super::world::{MILLI, SECOND, Time, World};

impl World {
    /// A request that its tokens let through.
    pub fn claims(&mut self, id: usize, slot: usize, request: (Pass, bool), note: Option<Note>) {
        let number = request.0.number;
        let called = self.eyes(slot, |eyes| matches!(eyes.standing(number), Standing::Called(_)));
        let Some(claim @ Note::Claim { .. }) = note.filter(|_| called) else {
            self.leave_word(slot, number, note);
            return self.is_inside(id, slot, request);
        };
        (self.people[id].is, self.people[id].claiming) = (Is::Claiming, Some(request));
        self.come_again(id, 2 * SECOND, 2 * SECOND + 1);
        let visit = self.people[id].visit;
        if let Some(gate) = self.slots[slot].gate.as_mut() {
            let recorded = gate.record(rooms::visitor(number), claim, self.now);
            gate.asking.push(Asking {
                visitor: id,
                visit,
                claims: true,
                recorded,
            });
        }
        self.go_on(slot);
    }

    /// The log has the claim: whether the visitor was still called, the room says.
    pub fn claimed(&mut self, id: usize, slot: usize, visit: u64) {
        if self.people[id].visit != visit || self.people[id].is != Is::Claiming {
            return;
        }
        let Some(request) = self.people[id].claiming.take() else {
            return;
        };
        self.people[id].is = Is::Waiting;
        let standing = self.eyes(slot, |eyes| eyes.standing(request.0.number));
        if matches!(standing, Standing::Inside(_)) {
            return self.is_inside(id, slot, request);
        }
        self.note(format_args!("{id} has claimed too late: {standing:?}"));
        self.come_again(id, 100 * MILLI, 2 * SECOND);
    }

    pub fn claim_takes_too_long(&mut self, id: usize) {
        let slot = self.people[id].gate;
        self.people[id].is = Is::Waiting;
        let request = self.people[id].claiming.take();
        let (Some(request), true) = (request, self.slots[slot].gate.is_some()) else {
            return self.come_again(id, 100 * MILLI, 2 * SECOND);
        };
        self.leave_word(slot, request.0.number, Some(Note::Reopen));
        self.is_inside(id, slot, request);
        // Requests that are not in the log yet are no promise of the rooms.
        self.people[id].asked = None;
    }

    pub fn asks_shop(&mut self, id: usize, slot: usize, number: Number) {
        let sure = self.eyes(slot, |eyes| {
            !eyes.cut_off && matches!(eyes.standing(number), Standing::Inside(_))
        });
        self.people[id].asked = sure.then_some((self.now, number));
    }

    /// A gate has died: its last forwarded requests may not be in the log, and its waiting visitors get no answer.
    pub fn forgets_lately(&mut self, slot: usize, asking: Vec<Asking>) {
        let lately = self.now.saturating_sub(UNTOLD);
        for person in &mut self.people {
            person.asked = person.asked.filter(|(at, _)| person.gate != slot || *at < lately);
        }
        for asking in asking.into_iter().filter(|asking| asking.claims) {
            if self.people[asking.visitor].is == Is::Claiming {
                (self.people[asking.visitor].is, self.people[asking.visitor].claiming) = (Is::Waiting, None);
                self.come_again(asking.visitor, 100 * MILLI, 2 * SECOND);
            }
        }
    }

    /// The store's clock has jumped: by as much as an entry may move the rooms' clock, sessions end sooner than the shop counts.
    pub fn forgets_whom_the_shop_counts(&mut self) {
        self.people.iter_mut().for_each(|person| person.asked = None);
    }

    /// The shop never counts more visitors than slots are held; and a visitor who had a page is inside for a session from
    /// then on, less the time that a gate may be behind.
    pub fn nobody_is_forgotten(&mut self, line: &LineView, clock: ropeline::room::Clock) {
        let lasts: Time = rooms::settings().session_ms * MILLI;
        let asked = self.people.iter().enumerate().filter_map(|(id, person)| {
            let (at, number) = person.asked?;
            (self.now < at + lasts).then_some((id, at, number))
        });
        let asked: Vec<(usize, Time, Number)> = asked.collect();
        let sessions: BTreeSet<Number> = asked.iter().map(|(.., number)| *number).collect();
        self.tally.most_sessions = self.tally.most_sessions.max(sessions.len() as u64);
        let slots = u64::from(line.figures.called + line.figures.inside);
        if sessions.len() as u64 > slots {
            let without = asked.iter().find(|(.., number)| {
                let standing = line.standing(rooms::LANE, *number, clock);
                !matches!(standing, Standing::Called(_) | Standing::Inside(_))
            });
            let without =
                without.map(|(id, at, number)| (id, at / MILLI, number, line.standing(rooms::LANE, *number, clock)));
            return self.fault(format_args!(
                "the shop counts {} visitors on {slots} slots, such as {without:?}",
                sessions.len()
            ));
        }
        for (id, at, number) in asked.into_iter().filter(|(_, at, _)| self.now + BEHIND < *at + lasts) {
            let standing = line.standing(rooms::LANE, number, clock);
            if !matches!(standing, Standing::Inside(_)) {
                let at = at / MILLI;
                return self.fault(format_args!(
                    "{id} had a page at {at} ms, and {number:?} is {standing:?}"
                ));
            }
        }
    }
}

/// A gate that hears nothing for so long is cut off.
const BEHIND: Time = 2 * SECOND;

/// How long after a request a gate may still have the word of it to itself.
const UNTOLD: Time = 3 * SECOND;
