//! The state of a visitor, as JSON: for the page's script, and for apps.

use http::StatusCode;
use http::header::SET_COOKIE;

use crate::dates::rfc3339;
use crate::metrics::Outcome;
use crate::pages::{DrawStatus, Opening, Stall, State, Status, StockFacts, claim_in, let_in};
use crate::room::{LaneId, Mode, Number, RoomView, Standing, View, pace};

use super::super::seat::Seat;
use crate::gate::request::visit::Visit;
use crate::gate::seat::reader::number_of;
use crate::gate::seat::worth::Worth;
use crate::gate::seat::{ownership, reissue, told_wait};
use crate::gate::state::gate::Gate;
use crate::gate::verdict::answers::{Answer, jitter, json};
use crate::gate::verdict::arrival::{self, Coming, Joined};
use crate::gate::verdict::decide::{Door, PassState, Purpose, TicketState, Void, may_see};
use crate::gate::verdict::line_page::reference;
use crate::gate::verdict::{join, refusals, settle};

/// The parts of a status besides the figures.
#[derive(Default)]
pub(super) struct Handed {
    /// Tokens for an app that keeps them itself.
    pub ticket: Option<String>,
    pub pass: Option<String>,
    /// The visitor has just joined: the next question comes while that alone counts as presence.
    pub fresh: bool,
}

/// `GET status` and `POST check-in`: both count as the visitor's presence.
pub async fn status(gate: &Gate, seat: &Seat<'_>, visit: &mut Visit, check_in: bool) -> Answer {
    let settled = settle::settle(gate, seat, visit, None, Purpose::default(), may_see).await;
    let worth = match settled {
        Ok((worth, access)) => match refusals::refuse_access(seat, access, visit) {
            Some(answer) => return answer,
            None => worth,
        },
        Err(unsettled) => return settle::unsettled(&gate.shared, &unsettled, &seat.rules.pages, visit),
    };
    if may_be_numbered(seat, visit, &worth) {
        return numbered(seat, visit, worth, check_in).await;
    }
    known(seat, visit, &worth, (check_in, false))
}

/// The status of the holder of a pending ticket, who gets its number as a page does that loads again: a visitor who was numbered
/// meanwhile has the place of their arrival.
async fn numbered(seat: &Seat<'_>, visit: &Visit, worth: Worth, check_in: bool) -> Answer {
    let TicketState::Pending(id) = worth.ticket() else {
        return known(seat, visit, &worth, (check_in, false));
    };
    let ticket = match join::place(seat, visit, worth.edition, Coming::Again(id)).await {
        Joined::Called(tokens, _) => tokens.0,
        Joined::InLine(ticket, _) if number_of(&ticket).is_some() => *ticket,
        Joined::InLine(..) => return known(seat, visit, &worth, (check_in, true)),
        _ => {
            let worth = seat.worth(visit).unwrap_or(worth);
            return known(seat, visit, &worth, (check_in, false));
        }
    };
    let cookie = seat.cookies.set_ticket(&ticket);
    let seat = &seat.with(ticket, None);
    let worth = seat.worth(visit).unwrap_or(worth);
    let mut answer = known(seat, visit, &worth, (check_in, true));
    if !seat.shown.is_app() {
        answer.response.headers_mut().append(SET_COOKIE, cookie);
    }
    answer
}

/// The status of a visitor with the tokens that the seat has; whether it is a check-in, and whether they have just joined.
fn known(seat: &Seat<'_>, visit: &Visit, worth: &Worth, (check_in, fresh): (bool, bool)) -> Answer {
    refusals::note(seat, worth.presence(), seat.ticket_visitor());
    let handed = Handed {
        fresh,
        ..handed(seat, visit, worth)
    };
    if check_in {
        return with_handed(seat, visit, worth, &handed);
    }
    let answer = status_answer(seat, visit, worth, &handed, Outcome::Status);
    reissue::with_ticket_anew(seat, worth, answer)
}

