//! Visitors' requests at gates, and the answers that they may expect.
//!
//! A visit is a request: the gate judges the tokens by its own view and queues the same notes as `src/gate` would, and the
//! visitor keeps the answer. The visitor does not see the log, so the promises to visitors are compared with their answers.

use ropeline::replica::{Arrival, Condition, JoinOutcome, Note};
use ropeline::room::{LineName, Number, PendingId, pace};
use tokio::sync::oneshot::error::TryRecvError;

use super::gate::{Asking, Joiner};
use super::judge::{Eyes, Pass, Ticket, Worth};
use super::people::{Is, Kind, Person};
use super::rooms::{self, LANE};
use super::world::{Event, MILLI, SECOND, Time, World};
use crate::accounts::{share, tags_of};

impl World {
    pub fn arrival(&mut self) {
        if self.arrivals_every == 0 || self.calm {
            return;
        }
        if self.people.len() < self.most_people {
            let person = Person::new(&mut self.chance);
            self.people.push(person);
            self.come_again(self.people.len() - 1, 0, SECOND);
        }
        let next = self.chance.within(0, 2 * self.arrivals_every);
        self.after(next, Event::Arrive);
    }

    /// The visitor's next visit, instead of any planned before.
    pub fn come_again(&mut self, person: usize, from: Time, to: Time) {
        let delay = self.chance.within(from, to);
        self.people[person].visit += 1;
        let visit = self.people[person].visit;
        self.after(delay, Event::Visit(person, visit));
    }

    pub fn visited(&mut self, id: usize, visit: u64) {
        if self.people[id].visit != visit || self.people[id].is == Is::Gone {
            return;
        }
        self.tally.steps += 1;
        if self.people[id].is == Is::Joining {
            return self.join_takes_too_long(id);
        }
        if self.people[id].is == Is::Claiming {
            return self.claim_takes_too_long(id);
        }
        if self.people[id].is == Is::Returning {
            return self.return_takes_long(id);
        }
        let Some(slot) = self.choose_gate(id) else {
            return self.come_again(id, SECOND, 3 * SECOND);
        };
        self.people[id].gate = slot;
        if let Some(pass) = self.people[id].pass {
            let (valid, note) = self.eyes(slot, |eyes| eyes.pass(&pass));
            if valid {
                return self.goes_inside(id, slot, pass, note);
            }
            self.pass_is_void(id);
        }
        if self.goes_home_with_nothing(id, slot) {
            return;
        }
        match self.people[id].ticket {
            None => {
                let arrival = self.arrives(id);
                self.joins(id, slot, arrival);
            }
            Some(Ticket::Pending(pending)) => self.joins(id, slot, Arrival::again(pending).of(tags_of(id))),
            Some(Ticket::Numbered(number)) => self.shows_ticket(id, slot, number),
        }
    }

    /// Another gate at every other visit, one that takes visitors if there is one.
    fn choose_gate(&mut self, id: usize) -> Option<usize> {
        let now = self.now;
        let takes = |slot: &super::world::Slot| {
            slot.gate
                .as_ref()
                .is_some_and(|gate| gate.paused_until <= now && !gate.leaving)
        };
        let ready = |slot: &super::world::Slot| {
            let frozen = |condition| {
                matches!(
                    condition,
                    Condition::Frozen { .. } | Condition::Behind { .. } | Condition::Starting
                )
            };
            takes(slot)
                && slot
                    .gate
                    .as_ref()
                    .is_some_and(|gate| !frozen(gate.protocol.condition()))
        };
        let last = self.people[id].gate % self.slots.len();
        if takes(&self.slots[last]) && self.chance.hits(500) {
            return Some(last);
        }
        let of = |wanted: &dyn Fn(&super::world::Slot) -> bool| -> Vec<usize> {
            (0..self.slots.len())
                .filter(|slot| wanted(&self.slots[*slot]))
                .collect()
        };
        let (good, any) = (of(&ready), of(&takes));
        match (good.as_slice(), any.as_slice()) {
            ([], []) => None,
            ([], any) => Some(self.chance.pick(any)),
            (good, _) => Some(self.chance.pick(good)),
        }
    }

