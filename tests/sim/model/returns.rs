//! Requests of sessions without a slot, in a room with active slots: a gate takes them as `src/gate/verdict/returns.rs` does.
//! And what visitors do there: they pause, pay on another host, wait, give up, or vanish.

use ropeline::replica::Note;
use ropeline::room::{Number, Standing};
use tokio::sync::oneshot::error::TryRecvError;

use super::gate::Holding;
use super::judge::Pass;
use super::people::Is;
use super::rooms;
use super::world::{MILLI, SECOND, Time, World};

impl World {
    /// A request that its tokens let through, of a session without a slot: it asks for one, and waits. A gate that is cut off has
    /// none to give, and lets it wait all the same.
    pub fn asks_for_slot(&mut self, id: usize, slot: usize, request: (Pass, bool)) {
        self.tally.asks += 1;
        let person = &mut self.people[id];
        (person.is, person.claiming) = (Is::Returning, Some(request));
        person.waits_until = self.now + RETURN_WAIT;
        self.note(format_args!("{id} asks for a slot at {slot}"));
        self.asks_again(id, slot, request.0.number);
    }

    /// A note may be lost with a log. One that is repeated keeps its place.
    fn asks_again(&mut self, id: usize, slot: usize, number: Number) {
        let left = self.people[id].waits_until - self.now;
        let next = left.min(AGAIN);
        self.come_again(id, next, next + 1);
        let visit = self.people[id].visit;
        if let Some(gate) = self.slots[slot].gate.as_mut() {
            gate.returning.retain(|(other, _)| *other != id);
            gate.returning.push((id, visit));
        }
        self.leave_word(slot, number, Some(Note::Return));
    }

    /// No slot has come free since the request asked.
    pub fn return_takes_long(&mut self, id: usize) {
        let slot = self.people[id].gate;
        let now = self.now;
        let stands = self.slots[slot]
            .gate
            .as_ref()
            .is_none_or(|gate| gate.paused_until > now);
        let Some((pass, _)) = self.people[id].claiming else {
            return self.come_again(id, 100 * MILLI, 2 * SECOND);
        };
        if stands || now >= self.people[id].waits_until {
            return self.is_told_later(id, slot);
        }
        self.asks_again(id, slot, pass.number);
    }

