//! Who may talk to the admin listener: checks that come before any handler.
//!
//! A bearer token where one is set; where none is, a Host that no page on the web can make a browser send by rebinding its
//! own name to this address; and for changes, no sign of another site behind the request. There is no CORS: nothing here
//! is for pages of other origins.

use std::net::IpAddr;

use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method, header, request};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::Problem;
use super::verify::VERIFY;

/// The bearer token, kept as its digest so that neither its bytes nor its length can leak from here.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// SECURITY: compares in constant time.
    fn is(&self, offered: &[u8]) -> bool {
        Self::new(offered).0.ct_eq(&self.0).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(masked)")
    }
}

/// Who is let in.
#[derive(Clone, Debug, Default)]
pub struct Entrance {
    /// Demanded of every request but health checks. Without one only `localhost` and IP addresses may stand in Host.
    pub token: Option<Token>,
    /// Good for questions about a session, and for nothing else: a shop should not be able to change its rooms.
    pub verify_token: Option<Token>,
}

impl Entrance {
    /// Refuses a request that must not reach a handler.
    ///
    /// # Errors
    /// 400 or 403 for Host, 401 for the token, 403 for another site's request.
    pub fn check(&self, request: &request::Parts) -> Result<(), Problem> {
        let host = host(request)?;
        let path = request.uri.path();
        match (&self.token, &self.verify_token) {
            (Some(_), _) if is_health(path) => {}
            (token, Some(own)) if path == VERIFY => check_token(own, token.as_ref(), &request.headers)?,
            (Some(token), _) => check_token(token, None, &request.headers)?,
            (None, _) => check_host(&host)?,
        }
        if !matches!(request.method, Method::GET | Method::HEAD | Method::OPTIONS) {
            check_site(&request.headers, &host)?;
        }
        Ok(())
    }
}

/// SECURITY: DNS rebinding needs a name in Host; an address cannot be rebound. With a token the name does not matter, since
/// no page of another site knows it.
fn check_host(authority: &Authority) -> Result<(), Problem> {
    let host = authority.host();
    let address = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>()
        .is_ok();
    if address || host.eq_ignore_ascii_case("localhost") {
        return Ok(());
    }
    Err(Problem::forbidden(
        "without an admin_token only localhost or an address may stand in Host",
    ))
}

fn check_token(token: &Token, or: Option<&Token>, headers: &HeaderMap) -> Result<(), Problem> {
    let refused = |detail: &str| Err(Problem::new(http::StatusCode::UNAUTHORIZED, detail));
    match bearer(headers) {
        Some(offered) if token.is(offered) || or.is_some_and(|other| other.is(offered)) => Ok(()),
        Some(_) => refused("the bearer token is wrong"),
        None => refused("send Authorization: Bearer with the admin token"),
    }
}

/// Load balancers ask for health without a secret, and learn nothing from it.
fn is_health(path: &str) -> bool {
    matches!(path, "/livez" | "/readyz" | "/healthz")
}

fn host(request: &request::Parts) -> Result<Authority, Problem> {
    let refused = || Problem::new(http::StatusCode::BAD_REQUEST, "send exactly one Host");
    if let Some(authority) = request.uri.authority() {
        return Ok(authority.clone());
    }
    only(&request.headers, &header::HOST)
        .and_then(|host| host.parse().ok())
        .ok_or_else(refused)
}

/// The credentials of RFC 6750; the scheme's name in any case.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = only(headers, &header::AUTHORIZATION)?;
    let (scheme, credentials) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| credentials.trim().as_bytes())
}

/// SECURITY: a browser says where a request comes from (Fetch Metadata, Origin); a shell says nothing. A change that
/// another site's page asked for is refused even where no token is set.
fn check_site(headers: &HeaderMap, host: &Authority) -> Result<(), Problem> {
    let site = headers.get("sec-fetch-site").map(http::HeaderValue::as_bytes);
    let same_site = site.is_none_or(|site| matches!(site, b"same-origin" | b"none"));
    let origins = headers.get_all(header::ORIGIN).iter();
    let same_origin = origins
        .map(|origin| origin.to_str().unwrap_or_default())
        .all(|origin| is_origin(origin, host));
    if same_site && same_origin {
        return Ok(());
    }
    Err(Problem::forbidden("a page of another site asked for this change"))
}

fn is_origin(origin: &str, host: &Authority) -> bool {
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host.as_str()))
}