    pub fn eyes<T>(&self, slot: usize, look: impl FnOnce(&Eyes<'_>) -> T) -> T {
        let gate = self.slots[slot]
            .gate
            .as_ref()
            .expect("the gate was chosen because it is there");
        look(&Eyes {
            view: &gate.view,
            now: gate.clock(self.now),
            wall: super::store::EPOCH_MS + self.now / MILLI,
            cut_off: gate.cut_off(self.now),
        })
    }

    pub fn leave_word(&mut self, slot: usize, number: Number, note: Option<Note>) {
        let (Some(note), Some(gate)) = (note, self.slots[slot].gate.as_mut()) else {
            return;
        };
        if note == Note::Mark {
            gate.marks.entry(number).or_insert(self.now);
        }
        gate.note(rooms::visitor(number), note, self.now);
        self.go_on(slot);
    }

    fn shows_ticket(&mut self, id: usize, slot: usize, number: Number) {
        let (worth, note) = self.eyes(slot, |eyes| eyes.ticket(number));
        self.note(format_args!("{id} shows {} at {slot}: {worth:?}", number.n));
        self.shows(id, slot, number);
        match worth {
            Worth::Waiting => self.waits(id, slot, number, note),
            Worth::Called => self.is_called(id, slot, number, note),
            Worth::Unknown => self.is_unknown(id, slot, number),
            Worth::Late | Worth::Ended => self.is_void(id, slot, number, worth),
        }
    }

    fn waits(&mut self, id: usize, slot: usize, number: Number, note: Option<Note>) {
        let ahead = self.eyes(slot, |eyes| eyes.ahead(number));
        self.leave_word(slot, number, note);
        let now = self.now;
        let person = &mut self.people[id];
        person.longest_absence = person.longest_absence.max(now - person.seen);
        (person.is, person.seen) = (Is::Waiting, now);
        if self.wanders(id, slot, number) {
            return;
        }
        let jitter = u16::try_from(self.chance.within(0, 65_536)).unwrap_or(0);
        let mut next = pace::refresh_ms(&rooms::settings(), ahead, jitter) * MILLI;
        if self.people[id].kind == Kind::Restless {
            next /= 4;
        }
        self.come_again(id, next, next + 1);
    }

    /// Some do not wait as they should.
    fn wanders(&mut self, id: usize, slot: usize, number: Number) -> bool {
        if self.calm {
            return false;
        }
        match self.people[id].kind {
            Kind::Sleepy if self.chance.hits(60) => {
                let longest = self.chance.pick(&[10, 18, 60, 200]);
                self.come_again(id, SECOND, longest * SECOND);
            }
            Kind::Lost if self.chance.hits(60) => self.is_gone(id),
            Kind::Leaver if self.chance.hits(60) => {
                self.leave_word(slot, number, Some(Note::Leave));
                self.is_gone(id);
            }
            _ => return false,
        }
        true
    }

    fn is_called(&mut self, id: usize, slot: usize, number: Number, note: Option<Note>) {
        let person = &mut self.people[id];
        if person.kind == Kind::Late && person.turns_missed == 0 && !self.calm {
            person.turns_missed += 1;
            return self.come_again(id, 13 * SECOND, 50 * SECOND);
        }
        let Some(pass) = self.eyes(slot, |eyes| eyes.pass_for(number)) else {
            return self.come_again(id, SECOND, 2 * SECOND);
        };
        self.tally.called += 1;
        self.claims(id, slot, (pass, false), note);
    }

    /// The gate has a mark taken down, and looks again once that is done, for two seconds.
    fn is_unknown(&mut self, id: usize, slot: usize, number: Number) {
        let cut_off = self.eyes(slot, |eyes| eyes.cut_off);
        self.come_again(id, 2 * SECOND, 5 * SECOND);
        let visit = self.people[id].visit;
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        gate.protocol.foreign(number.epoch);
        let ahead = number.epoch.0 > gate.view.position.epoch;
        if !cut_off && !ahead {
            let recorded = gate.record(rooms::visitor(number), Note::Mark, self.now);
            gate.asking.push(Asking {
                visitor: id,
                visit,
                claims: false,
                recorded,
            });
        }
        self.go_on(slot);
    }

    /// The requested note is on record: a number that is still unknown never existed.
    fn recorded(&mut self, slot: usize) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        let mut done = Vec::new();
        gate.asking.retain_mut(|asking| match asking.recorded.try_recv() {
            Ok(()) => {
                done.push((asking.visitor, asking.visit, asking.claims));
                false
            }
            Err(TryRecvError::Closed) => false,
            Err(TryRecvError::Empty) => true,
        });
        for (id, visit, claims) in done {
            // It has left with what one of them did: the others ask again.
            if self.slots[slot].gate.is_none() {
                return;
            }
            if claims {
                self.claimed(id, slot, visit);
                continue;
            }
            let Some(number) = self.people[id].number().filter(|_| self.people[id].visit == visit) else {
                continue;
            };
            match self.eyes(slot, |eyes| eyes.ticket(number)) {
                (Worth::Unknown, _) => self.is_void(id, slot, number, Worth::Late),
                _ => self.shows_ticket(id, slot, number),
            }
        }
    }

