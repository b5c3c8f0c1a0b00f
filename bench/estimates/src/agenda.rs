//! What visitors do next, by time: a calendar of steps.

use std::collections::BTreeMap;

/// An action of a visitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// The page shows the room that it is there.
    CheckIn,
    GiveUp,
    /// The page falls silent, and goes on.
    Sleep,
    Wake,
    /// Comes in.
    Claim,
    /// Asks for a page, so that the session is renewed.
    Renew,
    /// Has finished, or stops.
    Done,
}

#[derive(Default, Debug)]
pub struct Agenda {
    steps: BTreeMap<u64, Vec<(u32, Deed)>>,
}

impl Agenda {
    pub fn put(&mut self, at: u64, person: u32, deed: Deed) {
        // Whole seconds, so that few steps are kept.
        self.steps.entry(at.div_ceil(STEP)).or_default().push((person, deed));
    }

    /// What is due by now, in order of time; of one step in the order in which it was put.
    pub fn take(&mut self, now: u64) -> Vec<(u32, Deed)> {
        let mut due = Vec::new();
        while let Some(step) = self.steps.first_entry().filter(|step| *step.key() * STEP <= now) {
            due.extend(step.remove());
        }
        due
    }
}

const STEP: u64 = 250;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_come_in_order_of_time_and_none_before_it() {
        let mut agenda = Agenda::default();
        agenda.put(1_000, 1, Deed::Claim);
        agenda.put(600, 2, Deed::Renew);
        agenda.put(501, 3, Deed::Done);
        assert_eq!(agenda.take(749), []);
        assert_eq!(agenda.take(999), [(2, Deed::Renew), (3, Deed::Done)]);
        assert_eq!(agenda.take(5_000), [(1, Deed::Claim)]);
    }
}
