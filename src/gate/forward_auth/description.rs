//! A proxy's description of the request that it asks about.
//!
//! Method, scheme, host, target and client must all be there, each once and well-formed: a missing one is refused, never
//! guessed, since a guess could make a protected request look like another. All other fields are the visitor's own, as the
//! proxy passed them on.

use std::net::IpAddr;

use http::header::{HOST, HeaderName, UPGRADE};
use http::request::Parts;
use http::uri::{PathAndQuery, Uri};
use http::{HeaderMap, HeaderValue, Method};

use crate::config::Asker;
use crate::names;
use crate::proxy::{SpelledHost, connection_reaches_too_far, is_alias};
use crate::router::OWN_PREFIX;

use super::FORWARD;

/// The missing part of the description, in a text for the operator of the proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the question has no single well-formed {0}")]
pub struct Lacks(pub &'static str);

/// The described request's head, from the head of the question, and whether the proxy says that no body comes.
pub fn of(asker: Asker, mut head: Parts, said_by_proxies: &[HeaderName]) -> Result<(Parts, bool), Lacks> {
    let headers = &head.headers;
    let bodiless = only(headers, &BODY, "Ropeline-Body").is_ok_and(|said| said == "none");
    let (method, host, target) = match asker {
        Asker::Nginx | Asker::Haproxy => (
            method(headers, &ORIGINAL_METHOD, "X-Original-Method")?,
            only(headers, &ORIGINAL_HOST, "X-Original-Host")?.clone(),
            target(
                only(headers, &ORIGINAL_URI, "X-Original-URI")?.as_bytes(),
                "X-Original-URI",
            )?,
        ),
        Asker::Traefik | Asker::Caddy => (
            method(headers, &FORWARDED_METHOD, "X-Forwarded-Method")?,
            only(headers, &FORWARDED_HOST, "X-Forwarded-Host")?.clone(),
            target(
                only(headers, &FORWARDED_URI, "X-Forwarded-Uri")?.as_bytes(),
                "X-Forwarded-Uri",
            )?,
        ),
        Asker::Envoy => (
            head.method.clone(),
            as_sent(&head)?,
            target(behind_prefix(&head.uri).as_bytes(), "the path behind the prefix")?,
        ),
    };
    let scheme = scheme(headers)?;
    client(headers)?;
    let is_the_proxys = |name: &HeaderName| *name == ORIGINAL_URI && matches!(asker, Asker::Nginx | Asker::Haproxy);
    // SECURITY: the proxy passes it on, and a shop that obeys it serves another target than the one decided on.
    if headers
        .keys()
        .any(|name| names::field::names_a_target(name.as_str()) && !is_the_proxys(name))
    {
        return Err(Lacks("target: a field such as X-Original-URL names another"));
    }
    clean(&head.headers, said_by_proxies)?;
    for name in [
        &ORIGINAL_METHOD,
        &ORIGINAL_HOST,
        &ORIGINAL_URI,
        &FORWARDED_METHOD,
        &FORWARDED_URI,
        &BODY,
    ] {
        head.headers.remove(name);
    }
    head.headers.insert(HOST, host);
    head.headers.insert(FORWARDED_PROTO, scheme);
    if head.headers.contains_key(SOCKET_KEY) && !head.headers.contains_key(UPGRADE) {
        // A field of one connection, which the proxy kept to itself.
        head.headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    }
    head.method = method;
    head.uri = Uri::from(target);
    Ok((head, bodiless))
}

/// SECURITY: refuses fields that the gate would remove in the request path, because the proxy would pass them on.
fn clean(headers: &HeaderMap, said_by_proxies: &[HeaderName]) -> Result<(), Lacks> {
    if headers.keys().any(|name| is_alias(name, said_by_proxies)) {
        return Err(Lacks(
            "names of fields: one has another sign than a dash, and is taken for a field of the gate's",
        ));
    }
    if connection_reaches_too_far(headers, said_by_proxies) {
        return Err(Lacks("fields: Connection names one away"));
    }
    Ok(())
}

/// A field that stands exactly once. SECURITY: of two, the proxy may have written only one.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName, called: &'static str) -> Result<&'h HeaderValue, Lacks> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) if !value.is_empty() => Ok(value),
        _ => Err(Lacks(called)),
    }
}

/// The visitor's `Host` as the proxy sends it to the shop, which may depend on the spelling.
fn as_sent(head: &Parts) -> Result<HeaderValue, Lacks> {
    let host = only(&head.headers, &HOST, "Host")?;
    let spelled = head.extensions.get::<SpelledHost>();
    Ok(spelled.map_or_else(|| host.clone(), |spelled| spelled.0.clone()))
}

fn method(headers: &HeaderMap, name: &HeaderName, called: &'static str) -> Result<Method, Lacks> {
    Method::from_bytes(only(headers, name, called)?.as_bytes()).map_err(|_| Lacks(called))
}

