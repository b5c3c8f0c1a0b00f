//! The event stream of one visitor.

use std::sync::{Arc, Weak};

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};

use crate::metrics::Outcome;
use crate::pages::{EVENT_STREAM, EventStream, Link, PageKind, Pause};
use crate::proxy::{Body, Conn, ROPELINE_STATUS};
use crate::replica::Note;
use ropeline_ids::Visitor;

use crate::gate::seat::reissue;
use crate::gate::verdict::answers::{Answer, Refusal, plain};

use super::super::seat::Seat;
use crate::gate::request::visit::Visit;
use crate::gate::seat::ownership;
use crate::gate::state::shared::Shared;

/// A stream's connection, and the visitor it serves.
struct Listening {
    conn: Weak<Conn>,
    /// The socket is the visitor's own: behind a proxy, or among other streams, an acknowledged heartbeat proves nothing.
    direct: bool,
    shared: Arc<Shared>,
    visitor: Visitor,
    /// Of the keys, when it began.
    turn: u64,
}

impl Link for Listening {
    fn acknowledged(&self) -> bool {
        self.direct && self.conn.upgrade().is_some_and(|conn| conn.acknowledged())
    }

    fn present(&self) {
        self.shared.replica.note(self.visitor.clone(), Note::Mark);
    }

    fn is_outdated(&self) -> bool {
        self.shared.key_use.turn() != self.turn
    }

    fn outage(&self) -> Option<Pause> {
        self.shared.outage()
    }
}

/// `GET events`: for a ticket with a number. Without one there is nothing to say: 204 tells a browser to stop asking.
pub fn events(shared: &Arc<Shared>, conn: &Arc<Conn>, seat: &Seat<'_>, visit: &Visit) -> Answer {
    let worth = seat.worth(visit);
    if worth.as_ref().is_some_and(|worth| ownership::is_foreign(seat, worth)) {
        return ownership::not_yours(seat, visit);
    }
    let Some(visitor) = seat.ticket_visitor() else {
        return Answer::new(Outcome::Own, plain(StatusCode::NO_CONTENT, "none"));
    };
    let Some(guard) = shared.limits.stream(&visitor, visit.client) else {
        let status = StatusCode::TOO_MANY_REQUESTS;
        let refusal = Refusal::new(status, "limited", PageKind::Limited, Outcome::Limited);
        return Refusal {
            retry_after_secs: Some(30),
            ..refusal
        }
        .answer(&seat.rules.pages, visit);
    };
    shared.replica.note(visitor.clone(), Note::Mark);
    let link = Listening {
        conn: Arc::downgrade(conn),
        direct: visit.direct,
        shared: Arc::clone(shared),
        visitor: visitor.clone(),
        turn: shared.key_use.turn(),
    };
    let views = shared.replica.subscribe();
    let stream = EventStream::new(visitor, views, &shared.feeds, link, conn.closing().clone());
    let raised = shared.metrics.streams.raise();
    let mut response = Response::new(Body::stream(stream).hold(guard).hold(raised));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static("stream"));
    let answer = Answer::new(Outcome::Stream, response);
    match worth {
        Some(worth) => reissue::with_ticket_anew(seat, &worth, answer),
        None => answer,
    }
}
