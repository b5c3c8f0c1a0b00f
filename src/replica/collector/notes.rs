//! Notes of visitors' actions: each visitor's once, and for as long as it matters.

use std::collections::btree_map::Entry as Slot;
use std::time::Duration;

use super::Collector;
use super::work::{Kind, MAX_NOTES, Whose, Word};
use crate::replica::inbox::{Binding, Note, Noted};
use crate::room::{Edition, RoomName, Visitor};

impl Collector {
    /// False when there is no room for it.
    pub fn note(&mut self, noted: Noted) -> bool {
        let Noted {
            visitor,
            note,
            seen,
            recorded,
        } = noted;
        if note == Note::Reopen {
            // A session that still lives is not opened again; it has been in use all the same.
            self.note(Noted {
                visitor: visitor.clone(),
                note: Note::Renew,
                seen,
                recorded: None,
            });
        }
        let (kind, carried, after_ms) = match note {
            Note::Mark => (Kind::Mark, false, 0),
            Note::Claim { carried } => (Kind::Claim, carried, 0),
            Note::Renew => (Kind::Renew, false, 0),
            Note::Reopen => (Kind::Reopen, false, 0),
            Note::Return => (Kind::Return, false, 0),
            Note::Hold { for_ms } => (Kind::Hold, false, for_ms),
            Note::Leave => (Kind::Leave, false, 0),
            Note::End { after_ms } => (Kind::End, false, after_ms),
            Note::Complete { after_ms, .. } => (Kind::Complete, false, after_ms),
        };
        let edition = match note {
            Note::Complete { edition, .. } => edition,
            _ => Edition::default(),
        };
        let full = self.notes >= kind.most();
        let work = match self.lines.entry((visitor.room, visitor.line, visitor.rehearsal)) {
            Slot::Vacant(_) if full => return false,
            slot => slot.or_default(),
        };
        let said = match work.notes.entry((kind, (visitor.lane, visitor.number))) {
            Slot::Vacant(_) if full => return false,
            Slot::Vacant(slot) => {
                self.notes += 1;
                slot.insert(Word {
                    carried,
                    after_ms,
                    edition,
                    seen,
                    recorded: Vec::new(),
                })
            }
            Slot::Occupied(slot) => slot.into_mut(),
        };
        said.carried |= carried;
        said.edition = said.edition.max(edition);
        said.seen = match kind {
            // Who asks again keeps the place.
            Kind::Return => said.seen.min(seen),
            _ => said.seen.max(seen),
        };
        said.after_ms = match kind {
            Kind::Hold => said.after_ms.max(after_ms),
            // The shop's first answer counts; a later one only if it ends the session sooner.
            _ => said.after_ms.min(after_ms),
        };
        self.urgent |= recorded.is_some() || !matches!(kind, Kind::Mark | Kind::Renew);
        if let Some(recorded) = recorded {
            said.recorded.retain(|waiter| !waiter.is_closed());
            said.recorded.push(recorded);
        }
        true
    }

    /// A number is an account's; the last word on it counts. False when there is no room for it.
    pub fn bind(&mut self, binding: Binding) -> bool {
        let Visitor {
            room,
            line,
            lane,
            number,
            rehearsal,
        } = binding.visitor;
        let full = self.notes >= MAX_NOTES;
        let work = match self.lines.entry((room, line, rehearsal)) {
            Slot::Vacant(_) if full => return false,
            slot => slot.or_default(),
        };
        let said = match work.bound.entry((lane, number)) {
            Slot::Vacant(_) if full => return false,
            Slot::Vacant(slot) => {
                self.notes += 1;
                slot.insert(Whose::default())
            }
            Slot::Occupied(slot) => slot.into_mut(),
        };
        said.tags = binding.tags;
        self.urgent |= binding.recorded.is_some();
        said.recorded.retain(|waiter| !waiter.is_closed());
        said.recorded.extend(binding.recorded);
        true
    }

    /// Drops notes of use for sessions that have expired since. `lapsed` decides that for a session of a room, given the
    /// uptime of its last use.
    pub fn forget_uses(&mut self, lapsed: impl Fn(&RoomName, Duration) -> bool) {
        for ((room, ..), work) in &mut self.lines {
            let before = work.notes();
            let uses = |kind| matches!(kind, Kind::Renew | Kind::Reopen | Kind::Return | Kind::Hold);
            work.notes
                .retain(|(kind, _), word| !uses(*kind) || !lapsed(room, word.seen));
            self.notes -= before - work.notes();
        }
        self.lines.retain(|_, work| !work.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::room::Hold;

    use super::super::tests::{name, noted, number};
    use super::*;
    use crate::room::LaneId;

    #[test]
    fn of_what_is_forgotten_only_uses_are_and_by_the_last_of_a_visitor() {
        let mut collector = Collector::default();
        let at = Duration::from_secs;
        let said = |n, note, seen| Noted {
            seen: at(seen),
            ..noted(1, n, note)
        };
        for (n, note, seen) in [
            (1, Note::Reopen, 1),
            (2, Note::Renew, 1),
            (2, Note::Renew, 9),
            (3, Note::Mark, 1),
            (4, Note::Leave, 1),
            (5, Note::Renew, 2),
        ] {
            collector.note(said(n, note, seen));
        }
        collector.forget_uses(|room, seen| *room == name("main") && seen < at(9));
        assert_eq!(collector.notes, 3);
        let (batch, _) = collector.cut(|_| 0);
        let section = &batch.sections[0];
        let seat = |n| vec![(LaneId(7), number(n))];
        assert_eq!((&section.renewals, &section.reopens), (&seat(2), &Vec::new()));
        assert_eq!((&section.marks, &section.leaves), (&seat(3), &seat(4)));
        assert!(collector.is_empty() && collector.notes == 0);
    }

    #[test]
    fn who_asks_for_a_slot_is_named_in_the_order_of_asking_and_once() {
        let mut collector = Collector::default();
        for (n, seen) in [(9, 3), (2, 5), (7, 4), (9, 8), (2, 6)] {
            collector.note(Noted {
                seen: Duration::from_secs(seen),
                ..noted(1, n, Note::Return)
            });
        }
        assert!(collector.is_urgent(), "a request waits");
        let (batch, _) = collector.cut(|_| 0);
        let asked = [9, 7, 2].map(|n| (LaneId(7), number(n)));
        assert_eq!(batch.sections[0].returns, asked);
    }

    #[test]
    fn the_longest_hold_of_a_session_goes_with_its_claim() {
        let mut collector = Collector::default();
        collector.note(noted(1, 4, Note::Claim { carried: false }));
        for for_ms in [900, 60_000, 3] {
            collector.note(noted(1, 4, Note::Hold { for_ms }));
        }
        let (batch, _) = collector.cut(|_| 0);
        let hold = Hold {
            lane: LaneId(7),
            number: number(4),
            for_ms: 60_000,
        };
        assert_eq!(
            (batch.sections[0].claims.len(), &batch.sections[0].holds),
            (1, &vec![hold])
        );
        assert!(collector.is_empty());
    }
}
