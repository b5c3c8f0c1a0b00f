//! Newcomers who carry a pending ticket: the same id is answered with the number it already has.

use std::collections::{BTreeMap, VecDeque};

use super::codec::{Read, Reader, Writer};
use super::entry::PendingId;
use super::ids::{Clock, LaneId, LineName, Number};

/// Most ids a room remembers; the oldest is forgotten for one more.
pub(super) const MAX_PENDING: usize = 131_072;

type Key = (PendingId, LineName);

#[derive(Debug, Default)]
pub(super) struct Pending {
    numbers: BTreeMap<Key, (LaneId, Number)>,
    /// When each was numbered, oldest first.
    order: VecDeque<(Clock, Key)>,
}

impl Pending {
    pub fn get(&self, id: PendingId, line: &LineName) -> Option<(LaneId, Number)> {
        self.numbers.get(&(id, line.clone())).copied()
    }

    pub fn put(&mut self, id: PendingId, line: &LineName, lane: LaneId, number: Number, now: Clock) {
        let key = (id, line.clone());
        if self.numbers.insert(key.clone(), (lane, number)).is_none() {
            self.order.push_back((now, key));
        }
        if self.order.len() > MAX_PENDING {
            self.forget_oldest();
        }
    }

    /// Forgets ids that were numbered `window_ms` ago.
    pub fn forget(&mut self, window_ms: u64, now: Clock) {
        while self.order.front().is_some_and(|(at, _)| at.plus(window_ms) <= now) {
            self.forget_oldest();
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn forget_oldest(&mut self) {
        if let Some((_, key)) = self.order.pop_front() {
            self.numbers.remove(&key);
        }
    }

    pub fn write(&self, w: &mut Writer) {
        w.count(self.order.len());
        for (at, key) in &self.order {
            w.clock(*at);
            w.raw(&key.0.0);
            w.text(key.1.as_str());
            w.option(self.numbers.get(key).copied(), |w, (lane, number)| {
                w.u8(lane.0);
                w.number(number);
            });
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let mut pending = Self::default();
        for _ in 0..r.count(22)? {
            let at = r.clock()?;
            let key = (PendingId(r.array()?), r.line_name()?);
            if let Some(numbered) = r.option(|r| Ok((r.lane()?, r.number()?)))? {
                pending.numbers.insert(key.clone(), numbered);
            }
            pending.order.push_back((at, key));
        }
        Ok(pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::ids::Era;

    const LINE: LineName = LineName::ONLY;

    fn id(i: u32) -> PendingId {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&i.to_be_bytes());
        PendingId(bytes)
    }

    fn number(n: u32) -> Number {
        Number { era: Era(1), n }
    }

    #[test]
    fn an_id_is_remembered_for_its_line_until_the_window_has_passed() {
        let mut pending = Pending::default();
        pending.put(id(1), &LINE, LaneId(0), number(7), Clock(100));
        assert_eq!(pending.get(id(1), &LINE), Some((LaneId(0), number(7))));
        assert_eq!(pending.get(id(1), &LineName::new("other").unwrap()), None);
        pending.forget(1_000, Clock(1_099));
        assert!(pending.get(id(1), &LINE).is_some());
        pending.forget(1_000, Clock(1_100));
        assert_eq!(pending.get(id(1), &LINE), None);
    }

    #[test]
    fn beyond_the_limit_the_oldest_is_forgotten() {
        let mut pending = Pending::default();
        for i in 0..=131_072 {
            pending.put(id(i), &LINE, LaneId(0), number(i), Clock(0));
        }
        assert_eq!(pending.get(id(0), &LINE), None);
        assert!(pending.get(id(1), &LINE).is_some());
        assert_eq!(pending.numbers.len(), MAX_PENDING);
    }
}
