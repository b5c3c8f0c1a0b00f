//! The room's record of one number that was called. Waiting numbers have no record, only bits.

use crate::codec::codec;
use ropeline_ids::{Clock, Wall};

/// How much longer than its pass a slot is held, in milliseconds of the room's clock, so that no gate honours a pass whose
/// slot is gone. A caller that asks whether a session is still alive adds it to the session's expiry.
pub const SLACK_MS: u64 = 2_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Record {
    /// Holds a slot until claimed or missed.
    Called(Call),
    /// Holds a slot until the session ends.
    Inside(Session),
    /// Missed the first turn: waits to come back.
    Missed { at: Wall, count: u8 },
    /// Missed the second turn too.
    Spent { at: Wall },
    /// The session is over; kept so that a gate cut off meanwhile may reopen one that only idled out.
    Over { end: EndedBy, until: Clock, count: u8 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub deadline: Clock,
    pub at: Wall,
    /// How often the number has been called, this time included.
    pub count: u8,
    /// The visitor came back after the deadline, while the slot is still held.
    pub back: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Session {
    pub expires: Clock,
    pub ends_by: Clock,
    /// The last activity that is noted. In the future for a session whose slot is held until a date: it is parked as long
    /// after that as after a request.
    pub renewed: Clock,
    pub since: Wall,
    pub count: u8,
    pub carried: bool,
    pub ending: bool,
    /// Opened again beyond the room's own calls.
    pub excess: bool,
    /// `None`: it is in use, and holds a slot.
    pub stay: Option<Stay>,
}

/// A session that is not in use, in a room with active slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stay {
    /// Holds no slot.
    Parked,
    /// Holds none, and is in the queue of those who return.
    Asks,
    /// Has a slot again since `renewed`, and has not used it.
    Back,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EndedBy {
    /// The session ran out without a renewal: it may be reopened.
    Idling,
    /// The visitor, the shop, the operator or `session_max`: final.
    Word,
}

codec! {
    enum Record {
        0 => Called(call),
        1 => Inside(session),
        2 => Missed { at, count },
        3 => Spent { at },
        4 => Over { end, until, count },
    };
    struct Call { deadline, at, count, back };
    struct Session { expires, ends_by, renewed, since, count, carried, ending } parts { excess, stay };
    enum Stay { 0 => Parked, 1 => Asks, 2 => Back };
    enum EndedBy { 0 => Idling, 1 => Word };
}

impl Record {
    /// Called or inside, with a slot or without one.
    pub fn has_right(&self) -> bool {
        matches!(self, Self::Called(_) | Self::Inside(_))
    }

    /// When the session is parked if nothing else happens; `after_ms` is [`Settings::parks_after_ms`].
    ///
    /// [`Settings::parks_after_ms`]: crate::Settings::parks_after_ms
    pub fn parks(&self, after_ms: Option<u64>) -> Option<Clock> {
        match self {
            Self::Inside(session) => session.parks(after_ms),
            _ => None,
        }
    }

    /// When the clock alone changes this record.
    pub fn due(&self) -> Option<Clock> {
        match self {
            Self::Called(call) => Some(call.due()),
            Self::Inside(session) => Some(session.due()),
            Self::Over { until, .. } => Some(*until),
            Self::Missed { .. } | Self::Spent { .. } => None,
        }
    }
}

impl Call {
    /// When the turn is missed.
    pub fn due(&self) -> Clock {
        self.deadline.plus(SLACK_MS)
    }
}

/// A slot that is given back and not used for so long is free again.
pub(crate) const BACK_MS: u64 = 10_000;

#[cfg(test)]
impl Session {
    /// A session that began and was last renewed at these times.
    pub fn of_test(since: Clock, renewed: Clock, settings: &crate::settings::Settings) -> Self {
        let ends_by = since.plus(settings.session_max_ms);
        Self {
            expires: renewed.plus(settings.hold_ms()).min(ends_by),
            ends_by,
            renewed,
            since: Wall(0),
            count: 1,
            carried: false,
            ending: false,
            excess: false,
            stay: None,
        }
    }
}

impl Session {
    pub fn is_parked(&self) -> bool {
        matches!(self.stay, Some(Stay::Parked | Stay::Asks))
    }

    /// As [`Record::parks`].
    pub fn parks(&self, after_ms: Option<u64>) -> Option<Clock> {
        let after_ms = after_ms.filter(|_| !self.ending)?;
        match self.stay {
            None => Some(self.renewed.plus(after_ms)),
            Some(Stay::Back) => Some(self.renewed.plus(BACK_MS + SLACK_MS)),
            Some(Stay::Parked | Stay::Asks) => None,
        }
    }

    /// When the slot is freed: at once after an end that was due, else with slack behind the pass's own date.
    pub fn due(&self) -> Clock {
        if self.ending {
            self.expires
        } else {
            self.expires.plus(SLACK_MS)
        }
    }
}
