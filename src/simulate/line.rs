//! The visitors' pages: they poll, send heartbeats, and see when the sale is over.

use crate::room::{LineView, Mode, Standing, pace};

use super::people::Is;
use super::run::{Over, Simulation, seat};

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
}
