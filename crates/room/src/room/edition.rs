//! Which edition of a room counts.

use ropeline_ids::{Edition, Era, Number};

/// The edition that a room is in, and who is of it whatever their tokens say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    pub edition: Edition,
    /// See [`RoomView::spared`](crate::RoomView::spared).
    pub spared: Option<Era>,
}

/// The rule of [`RoomView::is_reset`](crate::RoomView::is_reset), for a room at edition `now`.
#[must_use]
pub fn is_reset(edition: Edition, number: Number, now: Edition, spared: Option<Era>) -> bool {
    edition < now && spared.is_none_or(|spared| number.era < spared)
}