    /// The number is worth nothing any more: a place at the back, or home.
    fn is_void(&mut self, id: usize, slot: usize, number: Number, worth: Worth) {
        let person = &self.people[id];
        let absent = person.longest_absence.max(self.now - person.seen);
        // Twice away for longer than a turn lasts, and the number is spent.
        let settings = rooms::settings();
        let short = settings.claim_deadline_ms.min(settings.grace_ms / 2) * MILLI;
        let faithful = person.is == Is::Waiting && person.turns_missed == 0 && absent < short;
        if worth == Worth::Late && faithful && !self.excuse.turns {
            let standing = self.eyes(slot, |eyes| eyes.standing(number));
            self.tally.lost_places += 1;
            self.fault(format_args!(
                "{id} has lost {number:?} at gate {slot} after {absent} us: {standing:?}"
            ));
        }
        self.tally.late += u64::from(worth == Worth::Late);
        self.people[id].forget();
        self.people[id].is = Is::Outside;
        if self.people[id].inside_until.is_some() {
            return self.is_gone(id);
        }
        let arrival = self.arrives(id);
        self.joins(id, slot, arrival);
    }

    fn goes_inside(&mut self, id: usize, slot: usize, pass: Pass, note: Option<Note>) {
        self.shows(id, slot, pass.number);
        if let Some(gate) = self.slots[slot].gate.as_mut() {
            gate.protocol.foreign(pass.number.epoch);
        }
        self.claims(id, slot, (pass, true), note);
    }

    /// The shop has the request.
    pub fn is_inside(&mut self, id: usize, slot: usize, (pass, carried): (Pass, bool)) {
        // A gate that leaves has ended with the word of this visitor: the browser tries again.
        if self.slots[slot].gate.is_none() {
            return self.come_again(id, 100 * MILLI, 2 * SECOND);
        }
        let (now, calm) = (self.now, self.calm);
        let renewed = self.eyes(slot, |eyes| eyes.renewed(&pass));
        self.asks_shop(id, slot, pass.number);
        let person = &mut self.people[id];
        person.pass = Some(renewed);
        if person.is != Is::Inside {
            (person.is, person.first_inside) = (Is::Inside, true);
            let stays = if calm {
                person.stays.min(5 * SECOND)
            } else {
                person.stays
            };
            person.inside_until = Some(now + stays);
            self.tally.inside += 1;
        }
        if person.began.is_none_or(|(_, number)| number != pass.number) {
            person.began = Some((now, pass.number));
        }
        person.seen = now;
        // The cookie of the ticket is cleared; the number is in the pass.
        if carried && person.ticket.take().is_some() {
            person.relics.push(pass.number);
        }
        if person.inside_until.is_some_and(|until| until <= now) {
            if person.kind != Kind::Lost || calm {
                (person.asked, person.held) = (None, None);
                self.parts(slot, pass.number);
            }
            self.tally.done += 1;
            return self.is_done(id);
        }
        if !self.pauses_inside(id, slot, pass.number) {
            self.come_again(id, SECOND, 7 * SECOND);
        }
    }

    fn pass_is_void(&mut self, id: usize) {
        let person = &mut self.people[id];
        person.pass = None;
        if person.is == Is::Inside {
            self.tally.thrown_out += 1;
            self.note(format_args!("{id} is thrown out"));
        }
        if self.people[id].is == Is::Inside {
            self.people[id].is = Is::Outside;
        }
    }

    fn is_done(&mut self, id: usize) {
        let returns = self.people[id].kind == Kind::Returner && !self.calm && self.people[id].tries < 3;
        self.people[id].forget();
        if !returns {
            return self.is_gone(id);
        }
        let person = &mut self.people[id];
        person.tries += 1;
        person.is = Is::Outside;
        (person.first_inside, person.turns_missed) = (false, 0);
        // A visitor kept the ticket.
        if let Some(relic) = person.relics.last().copied() {
            person.ticket = Some(Ticket::Numbered(relic));
        }
        self.come_again(id, SECOND, 120 * SECOND);
    }

    pub fn is_gone(&mut self, id: usize) {
        let person = &mut self.people[id];
        person.is = Is::Gone;
        person.visit += 1;
    }

