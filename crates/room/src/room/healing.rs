//! Why a room calls nobody by itself while visitors of a lost log come back to it.

use super::Room;
use crate::entry::Section;
use crate::recovery::healing::Proof;
use crate::state::context::Context;
use crate::state::past;
use ropeline_ids::Number;

impl Room {
    pub fn heals(&self, m: &Context) -> bool {
        m.clock < self.healing.until()
    }

    /// Something that was lost may still come back, by visitors or by gates.
    pub fn waits_for_lost(&self, m: &Context) -> bool {
        m.clock < m.quiet_until() || self.heals(m)
    }

    /// What the section's tokens prove. A gate that brings an era back proves nothing: it knows how far that went.
    pub(super) fn heal(&mut self, section: &Section, m: &Context) {
        // PERF: in nearly every log nothing is lost, or what was has been shown.
        if m.adopts.is_some() || self.healing.is_spent() || !m.past.trusts(m.clock) {
            return;
        }
        let passes = section.reopens.iter().map(|(_, number)| *number);
        let passes = passes.chain(section.completions.iter().map(|done| done.number));
        let tickets = section.marks.iter().map(|(_, number)| *number);
        let shown = passes.map(|number| (Proof::Pass, number));
        let shown = shown.chain(tickets.map(|number| (Proof::Ticket, number)));
        let lost = |number: Number| m.past.prove(number, m.clock) == past::Proof::LostEra;
        let mut longer = false;
        for (proof, number) in shown.filter(|(_, number)| lost(*number)) {
            longer |= self.healing.prove(proof, number.era, &self.settings, m.clock);
        }
        if longer {
            self.lose_draw(m);
            self.heed_healing(m);
        }
    }

    /// All that was lost has come back.
    pub fn end_healing(&mut self, m: &Context) {
        if self.healing.end() {
            self.heed_healing(m);
        }
    }

    /// An operator ends it.
    pub fn forbid_healing(&mut self, m: &Context) {
        self.healing.forbid();
        self.heed_healing(m);
    }

    /// Each line goes by it, and says so.
    pub fn heed_healing(&mut self, m: &Context) {
        let until = self.healing.until();
        self.lines.values_mut().for_each(|line| line.heals_until = until);
        self.reschedule(m);
    }
}
