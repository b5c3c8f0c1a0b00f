//! Tokens that were signed by a key which signs no more: whenever one is shown the visitor is given another, by the key that
//! does, so that whoever waits or is inside outlives the end of the old key.

use http::header::SET_COOKIE;

use crate::room::Tag;
use crate::token::{Pass, SignedBy, Ticket, TicketPlace};

use super::accounts::live_ticket;
use super::answers::Answer;
use super::seat::{Seat, Worth};
use super::shared::Shared;
use super::visit::Visit;

/// Which signers of the ring made a request's tokens.
#[derive(Clone, Copy)]
pub struct Signed {
    ticket: SignedBy,
    pass: SignedBy,
}

impl Signed {
    /// By the one that signs.
    pub const NOW: Self = Self {
        ticket: SignedBy::FIRST,
        pass: SignedBy::FIRST,
    };

    #[must_use]
    pub fn of(ticket: Option<&(Ticket, SignedBy)>, pass: Option<&(Pass, SignedBy)>) -> Self {
        Self {
            ticket: ticket.map_or(SignedBy::FIRST, |(_, by)| *by),
            pass: pass.map_or(SignedBy::FIRST, |(_, by)| *by),
        }
    }

    /// Keeps in mind that they are in use.
    pub fn note(self, shared: &Shared, visit: &Visit) {
        for by in [self.ticket, self.pass] {
            shared.was_shown(by, visit.wall);
        }
    }
}

impl Seat<'_> {
    /// The pass is by a key that signs no more, or its id is by one that is gone: `worth` has one that is known.
    #[must_use]
    pub fn has_old_pass(&self, worth: &Pass) -> bool {
        !self.signed.pass.is_first() || self.pass().is_some_and(|own| own.id != worth.id)
    }

    /// The answer with the ticket set once more, where it is to be another. An app finds its own in what a status says.
    #[must_use]
    pub fn with_ticket_anew(&self, worth: &Worth, mut answer: Answer) -> Answer {
        let ticket = live_ticket(worth).filter(|_| !self.app);
        if let Some(anew) = ticket.and_then(|ticket| self.ticket_anew(&ticket.ticket)) {
            answer.response.headers_mut().append(SET_COOKIE, self.set_ticket(&anew));
        }
        answer
    }

    /// The ticket as it should be: by the key that signs, and with the account's tag by that key, where the place is the
    /// account's. `None` if it is so already.
    #[must_use]
    pub fn ticket_anew(&self, ticket: &Ticket) -> Option<Ticket> {
        let identity = self.tag_anew(ticket);
        (identity != ticket.identity || !self.signed.ticket.is_first()).then(|| Ticket {
            identity,
            ..ticket.clone()
        })
    }

    fn tag_anew(&self, ticket: &Ticket) -> Option<Tag> {
        let Some(first) = self.tags.first().copied() else {
            return ticket.identity;
        };
        match (ticket.identity, ticket.place) {
            (Some(tag), _) if self.tags.contains(&tag) => Some(first),
            (None, TicketPlace::Numbered(number)) => {
                let owner = self.account(&self.visitor(ticket.lane, number));
                owner.filter(|owner| *owner == first)
            }
            (own, _) => own,
        }
    }
}