    fn joins(&mut self, id: usize, slot: usize, arrival: Arrival) {
        let cut_off = self.eyes(slot, |eyes| eyes.cut_off);
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        let again = arrival.again || cut_off;
        let arrival = Arrival { again, ..arrival };
        let frozen = matches!(
            gate.protocol.condition(),
            Condition::Frozen { .. } | Condition::Behind { .. }
        );
        if frozen {
            return self.joins_later(id, slot, Arrival { again: true, ..arrival });
        }
        let answer = gate.protocol.join(rooms::room(), LineName::ONLY, LANE, arrival.clone());
        match answer {
            Some(answer) if !cut_off => {
                gate.joiners.push(Joiner {
                    visitor: id,
                    answer,
                    arrival,
                });
                self.people[id].is = Is::Joining;
                self.come_again(id, 2 * SECOND, 2 * SECOND + 1);
                self.go_on(slot);
            }
            _ => {
                self.go_on(slot);
                self.joins_later(id, slot, arrival);
            }
        }
    }

    /// The gate can assign no number now: a ticket without a number, whose id joins at once and at every visit.
    fn joins_later(&mut self, id: usize, slot: usize, arrival: Arrival) {
        self.people[id].is = Is::Outside;
        self.people[id].ticket = Some(Ticket::Pending(arrival.id));
        if !arrival.again {
            if let Some(gate) = self.slots[slot].gate.as_mut() {
                let again = Arrival { again: true, ..arrival };
                let _ = gate.protocol.join(rooms::room(), LineName::ONLY, LANE, again);
            }
            self.go_on(slot);
        }
        self.come_again(id, SECOND, 4 * SECOND);
    }

    /// A visitor without a ticket.
    fn arrives(&mut self, id: usize) -> Arrival {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.chance.next().to_le_bytes());
        Arrival {
            id: PendingId(bytes),
            tags: tags_of(id),
            again: false,
            leaves: false,
            rehearsal: None,
        }
    }

    fn join_takes_too_long(&mut self, id: usize) {
        let slot = self.people[id].gate;
        let joiners = self.slots[slot].gate.as_mut().map(|gate| &mut gate.joiners);
        let found = joiners.and_then(|joiners| {
            let at = joiners.iter().position(|joiner| joiner.visitor == id)?;
            Some(joiners.remove(at))
        });
        let arrival = found.map_or_else(|| self.arrives(id), |joiner| joiner.arrival);
        self.joins_later(id, slot, arrival);
    }

    /// The store has answered a gate: its waiting visitors get their answers.
    pub fn told(&mut self, slot: usize) {
        self.numbered(slot);
        self.recorded(slot);
        self.held(slot);
        self.returned(slot);
        self.codes_told(slot);
    }

    fn numbered(&mut self, slot: usize) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        let mut waiting = Vec::new();
        let mut told = Vec::new();
        for mut joiner in std::mem::take(&mut gate.joiners) {
            match joiner.answer.try_recv() {
                Ok(outcome) => told.push((joiner, outcome)),
                Err(TryRecvError::Closed) => told.push((joiner, JoinOutcome::Later)),
                Err(TryRecvError::Empty) => waiting.push(joiner),
            }
        }
        gate.joiners = waiting;
        for (joiner, outcome) in told {
            match outcome {
                JoinOutcome::Numbered(_, number) => self.is_numbered(joiner.visitor, slot, number),
                JoinOutcome::Later | JoinOutcome::Refused => self.joins_later(joiner.visitor, slot, joiner.arrival),
            }
        }
    }

    fn is_numbered(&mut self, id: usize, slot: usize, number: Number) {
        self.note(format_args!("{id} is {}-{} at {slot}", number.epoch.0, number.n));
        self.tally.joined += 1;
        let before = self.given.insert(number, id);
        let others = before.is_some_and(|other| !share(id, other));
        if others && !self.excuse.numbers {
            self.fault(format_args!("{number:?} was given to somebody else before {id}"));
        }
        let pass = self.pass_of(id, slot, number);
        let now = self.now;
        let person = &mut self.people[id];
        person.ticket = Some(Ticket::Numbered(number));
        // An account that comes again just as its last turn is over is given the number that it has until then.
        if before != Some(id) {
            person.longest_absence = 0;
        }
        (person.is, person.seen, person.pass) = (Is::Waiting, now, None);
        match pass {
            // An app is handed the pass; a browser's request goes on to the shop.
            Some(pass) if !self.chance.hits(200) => {
                let note = self.eyes(slot, |eyes| eyes.used(number));
                self.claims(id, slot, (pass, false), note);
            }
            pass => {
                self.people[id].pass = pass;
                self.come_again(id, SECOND / 10, 3 * SECOND);
            }
        }
    }
}