/// The status of a visitor with a place, with the pass when the turn has come or it is time for a new date: to an app
/// in the answer, else as a cookie, which no script can read.
pub fn with_tokens(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Answer {
    with_handed(seat, visit, worth, &handed(seat, visit, worth))
}

fn with_handed(seat: &Seat<'_>, visit: &Visit, worth: &Worth, handed: &Handed) -> Answer {
    let answer = status_answer(seat, visit, worth, handed, Outcome::Own);
    let mut answer = reissue::with_ticket_anew(seat, worth, answer);
    // Where a proxy asks, a pass has no other answer to be renewed on.
    let pass = worth.yields(seat, visit).or_else(|| worth.due(seat, visit));
    let pass = pass.filter(|_| !ownership::must_sign_in(seat, worth));
    if let Some(pass) = pass.filter(|_| !seat.shown.is_app()) {
        answer
            .response
            .headers_mut()
            .append(SET_COOKIE, seat.cookies.set_pass(&pass));
    }
    answer
}

fn handed(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Handed {
    if !seat.shown.is_app() {
        return Handed::default();
    }
    let renewed = || worth.renewed(seat, visit);
    let pass = worth.yields(seat, visit).or_else(renewed);
    let pass = pass.filter(|_| !ownership::must_sign_in(seat, worth));
    Handed {
        ticket: seat.shown.ticket().map(|own| {
            seat.cookies
                .sign_ticket(reissue::ticket_anew(seat, own).as_ref().unwrap_or(own))
        }),
        pass: pass.map(|pass| seat.cookies.sign_pass(&pass)),
        fresh: false,
    }
}

/// The status of a visitor with these tokens.
pub fn status_answer(seat: &Seat<'_>, visit: &Visit, worth: &Worth, handed: &Handed, outcome: Outcome) -> Answer {
    let view = seat.shared.replica.load();
    let Some(room_view) = view.rooms.get(&seat.rules.room.name) else {
        return seat.shared.unavailable(&seat.rules.pages, visit);
    };
    let ticket = worth.ticket.as_ref();
    let number = ticket.and_then(|ticket| Some((ticket.ticket.lane, number_of(&ticket.ticket)?)));
    // PERF: only apps get it, and it is a hash.
    let named = number.filter(|_| seat.shown.is_app() || handed.ticket.is_some());
    let reference = named.map(|(lane, number)| reference(&seat.visitor(lane, number)));
    let state = state(worth, handed.fresh || seat.shared.replica.numbers_nobody());
    let mut status = match state {
        State::Waiting | State::Joining => in_line(seat, &view, room_view, number, handed.fresh),
        State::Inside => Status {
            parked: worth.is_parked(),
            ..Status::new(state, 0)
        },
        State::Called => called(seat, &view, room_view, number),
        State::Early => early(worth, visit),
        State::Closed | State::Over => shut(seat, &view, room_view, state, number),
        other => Status::new(other, pace::refresh_ms(&room_view.settings, None, jitter())),
    };
    let opening = room_view.stage.filter(|_| !room_view.is_shut());
    status.opening = opening.and_then(|stage| Opening::of(&stage, visit.wall));
    status.lane = number.and_then(|(lane, _)| seat.lane_name(room_view, lane));
    let over = matches!(state, State::SoldOut | State::Closed | State::Over);
    let facts = match number.zip(status.ahead) {
        _ if over => StockFacts::over(room_view, worth.won, visit.wall),
        Some(((lane, _), ahead)) => room_view
            .line(&seat.line)
            .map(|line| StockFacts::in_line(line, lane, ahead))
            .unwrap_or_default(),
        None => StockFacts::default(),
    };
    if let Some(told) = told_wait::asked(visit).filter(|_| status.ahead.is_some() && !over) {
        let (kept, shown, why) = told_wait::tell(told, (status.estimate, status.why), facts.beyond, visit.wall);
        (status.estimate, status.why) = (shown, why);
        status.by = (kept.by > 0).then(|| kept.by.div_ceil(1_000));
    }
    // Every page has the usual one.
    let unsaid = status.why.filter(|why| seat.shown.is_app() || *why != Stall::Full);
    status.why_text = unsaid.map(|why| seat.rules.pages.reason(why, visit));
    status.lot = room_view.sale.stage() | facts.mark();
    status.reachable = facts.beyond.then_some(false);
    status.won = worth.won;
    status.results_at = StockFacts::over(room_view, None, visit.wall).results.map(rfc3339);
    status.draw = number.and_then(|(lane, number)| drawn(seat, room_view, lane, number));
    // PERF: hardly any room rehearses.
    if room_view.rehearsal.is_some() && status.waiting.is_some() {
        status.rehearsed = room_view.line(&seat.line).map(|line| line.virtual_waiting());
    }
    let message = seat.rules.message(room_view, visit.languages());
    status.message = message.map(|message| message.text);
    status.message_lang = message.and_then(|message| message.lang);
    status.ticket = handed.ticket.as_deref();
    status.pass = handed.pass.as_deref();
    status.reference = reference.as_deref();
    let word = word(status.state);
    Answer::new(
        outcome,
        json(StatusCode::OK, word, "application/json", status.to_json()),
    )
}

/// A visitor who can come in, and until when.
fn called(seat: &Seat<'_>, view: &View, room: &RoomView, number: Option<(LaneId, Number)>) -> Status<'static> {
    let standing = room
        .line(&seat.line)
        .zip(number)
        .map(|(line, (lane, number))| line.standing(lane, number, view.clock));
    let claim_in = match standing {
        Some(Standing::Called(called)) => Some(claim_in(&called, view.clock)),
        _ => None,
    };
    Status {
        claim_in,
        ..Status::new(State::Called, 0)
    }
}

/// A visitor in a room that is closed or over, with the place of one in line, as the page shows it.
fn shut(
    seat: &Seat<'_>,
    view: &View,
    room: &RoomView,
    state: State,
    number: Option<(LaneId, Number)>,
) -> Status<'static> {
    let line = room.line(&seat.line).filter(|_| !room.is_undrawn());
    let standing = line
        .zip(number)
        .map(|(line, (lane, number))| line.standing(lane, number, view.clock));
    let ahead = match standing {
        Some(Standing::Waiting(waiting)) => Some(waiting.ahead),
        _ => None,
    };
    Status {
        position: ahead.map(|ahead| ahead.saturating_add(1)),
        ahead,
        ..Status::new(state, pace::refresh_ms(&room.settings, None, jitter()))
    }
}

fn in_line<'a>(
    seat: &Seat<'_>,
    view: &View,
    room: &RoomView,
    number: Option<(LaneId, Number)>,
    fresh: bool,
) -> Status<'a> {
    let line = room.line(&seat.line);
    let of_line = || Stall::pause(view, room, line?, view.time);
    let crowded = number.is_none() && seat.shared.is_crowded();
    let pause = seat.shared.outage().or_else(of_line).filter(|_| !crowded);
    let (why, resumes_secs) = pause.unzip();
    let resumes_secs = resumes_secs.flatten();
    let standing = line
        .zip(number)
        .map(|(line, (lane, number))| line.standing(lane, number, view.clock));
    let (Some(line), Some((lane, _)), Some(Standing::Waiting(waiting))) = (line, number, standing) else {
        return Status {
            why,
            resumes_secs,
            ..Status::new(State::Joining, pace::refresh_ms(&room.settings, None, jitter()))
        };
    };
    if room.is_undrawn() {
        return Status {
            why,
            waiting: Some(line.waiting(lane)),
            ..Status::new(State::Waiting, pace::refresh_ms(&room.settings, None, jitter()))
        };
    }
    let told = !why.is_some_and(Stall::pauses);
    let estimate = line.estimate(lane, waiting.ahead, view.clock).filter(|_| told);
    let refresh = pace::refresh_ms(&room.settings, Some(waiting.ahead).filter(|_| !fresh), jitter());
    Status {
        why,
        resumes_secs,
        let_in: let_in(room, line, why, view.clock),
        ..Status::waiting(waiting.ahead, line.waiting(lane), estimate, refresh)
    }
}

