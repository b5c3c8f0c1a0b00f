//! A visitor without a place: the way of arrival, and its result.

use crate::metrics::CodeFate;
use crate::token::{Pass, Ticket, TicketPlace};
use ropeline_ids::{Edition, LaneId, PendingId, Tag};

use super::decide::Void;
use super::inside;
use crate::gate::bounds::limits;
use crate::gate::request::visit::Visit;
use crate::gate::seat::Seat;

/// How a newcomer comes.
#[derive(Clone, Copy)]
pub enum Coming {
    First,
    /// With a pending ticket.
    Again(PendingId),
    /// With a proof of work, or having waited instead; each is good for one join, by its id.
    Proved(PendingId),
    Waited(PendingId),
}

/// A visitor without a place, before a line of a room.
pub struct Newcomer {
    pub pending: Option<PendingId>,
    /// Why the shown ticket or pass is void.
    pub told: Option<Void>,
    /// The room's, when the visit began.
    pub edition: Edition,
}

/// The result of a newcomer's join.
pub enum Joined {
    /// Called while joining; and whether it was by the code that was shown, which has done its work.
    Called(Box<(Ticket, Pass)>, bool),
    /// In line, or noted for when the log can be reached again; and whether it was by the code.
    InLine(Box<Ticket>, bool),
    /// The room gives no number.
    Refused,
    /// Nor by the code that was shown.
    CodeRefused(CodeFate),
    /// Too many joins from this client.
    Limited(limits::Over),
}

impl Joined {
    pub fn by_code(self, by_code: bool) -> Self {
        match self {
            Self::Called(tokens, _) => Self::Called(tokens, by_code),
            Self::InLine(ticket, _) => Self::InLine(ticket, by_code),
            other => other,
        }
    }
}

/// The tokens of a visitor who was numbered, or is to be.
pub fn joined(
    seat: &Seat<'_>,
    visit: &Visit,
    edition: Edition,
    (lane, place): (LaneId, TicketPlace),
    identity: Option<Tag>,
) -> Joined {
    let (room, line) = (seat.rules.room.name.clone(), seat.line.clone());
    // Another gate may have reset the room since the visit began: the number is of the edition that the view shows with it.
    let edition = match place {
        TicketPlace::Numbered(_) => seat
            .shared
            .replica
            .load()
            .rooms
            .get(&room)
            .map_or(edition, |room| room.edition),
        TicketPlace::Pending(_) => edition,
    };
    let ticket = Ticket {
        room,
        line,
        lane,
        edition,
        place,
        joined_at: visit.wall,
        identity,
    };
    let pass = match place {
        TicketPlace::Numbered(number) => inside::pass_for(seat, lane, number, edition, visit.wall),
        TicketPlace::Pending(_) => None,
    };
    match pass {
        Some(pass) => Joined::Called(Box::new((ticket, pass)), false),
        None => Joined::InLine(Box::new(ticket), false),
    }
}

/// The room has forgotten the id of a pending ticket.
pub fn has_lapsed(seat: &Seat<'_>, ticket: &Ticket, visit: &Visit) -> bool {
    visit.wall.since(ticket.joined_at) > seat.rules.room.settings.late_window_ms
}
