//! Refusals for programs: problem details (RFC 9457).

use http::StatusCode;
use serde::Serialize;

use super::text::json;

/// Content type of [`Problem::to_json`].
pub const CONTENT_TYPE: &str = "application/problem+json";

/// One refusal. The type is always `about:blank`: the status says it all, `reason` names the gate's own cause.
#[derive(Clone, Debug, Serialize)]
pub struct Problem<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'static str,
    status: u16,
    /// The gate's word for the cause, the one in `Ropeline-Status`.
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    /// The request id, as in the log.
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    room: Option<&'a str>,
    /// Seconds, as in `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u32>,
    #[serde(flatten)]
    work: Option<Work<'a>>,
}

/// A required proof of work; [`crate::token::proof`] describes the solution.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Work<'a> {
    pub challenge: &'a str,
    /// Hashes that it takes on average.
    pub price: u32,
    pub parts: u32,
    pub most: u32,
    /// Seconds to wait instead, after which the challenge is sent unsolved.
    pub wait: u32,
}

impl<'a> Problem<'a> {
    #[must_use]
    pub fn new(status: StatusCode, reason: &'a str, request_id: &'a str) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Refused"),
            status: status.as_u16(),
            reason,
            detail: None,
            request_id,
            room: None,
            retry_after: None,
            work: None,
        }
    }

    /// A sentence for a person; the operator's message, say.
    #[must_use]
    pub fn detail(self, detail: Option<&'a str>) -> Self {
        Self { detail, ..self }
    }

    /// The room that refused.
    #[must_use]
    pub fn room(self, room: &'a str) -> Self {
        Self {
            room: Some(room),
            ..self
        }
    }

    #[must_use]
    pub fn retry_after(self, secs: u32) -> Self {
        Self {
            retry_after: Some(secs),
            ..self
        }
    }

    /// The code of the problem.
    #[must_use]
    pub fn work(self, work: Work<'a>) -> Self {
        Self {
            work: Some(work),
            ..self
        }
    }

    /// The answer's body.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_status_cause_and_request() {
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "waiting", "req-1")
            .room("shop")
            .retry_after(20)
            .detail(Some("Doors \"14:00\""));
        assert_eq!(
            problem.to_json(),
            r#"{"type":"about:blank","title":"Service Unavailable","status":503,"reason":"waiting","detail":"Doors \"14:00\"","request_id":"req-1","room":"shop","retry_after":20}"#
        );
    }
}
