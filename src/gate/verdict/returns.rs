//! Requests of sessions without a slot, in rooms with active slots: each asks for a slot and waits, and where none comes free in
//! time its sender is told so. The shop has seen nothing of such a request.

use std::time::Duration;

use http::header::{CACHE_CONTROL, LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use tokio::time::timeout;

use crate::metrics::{Outcome, Returned, Returns};
use crate::pages::PageKind;
use crate::proxy::{Body, ROPELINE_STATUS};
use crate::replica::{Note, Replica};
use crate::room::{Standing, Visitor};
use crate::time;

use super::answers::{Answer, Refusal, jitter};
use super::inside::{self, Named};
use crate::gate::request::cookies::Own;
use crate::gate::request::kind::Kind;
use crate::gate::request::location;
use crate::gate::request::visit::Visit;
use crate::gate::seat::Seat;
use crate::gate::seat::worth::Worth;

/// Asks the room for a slot, and waits for it as long as the room's `return_wait`; the worth of the tokens then. A visitor whose
/// connection ends meanwhile keeps the place in the queue of returns, and a slot that is not used within ten seconds goes to the next.
pub async fn ask(seat: &Seat<'_>, visit: &mut Visit, worth: Worth) -> Worth {
    let Some(named) = worth.named(seat, visit) else {
        return worth;
    };
    let visitor = seat.visitor(named.pass.lane, named.pass.number);
    if named.standing == Standing::Unknown {
        inside::tell_lost(seat, &named.pass);
    }
    let begun = time::uptime();
    let replica = &seat.shared.replica;
    if let Some(_place) = seat.shared.returning.take(&visitor) {
        let mut counted = Counted {
            returns: seat.rules.returns.as_ref(),
            begun,
            end: Some(Returned::Gone),
        };
        let waits = granted(replica, &visitor);
        let waited = timeout(seat.rules.return_wait(), waits).await;
        counted.end = waited.unwrap_or(Some(Returned::Later));
    } else {
        // Too many wait here: the visitor has a place in the queue of returns all the same.
        replica.note(visitor, Note::Return);
    }
    visit.has_waited(begun);
    seat.worth(visit).unwrap_or(worth)
}

/// Counts a request that waits for a slot once its wait is over, also where its client has hung up.
struct Counted<'a> {
    returns: Option<&'a Returns>,
    begun: Duration,
    /// `None` where there was nothing to wait for any more.
    end: Option<Returned>,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if let (Some(returns), Some(end)) = (self.returns, self.end) {
            returns.over(end, time::uptime().saturating_sub(self.begun));
        }
    }
}

/// Asks until the room has given the session a slot; `None` where it has ended it.
async fn granted(replica: &Replica, visitor: &Visitor) -> Option<Returned> {
    let mut views = replica.subscribe();
    let mut asked = None;
    loop {
        let now = time::uptime();
        // A note may be lost with a log. One that is repeated keeps its place.
        if asked.is_none_or(|asked| now.saturating_sub(asked) >= AGAIN) {
            replica.note(visitor.clone(), Note::Return);
            asked = Some(now);
        }
        match has_slot(replica, visitor) {
            Some(true) => return Some(Returned::Granted),
            Some(false) => return None,
            None => {}
        }
        if let Ok(Err(_)) = timeout(AGAIN, views.changed()).await {
            return Some(Returned::Later);
        }
    }
}

/// Whether the session has a slot, or is over (false); `None` while it waits for one.
fn has_slot(replica: &Replica, visitor: &Visitor) -> Option<bool> {
    let view = replica.load();
    let now = replica.cut_off().map_or_else(|| view.now(), |_| view.clock);
    view.standing(visitor, view.clock).has_slot(now)
}

/// How often a request that waits asks.
const AGAIN: Duration = Duration::from_secs(5);

/// The answer to a request of a session without a slot. A person's page tries again by itself, and a form is sent again by the browser. The
/// pass stays as it is, or is renewed.
pub fn parked(seat: &Seat<'_>, visit: &Visit, head: &Parts, named: &Named<'_>) -> Answer {
    // A gate that is cut off has no slot to give, however often it is asked.
    let is_cut_off = seat.shared.replica.cut_off().is_some();
    let again = sends_again(seat, visit, head).filter(|_| !is_cut_off);
    let mut answer = match again {
        Some(tries) => form_again(seat, visit, head, tries),
        None => told(seat, visit, !is_cut_off && named.is_parked()),
    };
    if !seat.shown.is_app()
        && let Some(pass) = inside::renewed(seat, visit, named, false)
    {
        let headers = answer.response.headers_mut();
        headers.append(SET_COOKIE, seat.cookies.set_pass(&pass));
    }
    answer
}

/// 503: a page for a person, and when to try again for a program. Only a visitor in the queue of returns is told of it.
fn told(seat: &Seat<'_>, visit: &Visit, is_queued: bool) -> Answer {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let page = if is_queued {
        PageKind::Returning
    } else {
        PageKind::Unavailable
    };
    Refusal {
        // Later than this, a slot that was given meanwhile would be given to another.
        retry_after_secs: Some(RETRY_SECS + u32::from(jitter() % RETRY_SPREAD_SECS)),
        room: Some(seat.rules.room.name.as_str()),
        ..Refusal::new(status, "parked", page, Outcome::Parked)
    }
    .answer(&seat.rules.pages, visit)
}

/// When to ask again: soon, since each try waits.
const RETRY_SECS: u32 = 1;
const RETRY_SPREAD_SECS: u16 = 3;

/// How often a browser has sent this form again, if it is to send it once more.
fn sends_again(seat: &Seat<'_>, visit: &Visit, head: &Parts) -> Option<u8> {
    let is_form = visit.kind.is_navigation() && visit.kind != Kind::Navigation && head.method != Method::GET;
    if !is_form || !visit.counts || seat.shown.is_app() {
        return None;
    }
    // SECURITY: unsigned on purpose. Who makes it up is sent on by nobody but their own browser, which gives up by itself.
    let tries = tries(seat, head).unwrap_or(0);
    (tries < MOST_TRIES).then_some(tries)
}

/// The request's count of a form's tries.
fn tries(seat: &Seat<'_>, head: &Parts) -> Option<u8> {
    let own = Own::of(&head.headers);
    let tries = own.values(&seat.cookies.names().tries);
    tries.map(|tries| tries.parse().unwrap_or(MOST_TRIES)).max()
}

/// Once a request is forwarded, the next form begins to count anew.
pub fn clear_tries(seat: &Seat<'_>, head: &Parts) -> Option<HeaderValue> {
    // PERF: other rooms count no tries.
    seat.rules.room.active.as_ref()?;
    tries(seat, head).map(|_| seat.cookies.clear_tries())
}

/// 307: the browser sends the same form to the same address (RFC 9110, section 15.4.8), where it waits again.
fn form_again(seat: &Seat<'_>, visit: &Visit, head: &Parts, tries: u8) -> Answer {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    let headers = response.headers_mut();
    headers.insert(LOCATION, location::back(visit, head, visit.here()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static("parked"));
    headers.append(SET_COOKIE, seat.cookies.set_tries(tries + 1));
    Answer::new(Outcome::Parked, response)
}

/// Browsers follow 20 redirects in a row (Fetch, section 4.4), and the last of them is to be the shop's own.
const MOST_TRIES: u8 = 16;
