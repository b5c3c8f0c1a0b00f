//! CORS preflights: the one request that browsers send before a script's, without cookies, and that waits in no line.
//!
//! Fetch standard, "CORS-preflight fetch". A request that is one in every part, and brings nothing else along, is let past a room; of its
//! fields the upstream gets those that belong to a preflight. All others are ordinary requests, even if they claim to be preflights.

use http::header::{
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, DNT,
    FORWARDED, HOST, HeaderName, ORIGIN, PRAGMA, REFERER, USER_AGENT, VIA,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};

use crate::config::Asker;
use crate::proxy::is_said_of_client;

use super::method;
use super::payload::has_credentials;

/// Whether a request is a preflight and nothing but one.
#[must_use]
pub fn is_one(head: &Parts, has_body: bool) -> bool {
    if head.method != Method::OPTIONS {
        return false;
    }
    let headers = &head.headers;
    only(headers, &ORIGIN).is_some_and(is_origin)
        && only(headers, &ACCESS_CONTROL_REQUEST_METHOD).is_some_and(is_token)
        && match only(headers, &ACCESS_CONTROL_REQUEST_HEADERS) {
            Some(list) => list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).all(is_token),
            None => !headers.contains_key(ACCESS_CONTROL_REQUEST_HEADERS),
        }
        && !has_body
        && !has_credentials(headers)
        // SECURITY: a shop would carry this method out.
        && !method::is_claimed(head)
}

/// Whether a script asks to send a field in which a proxy describes its client. SECURITY: many shops permit all that is asked for, and some proxies
/// pass it on, so that another site's page could name its own host.
#[must_use]
pub fn speaks_for_proxies(head: &Parts) -> bool {
    let is_said = |name: &[u8]| {
        let name = HeaderName::from_bytes(name.trim_ascii());
        name.is_ok_and(|name| is_said_of_client(&name) || name == FORWARDED)
    };
    // PERF: few requests are OPTIONS.
    head.method == Method::OPTIONS && {
        let mut lists = head.headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
        lists.any(|list| list.as_bytes().split(|byte| *byte == b',').any(is_said))
    }
}

/// Removes the fields that do not belong to a preflight; a trusted peer's fields about the client stay.
pub fn cut_down(headers: &mut HeaderMap, peer_trusted: bool) {
    let stays = |name: &HeaderName| belongs(name) || (peer_trusted && (is_said_of_client(name) || *name == VIA));
    let gone: Vec<HeaderName> = headers.keys().filter(|name| !stays(name)).cloned().collect();
    for name in gone {
        headers.remove(name);
    }
}

/// For a proxy that asks and forwards the request unchanged: whether it contains a field that neither a browser puts into a
/// preflight nor the proxy into its question. Other fields of browsers (`Referer`) are harmless, and not every proxy could
/// remove them.
#[must_use]
pub fn brings_more(headers: &HeaderMap, asker: Asker) -> bool {
    let known = |name: &HeaderName| {
        belongs(name)
            || OF_BROWSERS.contains(name)
            || is_said_of_client(name)
            || *name == VIA
            || is_put_there(name, asker)
    };
    !headers.keys().all(known)
}

fn belongs(name: &HeaderName) -> bool {
    let begins = |part| name.as_str().starts_with(part);
    [HOST, USER_AGENT, ORIGIN].contains(name) || PREFIXES.into_iter().any(begins)
}

/// Fields that a proxy adds to the visitor's.
fn is_put_there(name: &HeaderName, asker: Asker) -> bool {
    let name = name.as_str();
    match asker {
        Asker::Traefik => name == "x-real-ip",
        Asker::Envoy => name == "x-request-id" || name.starts_with("x-envoy-"),
        Asker::Nginx | Asker::Haproxy | Asker::Caddy => false,
    }
}

/// The value of a field that stands exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h [u8]> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Some(HeaderValue::as_bytes(value)),
        _ => None,
    }
}

/// RFC 9110, section 5.6.2.
fn is_token(text: &[u8]) -> bool {
    let sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(sign)
}

/// RFC 6454, section 6.2: one origin, or `null`.
fn is_origin(text: &[u8]) -> bool {
    let Some(text) = std::str::from_utf8(text).ok().filter(|text| *text != "null") else {
        return text == b"null";
    };
    let part = |text: &str, more: &[u8]| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    text.split_once("://")
        .is_some_and(|(scheme, host)| part(scheme, b"+-.") && part(host, b"-._:[]"))
}

