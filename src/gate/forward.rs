//! Carries a request to the upstream, and adds the gate's own fields to the answer.

pub mod detached;
pub mod ending;
pub mod failed;
mod session;

use std::sync::Arc;
use std::time::Duration;

use http::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use tokio_util::sync::CancellationToken;

use crate::metrics::Outcome;
use crate::proxy::{self, Body, BodyOf, RequestBody, Upstream};
use crate::time;
use ropeline_ids::Wall;

use super::bounds::sockets::{Socket, TooMany};
use super::bounds::unadmitted;
use super::forward_auth;
use super::meter::Watched;
use super::request::headers::Fields;
use super::request::visit::{REHEARSAL_HEADER, Visit};
use super::request::{cookies, rehearsal_mark};
use super::state::gate::{Gate, Halves};
use super::state::in_flight::{Held, Right};
use super::state::pages::Pages;
use super::state::shared::Shared;
use super::state::upstream::UpstreamState;
use super::verdict::answers::{self, Answer, json};
use super::verdict::cacheable;

use super::request::aim::Aim;
use super::request::form_check;
use detached::{Kept, Taken};
use ending::Endable;

pub use ending::Former;
pub use session::{Permission, Session};

/// Forwards a request, as a session's or as nobody's, and gives the answer or the page that says why there is none. Where a
/// proxy asks, it is the proxy that forwards it: the answer is that it may.
pub async fn forward(
    gate: &Gate,
    visit: &Visit,
    mut request: Box<Halves>,
    pages: &Pages,
    outcome: Outcome,
    mut right: Permission<'_>,
) -> Answer {
    if let Some(rehearsed) = visit.rehearsed {
        if !rehearsed.forward {
            return stand_in(&request.head, outcome, &right);
        }
        request.head.headers.remove(REHEARSAL_HEADER);
    }
    let stripped = cookies::strip(&mut request.head.headers);
    // SECURITY: the mark was lost on the way.
    if stripped.of_rehearsal && visit.rehearsed.is_none() && gate.shared.is_rehearsing() {
        return rehearsal_mark::unmarked(pages, visit);
    }
    if visit.aim != Aim::Shop {
        let answer = forward_auth::go_on(visit, &request.head, outcome, right.session());
        return match right {
            Permission::Bounded(sort, _) => forward_auth::bounded(answer, sort.as_str()),
            _ => answer,
        };
    }
    let Some((upstream, state)) = gate.upstream(visit) else {
        return answers::no_upstream(&gate.shared.pages, visit);
    };
    let whose = right.body_of(visit.client);
    let (waited, wall) = match received(&gate.shared, visit, upstream, &mut request, (whose, &right), pages).await {
        Ok(received) => received,
        Err(answer) => return answer,
    };
    let (meets, former, is_protected) = (request.meets, request.former.take(), request.is_protected);
    let Halves { head, body, .. } = &mut *request;
    // SECURITY: a place is taken only when the body has arrived, so that a body that never comes holds none. A body longer
    // than the buffer holds one while it arrives: it counts against a bound of its own.
    let place = match &mut right {
        Permission::Bounded(sort, crawler) => match state.unadmitted.take(sort.of(body), visit.client, crawler) {
            Some(place) => Some(place),
            None => return unadmitted::over(pages, visit),
        },
        _ => None,
    };
    let held = right.held(head).map(|by| (by, CancellationToken::new()));
    let Ok(socket) = socket(state, held.as_ref().map(|(by, _)| by), head, visit) else {
        return unadmitted::over(pages, visit);
    };
    let method = head.method.clone();
    let cancel = held.as_ref().map(|(_, cancel)| cancel.clone());
    let guard = held.map(|(by, cancel)| {
        let counts = visit.counts;
        gate.in_flight.raise(Held { by, cancel, counts })
    });
    let session = right.session();
    if session.is_some_and(|session| session.must_set) {
        // A cache that asks whether its copy is still good would keep the cookies of a 304 to itself (RFC 9111, section 4.3.4).
        head.headers.remove(IF_NONE_MATCH);
        head.headers.remove(IF_MODIFIED_SINCE);
    }
    let endable = session.map(|session| Endable::of(session, meets, head, former.as_ref()));
    let of_session = endable
        .as_ref()
        .is_some_and(|endable| endable.is_detachable(head, &gate.shared));
    let endable = endable.or_else(|| Some(Endable::of_former(former?, meets)));
    let is_detachable = place.is_some() || of_session;
    let name = session.map(|session| session.name.as_str());
    let ours = Fields::of(&visit.id, name, head, state.signer.as_ref(), wall);
    let watched = watch((&gate.shared, state), session, body);
    let asked = time::uptime();
    let own_time = asked.saturating_sub(visit.judged() + waited);
    gate.shared.metrics.gate.observe(own_time);
    let Halves { head, body, .. } = *request;
    let request = Box::new(Request::from_parts(head, body));
    let taken = Box::new(Taken {
        hop: Arc::clone(&visit.hop),
        peer_trusted: visit.peer_trusted,
        whose,
        ours,
        cancel,
        endable,
        watched,
        kept: (guard, socket, place),
    });
    let (result, kept) = if is_detachable {
        detached::forward_detachable(gate, (visit, asked), upstream, request, taken).await
    } else {
        let still = || !right.is_over(&gate.shared);
        taken.forward((&gate.shared, upstream), request, &still, None).await
    };
    let took = time::uptime().saturating_sub(asked);
    let mut answer = match result {
        Ok(response) => Answer::new(outcome, holding(response, kept)),
        Err(error) => right
            .refused(error, visit)
            .unwrap_or_else(|| failed::failed(&gate.shared, error, pages, visit)),
    };
    answer.upstream = Some(took);
    state.metrics.took.observe(took);
    // One with a cookie that must be set is kept from caches altogether.
    if is_protected && !session.is_some_and(|session| session.must_set) {
        cacheable::keep_page(&method, &mut answer.response);
    }
    if let Some(session) = session {
        cacheable::give(&session.cookies, session.must_set, &method, &mut answer.response);
    }
    answer
}

