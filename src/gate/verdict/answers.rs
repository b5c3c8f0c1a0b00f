//! The gate's own answers: pages for people, problem details for programs, a few bytes for everything else.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, REFRESH, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Response, StatusCode};

use crate::metrics::Outcome;
use crate::pages::problem::{self, Problem};
use crate::pages::{Message, Page, PageFacts, PageKind};
use crate::proxy::{Body, ROPELINE_STATUS};

use crate::gate::request::kind::Kind;
use crate::gate::request::visit::Visit;
use crate::gate::state::pages::Pages;

/// An answer and the outcome of the request.
pub struct Answer {
    pub response: Response<Body>,
    pub outcome: Outcome,
    /// How long the upstream took to the head of its answer.
    pub upstream: Option<Duration>,
}

impl Answer {
    #[must_use]
    pub fn new(outcome: Outcome, response: Response<Body>) -> Self {
        Self {
            response,
            outcome,
            upstream: None,
        }
    }
}

/// A refusal: its status, its code, and the page for a person.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    pub status: StatusCode,
    pub word: &'static str,
    pub page: PageKind,
    pub outcome: Outcome,
    pub retry_after_secs: Option<u32>,
    pub room: Option<&'a str>,
    pub message: Option<&'a str>,
    /// Where tokens of another account are put away.
    pub button_url: Option<&'a str>,
    pub sign_in: Option<&'a str>,
}

impl Refusal<'_> {
    #[must_use]
    pub fn new(status: StatusCode, word: &'static str, page: PageKind, outcome: Outcome) -> Self {
        Self {
            status,
            word,
            page,
            outcome,
            retry_after_secs: None,
            room: None,
            message: None,
            button_url: None,
            sign_in: None,
        }
    }

    /// The refusal as the requester can read it: a page, JSON, or a line of text.
    #[must_use]
    pub fn answer(&self, pages: &Pages, visit: &Visit) -> Answer {
        let id = visit.id.as_str();
        let again_secs = self.again_secs(visit);
        let retry_after_secs = self.retry_after_secs.map(|secs| again_secs.unwrap_or(secs));
        let mut response = if visit.kind.is_navigation() {
            let here = if self.page.passes() {
                visit.go_on()
            } else {
                visit.here().into()
            };
            let facts = PageFacts {
                message: self.message.map(Message::from),
                button_url: self.button_url,
                sign_in: self.sign_in,
                retry_after_secs,
                again_secs,
                not_sent: visit.kind != Kind::Navigation,
                ..PageFacts::new(id, visit.wall, &here)
            };
            page(self.status, self.word, pages.render(self.page, &facts, visit))
        } else if matches!(visit.kind, Kind::Passive | Kind::Crawler) {
            plain(self.status, self.word)
        } else {
            let body = Problem::new(self.status, self.word, id).detail(self.message);
            let body = self.room.map_or(body.clone(), |room| body.room(room));
            let body = retry_after_secs.map_or(body.clone(), |secs| body.retry_after(secs));
            json(self.status, self.word, problem::CONTENT_TYPE, body.to_json())
        };
        if let Some(secs) = retry_after_secs {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(secs));
        }
        // It needs no script, and nothing of a template.
        if let Some(secs) = again_secs {
            response.headers_mut().insert(REFRESH, HeaderValue::from(secs));
        }
        Answer::new(self.outcome, response)
    }

    /// When the page of an obstacle that passes loads again by itself: not for all visitors at once, and not for one who has stopped
    /// that. Whatever has been sent is never sent again.
    fn again_secs(&self, visit: &Visit) -> Option<u32> {
        let passes = self.page.passes() && self.status != StatusCode::LOOP_DETECTED;
        let wait = self
            .retry_after_secs
            .map_or(AGAIN_SECS, |secs| secs.max(AGAIN_LEAST_SECS));
        let spread = u32::from(jitter()) % (AGAIN_SPREAD_SECS + wait / 8);
        let (wait, spread) = match self.page {
            // Each try waits by itself, and a slot that is given meanwhile is kept for ten seconds.
            PageKind::Returning => (self.retry_after_secs.unwrap_or(RETURN_SECS), 0),
            _ => (wait, spread),
        };
        (passes && visit.kind == Kind::Navigation && !visit.stands_still).then(|| wait.saturating_add(spread))
    }
}

/// The answer to a request for the upstream at a gate that has none.
pub fn no_upstream(pages: &Pages, visit: &Visit) -> Answer {
    let status = StatusCode::MISDIRECTED_REQUEST;
    Refusal::new(status, "no_upstream", PageKind::BadRequest, Outcome::Malformed).answer(pages, visit)
}

/// The answer to a request for a host that no room, or no upstream, is for.
pub fn unknown_host(pages: &Pages, visit: &Visit) -> Answer {
    let status = StatusCode::MISDIRECTED_REQUEST;
    Refusal::new(status, "unknown_host", PageKind::BadRequest, Outcome::Malformed).answer(pages, visit)
}

/// A rendered page as an answer.
#[must_use]
pub fn page(status: StatusCode, word: &'static str, page: Page) -> Response<Body> {
    let mut response = Response::new(Body::full(page.body));
    *response.status_mut() = status;
    *response.headers_mut() = page.headers;
    response
        .headers_mut()
        .insert(ROPELINE_STATUS, HeaderValue::from_static(word));
    response
}

/// JSON that no cache may keep.
#[must_use]
pub fn json(status: StatusCode, word: &'static str, content_type: &'static str, body: String) -> Response<Body> {
    bytes(status, word, content_type, Bytes::from(body))
}

/// A code and a line feed, for answers that no person reads.
#[must_use]
pub fn plain(status: StatusCode, word: &'static str) -> Response<Body> {
    bytes(
        status,
        word,
        "text/plain; charset=utf-8",
        Bytes::from_static(word.as_bytes()),
    )
}

/// Bytes that no cache may keep.
#[must_use]
pub fn bytes(status: StatusCode, word: &'static str, content_type: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("Accept, Cookie"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static(word));
    response
}

/// When to try again where all connections to the shop are taken.
pub const EXHAUSTED_RETRY_SECS: u32 = 5;

/// When a page loads again whose obstacle names no time, and the soonest that any does.
const AGAIN_SECS: u32 = 20;
const AGAIN_LEAST_SECS: u32 = 5;
/// Up to this much later, and an eighth of the wait, so that the loads of a crowd are spread.
const AGAIN_SPREAD_SECS: u32 = 8;

/// When the page of a visitor who is let in asks for a slot again.
const RETURN_SECS: u32 = 2;

/// A closed room rarely opens within the minute.
pub const CLOSED_RETRY_SECS: u32 = 60;

/// Spreads people's questions; nothing depends on its quality.
#[must_use]
pub fn jitter() -> u16 {
    fastrand::u16(..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_tries_again_stands_still_for_who_has_stopped_that() {
        let status = StatusCode::BAD_GATEWAY;
        let refusal = Refusal::new(status, "bad_gateway", PageKind::BadGateway, Outcome::TurnedAway);
        let mut visit = Visit::sample(Kind::Navigation);
        assert!(refusal.again_secs(&visit).is_some_and(|secs| secs >= AGAIN_SECS));
        visit.stands_still = true;
        assert_eq!(refusal.again_secs(&visit), None);
    }
}
