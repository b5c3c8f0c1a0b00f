//! The worth of a request's tokens, read against the room's view. Pure.
//!
//! The room is asked first: a live session makes its pass valid, one that is over makes it void. Only where the room has
//! never heard of the call does the pass's own date decide (design, "Lease").

use crate::replica::Note;
use crate::room::{
    Clock, Edition, Epoch, LaneId, LineName, Number, RoomName, SLACK_MS, Standing, View, Visitor, Wall, is_reset,
};
use crate::token::{Keyring, Pass, PassId, Ticket, TicketPlace};

use crate::gate::state::known_tokens::KnownPass;
use crate::gate::verdict::decide::{PassState, TicketState, Void};

/// One line of a room at one moment, and the keys that its tokens are signed with.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub keyring: &'a Keyring,
    /// Of the pass that is judged, from requests before.
    pub known: Option<&'a KnownPass>,
    pub room: &'a RoomName,
    pub line: &'a LineName,
    pub view: &'a View,
    /// The room's, in the view.
    pub edition: Edition,
    /// Sessions of this edition and later ones go on ([`crate::room::RoomView::voided`]).
    pub voided: Edition,
    /// From this epoch on a token's number counts with any lower edition ([`crate::room::RoomView::spared`]).
    pub spared: Option<Epoch>,
    /// The view's clock plus the time since the view was published.
    pub now: Clock,
    pub wall: Wall,
    /// Set while the gate is cut off from the log: how much longer those inside may go on.
    pub extension_ms: Option<u64>,
}

/// A genuine pass and its validity.
#[derive(Clone, Debug)]
pub struct PassWorth {
    pub pass: Pass,
    pub state: PassState,
    pub standing: Standing,
    /// The note for the log that follows from its use.
    pub note: Option<Note>,
    /// Its session has no slot, or may have none: a request must ask for one first.
    pub must_ask: bool,
}

/// A genuine ticket and its validity.
#[derive(Clone, Debug)]
pub struct TicketWorth {
    pub ticket: Ticket,
    pub state: TicketState,
    pub standing: Option<Standing>,
    pub note: Option<Note>,
    /// As of a pass.
    pub must_ask: bool,
}

impl TicketWorth {
    /// A ticket that the room is not asked about.
    fn of(ticket: Ticket, state: TicketState) -> Self {
        Self {
            ticket,
            state,
            standing: None,
            note: None,
            must_ask: false,
        }
    }
}

