//! The standing of a visitor's number in a line: waiting, called, inside, or none of these.

use ropeline_ids::{CallId, Clock, Wall};

/// Where a genuine token's number stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// In line, or able to be (a visitor who is not present keeps the place and becomes present with a mark).
    Waiting(Waiting),
    /// A turn was offered to them; no request of theirs has been forwarded yet.
    Called(Called),
    Inside(Inside),
    /// Came back after the horizon, or missed two turns: joins anew at the back.
    Late,
    /// Was called, and the session is over; or left.
    Ended,
    /// The room does not know it: a number of a lost epoch, or beyond the last one issued. The token's own date decides.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Present visitors ahead in the lane.
    pub ahead: u64,
    pub present: bool,
    /// A mark is due: none was set in this generation.
    pub mark_due: bool,
    /// When the turn was that this visitor missed.
    pub missed_at: Option<Wall>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Called {
    pub call: CallId,
    pub deadline: Clock,
    pub called_at: Wall,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inside {
    pub call: CallId,
    /// When the slot is freed if nothing renews it. The room frees it 2 s later than this; a pass must never say later.
    pub expires: Clock,
    /// `session_max` after the claim: renewals stop here.
    pub ends_by: Clock,
    pub since: Wall,
    /// A request has carried the pass: the ticket yields it no more.
    pub carried: bool,
    /// It holds no slot: a request must ask for one, and wait.
    pub parked: bool,
    /// Before then a request is forwarded without asking; the start of time for one that is parked. The room parks the session
    /// two seconds later at the earliest.
    pub unasked_until: Clock,
    /// From when on use of the session is to be recorded: a tenth of it after the last renewal; never, if a renewal would not
    /// extend it.
    pub renews_from: Clock,
    /// An end is set (`end_grace`); renewals do not stretch it.
    pub ending: bool,
}

impl Standing {
    /// Whether a session that asks for a slot has one, or is over (false); `None` while it waits.
    #[must_use]
    pub fn has_slot(self, now: Clock) -> Option<bool> {
        match self {
            Self::Inside(inside) => (!inside.must_ask(now)).then_some(true),
            Self::Ended | Self::Late => Some(false),
            Self::Called(_) => Some(true),
            Self::Waiting(_) | Self::Unknown => None,
        }
    }
}

impl Inside {
    /// A request has to ask the room for a slot before it is forwarded.
    #[must_use]
    pub fn must_ask(&self, now: Clock) -> bool {
        now >= self.unasked_until
    }

    /// Use of the session is to be recorded.
    #[must_use]
    pub fn renewal_due(&self, now: Clock) -> bool {
        now >= self.renews_from
    }

    /// When the session ends if a request that is forwarded now is its last: `session_ms` from now at most. A request for which
    /// no renewal is due leaves the end where it is, and `session_max` bounds any.
    #[must_use]
    pub fn used_until(&self, now: Clock, session_ms: u64) -> Clock {
        let last = if self.renewal_due(now) {
            self.ends_by
        } else {
            self.expires
        };
        now.plus(session_ms).min(last)
    }
}
