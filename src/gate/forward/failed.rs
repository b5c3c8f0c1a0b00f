//! Requests that could not be forwarded: the answer, the log line and the metric.

use http::{Response, StatusCode};

use crate::metrics::{Outcome, UpstreamFault};
use crate::pages::PageKind;
use crate::proxy::{self, Body, Fault, ForwardError, RequestId};

use crate::gate::request::visit::Visit;
use crate::gate::state::pages::Pages;
use crate::gate::state::shared::Shared;
use crate::gate::state::upstream::UpstreamState;
use crate::gate::verdict::answers::{Answer, EXHAUSTED_RETRY_SECS, Refusal};

pub fn failed(shared: &Shared, error: ForwardError, pages: &Pages, visit: &Visit) -> Answer {
    let (status, word, page) = match error.kind {
        proxy::Kind::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large", PageKind::TooLarge),
        proxy::Kind::BodyTimeout => (StatusCode::REQUEST_TIMEOUT, "too_slow", PageKind::BadRequest),
        proxy::Kind::BodyBroken => (StatusCode::BAD_REQUEST, "malformed", PageKind::BadRequest),
        proxy::Kind::Loop => (StatusCode::LOOP_DETECTED, "loop", PageKind::BadGateway),
        proxy::Kind::ConnectTimeout | proxy::Kind::ResponseTimeout | proxy::Kind::TotalTimeout => (
            StatusCode::GATEWAY_TIMEOUT,
            "upstream_timeout",
            PageKind::GatewayTimeout,
        ),
        proxy::Kind::Exhausted | proxy::Kind::Withdrawn => {
            (StatusCode::SERVICE_UNAVAILABLE, "exhausted", PageKind::Unavailable)
        }
        _ => (StatusCode::BAD_GATEWAY, "upstream_unreachable", PageKind::BadGateway),
    };
    let outcome = match error.fault {
        Fault::Client => Outcome::Malformed,
        Fault::Upstream => Outcome::Upstream,
        Fault::Ours => Outcome::Failed,
        Fault::Nobodys => Outcome::TurnedAway,
    };
    note_failure(shared.upstream(visit.upstream), &visit.id, error);
    let mut refusal = Refusal::new(status, word, page, outcome);
    let is_full = matches!(error.kind, proxy::Kind::Exhausted | proxy::Kind::Withdrawn);
    refusal.retry_after_secs = is_full.then_some(EXHAUSTED_RETRY_SECS);
    refusal.answer(pages, visit)
}

/// Whether the shop has failed a request; `None` where its client has, or it was not sent.
pub fn failed_by_shop(result: &Result<Response<Body>, ForwardError>) -> Option<bool> {
    match result {
        Ok(response) => Some(response.status().is_server_error()),
        Err(error) => is_failure(*error).then_some(true),
    }
}

/// Counts and logs that a request was not forwarded, unless that is its client's doing.
pub fn note_failure(upstream: Option<&UpstreamState>, id: &RequestId, error: ForwardError) {
    if let Some(upstream) = upstream.filter(|_| is_failure(error)) {
        upstream.metrics.fault(fault(error.kind));
        tracing::warn!(upstream = upstream.name.as_deref(), request_id = %id, %error, "not forwarded");
    }
}

/// The shop's or the gate's.
fn is_failure(error: ForwardError) -> bool {
    matches!(error.fault, Fault::Upstream | Fault::Ours)
}

/// The failure as the metrics tell them apart.
fn fault(kind: proxy::Kind) -> UpstreamFault {
    match kind {
        proxy::Kind::Unreachable | proxy::Kind::ConnectTimeout | proxy::Kind::Exhausted => UpstreamFault::Connect,
        proxy::Kind::ResponseTimeout | proxy::Kind::TotalTimeout => UpstreamFault::Timeout,
        _ => UpstreamFault::Broken,
    }
}
