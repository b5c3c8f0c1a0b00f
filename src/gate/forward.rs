//! Carrying a request to the shop, and what the gate adds to the answer on its way back.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, SET_COOKIE, UPGRADE};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response};
use tokio_util::sync::CancellationToken;

use crate::metrics::Outcome;
use crate::proxy::{self, Body, BodyOf, ForwardError, RequestBody, Upstream};
use crate::room::{Edition, LineName, RoomName, Visitor, Wall};
use crate::time;
use crate::token::Pass;

use super::answers::Answer;
use super::cacheable;
use super::cookies;
use super::fields::Fields;
use super::forward_auth::{self, Aim};
use super::in_flight::Right;
use super::meter::Watched;
use super::pages::Pages;
use super::rehearsal;
use super::rules::Rules;
use super::seat::Seat;
use super::sockets::{Socket, TooMany};
use super::unadmitted::{self, CrawlerHold, Sort};
use super::visit::Visit;
use super::{Gate, Halves, Shared};

use detached::{Kept, Taken};
use ending::Endable;

pub use detached::Detached;
pub use ending::Former;
pub use failed::EXHAUSTED_RETRY_SECS;

pub const SESSION_HEADER: HeaderName = HeaderName::from_static("ropeline-session");

/// A request that is forwarded as somebody's session.
pub struct Session<'a> {
    pub rules: &'a Rules,
    pub visitor: Arc<Visitor>,
    /// Of the pass.
    pub edition: Edition,
    /// What the shop is told the session is called.
    pub name: String,
    /// Cookies to set on the answer.
    pub cookies: Vec<HeaderValue>,
    /// The cookies are the visitor's only proof of the place: an answer that caches may share is made private for them.
    pub must_set: bool,
    /// Where a newcomer's browser shows whether it keeps cookies, and is sent back from.
    pub check: Option<String>,
    /// Its visitor was called, and comes in by this very request.
    pub is_new: bool,
}

impl<'a> Session<'a> {
    /// The session of a pass, with cookies to set if the answer allows it.
    #[must_use]
    pub fn of(seat: &Seat<'a>, pass: &Pass, cookies: Vec<HeaderValue>) -> Self {
        Self {
            rules: seat.rules,
            visitor: Arc::new(seat.visitor(pass.lane, pass.number)),
            edition: pass.edition,
            name: seat.session_name(pass),
            cookies,
            must_set: false,
            check: None,
            is_new: false,
        }
    }
}

/// By what right a request is forwarded.
pub enum Admission<'a> {
    /// It belongs to no room, or needs no admission.
    Free,
    /// It passes the line without a session, within this bound, and within that of crawlers if it is one's.
    Bounded(Sort, Option<CrawlerHold>),
    /// The room is open.
    Open(&'a Seat<'a>),
    /// An outage has opened the room.
    LetPast(&'a Seat<'a>),
    /// The room is off.
    Off(RoomName, LineName),
    Session(Session<'a>),
}

impl<'a> Admission<'a> {
    /// What is to be looked after while the request is under way: a session, and a socket that the open room let in.
    fn held(&self, head: &Parts) -> Option<Right> {
        match self {
            Self::Session(session) => Some(Right::Session(Arc::clone(&session.visitor))),
            Self::Open(seat) if head.headers.contains_key(UPGRADE) => {
                Some(Right::Open(seat.rules.room.name.clone(), seat.line.clone()))
            }
            Self::LetPast(seat) if head.headers.contains_key(UPGRADE) => {
                Some(Right::LetPast(seat.rules.room.name.clone(), seat.line.clone()))
            }
            Self::Off(room, line) if head.headers.contains_key(UPGRADE) => {
                Some(Right::Open(room.clone(), line.clone()))
            }
            Self::Open(_) | Self::LetPast(_) | Self::Off(..) | Self::Bounded(..) | Self::Free => None,
        }
    }

    /// Whose memory the body takes.
    fn body_of(&self, client: IpAddr) -> BodyOf {
        match self {
            Self::Bounded(..) => BodyOf::Stranger(client),
            _ => BodyOf::Inside(client),
        }
    }