/// A pending ticket may have its number already: it has not lapsed, the room has a line, and the request names all that joining needs.
fn may_be_numbered(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> bool {
    let lasts = seat
        .shown
        .ticket()
        .is_some_and(|ticket| !arrival::has_lapsed(seat, ticket, visit));
    let pending = lasts && matches!(worth.ticket(), TicketState::Pending(_));
    let shut = matches!(worth.mode, Mode::Closed | Mode::Off) || worth.early.is_some() || worth.sold_out;
    let line = !shut && worth.door != Door::LetPast && worth.pass() != PassState::Valid;
    pending
        && line
        && !seat.shared.replica.numbers_nobody()
        && !ownership::is_nameless(seat)
        && !ownership::must_sign_in(seat, worth)
}

/// The facts of the draw that the visitor takes part in.
fn drawn(seat: &Seat<'_>, room: &RoomView, lane: LaneId, number: Number) -> Option<DrawStatus> {
    let figures = room.figures(&seat.rules.room.name, &seat.line, lane)?;
    let entry = room.line(&seat.line).and_then(|line| line.entry(lane, number));
    let (number, place) = entry.unzip();
    Some(DrawStatus {
        number,
        place: place.flatten(),
        figures,
    })
}

/// When to ask again before a sale.
fn early(worth: &Worth, visit: &Visit) -> Status<'static> {
    let left_ms = worth.early.map_or(0, |stage| stage.window.begins.since(visit.wall));
    Status::new(State::Early, pace::early_ms(left_ms, jitter()))
}

/// The state of a visitor with these tokens, in the contract's words; in a room that is off, or
/// that an outage has opened, every visitor counts as inside.
fn state(worth: &Worth, no_numbers: bool) -> State {
    let inside = worth.pass() == PassState::Valid || worth.ticket() == TicketState::Inside;
    if inside || worth.mode == Mode::Off || worth.door == Door::LetPast {
        return State::Inside;
    }
    let called = worth.ticket() == TicketState::Called;
    match worth.ticket() {
        _ if worth.early.is_some() => State::Early,
        _ if worth.sold_out && !called => State::SoldOut,
        _ if worth.over => State::Over,
        _ if worth.mode == Mode::Closed => State::Closed,
        TicketState::Called => State::Called,
        TicketState::Inside => State::Inside,
        TicketState::Waiting | TicketState::Unknown => State::Waiting,
        TicketState::Pending(_) if no_numbers => State::Joining,
        TicketState::Void(Void::Late) => State::Late,
        TicketState::Void(Void::Ended) => State::Ended,
        TicketState::None if worth.pass() == PassState::Void => State::Ended,
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
        State::Over => "over",
        State::None => "none",
    }
}
