//! The gate's own endpoints below `/.ropeline/`, on every host of an upstream and never forwarded. A host has the rooms of its upstream.
//!
//! ```text
//! GET  health
//! GET  proof.js                what works out a proof of work, for the page that asks for one
//! GET  rooms/{room}/status     where a visitor stands, as JSON
//! GET  rooms/{room}/events     the same as an event stream
//! GET  rooms/{room}/check      the page's way of finding out whether the browser kept its ticket
//! GET  rooms/{room}/probe      whether a nonce of `ropeline probe` is genuine
//! GET  rooms/{room}/enter      where a visitor joins after a wait in place of a proof of work
//! POST rooms/{room}/join       for apps
//! POST rooms/{room}/check-in   "I am here", and the status
//! POST rooms/{room}/leave      leaves the line or ends the session
//! POST rooms/{room}/code       uses a code in place of the place that the visitor has, and goes back
//! POST rooms/{room}/afresh     puts another account's place away, and goes back
//! ```
//!
//! A line of a `per` room is addressed by `?line=VALUE`.

mod actions;
mod check;
mod enter;
mod events;
mod parameter;
mod probe;
mod question;
mod status;

use std::sync::Arc;

use http::header::{ALLOW, CACHE_CONTROL, VARY};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};

use crate::metrics::Outcome;
use crate::pages::{PageKind, proof};
use crate::proxy::Conn;
use crate::router::{LineOf, OWN_PREFIX, Routed};
use ropeline_ids::LineName;

use super::request::visit::Visit;
use super::seat::Seat;
use super::state::gate::Gate;
use super::state::shared::Shared;
use super::verdict::answers::{self, Answer, Refusal, json};
use parameter::{not_found, parameter, refusal};

#[derive(Clone, Copy)]
enum Endpoint {
    Status,
    Events,
    Check,
    Enter,
    Join,
    CheckIn,
    Leave,
    Afresh,
    Code,
}

impl Endpoint {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "status" => Self::Status,
            "events" => Self::Events,
            "check" => Self::Check,
            "enter" => Self::Enter,
            "join" => Self::Join,
            "check-in" => Self::CheckIn,
            "leave" => Self::Leave,
            "afresh" => Self::Afresh,
            "code" => Self::Code,
            _ => return None,
        })
    }

    fn method(self) -> Method {
        match self {
            Self::Status | Self::Events | Self::Check | Self::Enter => Method::GET,
            Self::Join | Self::CheckIn | Self::Leave | Self::Afresh | Self::Code => Method::POST,
        }
    }

    /// Whether it counts as a question of the ticket's holder. Streams have a bound of their own, a join is counted where its
    /// purpose is known, and a check comes before a page that is not counted either.
    fn is_counted(self) -> bool {
        matches!(
            self,
            Self::Status | Self::CheckIn | Self::Leave | Self::Afresh | Self::Code
        )
    }
}

/// Answers a request below the reserved path; also says which room it was about.
pub async fn endpoint(
    gate: &Gate,
    conn: &Arc<Conn>,
    visit: &mut Visit,
    head: &Parts,
    routed: &Routed,
) -> (Option<usize>, Answer) {
    let path = head.uri.path().strip_prefix(OWN_PREFIX).unwrap_or_default();
    let mut parts = path.split('/').skip(1);
    match [(); 4].map(|()| parts.next()) {
        [Some("health"), None, ..] => (None, health()),
        // A load balancer asks by an address.
        _ if routed.misdirected => (None, answers::unknown_host(&gate.shared.pages, visit)),
        [Some("proof.js"), None, ..] => (None, worker()),
        [Some("rooms"), Some(room), Some("probe"), None] => {
            let named = gate.shared.room_at(room, routed.upstream);
            (named, probe::probe(&gate.shared, visit, head, named))
        }
        [Some("rooms"), Some(room), Some(endpoint), None] => {
            let named = gate.shared.room_at(room, routed.upstream);
            match (named, Endpoint::of(endpoint)) {
                (Some(at), Some(endpoint)) => (named, of_room(gate, conn, visit, head, at, endpoint).await),
                _ => (named, not_found(&gate.shared, visit)),
            }
        }
        _ => (None, not_found(&gate.shared, visit)),
    }
}

