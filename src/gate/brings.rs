//! What a request brings along beside its method and target: only one that brings nothing may pass a line without a session.

use http::header::{AUTHORIZATION, COOKIE, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, Version};
use http_body::Body as _;

use crate::config::routes::Brings;
use crate::proxy::RequestBody;

use super::method;

/// Whether a body comes; one of unknown length counts. Over HTTP/2 a WebSocket is a stream without an end, and no body.
#[must_use]
pub fn has_body(head: &Parts, body: &RequestBody) -> bool {
    let is_socket = head.version == Version::HTTP_2 && head.headers.contains_key(UPGRADE);
    !is_socket && !body.is_end_stream()
}

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