    /// The gate has another view: requests that have a slot by it go on, as do those whose session is over.
    pub fn returned(&mut self, slot: usize) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        for (id, visit) in std::mem::take(&mut gate.returning) {
            // It has left with what one of them did.
            if self.slots[slot].gate.is_none() {
                self.hangs_up(vec![(id, visit)]);
                continue;
            }
            let waits = self.people[id].visit == visit && self.people[id].is == Is::Returning;
            let Some(request) = self.people[id].claiming.filter(|_| waits) else {
                continue;
            };
            if self.eyes(slot, |eyes| eyes.has_slot(request.0.number)).is_some() {
                self.goes_on(id, slot, request);
            } else if let Some(gate) = self.slots[slot].gate.as_mut() {
                gate.returning.push((id, visit));
            }
        }
    }

    /// The tokens are judged again, as of a request that comes now.
    fn goes_on(&mut self, id: usize, slot: usize, request: (Pass, bool)) {
        self.waits_no_more(id);
        let (valid, note) = self.eyes(slot, |eyes| eyes.pass(&request.0));
        if !valid {
            return self.come_again(id, 100 * MILLI, 2 * SECOND);
        }
        if self.eyes(slot, |eyes| eyes.must_ask(&request.0)) {
            return self.is_told_later(id, slot);
        }
        self.tally.returns += 1;
        self.claims(id, slot, request, note);
    }

    fn waits_no_more(&mut self, id: usize) -> Option<(Pass, bool)> {
        let person = &mut self.people[id];
        let was_in = person.is == Is::Returning && person.inside_until.is_some();
        person.is = if was_in { Is::Inside } else { Is::Waiting };
        person.claiming.take()
    }

    /// A page that tries again, and brings the pass. Some have left meanwhile, and some do now.
    fn is_told_later(&mut self, id: usize, slot: usize) {
        self.tally.later += 1;
        let Some((pass, _)) = self.waits_no_more(id) else {
            return self.come_again(id, 100 * MILLI, 2 * SECOND);
        };
        self.people[id].pass = Some(pass);
        match self.chance.within(0, 100) {
            // A slot that is given meanwhile is given to another.
            0..15 if !self.calm => self.come_again(id, 11 * SECOND, 19 * SECOND),
            15..18 if !self.calm => {
                (self.people[id].asked, self.people[id].held) = (None, None);
                if self.slots[slot].gate.is_some() {
                    self.leave_word(slot, pass.number, Some(Note::Leave));
                }
                self.is_gone(id);
            }
            18..20 if !self.calm => self.is_gone(id),
            _ => self.come_again(id, SECOND, 4 * SECOND),
        }
    }

    /// The gate of requests that wait is gone.
    pub fn hangs_up(&mut self, returning: Vec<(usize, u64)>) {
        for (id, visit) in returning {
            if self.people[id].visit == visit && self.people[id].is == Is::Returning {
                self.waits_no_more(id);
                self.come_again(id, 100 * MILLI, 2 * SECOND);
            }
        }
    }

    /// What a visitor does after a page of the shop; false for one who goes on as visitors of other rooms do.
    pub fn pauses_inside(&mut self, id: usize, slot: usize, number: Number) -> bool {
        if rooms::active().is_none() || self.calm {
            return false;
        }
        match self.chance.within(0, 100) {
            // Longer than `idle_after`, and some longer than the session.
            0..18 => self.come_again(id, 9 * SECOND, 19 * SECOND),
            18..20 => self.come_again(id, 18 * SECOND, 30 * SECOND),
            20..26 => self.pays(id, slot, number),
            26 => self.is_gone(id),
            _ => return false,
        }
        true
    }

    /// A payment page on another host: the shop has the slot held until the visitor is back.
    fn pays(&mut self, id: usize, slot: usize, number: Number) {
        let for_ms = self.chance.within(12_000, 30_000);
        self.tally.holds += 1;
        self.note(format_args!("{id} holds for {for_ms} ms"));
        if let Some(gate) = self.slots[slot].gate.as_mut() {
            let recorded = gate.record(rooms::visitor(number), Note::Hold { for_ms }, self.now);
            gate.holding.push(Holding {
                visitor: id,
                number,
                until: self.now + for_ms * MILLI,
                recorded,
            });
        }
        self.come_again(id, 5 * SECOND, for_ms * MILLI);
        self.go_on(slot);
    }

    /// Holds that are in the log now.
    pub fn held(&mut self, slot: usize) {
        let Some(gate) = self.slots[slot].gate.as_mut() else {
            return;
        };
        let mut recorded = Vec::new();
        for mut holding in std::mem::take(&mut gate.holding) {
            match holding.recorded.try_recv() {
                Ok(()) => recorded.push(holding),
                Err(TryRecvError::Closed) => {}
                Err(TryRecvError::Empty) => gate.holding.push(holding),
            }
        }
        for Holding {
            visitor, number, until, ..
        } in recorded
        {
            // It came too late for who has left since, or is parked.
            let standing = self.eyes(slot, |eyes| eyes.standing(number));
            let has_slot = matches!(standing, Standing::Inside(inside) if !inside.parked);
            let stays = self.people[visitor].pass.is_some_and(|pass| pass.number == number);
            if has_slot && stays {
                self.people[visitor].held = Some((until, number));
            }
        }
    }
}

/// `return_wait` of the room, and how often a request that waits asks again.
const RETURN_WAIT: Time = 7 * SECOND;
const AGAIN: Time = 5 * SECOND;