    pub fn session(&self) -> Option<&Session<'a>> {
        match self {
            Self::Session(session) => Some(session),
            _ => None,
        }
    }

    /// The answer to what came into an open room that closed while the request waited: as if it came now.
    fn refused(&self, error: ForwardError, visit: &Visit) -> Option<Answer> {
        let (Self::Open(seat) | Self::LetPast(seat), proxy::Kind::Withdrawn) = (self, error.kind) else {
            return None;
        };
        let worth = seat.worth(visit)?;
        Some(seat.not_now(visit, &worth))
    }

    /// It has ended since the request was judged.
    fn is_over(&self, shared: &Shared) -> bool {
        match self {
            Self::Session(session) => {
                shared.is_over(&session.visitor, session.edition) && !shared.is_off(&session.visitor.room)
            }
            Self::Open(seat) => shared.is_shut(&seat.rules.room.name, &seat.line),
            Self::LetPast(seat) => {
                shared.replica.cut_off().is_none() && shared.is_shut(&seat.rules.room.name, &seat.line)
            }
            Self::Off(room, line) => shared.is_shut(room, line),
            Self::Bounded(..) | Self::Free => false,
        }
    }
}

impl Gate {
    /// Forwards a request, as a session's or as nobody's, and gives the answer or the page that says why there is none. Where a
    /// proxy asks, it is the proxy that forwards it: the answer is that it may.
    pub async fn forward(
        &self,
        visit: &Visit,
        mut request: Box<Halves>,
        pages: &Pages,
        outcome: Outcome,
        mut right: Admission<'_>,
    ) -> Answer {
        if let Some(rehearsed) = visit.rehearsed {
            if !rehearsed.forward {
                return Self::stand_in(&request.head, outcome, &right);
            }
            request.head.headers.remove(rehearsal::HEADER);
        }
        let stripped = cookies::strip(&mut request.head.headers);
        // SECURITY: the mark was lost on the way.
        if stripped.of_rehearsal && visit.rehearsed.is_none() && self.shared.is_rehearsing() {
            return rehearsal::unmarked(pages, visit);
        }
        if visit.aim != Aim::Shop {
            let answer = forward_auth::go_on(visit, &request.head, outcome, right.session());
            return match right {
                Admission::Bounded(sort, _) => forward_auth::bounded(answer, sort.as_str()),
                _ => answer,
            };
        }
        let Some(upstream) = &self.upstream else {
            return self.no_shop(visit);
        };
        let whose = right.body_of(visit.client);
        let (waited, wall) = match self
            .received(visit, upstream, &mut request, (whose, &right), pages)
            .await
        {
            Ok(received) => received,
            Err(answer) => return answer,
        };
        let (meets, former, is_protected) = (request.meets, request.former.take(), request.is_protected);
        let Halves { head, body, .. } = &mut *request;
        // SECURITY: a place is taken when the body is here, so that one which does not come holds none. A body that is longer than what
        // is received ahead holds one while it comes: it counts against a bound of its own.
        let place = match &mut right {
            Admission::Bounded(sort, crawler) => {
                match self.shared.unadmitted.take(sort.of(body), visit.client, crawler) {
                    Some(place) => Some(place),
                    None => return unadmitted::over(pages, visit),
                }
            }
            _ => None,
        };
        let held = right.held(head).map(|by| (by, CancellationToken::new()));
        let Ok(socket) = self.socket(held.as_ref().map(|(by, _)| by), head, visit) else {
            return unadmitted::over(pages, visit);
        };
        let method = head.method.clone();
        let cancel = held.as_ref().map(|(_, cancel)| cancel.clone());
        let guard = held.map(|(by, cancel)| self.in_flight.raise(by, cancel));
        let session = right.session();
        if session.is_some_and(|session| session.must_set) {
            // A cache that asks whether its copy is still good would keep the cookies of a 304 to itself (RFC 9111, section 4.3.4).
            head.headers.remove(IF_NONE_MATCH);
            head.headers.remove(IF_MODIFIED_SINCE);
        }
        let endable = session.map(|session| Endable::of(session, meets, head, former.as_ref()));
        let of_session = endable
            .as_ref()
            .is_some_and(|endable| endable.is_detachable(head, &self.shared));
        let endable = endable.or_else(|| Some(Endable::of_former(former?, meets)));
        let is_detachable = place.is_some() || of_session;
        let name = session.map(|session| session.name.as_str());
        let signer = self.shared.signer.as_ref();
        let ours = Fields::of(name, head, signer, wall);
        let watched = self.watch(session, body);
        let asked = time::uptime();
        let own_time = asked.saturating_sub(visit.judged() + waited);
        self.shared.metrics.gate.observe(own_time);
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
            self.forward_detachable((visit, asked), upstream, request, taken).await
        } else {
            let still = || !right.is_over(&self.shared);
            taken.forward((&self.shared, upstream), request, &still, None).await
        };
        let took = time::uptime().saturating_sub(asked);
        let mut answer = match result {
            Ok(response) => Answer::new(outcome, holding(response, kept)),
            Err(error) => right
                .refused(error, visit)
                .unwrap_or_else(|| self.failed(error, pages, visit)),
        };
        answer.upstream = Some(took);
        self.shared.metrics.upstream.observe(took);
        // One with a cookie that must be set is kept from caches altogether.
        if is_protected && !session.is_some_and(|session| session.must_set) {
            cacheable::keep_page(&method, &mut answer.response);
        }
        if let Some(session) = session {
            give(&session.cookies, session.must_set, &method, &mut answer.response);
        }
        answer
    }

    /// The place of the socket that the request asks for, if it does.
    fn socket(&self, by: Option<&Right>, head: &Parts, visit: &Visit) -> Result<Option<Socket>, TooMany> {
        match by.filter(|_| proxy::asks_for_tunnel(&head.headers)) {
            Some(by) => self.shared.sockets.take(by, visit.client).map(Some),
            None => Ok(None),
        }
    }

    /// Receives what is received of a body ahead; how long that took, and what the time is then. SECURITY: it takes as long as its
    /// client likes, so the right is looked at again. Who has a line to stand in is judged anew before.
    async fn received(
        &self,
        visit: &Visit,
        upstream: &Upstream,
        request: &mut Halves,
        (whose, right): (BodyOf, &Admission<'_>),
        pages: &Pages,
    ) -> Result<(Duration, Wall), Answer> {
        let Halves { head, body, told, .. } = request;
        let begun = (!body.is_complete()).then(time::uptime);
        if let Some(begun) = begun
            && let Err(error) = Box::pin(upstream.receive(&head.headers, body, whose)).await
        {
            let mut answer = self.failed(error, pages, visit);
            answer.upstream = Some(time::uptime().saturating_sub(begun));
            return Err(answer);
        }
        if !told.is_all()
            && let Err(refused) = Box::pin(self.shared.agrees(told, head, body, Some(upstream.ration(whose)))).await
        {
            return Err(refused.answer(pages, visit));
        }
        match begun {
            Some(_) if right.is_over(&self.shared) => Err(self.failed(proxy::Kind::Withdrawn.into(), pages, visit)),
            Some(begun) => Ok((time::uptime().saturating_sub(begun), time::wall())),
            None => Ok((Duration::ZERO, visit.wall)),
        }
    }

    /// Notes that a request is sent; what becomes of it is watched where it is a session's.
    fn watch(&self, session: Option<&Session<'_>>, body: &RequestBody) -> Option<Watched> {
        self.shared.meter.as_ref()?.sent();
        let session = session?;
        let meter = session.rules.meter.as_ref()?;
        meter.watch(&session.visitor, body.is_complete())
    }
}

/// The answer holds the session for as long as it is under way, and the place in a bound unless all of it is here.
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

/// Sets cookies on an answer that no shared cache will keep. SECURITY: one that says it may be kept goes without, unless
/// they must be set; that one, and any that a cache might keep by a guess, is made private.
pub fn give(cookies: &[HeaderValue], must_set: bool, method: &Method, response: &mut Response<Body>) {
    if cookies.is_empty() {
        return;
    }
    let (status, headers) = (response.status(), response.headers());
    let is_kept = if must_set {
        cacheable::by_any_cache(method, headers)
    } else {
        cacheable::by_shared_caches(method, status, headers)
    };
    if is_kept {
        if !must_set && cacheable::is_explicit(response.headers()) {
            return;
        }
        cacheable::make_private(response.headers_mut());
    }
    for cookie in cookies {
        response.headers_mut().append(SET_COOKIE, cookie.clone());
    }
}

mod detached;
mod ending;
mod failed;
#[cfg(test)]
mod tests;
