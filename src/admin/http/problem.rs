//! Refusals as Problem Details for HTTP APIs (RFC 9457).

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

use crate::admin::api;
use crate::replica::Unrecorded;

/// A request that changes nothing, with the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub status: StatusCode,
    pub detail: String,
    /// Each mistake separately, if there are several.
    pub mistakes: Vec<String>,
}

impl Problem {
    #[must_use]
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            mistakes: Vec::new(),
        }
    }

    #[must_use]
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    #[must_use]
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    /// 422: the request was understood and its values are wrong.
    #[must_use]
    pub fn mistakes(mistakes: Vec<String>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Self {
            status,
            detail: format!("nothing was changed: {}", mistakes.join("; ")),
            mistakes,
        }
    }

    /// A change that is not on record: 409 where the room did not take it, 503 where the log did not, in time.
    #[must_use]
    pub fn unrecorded(why: Unrecorded) -> Self {
        match why {
            Unrecorded::Refused => Self::new(
                StatusCode::CONFLICT,
                "the room did not take the change: look and try again",
            ),
            Unrecorded::Stale => Self::new(
                StatusCode::CONFLICT,
                "others change the room at this moment, at another gate: look and try again",
            ),
            Unrecorded::CutOff => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the log has not taken the change in time; it may still: look before trying again",
            ),
            Unrecorded::Full => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too much is waiting to be recorded: try again",
            ),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = api::Problem {
            kind: "about:blank".to_owned(),
            title: self.status.canonical_reason().unwrap_or("Refused").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail,
            mistakes: self.mistakes,
        };
        let mut response = json(&body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"ropeline\""),
            );
        }
        response
    }
}

/// 200 with `value` as JSON.
pub fn json(value: &impl serde::Serialize) -> Response {
    // The API's types hold strings, numbers and lists: nothing that JSON cannot hold.
    let text = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(Body::from(text));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
