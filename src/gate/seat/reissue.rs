//! Tokens that a key signed which signs no more: when a visitor shows one, the answer sets another, by the key that
//! signs now, so that visitors who wait or are inside outlive the end of the old key.

use http::header::SET_COOKIE;

use crate::token::{Pass, Ticket, TicketPlace};
use ropeline_ids::Tag;

use super::worth::Worth;
use super::{Seat, ownership};
use crate::gate::verdict::answers::Answer;

/// The pass is by a key that signs no more, or its id is by one that is gone: `worth` has one that is known.
#[must_use]
pub fn has_old_pass(seat: &Seat<'_>, worth: &Pass) -> bool {
    !seat.shown.signers()[1].is_first() || seat.shown.pass().is_some_and(|own| own.id != worth.id)
}

/// The answer with the ticket set again, if it has to change. An app finds its own in a status.
#[must_use]
pub fn with_ticket_anew(seat: &Seat<'_>, worth: &Worth, mut answer: Answer) -> Answer {
    let ticket = worth.live_ticket().filter(|_| !seat.shown.is_app());
    if let Some(anew) = ticket.and_then(|ticket| ticket_anew(seat, &ticket.ticket)) {
        answer
            .response
            .headers_mut()
            .append(SET_COOKIE, seat.cookies.set_ticket(&anew));
    }
    answer
}

/// The ticket as it should be: by the key that signs, and with the account's tag by that key, where the place is the
/// account's. `None` if it is so already.
#[must_use]
pub fn ticket_anew(seat: &Seat<'_>, ticket: &Ticket) -> Option<Ticket> {
    let identity = tag_anew(seat, ticket);
    (identity != ticket.identity || !seat.shown.signers()[0].is_first()).then(|| Ticket {
        identity,
        ..ticket.clone()
    })
}

fn tag_anew(seat: &Seat<'_>, ticket: &Ticket) -> Option<Tag> {
    let Some(first) = seat.shown.tags().first().copied() else {
        return ticket.identity;
    };
    match (ticket.identity, ticket.place) {
        (Some(tag), _) if seat.shown.tags().contains(&tag) => Some(first),
        (None, TicketPlace::Numbered(number)) => {
            let owner = ownership::account(seat, &seat.visitor(ticket.lane, number));
            owner.filter(|owner| *owner == first)
        }
        (own, _) => own,
    }
}
