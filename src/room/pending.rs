//! Newcomers who carry a pending ticket: the same id is answered with the number it already has.
//!
//! An id is remembered until somebody shows its number, which is the visitor: whoever holds the number has no use for the
//! id. One whose visitor is not heard of goes after `late_window`.

use std::collections::{BTreeMap, BTreeSet};

use super::codec::{Read, Reader, Writer};
use super::entry::{PendingId, Section};
use super::ids::{Clock, LaneId, LineName, Number};

/// Most ids a room remembers. Over it the oldest makes room for one more if its visitor is not present any more; else
/// whoever comes is not numbered yet.
pub(super) const MAX_PENDING: usize = 131_072;

type Key = (PendingId, LineName);
type Seat = (LaneId, Number);

/// The state's bytes are `numbers`; the rest follows from it.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// What each id was given, and when.
    numbers: BTreeMap<Key, (Seat, Clock)>,
    /// Oldest first.
    ages: BTreeSet<(Clock, Key)>,
    ids: BTreeMap<LineName, BTreeMap<Seat, PendingId>>,
}

impl Pending {
    pub fn get(&self, id: PendingId, line: &LineName) -> Option<Seat> {
        self.numbers.get(&(id, line.clone())).map(|(seat, _)| *seat)
    }

    /// Whether one more can be remembered. A visitor is present for `firm_within_ms` without being heard of.
    pub fn has_room(&self, firm_within_ms: u64, now: Clock) -> bool {
        let gone = |(at, _): &(Clock, Key)| at.plus(firm_within_ms) <= now;
        self.numbers.len() < MAX_PENDING || self.ages.first().is_some_and(gone)
    }

    /// Remembers an id that is not known yet, if need be in place of the oldest.
    pub fn put(&mut self, id: PendingId, line: &LineName, seat: Seat, now: Clock) {
        if self.numbers.len() >= MAX_PENDING {
            self.forget_oldest();
        }
        self.insert((id, line.clone()), seat, now);
    }

    /// Forgets ids that were numbered `window_ms` ago.
    pub fn forget(&mut self, window_ms: u64, now: Clock) {
        while self.ages.first().is_some_and(|(at, _)| at.plus(window_ms) <= now) {
            self.forget_oldest();
        }
    }

    /// Forgets the ids of those whose numbers a section names: they were shown.
    pub fn heard(&mut self, section: &Section) {
        // PERF: every mark of everybody comes here, and in quiet times there is no id.
        let Some(ids) = self.ids.get_mut(&section.line) else {
            return;
        };
        let named = [&section.leaves, &section.reopens, &section.renewals, &section.marks];
        let ends = section.ends.iter().map(|end| (end.lane, end.number));
        let claims = section.claims.iter().map(|claim| (claim.lane, claim.number));
        let seats = named.into_iter().flatten().copied().chain(ends).chain(claims);
        for id in seats.filter_map(|seat| ids.remove(&seat)).collect::<Vec<_>>() {
            self.remove(&(id, section.line.clone()));
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn insert(&mut self, key: Key, seat: Seat, at: Clock) {
        self.ids.entry(key.1.clone()).or_default().insert(seat, key.0);
        self.ages.insert((at, key.clone()));
        self.numbers.insert(key, (seat, at));
    }

    fn forget_oldest(&mut self) {
        if let Some((_, key)) = self.ages.first().cloned() {
            self.remove(&key);
        }
    }

    fn remove(&mut self, key: &Key) {
        let Some((seat, at)) = self.numbers.remove(key) else {
            return;
        };
        self.ages.remove(&(at, key.clone()));
        if let Some(ids) = self.ids.get_mut(&key.1) {
            ids.remove(&seat);
            if ids.is_empty() {
                self.ids.remove(&key.1);
            }
        }
    }

    pub fn write(&self, w: &mut Writer) {
        w.count(self.numbers.len());
        for ((id, line), ((lane, number), at)) in &self.numbers {
            w.raw(&id.0);
            w.text(line.as_str());
            w.u8(lane.0);
            w.number(*number);
            w.clock(*at);
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let mut pending = Self::default();
        for _ in 0..r.count(34)? {
            let key = (PendingId(r.array()?), r.line_name()?);
            if pending.numbers.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return r.wrong();
            }
            let seat = (r.lane()?, r.number()?);
            pending.insert(key, seat, r.clock()?);
        }
        Ok(pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::entry::{Claim, End};
    use crate::room::ids::{Era, RoomName};

    const LINE: LineName = LineName::ONLY;
    const WINDOW: u64 = 1_000;
    const FIRM: u64 = 100;

    fn id(i: u32) -> PendingId {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&i.to_be_bytes());
        PendingId(bytes)
    }

    fn seat(n: u32) -> Seat {
        (LaneId(0), Number { era: Era(1), n })
    }

    fn section(line: LineName) -> Section {
        Section::new(RoomName::new("shop").unwrap(), line)
    }

    #[test]
    fn an_id_is_remembered_for_its_line_until_the_window_has_passed() {
        let mut pending = Pending::default();
        pending.put(id(1), &LINE, seat(7), Clock(100));
        assert_eq!(pending.get(id(1), &LINE), Some(seat(7)));
        assert_eq!(pending.get(id(1), &LineName::new("other").unwrap()), None);
        pending.forget(WINDOW, Clock(1_099));
        assert!(pending.get(id(1), &LINE).is_some());
        pending.forget(WINDOW, Clock(1_100));
        assert_eq!(pending.get(id(1), &LINE), None);
        assert!(pending.ages.is_empty() && pending.ids.is_empty());
    }

    #[test]
    fn whoever_shows_the_number_needs_the_id_no_more() {
        let mut pending = Pending::default();
        for i in 0..9 {
            pending.put(id(i), &LINE, seat(i), Clock(0));
        }
        let other = Section {
            marks: vec![seat(0)],
            ..section(LineName::new("other").unwrap())
        };
        pending.heard(&other);
        assert_eq!(pending.numbers.len(), 9);
        let (lane, number) = seat(5);
        let said = Section {
            leaves: vec![seat(1)],
            reopens: vec![seat(2)],
            renewals: vec![seat(3)],
            marks: vec![seat(4), seat(99)],
            claims: vec![Claim {
                lane,
                number,
                carried: false,
            }],
            ends: vec![End {
                lane,
                number: seat(6).1,
                after_ms: 0,
            }],
            ..section(LINE)
        };
        pending.heard(&said);
        let left = (0..9).filter(|i| pending.get(id(*i), &LINE).is_some());
        assert_eq!(left.collect::<Vec<_>>(), [0, 7, 8]);
        assert_eq!(pending.ages.len(), 3);
    }

    #[test]
    fn at_the_limit_the_oldest_makes_room_once_its_visitor_is_gone() {
        let mut pending = Pending::default();
        for i in 0..131_072 {
            assert!(pending.has_room(FIRM, Clock(0)));
            pending.put(id(i), &LINE, seat(i), Clock(u64::from(i.min(1))));
        }
        assert!(!pending.has_room(FIRM, Clock(99)));
        assert!(pending.has_room(FIRM, Clock(100)));
        pending.put(id(200_000), &LINE, seat(200_000), Clock(100));
        assert!(pending.get(id(0), &LINE).is_none() && pending.get(id(1), &LINE).is_some());
        assert_eq!(pending.numbers.len(), MAX_PENDING);
        assert!(!pending.has_room(FIRM, Clock(100)));
        let shown = Section {
            marks: vec![seat(77)],
            ..section(LINE)
        };
        pending.heard(&shown);
        assert!(pending.has_room(FIRM, Clock(100)));
    }
}
