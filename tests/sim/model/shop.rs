//! The shop behind the gates: the visitors of its requests in the last `session_duration`, compared with the slots.
//!
//! A called visitor's request is forwarded when the log has the claim; where it cannot be asked the gate forwards all the same.

use std::collections::BTreeSet;

use ropeline::replica::Note;
use ropeline::room::{Clock, Inside, LineView, Number, Standing};

use super::gate::Asking;
use super::judge::Pass;
use super::observer;
use super::people::Is;
use super::rooms;
use super::world::{MILLI, SECOND, Time, World};

impl World {
    /// A request that its tokens let through.
    pub fn claims(&mut self, id: usize, slot: usize, request: (Pass, bool), note: Option<Note>) {
        let number = request.0.number;
        if rooms::active().is_some() && self.eyes(slot, |eyes| eyes.must_ask(&request.0)) {
            return self.asks_for_slot(id, slot, request);
        }
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
            // A session whose end is set ends then, whatever it asks.
            !eyes.cut_off && matches!(eyes.standing(number), Standing::Inside(inside) if !inside.ending)
        });
        // Who comes once more with the number of a session that they have ended is promised nothing: its end may be on its way.
        let sure = sure && !self.parted.contains(&number);
        self.people[id].asked = sure.then_some((self.now, number));
        if sure {
            self.has_a_slot(id, slot, number);
        }
    }

    /// A session that is parked by the furthest log is not forwarded.
    fn has_a_slot(&mut self, id: usize, slot: usize, number: Number) {
        let Some(gate) = self.slots[slot].gate.as_ref() else {
            return;
        };
        let (own, twisted) = (gate.id(), observer::with(|watch| watch.twisted.clone()));
        let gates = self.slots.iter().filter_map(|slot| slot.gate.as_ref());
        let right = gates.filter(|gate| Some(gate.view.position) == self.newest() && !twisted.contains(&gate.id()));
        let Some(view) = right.map(|gate| &gate.view).next() else {
            return;
        };
        if self.excuse.excess || twisted.contains(&own) || view.position.epoch != gate.view.position.epoch {
            return;
        }
        let standing = view.standing(&rooms::visitor(number), view.clock);
        if let Standing::Inside(Inside { parked: true, .. }) = standing {
            let at = view.position;
            self.fault(format_args!(
                "{id} is forwarded at {slot}, and {number:?} is parked at {at:?}"
            ));
        }
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

    /// The store's clock has jumped: by as much as an entry may move the rooms' clock, sessions and holds end sooner than the shop
    /// counts.
    pub fn forgets_whom_the_shop_counts(&mut self) {
        self.people
            .iter_mut()
            .for_each(|person| (person.asked, person.held) = (None, None));
    }

    /// The shop never counts more visitors than slots are held; and a visitor who had a page is inside for a session from
    /// then on, less the time that a gate may be behind.
    pub fn nobody_is_forgotten(&mut self, line: &LineView, clock: Clock) {
        if let Some(active) = rooms::active() {
            return self.nobody_loses_a_slot(line, clock, active.idle_after_ms * MILLI);
        }
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

    /// With active slots, the visitors with a page in the last `idle_after` are at most the slots, and none of them is parked; nor
    /// is anybody whose slot is held until a date. Those with a page in the last `session_duration` are at most the rights.
    fn nobody_loses_a_slot(&mut self, line: &LineView, clock: Clock, idle_after: Time) {
        let lasts: Time = rooms::settings().session_ms * MILLI;
        let now = self.now;
        let lately = |span: Time| {
            let people = self.people.iter().filter_map(|person| person.asked);
            people.filter(move |(at, _)| now < at + span).map(|(_, number)| number)
        };
        let (sessions, active): (BTreeSet<Number>, BTreeSet<Number>) =
            (lately(lasts).collect(), lately(idle_after).collect());
        self.tally.most_sessions = self.tally.most_sessions.max(sessions.len() as u64);
        let slots = line.figures.called + line.figures.inside;
        let rights = slots + line.figures.parked;
        for (counted, most, what) in [(&sessions, rights, "rights"), (&active, slots, "slots")] {
            if counted.len() > most as usize {
                let stands = |number: &Number| (*number, line.standing(rooms::LANE, *number, clock));
                let counted: Vec<_> = counted.iter().map(stands).collect();
                let count = counted.len();
                return self.fault(format_args!(
                    "the shop counts {count} visitors on {most} {what}: {counted:?}"
                ));
            }
        }
        for id in 0..self.people.len() {
            let person = &self.people[id];
            let (asked, held) = (person.asked, person.held);
            for (at, number) in asked.into_iter().filter(|(at, _)| now < at + lasts) {
                // At the end of `session_max` it is over, whatever it asks.
                let is_sure = now + BEHIND < at + lasts && !self.is_ending(id, number);
                let keeps = now < at + idle_after || held.is_some_and(|(until, of)| of == number && now < until);
                let standing = line.standing(rooms::LANE, number, clock);
                let is_wrong = match standing {
                    Standing::Inside(inside) => inside.parked && keeps,
                    _ => is_sure,
                };
                if is_wrong {
                    let (at, until) = (at / MILLI, held.map(|(until, _)| until / MILLI));
                    return self.fault(format_args!(
                        "{id} had a page at {at} ms, is held until {until:?} ms, and {number:?} is {standing:?} at {clock:?}"
                    ));
                }
            }
        }
    }

    /// The session has nearly lasted as long as any may.
    fn is_ending(&self, id: usize, number: Number) -> bool {
        let most: Time = rooms::settings().session_max_ms * MILLI;
        let began = self.people[id].began.filter(|(_, of)| *of == number);
        began.is_none_or(|(at, _)| self.now + CLAIM > at + most)
    }
}

/// A gate waits for the log's word on a claim for so long, before it forwards the request.
const CLAIM: Time = 5 * SECOND;

/// A gate that hears nothing for so long is cut off.
const BEHIND: Time = 2 * SECOND;

/// How long after a request a gate may still have the word of it to itself.
const UNTOLD: Time = 3 * SECOND;