/// The header's value when it stands there once and is text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn asked(entrance: &Entrance, method: &str, headers: &[(&str, &str)]) -> Option<u16> {
        asked_for(entrance, method, "/api/v1/rooms", headers)
    }

    fn asked_for(entrance: &Entrance, method: &str, target: &str, headers: &[(&str, &str)]) -> Option<u16> {
        let request = Request::builder().method(method).uri(target);
        let request = headers
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, *value));
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        entrance.check(&parts).err().map(|problem| problem.status.as_u16())
    }

    #[test]
    fn without_a_token_only_addresses_and_localhost_are_hosts() {
        let entrance = Entrance::default();
        for host in ["127.0.0.1:9925", "[::1]:9925", "localhost", "LOCALHOST:1", "10.0.0.7"] {
            assert_eq!(asked(&entrance, "GET", &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert_eq!(asked(&entrance, "GET", &[("host", host)]), Some(403), "{host}");
        }
        assert_eq!(asked(&entrance, "GET", &[]), Some(400));
        assert_eq!(
            asked(&entrance, "GET", &[("host", "localhost"), ("host", "localhost")]),
            Some(400)
        );
    }

    #[test]
    fn a_token_is_demanded_where_one_is_set() {
        let entrance = Entrance {
            token: Some(Token::new(b"correct horse")),
            verify_token: None,
        };
        let with = |value: &str| asked(&entrance, "GET", &[("host", "localhost"), ("authorization", value)]);
        assert_eq!(with("Bearer correct horse"), None);
        assert_eq!(with("bearer correct horse"), None);
        for wrong in [
            "Bearer correct hors",
            "Bearer correct horse2",
            "Basic correct horse",
            "Bearer",
            "",
        ] {
            assert_eq!(with(wrong), Some(401), "{wrong}");
        }
        assert_eq!(asked(&entrance, "GET", &[("host", "localhost")]), Some(401));
        let named = [("host", "gate.internal"), ("authorization", "Bearer correct horse")];
        assert_eq!(asked(&entrance, "GET", &named), None);
    }

    #[test]
    fn a_token_for_questions_about_sessions_is_good_for_nothing_else() {
        let shops = Some(Token::new(b"the shop's own"));
        let with = |entrance: &Entrance, target: &str, value: &str| {
            let headers = [("host", "gate.internal"), ("authorization", value)];
            asked_for(entrance, "GET", target, &headers)
        };
        let both = Entrance {
            token: Some(Token::new(b"correct horse")),
            verify_token: shops.clone(),
        };
        assert_eq!(with(&both, VERIFY, "Bearer the shop's own"), None);
        assert_eq!(with(&both, VERIFY, "Bearer correct horse"), None);
        assert_eq!(with(&both, VERIFY, "Bearer wrong"), Some(401));
        for other in [
            "/api/v1/rooms",
            "/api/v1/verify/",
            "/api/v1/verify/x",
            "/metrics",
            "/api/v1/%76erify",
        ] {
            assert_eq!(with(&both, other, "Bearer the shop's own"), Some(401), "{other}");
        }
        let one = Entrance {
            token: None,
            verify_token: shops,
        };
        assert_eq!(with(&one, VERIFY, "Bearer the shop's own"), None);
        assert_eq!(with(&one, VERIFY, "Bearer wrong"), Some(401));
        assert_eq!(
            with(&one, "/api/v1/rooms", "Bearer the shop's own"),
            Some(403),
            "by a name"
        );
        let neither = Entrance::default();
        assert_eq!(asked_for(&neither, "GET", VERIFY, &[("host", "localhost")]), None);
    }

    #[test]
    fn a_change_asked_for_by_another_site_is_refused() {
        let entrance = Entrance::default();
        let with =
            |method: &str, name: &str, value: &str| asked(&entrance, method, &[("host", "localhost:1"), (name, value)]);
        for (name, value) in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("origin", "http://localhost:2"),
            ("origin", "http://evil.example"),
            ("origin", "null"),
        ] {
            assert_eq!(with("PATCH", name, value), Some(403), "{name}: {value}");
            assert_eq!(with("DELETE", name, value), Some(403), "{name}: {value}");
            assert_eq!(with("GET", name, value), None, "{name}: {value}");
        }
        assert_eq!(with("PATCH", "sec-fetch-site", "same-origin"), None);
        assert_eq!(with("PATCH", "origin", "http://localhost:1"), None);
    }
}
