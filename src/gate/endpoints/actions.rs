//! What a visitor does at the endpoints: join, for apps, and leave.

use http::StatusCode;
use http::header::SET_COOKIE;

use crate::metrics::Outcome;
use crate::replica::Note;
use crate::waiting::{PageFacts, PageKind, State, Status};

use super::super::Gate;
use super::super::answers::{Answer, Refusal, json, page};
use super::super::decide::{PassState, TicketState};
use super::super::join::{Joined, number_of};
use super::super::seat::{Seat, Worth};
use super::super::visit::Visit;
use super::status::Handed;

impl Gate {
    /// `POST join`: gives a place to who has none, and the pass to who is called. Asking again changes nothing.
    pub(super) async fn join_app(&self, seat: &Seat<'_>, visit: &Visit) -> Answer {
        let Some(worth) = self.worth(seat, visit).await else {
            return self.shared.unavailable(&seat.rules.pages, visit);
        };
        let pass = worth.pass.as_ref().map_or(PassState::None, |pass| pass.state);
        let pending = match worth.ticket.as_ref().map_or(TicketState::None, |ticket| ticket.state) {
            _ if pass == PassState::Valid => return self.with_tokens(seat, visit, &worth),
            TicketState::Waiting | TicketState::Called => return self.with_tokens(seat, visit, &worth),
            TicketState::Pending(id) => Some(id),
            TicketState::None | TicketState::Void(_) => None,
        };
        if worth.mode == crate::room::Mode::Closed {
            return self.status_answer(seat, visit, &worth, &Handed::default(), Outcome::Own);
        }
        let (ticket, pass) = match self.number(seat, visit, worth.edition, pending).await {
            Joined::Called(tokens) => (tokens.0, Some(tokens.1)),
            Joined::InLine(ticket) => (*ticket, None),
            Joined::Limited(over) => return over.answer(&seat.rules.pages, visit),
            Joined::Refused => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                let refusal = Refusal::new(status, "closed", PageKind::Closed, Outcome::TurnedAway);
                return Refusal {
                    retry_after_secs: Some(60),
                    ..refusal
                }
                .answer(&seat.rules.pages, visit);
            }
        };
        let seat = seat.with(ticket.clone(), pass.clone());
        let Some(worth) = seat.worth(visit) else {
            return self.shared.unavailable(&seat.rules.pages, visit);
        };
        let handed = Handed {
            ticket: Some(self.shared.keyring.sign_ticket(&ticket)),
            pass: pass.as_ref().map(|pass| self.shared.keyring.sign_pass(pass)),
        };
        let mut answer = self.status_answer(&seat, visit, &worth, &handed, Outcome::Own);
        let cookies = [
            Some(seat.set_ticket(&ticket)),
            pass.as_ref().map(|pass| seat.set_pass(pass)),
        ];
        for cookie in cookies.into_iter().flatten() {
            answer.response.headers_mut().append(SET_COOKIE, cookie);
        }
        answer
    }

    /// The status of somebody who has a place already, with the tokens an app may have lost.
    fn with_tokens(&self, seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Answer {
        if let Err(over) = self.shared.limits.status(seat.ticket(), visit.client) {
            return over.answer(&seat.rules.pages, visit);
        }
        let ticket = worth.ticket.as_ref().map(|ticket| &ticket.ticket);
        let number = ticket.and_then(|ticket| Some((ticket.lane, number_of(ticket)?)));
        let called = worth
            .ticket
            .as_ref()
            .is_some_and(|ticket| ticket.state == TicketState::Called);
        let pass = number
            .filter(|_| called)
            .and_then(|(lane, number)| seat.pass_for(lane, number, worth.edition, visit.wall));
        let handed = Handed {
            ticket: ticket.map(|ticket| self.shared.keyring.sign_ticket(ticket)),
            pass: pass.as_ref().map(|pass| self.shared.keyring.sign_pass(pass)),
        };
        let mut answer = self.status_answer(seat, visit, worth, &handed, Outcome::Own);
        if let Some(pass) = &pass {
            answer.response.headers_mut().append(SET_COOKIE, seat.set_pass(pass));
        }
        answer
    }

    /// `POST leave`: gives the place or the slot back, once it is on record, and takes the cookies away.
    pub(super) async fn leave(&self, seat: &Seat<'_>, visit: &Visit) -> Answer {
        let inside = seat.pass_visitor();
        for visitor in [seat.ticket_visitor(), inside].into_iter().flatten() {
            // Not in time, or nobody any more: the cookies go all the same, and the room notices the absence.
            let _ = self.shared.replica.record(visitor, Note::Leave).await;
        }
        let mut response = if visit.kind.is_navigation() {
            let id = visit.id.to_string();
            let facts = PageFacts::new(&id, visit.wall, "/");
            page(
                StatusCode::OK,
                "left",
                seat.rules.pages.render(PageKind::Left, &facts, visit),
            )
        } else {
            json(
                StatusCode::OK,
                "none",
                "application/json",
                Status::new(State::None, 0).to_json(),
            )
        };
        for cookie in [seat.clear_ticket(), seat.clear_pass()] {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        Answer::new(Outcome::Own, response)
    }
}