impl Reader<'_> {
    /// Judges a genuine pass.
    #[must_use]
    pub fn pass(&self, pass: Pass) -> PassWorth {
        let standing = self.standing(pass.edition, pass.lane, pass.number);
        let (state, note) = if is_reset(pass.edition, pass.number, self.voided, self.spared) {
            (PassState::Void, None)
        } else {
            self.by_standing(&pass, standing)
        };
        PassWorth {
            pass: match state {
                PassState::Valid => self.with_known_id(pass),
                _ => pass,
            },
            state,
            standing,
            must_ask: state == PassState::Valid && self.must_ask(standing),
            note,
        }
    }

    /// Whether a session that stands so has to ask for a slot. A gate that is cut off judges by its last view: a session that was
    /// in use then goes on, and one that was parked stays out.
    fn must_ask(&self, standing: Standing) -> bool {
        let now = self.extension_ms.map_or(self.now, |_| self.view.clock);
        match standing {
            Standing::Inside(inside) => inside.must_ask(now),
            Standing::Called(_) => false,
            // The room has lost the call. It gives the session back without a slot.
            _ => {
                let room = self.view.rooms.get(self.room);
                room.is_some_and(|room| room.settings.active.is_some())
            }
        }
    }

    /// The pass with an id that the keys know: its own, unless the key that gave it is gone.
    fn with_known_id(&self, pass: Pass) -> Pass {
        let judge = || pass.has_known_id(self.keyring);
        if self.known.map_or_else(judge, KnownPass::has_known_id) {
            return pass;
        }
        let id = PassId::new(self.keyring, self.room, self.line, pass.edition, pass.call());
        Pass { id, ..pass }
    }

    fn by_standing(&self, pass: &Pass, standing: Standing) -> (PassState, Option<Note>) {
        match standing {
            Standing::Inside(inside) if !pass.call().is_before(inside.call) && self.alive(inside.expires) => {
                (PassState::Valid, self.used(standing, true))
            }
            Standing::Called(called) if !pass.call().is_before(called.call) && self.alive(called.deadline) => {
                (PassState::Valid, self.used(standing, true))
            }
            // A call that the log lost.
            Standing::Waiting(waiting) if waiting.missed_at.is_none() && self.dated(pass) => {
                (PassState::Valid, Some(Note::Reopen))
            }
            // The pass of a missed call is dated by its deadline. One that is dated later was given with a forwarded request,
            // of which the log has not heard.
            Standing::Waiting(_) if pass.expires_at > self.wall => (PassState::Valid, Some(Note::Reopen)),
            // So too of the second turn, which no check-in brings back.
            Standing::Late if pass.expires_at > self.wall && self.missed_second(pass) => {
                (PassState::Valid, Some(Note::Reopen))
            }
            Standing::Unknown if self.dated(pass) => (PassState::Valid, Some(Note::Reopen)),
            _ => (PassState::Void, None),
        }
    }

    fn missed_second(&self, pass: &Pass) -> bool {
        let line = self.view.rooms.get(self.room).and_then(|room| room.line(self.line));
        line.is_some_and(|line| line.missed_second(pass.lane, pass.number))
    }

    fn used(&self, standing: Standing, carried: bool) -> Option<Note> {
        used(standing, carried, self.extension_ms.map_or(Some(self.now), |_| None))
    }

    /// By its own date, which is the only one there is where the room has lost the call.
    fn dated(&self, pass: &Pass) -> bool {
        pass.expires_at.plus(self.extension_ms.unwrap_or(0)) > self.wall
    }

    fn alive(&self, expires: Clock) -> bool {
        self.now <= expires.plus(SLACK_MS + self.extension_ms.unwrap_or(0))
    }

    fn is_reset(&self, edition: Edition, number: Number) -> bool {
        is_reset(edition, number, self.edition, self.spared_now())
    }

    /// Numbers that count with any edition do so until the next sale begins.
    fn spared_now(&self) -> Option<Epoch> {
        self.spared.filter(|_| self.edition == self.voided)
    }

    /// The ticket is of an edition before. Where that ended with its sale, who was called or is inside goes on.
    fn is_over(&self, ticket: &Ticket, number: Number) -> bool {
        let goes_on = || {
            let standing = self.standing(ticket.edition, ticket.lane, number);
            let seated = matches!(standing, Standing::Called(_) | Standing::Inside(_));
            seated && !is_reset(ticket.edition, number, self.voided, self.spared)
        };
        self.is_reset(ticket.edition, number) && !goes_on()
    }

    /// The standing of a number of the line by the view's own clock, which stands still while cut off. An edition that the
    /// log has lost is unknown to the room.
    fn standing(&self, edition: Edition, lane: LaneId, number: Number) -> Standing {
        if edition > self.edition {
            return Standing::Unknown;
        }
        let visitor = Visitor {
            room: self.room.clone(),
            line: self.line.clone(),
            lane,
            number,
            rehearsal: None,
        };
        self.view.standing(&visitor, self.view.clock)
    }

    /// Judges a genuine ticket.
    #[must_use]
    pub fn ticket(&self, ticket: Ticket) -> TicketWorth {
        let number = match ticket.place {
            TicketPlace::Pending(id) if ticket.edition >= self.edition || self.spared_now().is_some() => {
                return TicketWorth::of(ticket, TicketState::Pending(id));
            }
            TicketPlace::Numbered(number) if !self.is_over(&ticket, number) => number,
            _ => return TicketWorth::of(ticket, TicketState::Void(Void::Reset)),
        };
        let standing = self.standing(ticket.edition, ticket.lane, number);
        let (state, note) = match standing {
            Standing::Waiting(waiting) => (TicketState::Waiting, waiting.mark_due.then_some(Note::Mark)),
            Standing::Called(called) if self.alive(called.deadline) => {
                (TicketState::Called, self.used(standing, false))
            }
            Standing::Called(_) => (TicketState::Waiting, None),
            Standing::Inside(inside) if !inside.carried && self.alive(inside.expires) => {
                (TicketState::Inside, self.used(standing, false))
            }
            Standing::Inside(_) | Standing::Ended => (TicketState::Void(Void::Ended), None),
            Standing::Late => (TicketState::Void(Void::Late), None),
            Standing::Unknown => (TicketState::Unknown, Some(Note::Mark)),
        };
        TicketWorth {
            ticket,
            state,
            standing: Some(standing),
            must_ask: state == TicketState::Inside && self.must_ask(standing),
            note,
        }
    }
}

/// The note for the log on a request that is forwarded as the visitor's: with the pass (`carried`), or without it. `now` is
/// the room's clock, `None` if the gate is cut off from the log.
#[must_use]
pub fn used(standing: Standing, carried: bool, now: Option<Clock>) -> Option<Note> {
    match (standing, now) {
        // The log may have ended the turn or the session while the gate could not tell it.
        (Standing::Called(_) | Standing::Inside(_), None) => Some(Note::Reopen),
        (Standing::Called(_), _) => Some(Note::Claim { carried }),
        (Standing::Inside(inside), _) if carried && !inside.carried => Some(Note::Claim { carried }),
        (Standing::Inside(inside), Some(now)) => inside.renewal_due(now).then_some(Note::Renew),
        _ => None,
    }
}

/// The number of a ticket, if it has one.
#[must_use]
pub fn number_of(ticket: &Ticket) -> Option<Number> {
    match ticket.place {
        TicketPlace::Numbered(number) => Some(number),
        TicketPlace::Pending(_) => None,
    }
}

#[cfg(test)]
mod tests;
