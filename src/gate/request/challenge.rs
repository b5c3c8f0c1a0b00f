//! Requests by which a certificate authority verifies a host (RFC 8555, section 8.3). One for an order of the gates is answered here,
//! whatever host, room or line it would belong to; any other takes the way of all requests, since the shop may have an order of its own.

use bytes::Bytes;
use http::request::Parts;
use http::{Method, StatusCode};

use crate::gate::state::shared::Shared;
use crate::gate::verdict::answers::{Answer, bytes};
use crate::metrics::Outcome;

/// The answer; none for a request that is another's.
pub fn answer(shared: &Shared, head: &Parts) -> Option<Answer> {
    let is_read = head.method == Method::GET || head.method == Method::HEAD;
    let answer = shared.challenges.to(token(head.uri.path()).filter(|_| is_read)?)?;
    let body = Bytes::from(answer);
    let response = bytes(StatusCode::OK, "challenge", "application/octet-stream", body);
    Some(Answer::new(Outcome::Own, response))
}

/// The token of a challenge, for its path.
pub fn token(path: &str) -> Option<&str> {
    let is_token =
        |token: &&str| !token.is_empty() && token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    path.strip_prefix(CHALLENGE).filter(is_token)
}

const CHALLENGE: &str = "/.well-known/acme-challenge/";
