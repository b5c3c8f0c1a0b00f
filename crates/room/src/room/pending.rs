//! Newcomers who carry a pending ticket: the same id is answered with the number it already has.
//!
//! An id is remembered for `late_window`: it may wait in several gates' queues, long after its visitor has the number. At the
//! bound, ids whose number was shown make room; only their visitors can have shown it.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::{Codec, Read, Reader, Writer, codec};
use crate::entry::Section;
use ropeline_ids::{Clock, LaneId, LineName, Number, PendingId};

/// Most ids that a room remembers. Beyond it, one whose number was shown makes room for one more, or the oldest one if its
/// visitor is not present any more. Otherwise a new visitor is not numbered yet.
pub(crate) const MAX_PENDING: usize = 131_072;

type Key = (PendingId, LineName);
type Seat = (LaneId, Number);

/// The state's bytes are `numbers`; the rest follows from it.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The number that each id was given, and when.
    numbers: BTreeMap<Key, Numbered>,
    /// Ids whose numbers were not shown, oldest first, and ids whose numbers were.
    silent: BTreeSet<(Clock, Key)>,
    shown: BTreeSet<(Clock, Key)>,
    /// Ids whose numbers were not shown. A waiting visitor who comes with a code has two ids of one number.
    ids: BTreeMap<LineName, BTreeSet<(Seat, PendingId)>>,
}

#[derive(Clone, Copy, Debug)]
struct Numbered {
    seat: Seat,
    at: Clock,
    shown: bool,
}

codec! {
    struct Numbered { seat, at, shown };
}

impl Pending {
    pub fn get(&self, id: PendingId, line: &LineName) -> Option<Seat> {
        self.numbers.get(&(id, line.clone())).map(|numbered| numbered.seat)
    }

    /// Whether a number of a line was not shown, which its visitor may not have heard of.
    pub fn is_unheard(&self, line: &LineName, seat: Seat) -> bool {
        self.ids.get(line).is_some_and(|ids| ids_of(ids, seat).next().is_some())
    }

    /// Whether one more can be remembered. A visitor is present for `firm_within_ms` without being heard of.
    pub fn has_room(&self, firm_within_ms: u64, now: Clock) -> bool {
        let gone = |(at, _): &(Clock, Key)| at.plus(firm_within_ms) <= now;
        self.numbers.len() < MAX_PENDING || !self.shown.is_empty() || self.silent.first().is_some_and(gone)
    }

    /// Remembers an id's number, if need be in place of another id.
    pub fn put(&mut self, id: PendingId, line: &LineName, seat: Seat, at: Clock) {
        self.remove(&(id, line.clone()));
        if self.numbers.len() >= MAX_PENDING
            && let Some((_, key)) = self.shown.first().or(self.silent.first()).cloned()
        {
            self.remove(&key);
        }
        let shown = false;
        self.insert((id, line.clone()), Numbered { seat, at, shown });
    }

    /// Forgets ids that were numbered `window_ms` ago.
    pub fn forget(&mut self, window_ms: u64, now: Clock) {
        while let Some(key) = self.over(window_ms, now) {
            self.remove(&key);
        }
    }

    fn over(&self, window_ms: u64, now: Clock) -> Option<Key> {
        let oldest = self.shown.first().into_iter().chain(self.silent.first());
        let mut over = oldest.filter(|(at, _)| at.plus(window_ms) <= now);
        over.next().map(|(_, key)| key.clone())
    }