/// `Accept`, `Accept-Language` and the like; Fetch Metadata; the requested method and fields.
const PREFIXES: [&str; 3] = ["accept", "sec-fetch-", "access-control-request-"];

/// Fields that browsers send with a preflight in addition to those that belong to it, or that a hop adds.
const OF_BROWSERS: [HeaderName; 10] = [
    REFERER,
    CONNECTION,
    CONTENT_LENGTH,
    CACHE_CONTROL,
    PRAGMA,
    DNT,
    HeaderName::from_static("sec-gpc"),
    HeaderName::from_static("save-data"),
    HeaderName::from_static("priority"),
    HeaderName::from_static("keep-alive"),
];

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn preflight(target: &str, fields: &[(&str, &str)]) -> Parts {
        let mut request = Request::options(target);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    const ORIGIN: (&str, &str) = ("origin", "https://app.test");
    const METHOD: (&str, &str) = ("access-control-request-method", "PUT");

    #[test]
    fn what_browsers_send_is_one() {
        let is_one = |fields: &[(&str, &str)]| is_one(&preflight("/api?id=7", fields), false);
        assert!(is_one(&[ORIGIN, METHOD]));
        for origin in [
            "null",
            "http://[::1]:8080",
            "capacitor://localhost",
            "chrome-extension://abc",
        ] {
            assert!(is_one(&[("origin", origin), METHOD]), "{origin}");
        }
        let asked = (
            "access-control-request-headers",
            "authorization, x-csrf-token,content-type",
        );
        assert!(is_one(&[ORIGIN, METHOD, asked, ("referer", "https://app.test/")]));
    }

    #[test]
    fn what_has_a_part_too_many_or_too_few_is_none() {
        for fields in [
            &[ORIGIN][..],
            &[METHOD],
            &[ORIGIN, ORIGIN, METHOD],
            &[("origin", "https://a.test https://b.test"), METHOD],
            &[("origin", "https://a.test,https://b.test"), METHOD],
            &[("origin", "https://a.test/"), METHOD],
            &[("origin", ""), METHOD],
            &[("origin", "a"), METHOD],
            &[ORIGIN, METHOD, METHOD],
            &[ORIGIN, (METHOD.0, "")],
            &[ORIGIN, (METHOD.0, "P UT")],
            &[ORIGIN, METHOD, ("access-control-request-headers", "")],
            &[ORIGIN, METHOD, ("access-control-request-headers", "a b")],
            &[
                ORIGIN,
                METHOD,
                ("access-control-request-headers", "a"),
                ("access-control-request-headers", "b"),
            ],
            &[ORIGIN, METHOD, ("cookie", "a=1")],
            &[ORIGIN, METHOD, ("authorization", "Basic x")],
            &[ORIGIN, METHOD, ("x-http-method-override", "POST")],
        ] {
            assert!(!is_one(&preflight("/api", fields), false), "{fields:?}");
        }
        assert!(!is_one(&preflight("/api?_method=PUT", &[ORIGIN, METHOD]), false));
        assert!(!is_one(&preflight("/api", &[ORIGIN, METHOD]), true), "a body");
    }

    #[test]
    fn the_shop_gets_what_belongs_to_one() {
        let fields = [
            ("host", "shop.test"),
            ORIGIN,
            METHOD,
            ("accept-language", "ko"),
            ("sec-fetch-mode", "cors"),
            ("referer", "https://app.test/"),
            ("x-api-key", "1"),
            ("x-forwarded-for", "192.0.2.1"),
            ("via", "1.1 cdn"),
        ];
        let kept = |peer_trusted| {
            let mut head = preflight("/api", &fields);
            cut_down(&mut head.headers, peer_trusted);
            head.headers.len()
        };
        assert_eq!((kept(false), kept(true)), (5, 7));
    }

    #[test]
    fn where_a_proxy_asks_what_browsers_and_the_proxy_add_does_no_harm() {
        let more = |asker, field| brings_more(&preflight("/api", &[ORIGIN, METHOD, field]).headers, asker);
        assert!(!more(Asker::Nginx, ("referer", "https://app.test/")) && !more(Asker::Nginx, ("x-forwarded-for", "1")));
        assert!(more(Asker::Nginx, ("x-api-key", "1")) && more(Asker::Nginx, ("x-real-ip", "1")));
        assert!(!more(Asker::Traefik, ("x-real-ip", "1")) && !more(Asker::Envoy, ("x-envoy-internal", "true")));
    }
}