/// The place of the socket that the request asks for, if it does.
fn socket(
    upstream: &UpstreamState,
    by: Option<&Right>,
    head: &Parts,
    visit: &Visit,
) -> Result<Option<Socket>, TooMany> {
    match by.filter(|_| proxy::asks_for_tunnel(&head.headers)) {
        Some(by) => upstream.sockets.take(by, visit.client).map(Some),
        None => Ok(None),
    }
}

/// Receives a body ahead, up to the buffer's size; returns how long that took, and the time then. SECURITY: it takes as long
/// as its client likes, so the right is checked again. A visitor with a line to stand in is judged anew before.
async fn received(
    shared: &Shared,
    visit: &Visit,
    upstream: &Upstream,
    request: &mut Halves,
    (whose, right): (BodyOf, &Permission<'_>),
    pages: &Pages,
) -> Result<(Duration, Wall), Answer> {
    let Halves { head, body, told, .. } = request;
    let begun = (!body.is_complete()).then(time::uptime);
    if let Some(begun) = begun
        && let Err(error) = Box::pin(upstream.receive(&head.headers, body, whose)).await
    {
        let mut answer = failed::failed(shared, error, pages, visit);
        answer.upstream = Some(time::uptime().saturating_sub(begun));
        return Err(answer);
    }
    if !told.is_all()
        && let Err(refused) = Box::pin(form_check::agrees(
            shared,
            told,
            head,
            body,
            Some(upstream.ration(whose)),
        ))
        .await
    {
        return Err(refused.answer(pages, visit));
    }
    match begun {
        Some(_) if right.is_over(shared) => Err(failed::failed(shared, proxy::Kind::Withdrawn.into(), pages, visit)),
        Some(begun) => Ok((time::uptime().saturating_sub(begun), time::wall())),
        None => Ok((Duration::ZERO, visit.wall)),
    }
}

/// Notes that a request is sent; its outcome is watched if it belongs to a session.
fn watch(
    (shared, upstream): (&Shared, &UpstreamState),
    session: Option<&Session<'_>>,
    body: &RequestBody,
) -> Option<Watched> {
    shared.meter.as_ref()?;
    upstream.note_sent();
    let session = session?;
    let meter = session.rules.meter.as_ref()?;
    meter.watch(&session.visitor, body.is_complete())
}

/// The answer holds the session while it is under way, and the place in a bound unless it has been received completely.
fn holding(response: Response<Body>, (session, socket, place): Kept) -> Response<Body> {
    let place = place.filter(|_| !response.body().is_whole());
    response.map(|mut body| {
        if let Some(session) = session {
            body = body.hold(session);
        }
        if let Some(socket) = socket {
            body = body.hold(socket);
        }
        match place {
            Some(place) => place.until_read(body),
            None => body,
        }
    })
}

/// The answer for a virtual visitor in place of the shop's.
pub fn stand_in(head: &Parts, outcome: Outcome, right: &Permission<'_>) -> Answer {
    let body = "{\"state\":\"inside\",\"virtual\":true}".to_owned();
    let mut response = json(StatusCode::OK, "rehearsed", "application/json", body);
    if let Some(session) = right.session() {
        cacheable::give(&session.cookies, session.must_set, &head.method, &mut response);
    }
    Answer::new(outcome, response)
}

#[cfg(test)]
mod tests;