    /// Notes the ids whose numbers a section names.
    pub fn heard(&mut self, section: &Section) {
        // PERF: every mark of everybody comes here, and in quiet times there is no id.
        let Some(ids) = self.ids.get(&section.line) else {
            return;
        };
        let Section {
            leaves,
            reopens,
            returns,
            renewals,
            marks,
            ..
        } = section;
        let named = [leaves, reopens, returns, renewals, marks];
        let ends = section.ends.iter().map(|end| (end.lane, end.number));
        let claims = section.claims.iter().map(|claim| (claim.lane, claim.number));
        let seats = named.into_iter().flatten().copied().chain(ends).chain(claims);
        for id in seats.flat_map(|seat| ids_of(ids, seat)).collect::<Vec<_>>() {
            let key = (id, section.line.clone());
            if let Some(numbered) = self.remove(&key) {
                let shown = true;
                self.insert(key, Numbered { shown, ..numbered });
            }
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn insert(&mut self, key: Key, numbered: Numbered) {
        let age = (numbered.at, key.clone());
        if numbered.shown {
            self.shown.insert(age);
        } else {
            self.silent.insert(age);
            self.ids
                .entry(key.1.clone())
                .or_default()
                .insert((numbered.seat, key.0));
        }
        self.numbers.insert(key, numbered);
    }

    fn remove(&mut self, key: &Key) -> Option<Numbered> {
        let numbered = self.numbers.remove(key)?;
        let age = (numbered.at, key.clone());
        self.shown.remove(&age);
        self.silent.remove(&age);
        if let Some(ids) = self.ids.get_mut(&key.1) {
            ids.remove(&(numbered.seat, key.0));
            if ids.is_empty() {
                self.ids.remove(&key.1);
            }
        }
        Some(numbered)
    }
}

impl Codec for Pending {
    fn write(&self, w: &mut Writer) {
        w.put(&self.numbers);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut pending = Self::default();
        for (key, numbered) in r.get::<BTreeMap<_, _>>()? {
            pending.insert(key, numbered);
        }
        Ok(pending)
    }
}

/// The ids of a number.
fn ids_of(ids: &BTreeSet<(Seat, PendingId)>, seat: Seat) -> impl Iterator<Item = PendingId> {
    let from = ids.range((seat, PendingId([0; 12]))..);
    from.take_while(move |(of, _)| *of == seat).map(|(_, id)| *id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Claim, End};
    use ropeline_ids::{Epoch, RoomName};

    const LINE: LineName = LineName::ONLY;
    const WINDOW: u64 = 1_000;
    const FIRM: u64 = 100;

    fn id(i: u32) -> PendingId {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&i.to_be_bytes());
        PendingId(bytes)
    }

    fn seat(n: u32) -> Seat {
        (LaneId(0), Number { epoch: Epoch(1), n })
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
        assert!(pending.silent.is_empty() && pending.ids.is_empty());
    }

    #[test]
    fn whoever_shows_the_number_is_known_to_have_it() {
        let mut pending = Pending::default();
        for i in 0..9 {
            pending.put(id(i), &LINE, seat(i), Clock(0));
        }
        let other = Section {
            marks: vec![seat(0)],
            ..section(LineName::new("other").unwrap())
        };
        pending.heard(&other);
        assert_eq!((pending.silent.len(), pending.shown.len()), (9, 0));
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
        let mut again = Writer::default();
        pending.write(&mut again);
        let mut pending = Pending::read(&mut Reader::new(&again.bytes, "ids")).unwrap();
        let left: Vec<_> = (0..9).filter(|i| pending.is_unheard(&LINE, seat(*i))).collect();
        assert_eq!(left, [0, 7, 8]);
        assert!((0..9).all(|i| pending.get(id(i), &LINE) == Some(seat(i))));
        assert_eq!((pending.silent.len(), pending.shown.len()), (3, 6));
        pending.forget(WINDOW, Clock(WINDOW));
        assert!(pending.numbers.is_empty() && pending.shown.is_empty());
    }

    #[test]
    fn at_the_limit_who_has_the_number_makes_room_or_who_is_gone() {
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
        pending.put(id(200_001), &LINE, seat(200_001), Clock(100));
        assert!(pending.get(id(77), &LINE).is_none() && pending.get(id(1), &LINE).is_some());
    }
}
