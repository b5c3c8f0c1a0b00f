//! Which edition of a room counts: a reset or a sale begins the next, and older tokens are void.

use crate::codec::codec;
use ropeline_ids::{Edition, Epoch, Number};

/// The edition of a room, and the numbers that belong to it whatever their tokens say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    pub edition: Edition,
    /// See [`RoomView::spared`](crate::RoomView::spared).
    pub spared: Option<Epoch>,
}

/// A room's edition, and the fate of earlier ones.
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
    /// Everything before `current` belonged to another room.
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

    /// The edition of completions. Numbers that were spared when it came back belong to it, and to no later one.
    pub fn counts(&self) -> Current {
        Current {
            edition: self.current,
            spared: self.spared.filter(|_| self.current == self.voided),
        }
    }

    /// A sale begins: visitors with a token of an earlier edition lose their place in line, and sessions of it run out.
    pub fn begin_sale(&mut self) {
        self.current = Edition(self.current.0.saturating_add(1));
    }

    /// A reset: nothing of an edition before counts.
    pub fn reset(&mut self) {
        self.begin_sale();
        (self.voided, self.spared) = (self.current, None);
    }

    /// Takes back an edition that the log had lost, and that has the numbers of `epoch`; false if it is not above the present
    /// one.
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
