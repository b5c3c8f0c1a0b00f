//! Checks of a request over HTTP/2, and its conversion to the form that the rest of the gate handles.
//!
//! h2 has refused frames, pseudo-fields and names that RFC 9113 calls malformed. The checks left to a recipient that forwards
//! requests as HTTP/1.1 are made here (section 8.2.3 and 8.3.1); a WebSocket's CONNECT (RFC 8441) becomes the equivalent GET.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, SEC_WEBSOCKET_KEY, UPGRADE};
use http::uri::Scheme;
use http::{HeaderMap, HeaderValue, Method, Request};
use hyper::ext::Protocol;

use crate::client::framing::{self, Malformed};
use crate::client::guard::MAX_FIELDS;
use crate::client::noted::Noted;

/// Refuses ambiguous requests, and leaves the request as an HTTP/1.1 client would have sent it.
pub(super) fn check<B>(request: &mut Request<B>) -> Result<Noted, Malformed> {
    open_tunnel(request)?;
    check_scheme(request)?;
    check_path(request)?;
    check_length(request.headers())?;
    check_authority(request)?;
    let headers = request.headers_mut();
    if !headers.values().all(is_trimmed) {
        return Err(Malformed::Line);
    }
    join_cookies(headers)?;
    if headers.len() > MAX_FIELDS {
        return Err(Malformed::TooMany);
    }
    // An interim answer cannot be sent here, and no client waits for it for ever (RFC 9110, section 10.1.1).
    headers.remove(EXPECT);
    framing::check(request)
}

/// RFC 8441, section 5: the upstream is asked for the same WebSocket over HTTP/1.1.
fn open_tunnel<B>(request: &mut Request<B>) -> Result<(), Malformed> {
    if request.method() != Method::CONNECT {
        return Ok(());
    }
    let protocol = request.extensions_mut().remove::<Protocol>();
    if protocol.is_none_or(|protocol| protocol.as_str() != "websocket") {
        return Err(Malformed::Connect);
    }
    *request.method_mut() = Method::GET;
    let headers = request.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_KEY, fresh_key());
    Ok(())
}

/// RFC 6455, section 4.1: sixteen bytes chosen by chance. They protect from caches that know no WebSocket; without chance
/// they are the same, which is still a key.
fn fresh_key() -> HeaderValue {
    let mut nonce = [0; 16];
    let _ = getrandom::fill(&mut nonce);
    HeaderValue::from_str(&STANDARD.encode(nonce)).expect("base64 is a header value")
}

fn check_scheme<B>(request: &Request<B>) -> Result<(), Malformed> {
    match request.uri().scheme() {
        None => Ok(()),
        Some(scheme) if *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS => Ok(()),
        Some(_) => Err(Malformed::Target),
    }
}

/// The target must be a path: what the parser would complete was not one.
fn check_path<B>(request: &Request<B>) -> Result<(), Malformed> {
    match request.uri().path_and_query() {
        Some(target) if target.as_str().starts_with('/') => Ok(()),
        _ => Err(Malformed::Target),
    }
}

/// h2 holds the body to one length, and lets a second that says the same pass.
fn check_length(headers: &HeaderMap) -> Result<(), Malformed> {
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let is_number = |length: &HeaderValue| !length.is_empty() && length.as_bytes().iter().all(u8::is_ascii_digit);
    match (lengths.next(), lengths.next()) {
        (None, _) => Ok(()),
        (Some(length), None) if is_number(length) => Ok(()),
        _ => Err(Malformed::Length),
    }
}

/// RFC 9113, section 8.3.1: `:authority` and one `Host` say the same, or one of them says it alone.
fn check_authority<B>(request: &mut Request<B>) -> Result<(), Malformed> {
    let Some(authority) = request.uri().authority() else {
        return Ok(());
    };
    let agrees = |host: &HeaderValue| host.as_bytes().eq_ignore_ascii_case(authority.as_str().as_bytes());
    let mut hosts = request.headers().get_all(HOST).iter();
    if !hosts.next().is_none_or(agrees) || hosts.next().is_some() {
        return Err(Malformed::Host);
    }
    let host = HeaderValue::from_str(authority.as_str()).map_err(|_| Malformed::Host)?;
    request.headers_mut().insert(HOST, host);
    Ok(())
}

/// RFC 9113, section 8.2.1: no whitespace around a value.
fn is_trimmed(value: &HeaderValue) -> bool {
    let value = value.as_bytes();
    value.trim_ascii().len() == value.len()
}

/// RFC 9113, section 8.2.3.
fn join_cookies(headers: &mut HeaderMap) -> Result<(), Malformed> {
    let mut crumbs = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
    let (Some(first), Some(second)) = (crumbs.next(), crumbs.next()) else {
        return Ok(());
    };
    let all = [first, second]
        .into_iter()
        .chain(crumbs)
        .collect::<Vec<_>>()
        .join(&b"; "[..]);
    let joined = HeaderValue::from_bytes(&all).map_err(|_| Malformed::Line)?;
    headers.insert(COOKIE, joined);
    Ok(())
}
