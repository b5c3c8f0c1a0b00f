//! What the room knows of one number that was called: waiting numbers have no record, only bits.

use crate::codec::{Read, Reader, Writer};
use ropeline_ids::{Clock, Wall};

/// How much longer than its pass a slot is held, in milliseconds of the room's clock, so that no gate honours a pass whose
/// slot is gone. Whoever asks whether a session is still alive adds it to the session's expiry.
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
    pub renewed: Clock,
    pub since: Wall,
    pub count: u8,
    pub carried: bool,
    pub ending: bool,
    /// Opened again beyond what the room itself gave out.
    pub excess: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EndedBy {
    /// Nobody renewed it: may be reopened.
    Idling,
    /// The visitor, the shop, the operator or `session_max`: final.
    Word,
}

impl Record {
    pub fn holds_slot(&self) -> bool {
        matches!(self, Self::Called(_) | Self::Inside(_))
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

    pub fn write(&self, w: &mut Writer) {
        match self {
            Self::Called(call) => {
                w.u8(if call.back { 6 } else { 0 });
                w.clock(call.deadline);
                w.wall(call.at);
                w.u8(call.count);
            }
            Self::Inside(session) => {
                w.u8(1);
                session.write(w);
            }
            Self::Missed { at, count } => {
                w.u8(2);
                w.wall(*at);
                w.u8(*count);
            }
            Self::Spent { at } => {
                w.u8(3);
                w.wall(*at);
            }
            Self::Over { end, until, count } => {
                w.u8(if *end == EndedBy::Idling { 4 } else { 5 });
                w.clock(*until);
                w.u8(*count);
            }
        }
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        Ok(match r.u8()? {
            tag @ (0 | 6) => Self::Called(Call {
                deadline: r.clock()?,
                at: r.wall()?,
                count: r.u8()?,
                back: tag == 6,
            }),
            1 => Self::Inside(Session::read(r)?),
            2 => Self::Missed {
                at: r.wall()?,
                count: r.u8()?,
            },
            3 => Self::Spent { at: r.wall()? },
            4 => Self::Over {
                end: EndedBy::Idling,
                until: r.clock()?,
                count: r.u8()?,
            },
            5 => Self::Over {
                end: EndedBy::Word,
                until: r.clock()?,
                count: r.u8()?,
            },
            _ => return r.wrong(),
        })
    }
}

impl Call {
    /// When the turn is missed.
    pub fn due(&self) -> Clock {
        self.deadline.plus(SLACK_MS)
    }
}

impl Session {
    /// When the slot is freed: at once after an end that was due, else with slack behind the pass's own date.
    pub fn due(&self) -> Clock {
        if self.ending {
            self.expires
        } else {
            self.expires.plus(SLACK_MS)
        }
    }

    fn write(&self, w: &mut Writer) {
        for clock in [self.expires, self.ends_by, self.renewed] {
            w.clock(clock);
        }
        w.wall(self.since);
        w.u8(self.count);
        for flag in [self.carried, self.ending, self.excess] {
            w.flag(flag);
        }
    }

    fn read(r: &mut Reader) -> Read<Self> {
        Ok(Self {
            expires: r.clock()?,
            ends_by: r.clock()?,
            renewed: r.clock()?,
            since: r.wall()?,
            count: r.u8()?,
            carried: r.flag()?,
            ending: r.flag()?,
            excess: r.flag()?,
        })
    }
}
