//! Converts a request to HTTP/2, and checks answers over HTTP/2.
//!
//! A request that the rest of the gate has made for HTTP/1.1 gets the form of RFC 9113, section 8. A WebSocket's GET becomes
//! the equivalent CONNECT (RFC 8441), and the 200 to it becomes a 101. h2 has refused malformed frames, pseudo-fields, names
//! and lengths.

use http::header::{
    AUTHORIZATION, CONNECTION, COOKIE, HOST, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, TRANSFER_ENCODING, UPGRADE,
};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use hyper::ext::Protocol;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::client::guard::MAX_FIELDS;

/// The required answer to a WebSocket's key; none for a plain request.
pub(super) type Accept = Option<String>;

/// Makes a request one for HTTP/2; none where it cannot be one. An upgrade to anything but a WebSocket is left out, as a
/// server that does not know the protocol would.
pub(super) fn outgoing<B>(request: &mut Request<B>, scheme: Scheme) -> Option<Accept> {
    let headers = request.headers_mut();
    let host = headers.remove(HOST)?;
    let upgrade = headers.remove(UPGRADE);
    // hyper would remove the fields that it names: `TE: trailers` must stay.
    headers.remove(CONNECTION);
    headers.remove(TRANSFER_ENCODING);
    keep_out_of_tables(headers);
    *request.uri_mut() = target(request.uri(), scheme, &host)?;
    let is_websocket = upgrade.is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes()));
    Some(is_websocket.then(|| connect(request)).flatten())
}

/// `Host` becomes `:authority`, and stands nowhere else (section 8.3.1).
fn target(uri: &Uri, scheme: Scheme, host: &HeaderValue) -> Option<Uri> {
    let authority = Authority::try_from(host.as_bytes()).ok()?;
    Uri::builder()
        .scheme(scheme)
        .authority(authority)
        .path_and_query(uri.path_and_query()?.clone())
        .build()
        .ok()
}

/// RFC 7541, section 7.1.3: secrets do not belong into tables that other visitors' requests share.
fn keep_out_of_tables(headers: &mut HeaderMap) {
    for name in [COOKIE, AUTHORIZATION] {
        if let Some(value) = headers.get_mut(name) {
            value.set_sensitive(true);
        }
    }
}

/// RFC 8441, section 5.
fn connect<B>(request: &mut Request<B>) -> Accept {
    let key = request.headers_mut().remove(SEC_WEBSOCKET_KEY)?;
    *request.method_mut() = Method::CONNECT;
    request.extensions_mut().insert(Protocol::from_static(WEBSOCKET));
    Some(derive_accept_key(key.as_bytes()))
}

/// Whether an answer may be passed on; one that opens a WebSocket becomes the equivalent 101.
pub(super) fn incoming<B>(answer: &mut Response<B>, accept: Accept) -> bool {
    if answer.headers().len() > MAX_FIELDS || !answer.headers().values().all(is_trimmed) {
        return false;
    }
    let Some(accept) = accept.and_then(|accept| HeaderValue::from_str(&accept).ok()) else {
        return true;
    };
    if answer.status() == StatusCode::OK {
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        return true;
    }
    // Any success opens the tunnel, and hyper opens it at 200 alone.
    !answer.status().is_success()
}

/// Section 8.2.1: no whitespace around a value.
fn is_trimmed(value: &HeaderValue) -> bool {
    let value = value.as_bytes();
    value.trim_ascii().len() == value.len()
}

const WEBSOCKET: &str = "websocket";
