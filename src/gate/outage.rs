//! Rooms that let everybody past their line while the gate is cut off (`on_outage = "open"`), and who is let past because of
//! their network (`bypass_networks`).
//!
//! Each such visit is counted here, by line, and told to the log when it can be reached again; the log's queue is left to
//! those who join. What an outage is, the replica says; who is let past, [`decide`](mod@super::decide).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::metrics::Outcome;
use crate::replica::Past;
use crate::room::{LineName, RoomName};

use super::answers::Answer;
use super::forward::Admission;
use super::seat::{Seat, Worth};
use super::visit::Visit;
use super::{Gate, Halves, Shared};

/// How long a gate is cut off before such a room opens. The store has three seconds to answer a call, and a gate counts as cut off
/// after two of them: a store that is slow and not away opens nothing.
pub const OPENS_AFTER: Duration = Duration::from_secs(1);

/// Visits let past, by room, line and why, since the store was last reached.
#[derive(Debug, Default)]
pub struct LetPast(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    lines: BTreeMap<(RoomName, Past, LineName), u32>,
    /// Of lines that there was no place for.
    more: u64,
}

impl LetPast {
    /// Counts a visit; true for the room's first of its kind since then.
    pub(super) fn count(&self, room: &RoomName, line: &LineName, why: Past) -> bool {
        let mut counts = self.lock();
        let first = counts
            .lines
            .range((room.clone(), why, LineName::ONLY)..)
            .next()
            .is_none_or(|((other, kind, _), _)| (other, *kind) != (room, why));
        let key = (room.clone(), why, line.clone());
        if counts.lines.len() < MAX_LINES || counts.lines.contains_key(&key) {
            let count = counts.lines.entry(key).or_default();
            *count = count.saturating_add(1);
        } else {
            counts.more += 1;
        }
        first
    }

    /// Everything counted so far, which then begins anew.
    fn take(&self) -> Counts {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate {
    /// The row "cut off, in a room that opens then": forwarded as nobody's session. Who has a place keeps it.
    pub async fn let_past(&self, seat: &Seat<'_>, visit: &Visit, request: Box<Halves>, worth: &Worth) -> Answer {
        seat.note(worth.presence(), seat.ticket_visitor());
        let room = &seat.rules.room.name;
        if visit.kind.is_navigation()
            && seat.rehearsal.is_none()
            && self.shared.let_past.count(room, &seat.line, Past::Outage)
        {
            tracing::warn!(%room, "cut off from the store: everybody is let past the line until it is back (on_outage)");
        }
        let right = Admission::LetPast(seat);
        self.forward(visit, request, &seat.rules.pages, Outcome::LetPast, right)
            .await
    }
}

/// Tells the log how many were let past, once it can be reached.
pub fn settle(shared: &Shared) {
    if shared.replica.cut_off().is_some() {
        return;
    }
    let counts = shared.let_past.take();
    let mut rooms: BTreeMap<RoomName, u64> = BTreeMap::new();
    for ((room, why, line), count) in counts.lines {
        if why == Past::Outage {
            *rooms.entry(room.clone()).or_default() += u64::from(count);
        }
        shared.replica.bypassed(room, line, why, count);
    }
    for (room, visits) in rooms {
        tracing::warn!(%room, visits, "the store is back: the line is in force again");
    }
    if counts.more > 0 {
        tracing::warn!(
            visits = counts.more,
            "visits to further lines were let past too, and are counted nowhere else"
        );
    }
}

/// Most lines that are counted each by itself.
const MAX_LINES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_are_counted_by_line_and_the_first_of_each_room_is_told() {
        let (past, spring) = (LetPast::default(), LineName::new("spring").unwrap());
        let [a, b, c] = ["a", "b", "c"].map(|name| RoomName::new(name).unwrap());
        let count = |room: &RoomName, line: &LineName| past.count(room, line, Past::Outage);
        assert!(count(&b, &spring) && count(&a, &LineName::ONLY) && count(&c, &LineName::ONLY));
        assert!(past.count(&b, &spring, Past::Network), "of another kind");
        assert!(!count(&b, &LineName::ONLY) && !count(&b, &spring) && !count(&a, &LineName::ONLY));
        let counts = past.take();
        assert_eq!(counts.lines[&(b.clone(), Past::Outage, spring.clone())], 2);
        assert_eq!((counts.lines.len(), counts.more), (5, 0));
        assert!(past.count(&b, &spring, Past::Outage), "the next outage begins anew");
    }

    #[test]
    fn lines_without_end_are_counted_together() {
        let (past, room) = (LetPast::default(), RoomName::new("a").unwrap());
        for line in 0..=MAX_LINES {
            past.count(&room, &LineName::new(&line.to_string()).unwrap(), Past::Outage);
        }
        let counts = past.take();
        assert_eq!((counts.lines.len(), counts.more), (MAX_LINES, 1));
    }
}
