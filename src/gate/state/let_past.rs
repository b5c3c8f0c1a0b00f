//! Visits that are let past a line without a place, counted until the log takes the counts.
//!
//! Each is counted by line, so that the log's queue is left to joins.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::replica::Past;
use ropeline_ids::{LineName, RoomName};

/// How long a gate is cut off before such a room opens. The store has three seconds to answer a call, and a gate counts as cut off
/// after two of them: a store that is slow and not away opens nothing.
pub const OPENS_AFTER: Duration = Duration::from_secs(1);

/// Visits let past, by room, line and why, since the store was last reached.
#[derive(Debug, Default)]
pub struct LetPast(Mutex<Counts>);

#[derive(Debug, Default)]
pub struct Counts {
    pub lines: BTreeMap<(RoomName, Past, LineName), u32>,
    /// Of lines that there was no place for.
    pub more: u64,
}

impl LetPast {
    /// Counts a visit; true for the room's first of its kind since then.
    pub fn count(&self, room: &RoomName, line: &LineName, why: Past) -> bool {
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
    pub fn take(&self) -> Counts {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
