//! What a request brings along beside its method and target: only one that brings nothing may pass a line without a session.

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE, UPGRADE};
use http::request::Parts;

use crate::config::routes::Brings;

use super::method;

/// Who sends it says who they are.
#[must_use]
pub fn has_credentials(headers: &HeaderMap) -> bool {
    headers.contains_key(COOKIE) || headers.contains_key(AUTHORIZATION)
}

/// As far as it decides on the paths that a room leaves outside.
#[must_use]
pub fn of(head: &Parts, has_body: bool) -> Brings {
    // SECURITY: what may become a tunnel is no reading.
    if has_body || method::is_claimed(head) || head.headers.contains_key(UPGRADE) {
        Brings::More
    } else if has_credentials(&head.headers) {
        Brings::Credentials
    } else {
        Brings::Nothing
    }
}
