//! The mark that each request of a virtual visitor carries, and the tokens of its rehearsal.
//!
//! SECURITY: tokens of virtual visitors are of kinds that nothing else reads.

use std::sync::Arc;

use http::StatusCode;

use crate::metrics::Outcome;
use crate::pages::PageKind;
use crate::room::{LineName, Mode, Rehearsal, RehearsalId, RoomName, View};
use crate::token::{Keyring, Mark, Pass, SignedBy, Ticket};

use super::visit::{Rehearsed, Visit};
use crate::gate::state::known_tokens::Tokens;
use crate::gate::state::pages::Pages;
use crate::gate::verdict::answers::{Answer, Refusal};

/// Why a mark is worth nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Not genuine, not of this room, or on a path of no room.
    Mark,
    /// Genuine, and the room has no such rehearsal under way.
    Over,
    /// The room has no line at present, so there is nothing to rehearse.
    Off,
}

/// The validity of a mark in a room now.
pub fn judge(keyring: &Keyring, view: &View, room: &RoomName, visit: &Visit) -> Result<Rehearsed, Refused> {
    let text = visit.mark.as_ref().and_then(|mark| mark.to_str().ok());
    let mark = text
        .and_then(|text| Mark::read(keyring, room, text))
        .ok_or(Refused::Mark)?;
    let room = view.rooms.get(room).ok_or(Refused::Over)?;
    let of = |rehearsal: &&Arc<Rehearsal>| rehearsal.accepts(mark.rehearsal, visit.wall);
    let rehearsal = room.rehearsal.as_ref().filter(of).ok_or(Refused::Over)?;
    if room.settings.mode == Mode::Off {
        return Err(Refused::Off);
    }
    Ok(Rehearsed {
        id: mark.rehearsal,
        forward: mark.forward && rehearsal.order.forward,
    })
}

impl Refused {
    pub fn answer(self, pages: &Pages, visit: &Visit) -> Answer {
        let word = match self {
            Self::Mark => "rehearsal_mark",
            Self::Over => "rehearsal_over",
            Self::Off => "rehearsal_off",
        };
        Refusal::new(StatusCode::FORBIDDEN, word, PageKind::BadRequest, Outcome::Rehearsed).answer(pages, visit)
    }
}

/// The answer to a request that only a virtual visitor could have sent, and that does not say so.
#[must_use]
pub fn unmarked(pages: &Pages, visit: &Visit) -> Answer {
    Refused::Mark.answer(pages, visit)
}

/// The genuine tokens among those that a virtual visitor brings: of its rehearsal alone. Other tokens are of none.
#[must_use]
pub fn tokens<'a>(
    keyring: &Keyring,
    id: RehearsalId,
    line: (&RoomName, &LineName),
    mut tickets: impl Iterator<Item = &'a str>,
    mut passes: impl Iterator<Item = &'a str>,
) -> Tokens {
    let ticket = tickets.find_map(|text| Ticket::read_virtual(keyring, id, line, text));
    let pass = passes.find_map(|text| Pass::read_virtual(keyring, id, line, text));
    // A rehearsal is over long before a key is.
    Tokens {
        ticket: ticket.map(|ticket| (ticket, SignedBy::FIRST)),
        pass: pass.map(|pass| (pass, SignedBy::FIRST)),
        known: None,
    }
}
