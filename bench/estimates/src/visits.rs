//! What visitors do: wait, give up, sleep, come when called, stay, and go.

use crate::agenda::Deed;
use crate::crowd::ShowsUp;
use crate::gate::{Seat, Stands};
use crate::run::{Is, Run};

impl Run<'_> {
    /// The visitor has a number.
    pub(crate) fn waits(&mut self, person: u32, seat: Seat, ahead: u64) {
        let (now, who) = (self.now, &self.people[person as usize]);
        let part = &mut self.parts[person as usize];
        (part.is, part.seat) = (Is::Waiting, seat);
        if let Some(until) = who.patience.until(now, ahead) {
            self.agenda.put(until, person, Deed::GiveUp);
        }
        if let Some((after, _)) = who.sleeps {
            self.agenda.put(now + after, person, Deed::Sleep);
        }
        // The first time within `firm_within`.
        let at = now + FIRST_CHECK_IN + self.chance.below(FIRST_CHECK_IN);
        self.agenda.put(at, person, Deed::CheckIn);
    }

    pub(crate) fn is_called(&mut self, person: u32, count: u8) {
        let (now, claim) = (self.now, self.pattern.room.claim);
        let who = &self.people[person as usize];
        let part = &mut self.parts[person as usize];
        part.calls = count;
        if part.is != Is::Waiting || part.asleep {
            return;
        }
        match who.shows_up {
            ShowsUp::Never => part.is = Is::Gone,
            ShowsUp::Late if count == 1 => self.agenda.put(now + claim + COMES_LATE, person, Deed::CheckIn),
            ShowsUp::Late | ShowsUp::AtOnce => {
                let after = who.reacts.min(claim.saturating_sub(REACTS_BEFORE));
                self.agenda.put(now + after, person, Deed::Claim);
            }
        }
    }

    pub(crate) fn does(&mut self, person: u32, deed: Deed) {
        match deed {
            Deed::CheckIn => self.checks_in(person),
            Deed::GiveUp => self.gives_up(person),
            Deed::Sleep => self.sleeps(person),
            Deed::Wake => self.wakes(person),
            Deed::Claim => self.claims(person),
            Deed::Renew => self.renews(person),
            Deed::Done => self.is_done(person),
        }
    }

    /// A page in line shows that it is there, at least once in each generation of marks, which is half of `grace`.
    fn checks_in(&mut self, person: u32) {
        let part = &self.parts[person as usize];
        let late = self.people[person as usize].shows_up == ShowsUp::Late;
        let waits = part.is == Is::Waiting && !part.asleep && (part.calls == 0 || late);
        if !waits || part.calls > 1 {
            return;
        }
        self.gate.mark(part.seat);
        let grace = self.pattern.room.grace;
        let at = self.now + grace / 4 + self.chance.below(grace / 5);
        self.agenda.put(at, person, Deed::CheckIn);
    }

    fn gives_up(&mut self, person: u32) {
        let says_so = self.people[person as usize].says_so;
        let part = &mut self.parts[person as usize];
        if part.is != Is::Waiting || part.calls > 0 {
            return;
        }
        part.is = Is::Gone;
        if says_so {
            self.gate.leave(part.seat);
        }
    }

    fn sleeps(&mut self, person: u32) {
        let Some((_, length)) = self.people[person as usize].sleeps else {
            return;
        };
        let part = &mut self.parts[person as usize];
        if part.is == Is::Waiting && part.calls == 0 {
            part.asleep = true;
            self.agenda.put(self.now + length, person, Deed::Wake);
        }
    }

    fn wakes(&mut self, person: u32) {
        let part = &mut self.parts[person as usize];
        part.asleep = false;
        if part.is == Is::Waiting {
            self.goes_on(person);
        }
    }

    /// Comes in if the turn is there, waits on if the place is.
    fn goes_on(&mut self, person: u32) {
        let part = &mut self.parts[person as usize];
        let deed = match self.gate.stands(part.seat) {
            Stands::Called => Deed::Claim,
            Stands::Waiting { .. } => Deed::CheckIn,
            Stands::Inside | Stands::Gone => return part.is = Is::Gone,
        };
        if deed == Deed::CheckIn && part.calls > 0 {
            // A turn was missed: the next one is taken at once.
            self.gate.mark(part.seat);
            return;
        }
        self.agenda.put(self.now + 1, person, deed);
    }

    fn claims(&mut self, person: u32) {
        let part = self.parts[person as usize];
        if part.is != Is::Waiting {
            return;
        }
        if self.gate.stands(part.seat) != Stands::Called {
            return self.goes_on(person);
        }
        self.gate.claim(part.seat);
        let stays = self.people[person as usize].stays * self.pattern.drifted(self.now) / 1_000;
        let part = &mut self.parts[person as usize];
        part.is = Is::Inside;
        part.until = self.now + stays;
        part.renewed = self.now;
        self.busy += 1;
        self.asks_next(person);
    }

    fn renews(&mut self, person: u32) {
        let part = &mut self.parts[person as usize];
        part.renewed = self.now;
        self.gate.renew(part.seat);
        self.asks_next(person);
    }

    /// The next request that renews the session: a tenth of it after the last at the earliest.
    fn asks_next(&mut self, person: u32) {
        let (due, page) = (self.now + self.pattern.room.session / 10, self.pattern.page);
        let until = self.parts[person as usize].until;
        let mut at = self.now;
        while at < due {
            at += page / 2 + self.chance.below(page);
        }
        let (at, deed) = if at < until {
            (at, Deed::Renew)
        } else {
            (until, Deed::Done)
        };
        self.agenda.put(at, person, deed);
    }

    /// The last request.
    fn is_done(&mut self, person: u32) {
        let part = &mut self.parts[person as usize];
        part.is = Is::Gone;
        self.busy -= 1;
        if self.people[person as usize].finishes {
            self.gate.end(part.seat, self.pattern.end_grace);
        } else if self.now >= part.renewed + self.pattern.room.session / 10 {
            self.gate.renew(part.seat);
        }
    }
}

/// A visitor's page checks in so long after joining, and up to twice as long.
const FIRST_CHECK_IN: u64 = 5_000;

/// How long before the end of the turn the slowest come.
const REACTS_BEFORE: u64 = 5_000;

/// How long after a missed turn a visitor is back.
const COMES_LATE: u64 = 5_000;