async fn of_room(
    gate: &Gate,
    conn: &Arc<Conn>,
    visit: &mut Visit,
    head: &Parts,
    at: usize,
    endpoint: Endpoint,
) -> Answer {
    let rules = &gate.shared.rules[at];
    let method = endpoint.method();
    if head.method != method {
        let refusal = refusal(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed");
        let mut answer = refusal.answer(&rules.pages, visit);
        let allow = HeaderValue::from_str(method.as_str()).expect("methods are plain");
        answer.response.headers_mut().insert(ALLOW, allow);
        return answer;
    }
    let LineOf::Line(line) = line(&gate.shared, at, head.uri.query()) else {
        let refusal = Refusal::new(
            StatusCode::NOT_FOUND,
            "unknown_line",
            PageKind::UnknownLine,
            Outcome::Own,
        );
        return refusal.answer(&rules.pages, visit);
    };
    if (method == Method::POST || matches!(endpoint, Endpoint::Enter)) && is_foreign(head) {
        return refusal(StatusCode::FORBIDDEN, "cross_site").answer(&rules.pages, visit);
    }
    let seat = &Seat::of(&gate.shared, rules, line, head, visit);
    if endpoint.is_counted()
        && let Err(over) = question::count_question(seat, visit, matches!(endpoint, Endpoint::Leave))
    {
        return over.answer(&rules.pages, visit);
    }
    match endpoint {
        Endpoint::Status => status::status(gate, seat, visit, false).await,
        Endpoint::CheckIn => status::status(gate, seat, visit, true).await,
        Endpoint::Events => events::events(&gate.shared, conn, seat, visit),
        Endpoint::Check => check::check(seat, visit, head),
        Endpoint::Enter => Box::pin(enter::enter(seat, visit, head)).await,
        Endpoint::Join => Box::pin(actions::join_app(gate, seat, visit, head)).await,
        Endpoint::Leave => Box::pin(actions::leave(seat, visit, head)).await,
        Endpoint::Afresh => actions::afresh(seat, visit, head),
        Endpoint::Code if rules.takes_codes() => actions::use_code(seat, visit, head),
        Endpoint::Code => not_found(&gate.shared, visit),
    }
}

fn line(shared: &Shared, room: usize, query: Option<&str>) -> LineOf {
    let Some(per) = &shared.rules[room].room.per else {
        return LineOf::Line(LineName::ONLY);
    };
    parameter(query.unwrap_or_default(), "line").map_or(LineOf::Unknown, |value| per.line(&value))
}

/// For load balancers: the gate answers. No detail, and nothing that a stranger could learn from.
fn health() -> Answer {
    Answer::new(
        Outcome::Own,
        json(StatusCode::OK, "ok", "application/json", "{\"ok\":true}".to_owned()),
    )
}

/// The same for every visitor, at a separate address for each version.
fn worker() -> Answer {
    let content_type = "text/javascript; charset=utf-8";
    let mut response = json(StatusCode::OK, "ok", content_type, proof::WORKER.to_owned());
    let kept = HeaderValue::from_static("public, max-age=86400");
    response.headers_mut().insert(CACHE_CONTROL, kept);
    response.headers_mut().remove(VARY);
    Answer::new(Outcome::Own, response)
}

/// Sent by another origin, a sibling sub-domain's included: it could only act for a visitor who did not ask for it.
fn is_foreign(head: &Parts) -> bool {
    match head.headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        Some(site) => !matches!(site, b"same-origin" | b"none"),
        None => crate::gate::request::kind::is_cross_site(&head.headers),
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn only_the_endpoints_have_names_and_each_has_one_method() {
        for (name, method) in [
            ("status", Method::GET),
            ("events", Method::GET),
            ("check", Method::GET),
            ("enter", Method::GET),
            ("join", Method::POST),
            ("check-in", Method::POST),
            ("leave", Method::POST),
            ("afresh", Method::POST),
            ("code", Method::POST),
        ] {
            assert_eq!(Endpoint::of(name).map(Endpoint::method), Some(method), "{name}");
        }
        for other in ["", "Status", "status ", "checkin", "health"] {
            assert!(Endpoint::of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn another_sites_page_cannot_act_for_a_visitor() {
        let head = |fields: &[(&str, &str)]| {
            let mut request = Request::post("/").header("host", "shop.example");
            for (name, value) in fields {
                request = request.header(*name, *value);
            }
            request.body(()).unwrap().into_parts().0
        };
        assert!(is_foreign(&head(&[("sec-fetch-site", "cross-site")])));
        assert!(is_foreign(&head(&[("origin", "https://evil.example")])));
        assert!(is_foreign(&head(&[("origin", "null")])), "a sandboxed frame");
        assert!(!is_foreign(&head(&[("sec-fetch-site", "same-origin")])));
        assert!(!is_foreign(&head(&[("origin", "https://shop.example")])));
        assert!(!is_foreign(&head(&[])), "an app");
    }
}
