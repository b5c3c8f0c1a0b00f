//! Responses of the shop and of the provider.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use hyper::{Response, StatusCode};

pub(super) type Body = BoxBody<Bytes, Infallible>;

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

/// A whole response that no cache may store.
pub(super) fn whole(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// 303 to a place of our own making; 500 if it is none that a header can hold.
pub(super) fn see_other(place: &str) -> Response<Body> {
    let Ok(location) = HeaderValue::from_str(place) else {
        return whole(StatusCode::INTERNAL_SERVER_ERROR, TEXT, "no such place\n");
    };
    with(whole(StatusCode::SEE_OTHER, TEXT, ""), LOCATION, location)
}

pub(super) fn wrong_method(allowed: &'static str) -> Response<Body> {
    let response = whole(StatusCode::METHOD_NOT_ALLOWED, TEXT, format!("only {allowed} here\n"));
    with(response, ALLOW, HeaderValue::from_static(allowed))
}

pub(super) fn with(mut response: Response<Body>, name: HeaderName, value: HeaderValue) -> Response<Body> {
    response.headers_mut().insert(name, value);
    response
}

pub(super) fn wants_json(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .any(|value| value.to_str().is_ok_and(|text| text.contains(JSON)))
}

/// A small body in one piece; `None` when it is over [`MAX_SMALL_BODY`], slow or cut.
pub(super) async fn small_body(body: Incoming) -> Option<Bytes> {
    let whole = Limited::new(body, MAX_SMALL_BODY).collect();
    let collected = tokio::time::timeout(BODY_DEADLINE, whole).await.ok()?.ok()?;
    Some(collected.to_bytes())
}

/// Counts a body of any size without keeping it; `None` when it stalls or is cut.
pub(super) async fn count_body(mut body: Incoming) -> Option<u64> {
    let mut bytes: u64 = 0;
    while let Some(frame) = tokio::time::timeout(BODY_DEADLINE, body.frame()).await.ok()? {
        let length = frame.ok()?.data_ref().map_or(0, Bytes::len);
        bytes = bytes.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
    }
    Some(bytes)
}

/// Largest form and webhook.
const MAX_SMALL_BODY: usize = 64 * 1024;

/// For a small body, and between two pieces of a large one.
const BODY_DEADLINE: Duration = Duration::from_secs(30);
