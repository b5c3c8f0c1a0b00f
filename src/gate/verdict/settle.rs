//! The one loop that asks a pure question of `decide` about a request, fetches the fact that it needs, and asks again.
//!
//! Requests on a room's routes, proxies' questions and the endpoints that show a place all use it, so that one pure function
//! decides whether and when a request waits for the log.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::names::form::Kind as FormKind;
use crate::proxy::{self, BodyOf, ForwardError};
use crate::time;

use super::answers::Answer;
use super::decide::{Decision, Fact, Facts, Open, Purpose, Token};
use super::facts::facts;
use super::{refusals, returns};
use crate::gate::forward::failed;
use crate::gate::request::aim::Aim;
use crate::gate::request::form_check;
use crate::gate::request::visit::Visit;
use crate::gate::seat::worth::Worth;
use crate::gate::seat::{Seat, ownership};
use crate::gate::state::gate::{Gate, Halves};
use crate::gate::state::in_flight::{Held, Right};
use crate::gate::state::pages::Pages;
use crate::gate::state::shared::Shared;

/// Why a question has no answer.
pub enum Unsettled {
    /// The view does not have the room.
    NoRoom,
    /// The request body did not come.
    Body(ForwardError),
}

/// The answer to a question about a request before a line, and the validity of its tokens at that time.
///
/// # Errors
/// When the room is not known, or the request body did not come.
pub async fn settle<T>(
    gate: &Gate,
    seat: &Seat<'_>,
    visit: &mut Visit,
    mut request: Option<&mut Halves>,
    purpose: Purpose,
    question: impl Fn(&Facts) -> Decision<T>,
) -> Result<(Worth, T), Unsettled> {
    let mut worth = seat.worth(visit).ok_or(Unsettled::NoRoom)?;
    let is_awaited = |request: &&mut Halves| visit.aim == Aim::Shop && !request.body.is_complete();
    let mut open = Open {
        owner: !seat.shown.tags().is_empty(),
        place: true,
        body: request.as_ref().is_some_and(is_awaited),
        slot: true,
    };
    loop {
        let facts = Facts {
            open,
            ..facts(&worth, visit, seat, purpose)
        };
        match (question(&facts), request.as_mut()) {
            (Decision::Done(answer), _) => return Ok((worth, answer)),
            (Decision::Needs(Fact::Owner), _) => {
                open.owner = false;
                worth = Box::pin(ownership::own(seat, visit, worth)).await;
            }
            (Decision::Needs(Fact::Place), _) => {
                open.place = false;
                worth = Box::pin(refusals::give_back(seat, visit, worth)).await;
            }
            (Decision::Needs(Fact::Slot), _) => {
                open.slot = false;
                worth = Box::pin(returns::ask(seat, visit, worth)).await;
            }
            (Decision::Needs(Fact::Body(session)), request) => {
                open.body = false;
                if let Some(request) = request {
                    let received = Box::pin(receive_for(gate, seat, visit, request, (&worth, session)));
                    received.await.map_err(Unsettled::Body)?;
                    worth = seat.worth(visit).ok_or(Unsettled::NoRoom)?;
                }
            }
        }
    }
}

pub fn unsettled(shared: &Shared, why: &Unsettled, pages: &Pages, visit: &Visit) -> Answer {
    match why {
        Unsettled::NoRoom => shared.unavailable(pages, visit),
        Unsettled::Body(error) => failed::failed(shared, *error, pages, visit),
    }
}

/// Receives the request body. Its session goes on for as long as that takes, as it does while an answer is sent.
async fn receive_for(
    gate: &Gate,
    seat: &Seat<'_>,
    visit: &mut Visit,
    request: &mut Halves,
    (worth, session): (&Worth, Option<Token>),
) -> Result<(), ForwardError> {
    let visitor = match session {
        Some(Token::Pass) => {
            if let Some(shown) = worth.pass.as_ref().filter(|_| visit.counts) {
                refusals::renew(seat, shown);
            }
            seat.pass_visitor()
        }
        Some(Token::Ticket) => seat.ticket_visitor(),
        None => None,
    };
    let held = visitor.map(|visitor| Held {
        by: Right::Session(Arc::new(visitor)),
        cancel: CancellationToken::new(),
        counts: visit.counts,
    });
    let _under_way = held.map(|held| gate.in_flight.raise(held));
    receive(gate, visit, request).await
}

/// Receives ahead the body of a request that may pass, up to the buffer's size. SECURITY: that may take as long as the client likes, so
/// the request's tokens are judged anew afterwards.
pub async fn receive(gate: &Gate, visit: &mut Visit, request: &mut Halves) -> Result<(), ForwardError> {
    let Some((upstream, _)) = gate.upstream(visit) else {
        return Ok(());
    };
    let begun = time::uptime();
    let Halves { head, body, told, .. } = request;
    let whose = BodyOf::Inside(visit.client);
    let mut received = upstream.receive(&head.headers, body, whose).await;
    if received.is_ok() && !told.is_all() && FormKind::of(&head.headers).is_read() {
        let read = body.receive(form_check::MAX_FORM, Some(upstream.ration(whose))).await;
        received = read.map_err(|error| proxy::Kind::from(error).into());
    }
    visit.has_waited(begun);
    received
}
