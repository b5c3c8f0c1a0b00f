//! Requests and sockets under way, which keep their sessions alive.
//!
//! One registry per core, so its lock is never contended. An entry is raised when a request of a session is forwarded and
//! lowered by its guard when the answer's body, or the socket, has ended, however it ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use ropeline_ids::{LineName, RoomName, Visitor};

/// The sessions with something under way on one core.
#[derive(Debug, Default)]
pub struct InFlight {
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    entries: Vec<Option<Held>>,
    free: Vec<usize>,
}

/// Something under way.
#[derive(Clone, Debug)]
pub struct Held {
    pub by: Right,
    /// Ends a socket when the right to it is over; answers in flight finish.
    pub cancel: CancellationToken,
    /// It is use of its session, and keeps the slot.
    pub counts: bool,
}

/// The right by which a request goes on.
#[derive(Clone, Debug)]
pub enum Right {
    Session(Arc<Visitor>),
    /// The room was open, or off; valid as long as it is one of these.
    Open(RoomName, LineName),
    /// An outage had opened the room; until the store is back, and then for as long as the room is open.
    LetPast(RoomName, LineName),
}

/// Lowers its entry when dropped.
#[derive(Debug)]
pub struct Guard {
    registry: Arc<InFlight>,
    slot: usize,
}

impl InFlight {
    /// Raises an entry; it stays until the guard is dropped.
    #[must_use]
    pub fn raise(self: &Arc<Self>, held: Held) -> Guard {
        let mut slots = self.lock();
        let slot = slots.free.pop().unwrap_or_else(|| {
            slots.entries.push(None);
            slots.entries.len() - 1
        });
        slots.entries[slot] = Some(held);
        Guard {
            registry: Arc::clone(self),
            slot,
        }
    }

    /// Everything under way now, one item per request or socket.
    #[must_use]
    pub fn held(&self) -> Vec<Held> {
        self.lock().entries.iter().flatten().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut slots = self.registry.lock();
        slots.entries[self.slot] = None;
        slots.free.push(self.slot);
    }
}

#[cfg(test)]
impl Right {
    /// Of a visitor with this number, for tests.
    pub fn sample(n: u32) -> Self {
        use ropeline_ids::{Epoch, LaneId, Number};
        Self::Session(Arc::new(Visitor {
            room: RoomName::new("shop").expect("a name"),
            line: LineName::ONLY,
            lane: LaneId(0),
            number: Number { epoch: Epoch(1), n },
            rehearsal: None,
        }))
    }
}

#[cfg(test)]
impl Held {
    /// Of such a visitor.
    fn sample(n: u32) -> Self {
        Self {
            by: Right::sample(n),
            cancel: CancellationToken::new(),
            counts: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_lives_as_long_as_its_guard_and_its_slot_is_used_again() {
        let registry = Arc::new(InFlight::default());
        let first = registry.raise(Held::sample(1));
        let second = registry.raise(Held::sample(2));
        drop(first);
        let held = registry.held();
        assert!(matches!(&held[..], [Held { by: Right::Session(visitor), .. }] if visitor.number.n == 2));
        let third = registry.raise(Held::sample(3));
        assert_eq!(registry.lock().entries.len(), 2);
        drop((second, third));
        assert!(registry.held().is_empty());
    }
}
