//! Requests that come in the clear are sent to the same address over TLS, if the operator wants it.
//!
//! What proves a host to a certificate authority, and what a load balancer asks for, stays in the clear: both are asked
//! without looking at certificates. A host that no room is for is not put into a link of ours.

use http::header::LOCATION;
use http::request::Parts;
use http::{HeaderValue, StatusCode};

use crate::config::routes::{OWN_PREFIX, normal_host};
use crate::metrics::Outcome;

use super::answers::{Answer, plain};
use super::shared::Shared;
use super::visit::{self, Visit};

/// The redirect; none for what goes its way as it came.
pub fn answer(shared: &Shared, visit: &Visit, head: &Parts) -> Option<Answer> {
    let port = shared.redirect.filter(|_| !visit.secure && !stays(head.uri.path()))?;
    let host = normal_host(visit::host(head)).filter(|host| shared.router.serves(host))?;
    let location = HeaderValue::try_from(address(&host, port, visit.here())).ok()?;
    let mut response = plain(StatusCode::PERMANENT_REDIRECT, "redirected");
    response.headers_mut().insert(LOCATION, location);
    Some(Answer::new(Outcome::Redirected, response))
}

fn address(host: &str, port: u16, target: &str) -> String {
    match port {
        HTTPS_PORT => format!("https://{host}{target}"),
        port => format!("https://{host}:{port}{target}"),
    }
}

/// RFC 8555, section 8.3; and the health of the gate.
fn stays(path: &str) -> bool {
    let is_token =
        |token: &str| !token.is_empty() && token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    path.strip_prefix(CHALLENGE).is_some_and(is_token) || path.strip_prefix(OWN_PREFIX) == Some("/health")
}

const HTTPS_PORT: u16 = 443;
const CHALLENGE: &str = "/.well-known/acme-challenge/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_port_is_left_out() {
        assert_eq!(address("shop.example", 443, "/a?b"), "https://shop.example/a?b");
        assert_eq!(address("[::1]", 8443, "//a"), "https://[::1]:8443//a");
    }

    #[test]
    fn only_a_challenge_and_the_health_stay_in_the_clear() {
        assert!(stays("/.well-known/acme-challenge/a-B_9") && stays("/.anteroom/health"));
        for path in [
            "/.well-known/acme-challenge/",
            "/.well-known/acme-challenge/../checkout",
            "/.well-known/acme-challenge/a/b",
            "/.well-known/acme-challenge/%2e%2e",
            "/.well-known/security.txt",
            "/.anteroom/health/",
            "/.anteroom/rooms/shop/status",
            "/",
        ] {
            assert!(!stays(path), "{path}");
        }
    }
}
