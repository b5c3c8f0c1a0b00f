//! Which edition of a room counts: a reset or a sale begins the next, and older tokens are void.

use crate::codec::codec;
use ropeline_ids::{Edition, Epoch, Number};

/// The edition that a room is in, and who is of it whatever their tokens say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    pub edition: Edition,
    /// See [`RoomView::spared`](crate::RoomView::spared).
    pub spared: Option<Epoch>,
}

/// A room's edition, and what became of those before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Editions {
    current: Edition,
    /// See [`RoomView::voided`](crate::RoomView::voided).
    voided: Edition,
    /// See [`RoomView::spared`](crate::RoomView::spared).
    spared: Option<Epoch>,
}

codec! {
    struct Editions { current, voided, spared };
}

impl Editions {
    /// What is from before `current` was of another room.
    pub fn new(current: Edition) -> Self {
        Self {
            current,
            voided: current,
            spared: None,
        }
    }

    pub fn edition(&self) -> Edition {
        self.current
    }

    pub fn voided(&self) -> Edition {
        self.voided
    }

    pub fn spared(&self) -> Option<Epoch> {
        self.spared
    }

    /// The edition that completions are of. What was spared when it came back is of that one, and of none that began since.
    pub fn counts(&self) -> Current {
        Current {
            edition: self.current,
            spared: self.spared.filter(|_| self.current == self.voided),
        }
    }

    /// A sale begins: who waits with a token of an edition before waits no more, and sessions of it run out.
    pub fn begin_sale(&mut self) {
        self.current = Edition(self.current.0.saturating_add(1));
    }

    /// A reset: nothing of an edition before counts.
    pub fn reset(&mut self) {
        self.begin_sale();
        (self.voided, self.spared) = (self.current, None);
    }

    /// Takes back an edition that the log had lost, whose numbers are those of `epoch`; false if it is not above the present one.
    pub fn regain(&mut self, edition: Edition, epoch: Epoch) -> bool {
        let higher = edition > self.current;
        if higher {
            (self.current, self.voided, self.spared) = (edition, edition, Some(epoch));
        }
        higher
    }
}

/// The rule of [`RoomView::is_reset`](crate::RoomView::is_reset), for a room at edition `now`.
#[must_use]
pub fn is_reset(edition: Edition, number: Number, now: Edition, spared: Option<Epoch>) -> bool {
    edition < now && spared.is_none_or(|spared| number.epoch < spared)
}
