//! Answers to requests that no service sees, since they cannot be read in one way only.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response};

use crate::body::Body;
use crate::client::framing::Malformed;
use crate::client::request_id::{RequestId, X_REQUEST_ID};
use crate::time;

/// Those of one core. Each is logged with its id: the first of a minute at info, so that an id that somebody reads out is found, and
/// further ones at debug, so that no client fills the log.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    minute: AtomicU64,
    said: AtomicU32,
}

impl Refusals {
    pub(crate) fn refuse(&self, malformed: Malformed) -> Response<Body> {
        let id = RequestId::fresh();
        let request_id = id.as_str();
        if self.is_said(time::uptime()) {
            tracing::info!(request_id, reason = %malformed, "a request cannot be read");
        } else {
            tracing::debug!(request_id, reason = %malformed, "a request cannot be read");
        }
        answer(malformed, &id)
    }

    /// Whether one more belongs in the log.
    fn is_said(&self, now: Duration) -> bool {
        let minute = now.as_secs() / 60 + 1;
        if self.minute.swap(minute, Ordering::Relaxed) != minute {
            self.said.store(0, Ordering::Relaxed);
        }
        self.said.fetch_add(1, Ordering::Relaxed) < MOST_A_MINUTE
    }
}

fn answer(malformed: Malformed, id: &RequestId) -> Response<Body> {
    let mut response = Response::new(Body::from(format!("{malformed}\n")));
    *response.status_mut() = malformed.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static(MALFORMED));
    headers.insert(X_REQUEST_ID, id.value().clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if malformed == Malformed::Connect {
        headers.insert(ALLOW, METHODS);
    }
    response
}

/// The header of the gate's own answers.
pub const ROPELINE_STATUS: HeaderName = HeaderName::from_static("ropeline-status");
/// The label of everything that the proxy refuses by itself.
const MALFORMED: &str = "malformed";
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
/// Lines at info of one core.
const MOST_A_MINUTE: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_minute_are_in_the_log() {
        let refusals = Refusals::default();
        for minute in [0, 1, 7] {
            let said = (0..1_000).filter(|_| refusals.is_said(Duration::from_secs(minute * 60)));
            assert_eq!(said.count(), 20, "{minute}");
        }
    }
}
