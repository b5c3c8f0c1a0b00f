//! A proxy carries the traffic and asks the gate who may pass: nginx by `auth_request`, Traefik by `ForwardAuth`, Caddy by
//! `forward_auth`, `HAProxy`, Envoy by `ext_authz`.
//!
//! The described request goes through the same rooms, limits and [`decide`] as the gate's own requests. Where it would be
//! forwarded to the shop, the answer is that it may pass. No other answer is ever 2xx, and a 2xx answer sets no cookie,
//! because not every proxy would pass it on. A proxy that understands only yes or no asks twice, first for permission and
//! then for the answer to show, and the first request changes nothing unless it is permitted.
//!
//! [`decide`]: mod@crate::gate::verdict::decide

mod answers;
mod description;

use std::sync::Arc;

use http::request::Parts;
use http::{Response, StatusCode};
use http_body::Body as _;

use crate::config::Asker;
use crate::metrics::Outcome;
use crate::pages::PageKind;
use crate::proxy::{Body, Conn};
use crate::router::OWN_PREFIX;

use super::request::aim::Aim;
use super::request::kind::Kind;
use super::request::rehearsal_mark::unmarked;
use super::request::visit::Visit;
use super::request::{crawler, preflight};
use super::state::gate::{Gate, Halves};
use super::verdict::answers::{Answer, Refusal};
use super::verdict::in_room;

pub use answers::{bounded, go_on, is_leave, no};

/// A request to one of the endpoints for proxies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    asker: Asker,
    aim: Aim,
}

impl Question {
    /// The question that a request is, if it is one that the configuration has an answer for.
    #[must_use]
    pub fn of(askers: &[Asker], head: &Parts) -> Option<Self> {
        if askers.is_empty() {
            return None;
        }
        Self::at(head.uri.path()).filter(|question| askers.contains(&question.asker))
    }

    /// The question at this path, which is the endpoint's and, from Envoy, goes on with the path that is asked about.
    fn at(path: &str) -> Option<Self> {
        let rest = path.strip_prefix(OWN_PREFIX)?.strip_prefix(FORWARD)?;
        let (name, tail) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let (_, asker) = Asker::ALL.into_iter().find(|(own, _)| *own == name)?;
        let aim = match (asker, tail) {
            (Asker::Envoy, _) | (Asker::Traefik | Asker::Caddy, "") => Aim::LeaveOrWords(asker),
            (Asker::Nginx | Asker::Haproxy, "") => Aim::Leave(asker),
            (Asker::Nginx | Asker::Haproxy, "/answer") => Aim::Words(asker),
            _ => return None,
        };
        Some(Self { asker, aim })
    }
}

/// Below [`OWN_PREFIX`].
const FORWARD: &str = "/forward/";

/// Answers a proxy. SECURITY: only a proxy in `trusted_proxies` may describe a request.
pub async fn judge(gate: &Gate, conn: &Arc<Conn>, question: Question, mut request: Box<Halves>) -> Response<Body> {
    let shared = &*gate.shared;
    let own = Visit::of(conn, &request.head, false, &shared.trusted);
    let record = shared.record(&request.head);
    if !own.peer_trusted {
        let answer = refusal(StatusCode::FORBIDDEN, "not_a_proxy").answer(&shared.pages, &own);
        return shared.finish(&own, record, None, answer);
    }
    let described = description::of(question.asker, request.head, &shared.said_by_proxies);
    let (head, bodiless) = match described {
        Ok(described) => described,
        Err(lacks) => {
            let told = lacks.to_string();
            let mut refusal = refusal(question.misunderstood(), "undescribed");
            refusal.message = Some(&told);
            return shared.finish(&own, record, None, refusal.answer(&shared.pages, &own));
        }
    };
    request.head = head;
    let has_body = !bodiless || !request.body.is_end_stream();
    let mut visit = crawler::visit((&shared.trusted, &shared.crawlers), conn, &mut request.head, has_body);
    if visit.kind == Kind::Preflight && preflight::brings_more(&request.head.headers, question.asker) {
        visit.kind = Kind::of_no_crawler(&request.head.method, &request.head.headers);
    }
    // SECURITY: a yes would send a virtual visitor's request to the shop. They must come to the gate itself.
    if own.mark.is_some() || visit.mark.is_some() {
        return shared.finish(&own, record, None, unmarked(&shared.pages, &own));
    }
    visit.aim = question.aim;
    let record = shared.record(&request.head);
    let (room, answer) = asked(gate, &mut visit, request).await;
    shared.finish(&visit, record, room, answers::close(question.aim, answer))
}

/// The described request goes the way of the gate's own.
async fn asked(gate: &Gate, visit: &mut Visit, request: Box<Halves>) -> (Option<usize>, Answer) {
    let shared = &*gate.shared;
    let refuse = |status, word, outcome| {
        let refusal = Refusal::new(status, word, PageKind::BadRequest, outcome);
        (None, refusal.answer(&shared.pages, visit))
    };
    let Some(routed) = shared.route(&request.head, visit) else {
        return refuse(StatusCode::BAD_REQUEST, "malformed", Outcome::Malformed);
    };
    if routed.own {
        // The proxy must send it here, not ask about it: a yes would send it to the shop.
        return refuse(StatusCode::NOT_FOUND, "not_found", Outcome::Own);
    }
    visit.upstream = routed.upstream;
    let limits = routed.limits.clone();
    let (room, answer) = in_room::routed(gate, visit, request, routed).await;
    if !visit.aim.counts_first()
        && answers::is_leave(&answer)
        && let Err(over) = shared.limits.routes(&limits, visit.client)
    {
        return (room, over.answer(&shared.pages, visit));
    }
    (room, answer)
}

impl Question {
    /// The status for a question without a description of a request: nginx accepts only 401 and 403 as an answer.
    fn misunderstood(self) -> StatusCode {
        match self.aim {
            Aim::Leave(_) => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

fn refusal(status: StatusCode, word: &'static str) -> Refusal<'static> {
    Refusal::new(status, word, PageKind::BadRequest, Outcome::Own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aim(path: &str) -> Option<Aim> {
        Question::at(path).map(|question| question.aim)
    }

    #[test]
    fn each_proxy_has_its_endpoint_and_who_asks_twice_has_two() {
        for (name, asker) in Asker::ALL {
            let path = format!("/.ropeline/forward/{name}");
            let twice = matches!(asker, Asker::Nginx | Asker::Haproxy);
            let first = if twice {
                Aim::Leave(asker)
            } else {
                Aim::LeaveOrWords(asker)
            };
            assert_eq!(aim(&path), Some(first), "{name}");
            if asker != Asker::Envoy {
                let second = twice.then_some(Aim::Words(asker));
                assert_eq!(aim(&format!("{path}/answer")), second, "{name}");
                assert_eq!(aim(&format!("{path}/")), None, "{name}");
            }
        }
        let envoy = Some(Aim::LeaveOrWords(Asker::Envoy));
        assert_eq!(aim("/.ropeline/forward/envoy/seats/7"), envoy);
        for other in [
            "/.ropeline/forward",
            "/.ropeline/forward/",
            "/.ropeline/forward/other",
            "/forward/nginx",
            "/",
        ] {
            assert_eq!(aim(other), None, "{other}");
        }
    }
}
