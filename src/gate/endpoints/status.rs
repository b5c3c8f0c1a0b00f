//! Where a visitor stands, as JSON: for the page's script, and for apps.

use http::StatusCode;

use crate::metrics::Outcome;
use crate::room::{Mode, RoomView, Standing, View, pace};
use crate::token::Ticket;
use crate::waiting::{Stall, State, Status};

use super::super::Gate;
use super::super::answers::{Answer, json};
use super::super::decide::{PassState, TicketState, Void};
use super::super::join::number_of;
use super::super::line_page::{jitter, reference};
use super::super::seat::{Seat, Worth};
use super::super::visit::Visit;

/// Tokens to hand to an app with its status.
#[derive(Default)]
pub(super) struct Handed {
    pub ticket: Option<String>,
    pub pass: Option<String>,
}

impl Gate {
    /// `GET status` and `POST check-in`: both count as the visitor's presence.
    pub(super) async fn status(&self, seat: &Seat<'_>, visit: &Visit, check_in: bool) -> Answer {
        let visitor = seat.ticket_visitor();
        let Some(worth) = self.worth(seat, visit).await else {
            return self.shared.unavailable(&seat.rules.pages, visit);
        };
        if let Some(ticket) = worth
            .ticket
            .as_ref()
            .filter(|ticket| ticket.state == TicketState::Waiting)
        {
            seat.note(ticket.note, visitor);
        }
        let handed = if seat.app {
            self.handed(seat, visit, &worth)
        } else {
            Handed::default()
        };
        let outcome = if check_in { Outcome::Own } else { Outcome::Status };
        self.status_answer(seat, visit, &worth, &handed, outcome)
    }

    fn handed(&self, seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Handed {
        let called = worth
            .ticket
            .as_ref()
            .filter(|ticket| ticket.state == TicketState::Called);
        let number = called.and_then(|ticket| Some((ticket.ticket.lane, number_of(&ticket.ticket)?)));
        let pass = number.and_then(|(lane, number)| seat.pass_for(lane, number, worth.edition, visit.wall));
        Handed {
            ticket: None,
            pass: pass.map(|pass| self.shared.keyring.sign_pass(&pass)),
        }
    }

    /// The status of a visitor with these tokens.
    pub(super) fn status_answer(
        &self,
        seat: &Seat<'_>,
        visit: &Visit,
        worth: &Worth,
        handed: &Handed,
        outcome: Outcome,
    ) -> Answer {
        let view = self.shared.replica.load();
        let Some(room_view) = view.rooms.get(&seat.rules.room.name) else {
            return self.shared.unavailable(&seat.rules.pages, visit);
        };
        let ticket = worth.ticket.as_ref();
        let number = ticket.and_then(|ticket| Some((ticket.ticket.lane, number_of(&ticket.ticket)?)));
        let reference = number.map(|(lane, number)| reference(&seat.visitor(lane, number)));
        let state = state(worth, self.shared.replica.cut_off().is_some());
        let mut status = match state {
            State::Waiting => self.in_line(seat, &view, room_view, ticket.map(|ticket| &ticket.ticket)),
            State::Inside | State::Called => Status::new(state, 0),
            other => Status::new(other, pace::refresh_ms(&room_view.settings, None, jitter())),
        };
        status.message = seat.rules.message(room_view);
        status.ticket = handed.ticket.as_deref();
        status.pass = handed.pass.as_deref();
        status.reference = if seat.app || handed.ticket.is_some() {
            reference.as_deref()
        } else {
            None
        };
        let word = word(status.state);
        Answer::new(
            outcome,
            json(StatusCode::OK, word, "application/json", status.to_json()),
        )
    }

    fn in_line<'a>(&self, seat: &Seat<'_>, view: &View, room: &RoomView, ticket: Option<&Ticket>) -> Status<'a> {
        let number = ticket.and_then(|ticket| Some((ticket.lane, number_of(ticket)?)));
        let line = room.line(&seat.line);
        let standing = line
            .zip(number)
            .map(|(line, (lane, number))| line.standing(lane, number, view.clock));
        let (Some(line), Some((lane, _)), Some(Standing::Waiting(waiting))) = (line, number, standing) else {
            return Status::new(State::Joining, pace::refresh_ms(&room.settings, None, jitter()));
        };
        let estimate = line.estimate(lane, waiting.ahead, view.clock);
        let refresh = pace::refresh_ms(&room.settings, Some(waiting.ahead), jitter());
        let stall = Stall::of(view, room, line, view.time);
        let why = if self.shared.replica.cut_off().is_some() {
            Some(Stall::CutOff)
        } else {
            stall
        };
        Status {
            why,
            ..Status::waiting(waiting.ahead, line.figures.waiting, estimate, refresh)
        }
    }
}

/// The design's word for where somebody with these tokens stands.
fn state(worth: &Worth, cut_off: bool) -> State {
    let pass = worth.pass.as_ref().map_or(PassState::None, |pass| pass.state);
    let ticket = worth.ticket.as_ref().map_or(TicketState::None, |ticket| ticket.state);
    if pass == PassState::Valid {
        return State::Inside;
    }
    match ticket {
        _ if worth.mode == Mode::Closed => State::Closed,
        TicketState::Called => State::Called,
        TicketState::Waiting => State::Waiting,
        // As soon as numbers are given again, the page reloads and an app joins, with the ticket it has.
        TicketState::Pending(_) if cut_off => State::Joining,
        TicketState::Void(Void::Late) => State::Late,
        TicketState::Void(Void::Ended) => State::Ended,
        TicketState::None if pass == PassState::Void => State::Ended,
        TicketState::Pending(_) | TicketState::Void(Void::Reset) | TicketState::None => State::None,
    }
}

fn word(state: State) -> &'static str {
    match state {
        State::Early => "early",
        State::Joining => "joining",
        State::Waiting => "waiting",
        State::Called => "called",
        State::Inside => "inside",
        State::Late => "late",
        State::Ended => "ended",
        State::SoldOut => "sold_out",
        State::Closed => "closed",
        State::None => "none",
    }
}
