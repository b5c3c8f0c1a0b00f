//! Access to the admin listener, checked before any handler.
//!
//! Where a bearer token is configured, it is required. Without one, Host must be an address or `localhost`, which DNS rebinding
//! cannot reach. A change is refused where Fetch Metadata or Origin name another site. There is no CORS.

use std::net::IpAddr;

use http::uri::Authority;
use http::{HeaderMap, HeaderName, Method, header, request};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::caller::Operator;
use super::problem::Problem;
use super::static_files::PAGE;
use crate::config::OPERATOR;

/// The path of questions about a session, which has a token of its own.
pub const VERIFY: &str = "/api/v1/verify";

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

/// A token with its operator's name.
#[derive(Clone, Debug)]
pub struct Named {
    pub name: String,
    pub token: Token,
    pub may: May,
}

/// The permission of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum May {
    Read,
    Change,
}

/// Which callers may use the API.
#[derive(Clone, Debug, Default)]
pub struct Entrance {
    /// This token or one of `named` is required of every request except health checks and the page itself. Without any token,
    /// Host may only be `localhost` or an IP address.
    pub token: Option<Token>,
    pub named: Vec<Named>,
    /// Valid only for questions about a session: a shop should not be able to change its rooms.
    pub verify_token: Option<Token>,
}

impl Entrance {
    /// Refuses a request that must not reach a handler.
    ///
    /// # Errors
    /// 400 or 403 for Host, 401 for the token, 403 for another site's request, and for a change by who may only read.
    pub fn check(&self, request: &request::Parts) -> Result<Operator, Problem> {
        let host = host(request)?;
        let path = request.uri.path();
        let reads = matches!(request.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let operator = match &self.verify_token {
            _ if self.is_guarded() && is_open(path) => nobody(),
            Some(own) if path == VERIFY => self.find(Some(own), &request.headers)?.0,
            _ if self.is_guarded() => {
                let (operator, may) = self.find(None, &request.headers)?;
                if !reads && may == May::Read {
                    let Operator(name) = operator;
                    return Err(Problem::forbidden(format!(
                        "the token of {name} may look and not change"
                    )));
                }
                operator
            }
            _ => {
                check_host(&host)?;
                nobody()
            }
        };
        if !reads {
            check_site(&request.headers, &host)?;
        }
        Ok(operator)
    }

    /// Whether a token is asked for.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.token.is_some() || !self.named.is_empty()
    }

    /// SECURITY: every token is compared, whichever fits, so that time does not tell them apart.
    fn find(&self, other: Option<&Token>, headers: &HeaderMap) -> Result<(Operator, May), Problem> {
        let refused = |detail: &str| Err(Problem::new(http::StatusCode::UNAUTHORIZED, detail));
        let Some(offered) = bearer(headers) else {
            return refused("send Authorization: Bearer with the admin token");
        };
        let plain = self
            .token
            .iter()
            .chain(other)
            .map(|token| (token, OPERATOR, May::Change));
        let named = self
            .named
            .iter()
            .map(|named| (&named.token, named.name.as_str(), named.may));
        let fitting = plain.chain(named).fold(
            None,
            |found, (token, name, may)| {
                if token.is(offered) { Some((name, may)) } else { found }
            },
        );
        match fitting {
            Some((name, may)) => Ok((Operator(name.to_owned()), may)),
            None => refused("the bearer token is wrong"),
        }
    }
}

fn nobody() -> Operator {
    Operator(OPERATOR.to_owned())
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

/// Load balancers ask for health without a secret, and get no other information; the page asks for the token itself, and
/// shows no data before it has it.
fn is_open(path: &str) -> bool {
    matches!(path, "/livez" | "/readyz" | "/healthz") || PAGE.contains(&path)
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

/// SECURITY: a browser sends the origin of a request (Fetch Metadata, Origin); a shell does not. A change that another site's
/// page requests is refused even if no token is set.
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
            ..Entrance::default()
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
            ..Entrance::default()
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
            verify_token: shops,
            ..Entrance::default()
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
    fn a_named_token_says_who_asks_and_what_they_may() {
        let named = |name: &str, secret: &[u8], may| Named {
            name: name.to_owned(),
            token: Token::new(secret),
            may,
        };
        let entrance = Entrance {
            token: Some(Token::new(b"the first one of all")),
            named: vec![
                named("anna", b"correct horse", May::Change),
                named("board", b"only for looking", May::Read),
            ],
            ..Entrance::default()
        };
        let asked = |method: &str, token: &str| {
            let request = Request::builder().method(method).uri("/api/v1/rooms");
            let request = request.header("host", "gate.internal");
            let request = request.header("authorization", format!("Bearer {token}"));
            let (parts, ()) = request.body(()).expect("a request").into_parts();
            entrance
                .check(&parts)
                .map(|operator| operator.0)
                .map_err(|problem| problem.status.as_u16())
        };
        assert_eq!(asked("PATCH", "correct horse"), Ok("anna".to_owned()));
        assert_eq!(asked("PATCH", "the first one of all"), Ok("operator".to_owned()));
        assert_eq!(asked("GET", "only for looking"), Ok("board".to_owned()));
        assert_eq!(asked("PATCH", "only for looking"), Err(403));
        assert_eq!(asked("GET", "anna"), Err(401));
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
