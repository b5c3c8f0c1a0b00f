//! A room that is off. Requests pass it without a session, except those of visitors with one: they go on as the session's, so that they
//! are still inside when the room is on again. Nothing is asked of them meanwhile, nor does their request wait for the log.

use http::header::COOKIE;
use http::request::Parts;

use crate::metrics::Outcome;
use crate::room::{LineName, Standing};
use crate::router::{InRoom, LineOf};

use super::decide::{PassState, Purpose, Verdict, verdict};
use super::facts::facts;
use super::inside;
use crate::gate::forward::{Permission, Session};
use crate::gate::request::headers::PASS_HEADER;
use crate::gate::request::visit::Visit;
use crate::gate::seat::Seat;
use crate::gate::state::shared::Shared;

/// By which right a request passes a room that is off.
pub fn right_beside<'a>(shared: &'a Shared, visit: &Visit, head: &Parts, place: &InRoom) -> (Outcome, Permission<'a>) {
    match session_while_off(shared, visit, head, place) {
        Some(session) => (Outcome::Inside, Permission::Session(session)),
        None if shared.never_waits(place.index, visit.client) => (Outcome::Outside, Permission::Free),
        None => {
            let room = shared.rules[place.index].room.name.clone();
            let line = match &place.line {
                LineOf::Line(line) => line.clone(),
                LineOf::Unknown => LineName::ONLY,
            };
            (Outcome::Outside, Permission::Off(room, line))
        }
    }
}

/// The session of a visitor inside, renewed, with a slot or without one. A visitor with tokens that the room would refuse at other times, or one who is called and would
/// have to claim first, passes as all others do.
fn session_while_off<'a>(shared: &'a Shared, visit: &Visit, head: &Parts, place: &InRoom) -> Option<Session<'a>> {
    // PERF: most who come while a room is off have no pass.
    if !head.headers.contains_key(COOKIE) && !head.headers.contains_key(PASS_HEADER) {
        return None;
    }
    let rules = &shared.rules[place.index];
    let LineOf::Line(line) = &place.line else {
        return None;
    };
    if shared.never_waits(place.index, visit.client) {
        return None;
    }
    let seat = &Seat::of(shared, rules, line.clone(), head, visit);
    let worth = seat.worth(visit).filter(|_| !seat.shown.is_doubtful())?;
    let shown = worth.pass.as_ref().filter(|pass| pass.state == PassState::Valid)?;
    let is_called = matches!(shown.standing, Standing::Called(_));
    let verdict = verdict(&facts(&worth, visit, seat, Purpose::default()));
    if is_called || !matches!(verdict, Verdict::ForwardInside | Verdict::Parked) {
        return None;
    }
    let named = worth.named(seat, visit)?;
    if inside::is_shared_out(seat, &named.pass, visit) {
        return None;
    }
    let used = visit.aim.forwards(false) && visit.counts;
    if used {
        inside::tell_while_off(seat, &named);
    }
    let pass = inside::renewed(seat, visit, &named, used).filter(|_| !seat.shown.is_app());
    Some(Session::of(
        seat,
        &named.pass,
        pass.iter().map(|pass| seat.cookies.set_pass(pass)).collect(),
    ))
}