/// A path with its query, as in a request line.
fn target(text: &[u8], called: &'static str) -> Result<PathAndQuery, Lacks> {
    if text.first() != Some(&b'/') || text.iter().any(|byte| *byte == b'#' || !byte.is_ascii_graphic()) {
        return Err(Lacks(called));
    }
    let target = PathAndQuery::try_from(text).map_err(|_| Lacks(called))?;
    // The room must be found for the very bytes that the proxy sends on.
    if target.as_str().as_bytes() == text {
        Ok(target)
    } else {
        Err(Lacks(called))
    }
}

fn behind_prefix(uri: &Uri) -> &str {
    let path = uri.path_and_query().map_or("", PathAndQuery::as_str);
    let rest = path
        .strip_prefix(OWN_PREFIX)
        .and_then(|rest| rest.strip_prefix(FORWARD));
    rest.and_then(|rest| rest.strip_prefix("envoy")).unwrap_or_default()
}

/// Traefik may tell a WebSocket's own scheme; its cookies are those of the page that opened it.
fn scheme(headers: &HeaderMap) -> Result<HeaderValue, Lacks> {
    let called = "X-Forwarded-Proto";
    let scheme = only(headers, &FORWARDED_PROTO, called)?.as_bytes().to_ascii_lowercase();
    match scheme.as_slice() {
        b"http" | b"ws" => Ok(HeaderValue::from_static("http")),
        b"https" | b"wss" => Ok(HeaderValue::from_static("https")),
        _ => Err(Lacks(called)),
    }
}

/// The nearest address must be one; which of the list is the visitor's, `trusted_proxies` says.
fn client(headers: &HeaderMap) -> Result<(), Lacks> {
    let last = headers.get_all(&FORWARDED_FOR).iter().next_back();
    let nearest = last
        .and_then(|line| line.to_str().ok())
        .and_then(|line| line.rsplit(',').next());
    match nearest.map(|address| address.trim().parse::<IpAddr>()) {
        Some(Ok(_)) => Ok(()),
        _ => Err(Lacks("X-Forwarded-For")),
    }
}

