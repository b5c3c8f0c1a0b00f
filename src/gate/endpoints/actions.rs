//! Actions of a visitor at the endpoints: join, for apps, and leave.

use http::header::{LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{Response, StatusCode};

use crate::metrics::Outcome;
use crate::pages::{Kept, PageFacts, PageKind, State, Status, path_on_this_host};
use crate::proxy::Body;
use crate::replica::Note;
use crate::room::{Mode, Standing, Visitor};
use crate::token::TicketPlace;

use super::super::endpoints::{question, status};
use super::super::seat::Seat;
use super::parameter::parameter;
use super::status::Handed;
use crate::gate::request::location;
use crate::gate::request::referer::came_from;
use crate::gate::request::visit::Visit;
use crate::gate::seat::{codes, ownership, proof, redeem};
use crate::gate::state::gate::Gate;
use crate::gate::state::shared::Shared;
use crate::gate::verdict::answers::{Answer, json, page, plain};
use crate::gate::verdict::arrival::{self, Coming, Joined};
use crate::gate::verdict::decide::{Door, PassState, Purpose, TicketState, may_join};
use crate::gate::verdict::{inside, join, refusals, settle};

/// `POST join`: gives a place to a visitor without one, and the pass to a called visitor. Asking again changes nothing.
pub async fn join_app(gate: &Gate, seat: &Seat<'_>, visit: &mut Visit, head: &Parts) -> Answer {
    let settled = settle::settle(gate, seat, visit, None, Purpose::default(), may_join).await;
    let worth = match settled {
        Ok((worth, access)) => match refusals::refuse_access(seat, access, visit) {
            Some(answer) => return answer,
            None => worth,
        },
        Err(unsettled) => return settle::unsettled(&gate.shared, &unsettled, &seat.rules.pages, visit),
    };
    let placed = matches!(
        worth.ticket(),
        TicketState::Waiting | TicketState::Unknown | TicketState::Called | TicketState::Inside
    );
    let no_line = worth.door == Door::LetPast || worth.sold_out || matches!(worth.mode, Mode::Closed | Mode::Off);
    let by_code = worth.ticket() == TicketState::Waiting && !ownership::lacks_account(seat, &worth);
    let placed = placed && !(by_code && redeem::use_of_code(seat, visit).is_some());
    if placed || no_line || worth.pass() == PassState::Valid {
        if let Err(over) = question::count(seat, visit, Some(&worth)) {
            return over.answer(&seat.rules.pages, visit);
        }
        return status::with_tokens(seat, visit, &worth);
    }
    if ownership::is_nameless(seat) {
        return ownership::sign_in(seat, visit);
    }
    let coming = match worth.ticket() {
        TicketState::Pending(id) => Coming::Again(id),
        _ => match join::proved(seat, visit, &head.headers) {
            Ok(coming) => coming,
            Err(asked) => return proof::ask(seat, visit, &asked),
        },
    };
    if let Some(answer) = codes::refuse_app(seat, head, visit) {
        return answer;
    }
    let (ticket, pass, by_code) = match join::number(seat, visit, worth.edition, coming).await {
        Joined::Called(tokens, by_code) => (tokens.0, Some(tokens.1), by_code),
        Joined::InLine(ticket, by_code) => (*ticket, None, by_code),
        Joined::CodeRefused(fate) => return codes::refuse_code_to_app(seat, fate, visit),
        Joined::Limited(over) => return over.answer(&seat.rules.pages, visit),
        Joined::Refused if gate.shared.is_off(&seat.rules.room.name) => {
            return match seat.worth(visit) {
                Some(worth) => status::with_tokens(seat, visit, &worth),
                None => gate.shared.unavailable(&seat.rules.pages, visit),
            };
        }
        Joined::Refused => return join::refused_to(seat, visit, coming),
    };
    let used_up = by_code.then(|| seat.cookies.clear_code());
    let seat = &seat.with(ticket.clone(), pass.clone());
    let Some(worth) = seat.worth(visit) else {
        return gate.shared.unavailable(&seat.rules.pages, visit);
    };
    let handed = Handed {
        ticket: Some(seat.cookies.sign_ticket(&ticket)),
        pass: pass.as_ref().map(|pass| seat.cookies.sign_pass(pass)),
        fresh: true,
    };
    let mut answer = status::status_answer(seat, visit, &worth, &handed, Outcome::Own);
    let cookies = [
        Some(seat.cookies.set_ticket(&ticket)),
        pass.as_ref().map(|pass| seat.cookies.set_pass(pass)),
        used_up,
    ];
    for cookie in cookies.into_iter().flatten() {
        answer.response.headers_mut().append(SET_COOKIE, cookie);
    }
    answer
}

/// `POST afresh?to=PATH`: removes the browser's cookies of another account's place, which stays valid, and goes back.
pub fn afresh(seat: &Seat<'_>, visit: &Visit, head: &Parts) -> Answer {
    let response = if visit.kind.is_navigation() {
        let to = parameter(head.uri.query().unwrap_or_default(), "to").and_then(|to| String::from_utf8(to).ok());
        let mut response = plain(StatusCode::SEE_OTHER, "afresh");
        let to = location::to(to.as_deref().unwrap_or("/"));
        response.headers_mut().insert(LOCATION, to);
        response
    } else {
        nobody()
    };
    cleared(seat, response)
}

/// `POST code?code=CODE&to=PATH`: the button of the page that asks whether a code may take the visitor's place away.
pub fn use_code(seat: &Seat<'_>, visit: &Visit, head: &Parts) -> Answer {
    let worth = seat.worth(visit);
    if worth.as_ref().is_some_and(|worth| ownership::is_foreign(seat, worth)) {
        return ownership::not_yours(seat, visit);
    }
    if worth.is_some_and(|worth| ownership::lacks_account(seat, &worth)) {
        return ownership::sign_in(seat, visit);
    }
    let query = head.uri.query().unwrap_or_default();
    let text = |name| parameter(query, name).and_then(|value| String::from_utf8(value).ok());
    let (code, to) = (text("code").unwrap_or_default(), text("to").unwrap_or_default());
    codes::use_code(seat, &code, &to, visit)
}

/// `POST leave`: gives the place or the slot back, once it is on record, and takes the cookies away. The page after it leads back to
/// the page that the visitor left, which a room of `/seats` alone would not have at `/`.
pub async fn leave(seat: &Seat<'_>, visit: &Visit, head: &Parts) -> Answer {
    if let Some(worth) = seat.worth(visit) {
        if ownership::is_foreign(seat, &worth) {
            return ownership::not_yours(seat, visit);
        }
        if ownership::lacks_account(seat, &worth) {
            return ownership::sign_in(seat, visit);
        }
        // SECURITY: a copy that may not use the session may not end it.
        let named = worth.named(seat, visit);
        if named.is_some_and(|named| inside::is_shared_out(seat, &named.pass, visit)) {
            return refusals::shared_out(seat, visit);
        }
    }
    // Not in time: the cookies go all the same, and the room notices the absence.
    tokio::join!(
        withdraw(seat, visit),
        give_up(seat.shared, seat.ticket_visitor()),
        give_up(
            seat.shared,
            seat.pass_visitor()
                .filter(|visitor| Some(visitor) != seat.ticket_visitor().as_ref())
        )
    );
    let response = if visit.kind.is_navigation() {
        let id = visit.id.as_str();
        let from = came_from(&head.headers).unwrap_or_default();
        let facts = PageFacts::new(id, visit.wall, path_on_this_host(&from));
        page(
            StatusCode::OK,
            "left",
            seat.rules.pages.render(PageKind::Left, &facts, visit),
        )
    } else {
        nobody()
    };
    cleared(seat, response)
}

/// A visitor without a number leaves: the pending ticket's id is in queues, and would be numbered and called.
async fn withdraw(seat: &Seat<'_>, visit: &Visit) {
    let Some(ticket) = seat
        .shown
        .ticket()
        .filter(|ticket| !arrival::has_lapsed(seat, ticket, visit))
    else {
        return;
    };
    if let (TicketPlace::Pending(id), None) = (ticket.place, seat.shown.rehearsal()) {
        let place = (&seat.rules.room.name, &seat.line, ticket.lane);
        seat.shared.replica.withdraw(place, id).await;
    }
}

/// Records that a visitor leaves, if there is a place or a slot to give back.
async fn give_up(shared: &Shared, visitor: Option<Visitor>) {
    let Some(visitor) = visitor else { return };
    let view = shared.replica.view();
    // A view that is a moment behind does not know the number yet; if it is nobody's the room passes it over.
    if !matches!(view.standing(&visitor, view.clock), Standing::Late | Standing::Ended) {
        let _ = shared.replica.record(visitor, Note::Leave).await;
    }
}

/// To an app: it stands nowhere.
fn nobody() -> Response<Body> {
    json(
        StatusCode::OK,
        "none",
        "application/json",
        Status::new(State::None, 0).to_json(),
    )
}

/// Takes the visitor's cookies away.
fn cleared(seat: &Seat<'_>, mut response: Response<Body>) -> Answer {
    // The wait that was announced is the old place's.
    let told = (seat.shown.told() != Kept::default()).then(|| seat.cookies.clear_told());
    let cookies = [seat.cookies.clear_ticket(), seat.cookies.clear_pass()];
    for cookie in cookies.into_iter().chain(told) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Answer::new(Outcome::Own, response)
}
