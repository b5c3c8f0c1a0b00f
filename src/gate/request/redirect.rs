//! Requests that come in the clear are sent to the same address over TLS, if the operator wants it.
//!
//! Requests by which a certificate authority verifies a host, and a load balancer's checks, are answered over plain HTTP:
//! both ignore certificates. A redirect never contains a host without a room.

use http::StatusCode;
use http::header::LOCATION;
use http::request::Parts;

use crate::metrics::Outcome;
use crate::router::{OWN_PREFIX, normal_host};

use super::challenge;
use super::location;
use super::visit::{self, Visit};
use crate::gate::state::shared::Shared;
use crate::gate::verdict::answers::{Answer, plain};

/// The redirect; none for a request that may stay in the clear.
pub fn answer(shared: &Shared, visit: &Visit, head: &Parts) -> Option<Answer> {
    let port = shared.redirect.filter(|_| !visit.secure && !stays(head.uri.path()))?;
    let host = normal_host(visit::host(head)).filter(|host| shared.router.serves(host))?;
    let mut response = plain(StatusCode::PERMANENT_REDIRECT, "redirected");
    response
        .headers_mut()
        .insert(LOCATION, location::secure(&host, port, visit.here()));
    Some(Answer::new(Outcome::Redirected, response))
}

/// An authority's question, and the health of the gate.
fn stays(path: &str) -> bool {
    challenge::token(path).is_some() || path.strip_prefix(OWN_PREFIX) == Some("/health")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_challenge_and_the_health_stay_in_the_clear() {
        assert!(stays("/.well-known/acme-challenge/a-B_9") && stays("/.ropeline/health"));
        for path in [
            "/.well-known/acme-challenge/",
            "/.well-known/acme-challenge/../checkout",
            "/.well-known/acme-challenge/a/b",
            "/.well-known/acme-challenge/%2e%2e",
            "/.well-known/security.txt",
            "/.ropeline/health/",
            "/.ropeline/rooms/shop/status",
            "/",
        ] {
            assert!(!stays(path), "{path}");
        }
    }
}
