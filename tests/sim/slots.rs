//! No visitor is admitted without a slot: the requests that gates would forward, compared with the room's counts.

use std::collections::BTreeSet;

use ropeline::room::{LineName, Number, Standing};

use super::observer;
use super::people::Is;
use super::rooms;
use super::world::World;

impl World {
    /// Slots bound admissions: every visitor whom a gate would forward has one.
    pub fn nobody_goes_on_too_long(&mut self, slot: usize) {
        // A gate that leaves may lose its last notes.
        let Some(gate) = self.slots[slot].gate.as_ref() else {
            return;
        };
        let line = gate
            .view
            .rooms
            .get(&rooms::room())
            .and_then(|room| room.line(&LineName::ONLY));
        let Some(line) = line.cloned() else { return };
        let slots = u64::from(line.figures.called + line.figures.inside);
        self.tally.most_inside = self.tally.most_inside.max(slots);
        self.tally.most_rights = self.tally.most_rights.max(slots + u64::from(line.figures.parked));
        let twisted = observer::with(|watch| watch.twisted.contains(&gate.id()));
        // Until calls go on, sessions that were lost come back as excess.
        let quiet = super::ledger::book::is_quiet(&gate.view, &rooms::room());
        if quiet || self.excuse.excess || self.newest() != Some(gate.view.position) || twisted || !gate.view.rooted {
            return;
        }
        if !rooms::has_accounts() {
            let clock = gate.view.clock;
            self.nobody_is_forgotten(&line, clock);
        }
        let mut held: Vec<usize> = (0..self.people.len()).filter(|id| self.is_let_in(*id)).collect();
        // Browsers of one account share a session; what one of them has ended, the other's gate hears in a moment.
        let mut numbers: BTreeSet<Number> = BTreeSet::new();
        let ended = |number| self.eyes(slot, |eyes| eyes.standing(number)) == Standing::Ended;
        held.retain(|id| {
            let number = self.people[*id].pass.map(|pass| pass.number);
            number.is_none_or(|number| numbers.insert(number) && !(rooms::has_accounts() && ended(number)))
        });
        if held.len() as u64 > slots {
            let without = held.iter().copied().find(|id| {
                let pass = self.people[*id].pass.expect("who is let in has a pass");
                self.eyes(slot, |eyes| {
                    !matches!(eyes.standing(pass.number), Standing::Inside(_) | Standing::Called(_))
                })
            });
            let who = without.map(|id| (id, self.people[id].pass));
            self.fault(format_args!(
                "{} are let in on {slots} slots, such as {who:?}",
                held.len()
            ));
        }
    }

    /// The furthest position that any gate shows of the log that the store has now. A gate that starts may show the rooms of the
    /// log before for a moment: those that its snapshot holds.
    pub fn newest(&self) -> Option<ropeline::room::Position> {
        let epoch = self.servers.last().map(|server| server.end().epoch);
        let gates = self.slots.iter().filter_map(|slot| slot.gate.as_ref());
        let shown = gates.map(|gate| gate.view.position);
        shown.filter(|at| Some(at.epoch) == epoch).max()
    }

    /// Some gate that is not cut off would forward the visitor now.
    fn is_let_in(&self, id: usize) -> bool {
        let person = &self.people[id];
        let Some(pass) = person.pass.filter(|_| person.is == Is::Inside) else {
            return false;
        };
        (0..self.slots.len()).any(|slot| {
            let gate = self.slots[slot].gate.as_ref();
            gate.is_some_and(|gate| gate.paused_until <= self.now && !gate.cut_off(self.now))
                && self.eyes(slot, |eyes| eyes.pass(&pass).0 && !eyes.must_ask(&pass))
        })
    }
}
