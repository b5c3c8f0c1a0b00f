//! What a request's tokens are worth, read against the room's view. Pure.
//!
//! The room is asked first: a live session makes its pass valid, one that is over makes it void. Only where the room has
//! never heard of the call does the pass's own date decide (design, "Lease").

use crate::replica::Note;
use crate::room::{CallId, Clock, LineName, LineView, RoomName, RoomView, Standing, Wall};
use crate::token::{Keyring, Pass, Ticket, TicketPlace};

use super::decide::{PassState, TicketState, Void};

/// How long after a session's expiry the room still holds its slot.
const SLOT_OUTLIVES_PASS_MS: u64 = 2_000;

/// One line of a room at one moment, and the keys that its tokens are signed with.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub keyring: &'a Keyring,
    pub room: &'a RoomName,
    pub line: &'a LineName,
    pub room_view: &'a RoomView,
    /// `None` while the line has never had a visitor.
    pub line_view: Option<&'a LineView>,
    /// The view's own clock, by which the room's deadlines stand.
    pub clock: Clock,
    /// The clock with what has passed since the view was published.
    pub now: Clock,
    pub wall: Wall,
    /// Set while the gate is cut off from the log: how much longer those inside may go on.
    pub extension_ms: Option<u64>,
}

/// A genuine pass and what it is worth.
#[derive(Clone, Debug)]
pub struct PassWorth {
    pub pass: Pass,
    pub state: PassState,
    pub standing: Standing,
    /// What the log should learn from its being shown.
    pub note: Option<Note>,
}

/// A genuine ticket and what it is worth.
#[derive(Clone, Debug)]
pub struct TicketWorth {
    pub ticket: Ticket,
    pub state: TicketState,
    pub standing: Option<Standing>,
    pub note: Option<Note>,
    /// The room does not know the number: a mark may give its place back.
    pub unknown: bool,
}

impl Reader<'_> {
    /// Judges a genuine pass.
    #[must_use]
    pub fn pass(&self, pass: Pass) -> PassWorth {
        let standing = self.line_view.map_or(Standing::Unknown, |line| {
            line.standing(pass.lane, pass.number, self.clock)
        });
        let (state, note) = if pass.edition < self.room_view.edition {
            (PassState::Void, None)
        } else {
            self.by_standing(&pass, standing)
        };
        PassWorth {
            pass,
            state,
            standing,
            note,
        }
    }

    fn by_standing(&self, pass: &Pass, standing: Standing) -> (PassState, Option<Note>) {
        match standing {
            Standing::Inside(inside) if self.is_of(pass, inside.call) && self.alive(inside.expires) => {
                let claim = (!inside.carried).then_some(Note::Claim { carried: true });
                (PassState::Valid, claim.or(inside.renewal_due.then_some(Note::Renew)))
            }
            Standing::Called(called) if self.is_of(pass, called.call) => {
                (PassState::Valid, Some(Note::Claim { carried: true }))
            }
            Standing::Waiting(_) | Standing::Unknown if pass.expires_at > self.wall => {
                (PassState::Valid, Some(Note::Reopen))
            }
            _ => (PassState::Void, None),
        }
    }

    fn is_of(&self, pass: &Pass, call: CallId) -> bool {
        self.keyring
            .is_pass_id(self.room, self.line, pass.edition, call, pass.id)
    }

    fn alive(&self, expires: Clock) -> bool {
        self.now <= expires.plus(SLOT_OUTLIVES_PASS_MS + self.extension_ms.unwrap_or(0))
    }

    /// Judges a genuine ticket.
    #[must_use]
    pub fn ticket(&self, ticket: Ticket) -> TicketWorth {
        if ticket.edition < self.room_view.edition {
            let state = TicketState::Void(Void::Reset);
            return TicketWorth {
                ticket,
                state,
                standing: None,
                note: None,
                unknown: false,
            };
        }
        let number = match ticket.place {
            TicketPlace::Numbered(number) => number,
            TicketPlace::Pending(id) => {
                let state = TicketState::Pending(id);
                return TicketWorth {
                    ticket,
                    state,
                    standing: None,
                    note: None,
                    unknown: false,
                };
            }
        };
        let standing = self
            .line_view
            .map_or(Standing::Unknown, |line| line.standing(ticket.lane, number, self.clock));
        let (state, note) = match standing {
            Standing::Waiting(waiting) => (TicketState::Waiting, waiting.mark_due.then_some(Note::Mark)),
            Standing::Called(called) => {
                // Called while joining: only its pass proves that a cookie came back, so the ticket yields it once more.
                let claim = (!called.at_join).then_some(Note::Claim { carried: false });
                (TicketState::Called, claim)
            }
            Standing::Inside(inside) if !inside.carried && self.alive(inside.expires) => (TicketState::Called, None),
            Standing::Inside(_) | Standing::Ended => (TicketState::Void(Void::Ended), None),
            Standing::Late => (TicketState::Void(Void::Late), None),
            Standing::Unknown => (TicketState::Waiting, Some(Note::Mark)),
        };
        TicketWorth {
            ticket,
            state,
            standing: Some(standing),
            note,
            unknown: standing == Standing::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
