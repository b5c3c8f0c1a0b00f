//! The payload of a request beside its method and target: only one without any may pass a line without a session.

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE, UPGRADE};
use http::request::Parts;

use crate::names;
use crate::router::Brings;

use super::method;

/// The request contains credentials.
#[must_use]
pub fn has_credentials(headers: &HeaderMap) -> bool {
    headers.contains_key(COOKIE) || headers.contains_key(AUTHORIZATION)
}

/// As far as it decides on the paths that a room leaves outside.
#[must_use]
pub fn of(head: &Parts, has_body: bool) -> Brings {
    if has_body || head.uri.query().is_some_and(method::is_in_query) {
        return Brings::More;
    }
    // PERF: one pass over all fields costs less than looking for each.
    let of_fields = head.headers.keys().map(|name| match *name {
        // SECURITY: a request that may become a tunnel does not only read.
        UPGRADE => Brings::More,
        COOKIE | AUTHORIZATION => Brings::Credentials,
        _ if names::field::names_a_method(name.as_str()) => Brings::More,
        _ => Brings::Nothing,
    });
    of_fields.max().unwrap_or(Brings::Nothing)
}
