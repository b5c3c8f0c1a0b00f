//! Worlds with active slots: how their rooms are set, and what a gate makes of a request in them.

use ropeline_room::{ActiveSlots, Number, Settings, Standing, View};

use crate::steps::Step;
use crate::world::{MEMORY, Size, World, about, settings, stands};

/// With active slots, a lost gate is remembered for 15 s, `idle_after` and 2 s.
pub const ACTIVE_MEMORY: u64 = 20_000;

/// A session without a request for so long is idle.
pub const IDLE: u64 = 800;

/// With active slots: activity is noted every 200 ms, and a session is parked 3 s after the last note.
pub fn active(slots: u32, rights: u32) -> Settings {
    Settings {
        session_ms: 4_500,
        session_max_ms: 7_000,
        active: Some(ActiveSlots {
            idle_after_ms: IDLE,
            max_sessions: Some(rights),
        }),
        ..settings(slots)
    }
}

impl Size {
    pub fn settings(self) -> Settings {
        self.rights
            .map_or_else(|| settings(self.slots), |rights| active(self.slots, rights))
    }

    pub fn memory(self) -> u64 {
        if self.rights.is_some() { ACTIVE_MEMORY } else { MEMORY }
    }
}

impl World {
    /// With active slots: what becomes of a request once the log has what its gate had to say.
    pub fn goes_on(&mut self, at: usize, number: Number, asked: bool, gate: usize) {
        let view = self.view(gate);
        match stands(&view, number) {
            Standing::Inside(_) if self.must_ask(number, &view) => {
                let waits = self.queue.contains(&number);
                self.queue.extend((!waits).then_some(number));
            }
            Standing::Inside(inside) => {
                if asked && inside.renewal_due(self.now(&view)) {
                    self.say(gate, about(number, |section| &mut section.renewals));
                }
                self.forwarded(at);
            }
            _ => {}
        }
    }

    /// Who is parked before the answer with the pass has come asks for a slot with the ticket.
    pub fn comes_back(&mut self, at: usize, number: Number, step: Step) {
        self.record(about(number, |section| &mut section.returns), step);
        self.goes_on(at, number, true, step.gate);
        let view = self.view(step.gate);
        if !self.must_ask(number, &view) {
            let pass = self.pass_for(number, step.gate);
            let person = &mut self.people[at];
            (person.pass, person.steady) = (pass, person.steady && pass.is_none());
        }
    }

    /// The shop has a request of this visitor.
    pub fn forwarded(&mut self, at: usize) {
        if self.size.rights.is_some() {
            self.people[at].last = Some(self.wall);
        }
    }

    /// A request that goes on without asking, of which the log never hears.
    pub fn forwards_and_crashes(&mut self, at: usize) {
        let view = self.view(0);
        let pass = self.people[at].pass;
        let honoured = pass.is_some_and(|pass| {
            let said = self.honours(&pass, &view);
            !self.must_ask(pass.number, &view)
                && said.is_some_and(|said| said.claims.is_empty() && said.returns.is_empty())
        });
        if honoured {
            self.forwarded(at);
        }
        self.left.crash -= 1;
        self.crash();
    }

    /// The gate may not forward a request of the session without asking. While it is cut off it goes by its last view.
    pub fn must_ask(&self, number: Number, view: &View) -> bool {
        let now = if self.cut.is_some() { view.clock } else { self.now(view) };
        matches!(stands(view, number), Standing::Inside(inside) if inside.must_ask(now))
    }
}
