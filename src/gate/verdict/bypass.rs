//! Requests that pass a line without a session, each within a bound: preflights, returns from a payment, paths that a room
//! leaves outside, verified crawlers.

use http::Method;
use http::header::COOKIE;
use http::request::Parts;

use crate::metrics::Outcome;
use crate::router::{InRoom, LineOf, Outside};

use super::answers::Answer;
use super::decide::{Purpose, TicketState, Verdict, verdict};
use super::facts::facts;
use super::refusals;
use crate::gate::bounds::unadmitted::Sort;
use crate::gate::forward::{self, Permission};
use crate::gate::request::aim::Aim;
use crate::gate::request::headers::PASS_HEADER;
use crate::gate::request::preflight;
use crate::gate::request::visit::Visit;
use crate::gate::seat::Seat;
use crate::gate::seat::worth::Worth;
use crate::gate::state::gate::{Gate, Halves};
use crate::gate::state::rules::Rules;
use crate::gate::state::shared::Shared;

/// A browser's preflight request: reduced to the fields of one.
pub async fn preflight(gate: &Gate, visit: &Visit, mut request: Box<Halves>) -> Answer {
    preflight::cut_down(&mut request.head.headers, visit.peer_trusted);
    let pages = &gate.shared.pages;
    match gate.shared.limits.preflight(visit.client) {
        Ok(()) => {
            let right = Permission::Bounded(Sort::Preflight, None);
            forward::forward(gate, visit, request, pages, Outcome::Preflight, right).await
        }
        Err(over) => over.answer(pages, visit),
    }
}

/// The row "return from a payment": under a separate limit and a separate cap on the body.
pub async fn return_route(gate: &Gate, visit: &Visit, mut request: Box<Halves>, rules: &Rules) -> Answer {
    if let Err(over) = gate.shared.limits.returns(visit.client) {
        return over.answer(&rules.pages, visit);
    }
    request.body.limit(gate.shared.limits.return_body);
    let right = Permission::Bounded(Sort::Post, None);
    forward::forward(gate, visit, request, &rules.pages, Outcome::Returned, right).await
}

/// The right of a request that its room leaves outside. One with a session of the room counts against no bound.
pub fn right_outside(shared: &Shared, visit: &Visit, head: &Parts, outside: Outside) -> Permission<'static> {
    if is_inside(shared, visit, head, outside.room) {
        return Permission::Free;
    }
    let is_read = matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS);
    Permission::Bounded(if is_read { Sort::Read } else { Sort::Post }, None)
}

fn is_inside(shared: &Shared, visit: &Visit, head: &Parts, room: usize) -> bool {
    // PERF: most requests outside a room come without a token.
    if !head.headers.keys().any(|name| *name == COOKIE || *name == PASS_HEADER) {
        return false;
    }
    let Some(InRoom {
        index,
        line: LineOf::Line(line),
        ..
    }) = shared.room_behind(head)
    else {
        return false;
    };
    let seat = &Seat::of(shared, &shared.rules[index], line, head, visit);
    let worth = seat.worth(visit);
    let is_inside = |worth: Worth| match verdict(&facts(&worth, visit, seat, Purpose::default())) {
        Verdict::ForwardInside => true,
        Verdict::Claim => worth.ticket() == TicketState::Inside,
        _ => false,
    };
    index == room && worth.is_some_and(is_inside)
}

/// The row "verified crawler": forwarded without a session, if not too many are. A proxy that asks carries the request
/// itself, so the gate cannot count those under way: there none is.
pub async fn crawl(gate: &Gate, seat: &Seat<'_>, visit: &Visit, request: Box<Halves>, worth: &Worth) -> Answer {
    let hold = (visit.aim == Aim::Shop).then(|| seat.rules.crawlers.take(())).flatten();
    let Some(hold) = hold else {
        return refusals::not_now(seat, visit, worth);
    };
    let right = Permission::Bounded(Sort::Read, Some(hold));
    forward::forward(gate, visit, request, &seat.rules.pages, Outcome::Crawler, right).await
}