/// `none` where the visitor sends no body; silence counts as one.
const BODY: HeaderName = HeaderName::from_static("ropeline-body");
const ORIGINAL_METHOD: HeaderName = HeaderName::from_static("x-original-method");
const ORIGINAL_HOST: HeaderName = HeaderName::from_static("x-original-host");
const ORIGINAL_URI: HeaderName = HeaderName::from_static("x-original-uri");
const FORWARDED_METHOD: HeaderName = HeaderName::from_static("x-forwarded-method");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_URI: HeaderName = HeaderName::from_static("x-forwarded-uri");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const SOCKET_KEY: HeaderName = HeaderName::from_static("sec-websocket-key");

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    const NGINX: &[(&str, &str)] = &[
        ("host", "gate"),
        ("x-original-method", "POST"),
        ("x-original-host", "shop.example"),
        ("x-original-uri", "/seats?row=7"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-for", "192.0.2.1"),
    ];
    const CADDY: &[(&str, &str)] = &[
        ("host", "gate"),
        ("x-forwarded-method", "POST"),
        ("x-forwarded-host", "shop.example"),
        ("x-forwarded-uri", "/seats?row=7"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-for", "192.0.2.1"),
    ];
    const USER: HeaderName = HeaderName::from_static("x-user");
    const ENVOY: &[(&str, &str)] = &[
        ("host", "shop.example"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-for", "192.0.2.1"),
    ];

    fn described(asker: Asker, fields: &[(&str, &str)]) -> Result<Parts, Lacks> {
        let (method, uri) = match asker {
            Asker::Envoy => ("POST", "/.ropeline/forward/envoy/seats?row=7"),
            _ => ("GET", "/.ropeline/forward/x"),
        };
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        of(asker, request.body(()).unwrap().into_parts().0, &[USER]).map(|(head, _)| head)
    }

    fn sets() -> [(Asker, &'static [(&'static str, &'static str)]); 5] {
        [
            (Asker::Nginx, NGINX),
            (Asker::Haproxy, NGINX),
            (Asker::Traefik, CADDY),
            (Asker::Caddy, CADDY),
            (Asker::Envoy, ENVOY),
        ]
    }

    #[test]
    fn every_proxys_description_is_the_same_request() {
        for (asker, fields) in sets() {
            let head = described(asker, fields).unwrap();
            assert_eq!(
                (head.method, head.uri.to_string()),
                (Method::POST, "/seats?row=7".to_owned()),
                "{asker:?}"
            );
            assert_eq!(head.headers[HOST], "shop.example");
            let left = |name: &str| head.headers.contains_key(name);
            assert!(!left("x-original-uri") && !left("x-forwarded-uri") && !left("x-forwarded-method"));
        }
    }

    #[test]
    fn without_one_of_its_parts_or_with_two_of_one_it_is_none() {
        for (asker, fields) in sets() {
            for (at, (name, value)) in fields.iter().enumerate() {
                if *name == "host" && asker != Asker::Envoy {
                    continue;
                }
                let without: Vec<_> = fields
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| *n != at)
                    .map(|(_, f)| *f)
                    .collect();
                assert!(described(asker, &without).is_err(), "{asker:?} without {name}");
                let empty: Vec<_> = without.iter().copied().chain([(*name, "")]).collect();
                assert!(described(asker, &empty).is_err(), "{asker:?} with an empty {name}");
                let mut twice = fields.to_vec();
                twice.push((name, value));
                let list = *name == "x-forwarded-for";
                assert_eq!(described(asker, &twice).is_ok(), list, "{asker:?} with two {name}");
            }
        }
    }

    #[test]
    fn a_part_that_is_not_what_it_should_be_is_refused() {
        let with = |name: &str, value: &'static str| {
            let changed = NGINX
                .iter()
                .map(|(own, old)| (*own, if *own == name { value } else { old }));
            described(Asker::Nginx, &changed.collect::<Vec<_>>())
        };
        for target in [
            "*",
            "seats",
            "http://shop.example/",
            "/a b",
            "/a#b",
            "/a\tb",
            "/caf\u{e9}",
            "?x",
        ] {
            assert!(with("x-original-uri", target).is_err(), "{target}");
        }
        for method in ["GE T", "G\u{e9}T"] {
            assert!(with("x-original-method", method).is_err(), "{method}");
        }
        for scheme in ["ftp", "https, http", "httpss"] {
            assert!(with("x-forwarded-proto", scheme).is_err(), "{scheme}");
        }
        assert_eq!(
            with("x-forwarded-proto", "WSS").unwrap().headers["x-forwarded-proto"],
            "https"
        );
        for address in ["unknown", "192.0.2.1, unix:", "192.0.2.1,"] {
            assert!(with("x-forwarded-for", address).is_err(), "{address}");
        }
        assert!(with("x-forwarded-for", "unknown, 2001:db8::1").is_ok());
        for odd in ["//a/../b", "/%2e%2e/x", "/?", "/a?b?c"] {
            assert_eq!(with("x-original-uri", odd).unwrap().uri.to_string(), odd);
        }
    }

    #[test]
    fn what_the_gate_would_take_out_is_refused() {
        for (asker, fields) in sets() {
            let with = |name: &'static str, value: &'static str| {
                let fields: Vec<_> = fields.iter().copied().chain([(name, value)]).collect();
                described(asker, &fields)
            };
            for alias in [
                "x_user",
                "x.user",
                "x~user",
                "x*user",
                "x_forwarded_for",
                "ropeline.session",
                "x_host",
                "content_length",
                "authorization_",
            ] {
                let refused = alias != "authorization_";
                assert_eq!(with(alias, "ann").is_err(), refused, "{asker:?} {alias}");
            }
            for named in ["X-User", "close, cookie", "Ropeline-Session", "x-forwarded-for"] {
                assert!(with("connection", named).is_err(), "{asker:?} {named}");
            }
            for usual in ["close", "keep-alive, Upgrade", "TE"] {
                assert!(with("connection", usual).is_ok(), "{asker:?} {usual}");
            }
            assert!(with("x-user", "ann").is_ok() && with("my_app", "1").is_ok());
        }
    }

    #[test]
    fn a_body_is_taken_to_come_unless_the_proxy_says_once_that_none_does() {
        let bodiless = |said: &[&str]| {
            let mut request = Request::get("/.ropeline/forward/x");
            for (name, value) in NGINX {
                request = request.header(*name, *value);
            }
            for value in said {
                request = request.header(BODY, *value);
            }
            let (head, bodiless) = of(Asker::Nginx, request.body(()).unwrap().into_parts().0, &[USER]).unwrap();
            assert!(!head.headers.contains_key(BODY));
            bodiless
        };
        assert!(bodiless(&["none"]));
        for said in [&[][..], &[""], &["some"], &["none", "none"], &["none, none"]] {
            assert!(!bodiless(said), "{said:?}");
        }
    }

    #[test]
    fn a_socket_is_told_by_its_key_where_the_proxy_keeps_upgrade_to_itself() {
        let mut fields = CADDY.to_vec();
        assert!(
            !described(Asker::Traefik, &fields)
                .unwrap()
                .headers
                .contains_key(UPGRADE)
        );
        fields.push(("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="));
        assert_eq!(
            described(Asker::Traefik, &fields).unwrap().headers[UPGRADE],
            "websocket"
        );
    }
}
