//! Whether a cache that serves many people may keep an answer: a cookie must never be stored in one, and neither may a page of a room, which
//! the cache would give to people in line.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, EXPIRES, HeaderMap, HeaderName, SET_COOKIE};
use http::{HeaderValue, Method, Response, StatusCode};

use crate::proxy::Body;

/// Statuses that caches may keep without a field that allows it (RFC 9110, section 15.1), and 304, whose fields join a kept
/// answer (RFC 9111, section 4.3.4).
const HEURISTIC: [u16; 13] = [200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501];

/// RFC 9111, section 3, for a cache between many visitors and the gate. An answer to a request that does not read is kept only where a field says so
/// (RFC 9110, section 9.3.3).
#[must_use]
pub fn by_shared_caches(method: &Method, status: StatusCode, headers: &HeaderMap) -> bool {
    if status.is_informational() || is_kept_out(headers) {
        return false;
    }
    is_explicit(headers) || (is_read(method) && HEURISTIC.contains(&status.as_u16()))
}

/// The same for a cache that is configured to keep any status, as nginx is by `proxy_cache_valid any`.
#[must_use]
pub fn by_any_cache(method: &Method, headers: &HeaderMap) -> bool {
    (is_read(method) || is_explicit(headers)) && !is_kept_out(headers)
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// No shared cache keeps the answer, with any status.
fn is_kept_out(headers: &HeaderMap) -> bool {
    if headers.keys().any(is_for_caches_alone) {
        return false;
    }
    // Caches that know the status leave `no-store` aside then (RFC 9111, section 5.2.2.3).
    let is_stored = !says_alone(headers, "no-store") || says(headers, "must-understand");
    !is_stored || says_alone(headers, "private")
}

/// The answer asks to be kept by caches, rather than saying nothing.
#[must_use]
pub fn is_explicit(headers: &HeaderMap) -> bool {
    ["public", "max-age", "s-maxage"].iter().any(|word| says(headers, word))
        || headers.contains_key(EXPIRES)
        || headers.keys().any(is_for_caches_alone)
}

/// Keeps pages, and redirects to them, out of shared caches: the visitor's own browser may keep one for as long as the shop
/// allows. Other answers, such as a script or a picture, stay unchanged.
pub fn keep_page<B>(method: &Method, response: &mut Response<B>) {
    let headers = response.headers();
    // PERF: most answers are of a type that is no page's.
    if !leads_to_page(response.status(), headers) || !by_any_cache(method, headers) {
        return;
    }
    let headers = response.headers_mut();
    remove_for_caches_alone(headers);
    let said = lines(headers).flat_map(directives).map(str::trim);
    let kept = said.filter(|item| !item.is_empty() && !is_for_shared_caches(item));
    let line = kept.chain(["private"]).collect::<Vec<_>>().join(", ");
    let line = HeaderValue::try_from(line).unwrap_or(HeaderValue::from_static("private"));
    headers.insert(CACHE_CONTROL, line);
}

/// A page, an answer without a type that a browser may take for one, or a redirect.
fn leads_to_page(status: StatusCode, headers: &HeaderMap) -> bool {
    if status == StatusCode::NOT_MODIFIED {
        return headers.get_all(CONTENT_TYPE).iter().any(may_be_html);
    }
    let mut kinds = headers.get_all(CONTENT_TYPE).iter().peekable();
    status.is_redirection() || kinds.peek().is_none() || kinds.any(may_be_html)
}

/// Of a list, some browsers use the first type and some the last (Fetch, section 3.5); a value that names no type is guessed
/// (WHATWG MIME Sniffing, section 7).
fn may_be_html(kind: &HeaderValue) -> bool {
    let kinds = kind.as_bytes().split(|byte| *byte == b',');
    kinds.map(essence).any(|kind| {
        let is = |name: &[u8]| kind.eq_ignore_ascii_case(name);
        let is_guessed = is(b"unknown/unknown") || is(b"application/unknown") || is(b"*/*");
        is_guessed || is(b"text/html") || is(b"application/xhtml+xml") || !names_a_type(kind)
    })
}

/// A type without its parameters, and without any text behind a blank.
fn essence(kind: &[u8]) -> &[u8] {
    let kind = kind.trim_ascii_start();
    let end = kind.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t'));
    &kind[..end.unwrap_or(kind.len())]
}

fn names_a_type(kind: &[u8]) -> bool {
    let slash = kind.iter().position(|byte| *byte == b'/');
    slash.is_some_and(|at| at > 0 && at + 1 < kind.len())
}

/// A directive that says something to shared caches, or `must-understand`, with which they leave `no-store` aside.
fn is_for_shared_caches(directive: &str) -> bool {
    let name = directive.split('=').next().unwrap_or_default().trim();
    ["public", "s-maxage", "private", "proxy-revalidate", "must-understand"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word))
}

/// Keeps an answer out of shared caches; the visitor's own browser may still keep it if it checks back.
pub fn make_private(headers: &mut HeaderMap) {
    remove_for_caches_alone(headers);
    headers.remove(EXPIRES);
    let rest = if says_alone(headers, "no-store") {
        "no-store"
    } else {
        "private, no-cache"
    };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(rest));
}

fn remove_for_caches_alone(headers: &mut HeaderMap) {
    let for_caches: Vec<HeaderName> = headers
        .keys()
        .filter(|name| is_for_caches_alone(name))
        .cloned()
        .collect();
    for name in for_caches {
        headers.remove(name);
    }
}

/// Fields that caches obey before `Cache-Control`: `CDN-Cache-Control` and a cache's own (RFC 9213), and older ones.
fn is_for_caches_alone(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.ends_with("-cache-control") || matches!(name, "surrogate-control" | "edge-control" | "x-accel-expires")
}

/// With an argument or without one.
fn says(headers: &HeaderMap, directive: &str) -> bool {
    lines(headers).flat_map(|line| line.split(',')).any(|item| {
        let name = item.split('=').next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(directive)
    })
}

/// Without an argument: `private="x"` limits that field alone, and a cache may keep the rest with its `Set-Cookie` (RFC 9111,
/// section 5.2.2.7).
fn says_alone(headers: &HeaderMap, directive: &str) -> bool {
    lines(headers)
        .flat_map(directives)
        .any(|item| item.trim().eq_ignore_ascii_case(directive))
}

fn lines(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(CACHE_CONTROL).into_iter();
    lines.filter_map(|line| line.to_str().ok())
}

/// A line parted at commas, but for those in a quoted string (RFC 9110, section 5.6.4).
fn directives(line: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    line.split(move |c: char| {
        let is_literal = std::mem::take(&mut escaped);
        match c {
            _ if is_literal => {}
            '"' => quoted = !quoted,
            '\\' => escaped = quoted,
            _ => {}
        }
        c == ',' && !quoted
    })
}

/// Sets cookies on an answer that no shared cache will keep. SECURITY: one that says it may be kept goes without, unless
/// they must be set; that one, and any that a cache might keep by a guess, is made private.
pub fn give(cookies: &[HeaderValue], must_set: bool, method: &Method, response: &mut Response<Body>) {
    if cookies.is_empty() {
        return;
    }
    let (status, headers) = (response.status(), response.headers());
    let is_kept = if must_set {
        by_any_cache(method, headers)
    } else {
        by_shared_caches(method, status, headers)
    };
    if is_kept {
        if !must_set && is_explicit(response.headers()) {
            return;
        }
        make_private(response.headers_mut());
    }
    for cookie in cookies {
        response.headers_mut().append(SET_COOKIE, cookie.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(method: &Method, status: u16, fields: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        by_shared_caches(method, StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn an_answer_that_says_nothing_may_be_kept_by_a_guess() {
        assert!(stored(&Method::GET, 200, &[]));
        assert!(!stored(&Method::GET, 302, &[]));
        assert!(!stored(&Method::POST, 200, &[]));
        assert!(stored(&Method::POST, 200, &[("cache-control", "public, max-age=60")]));
    }

    #[test]
    fn no_store_that_must_be_understood_keeps_it_out_of_no_cache_that_does() {
        let told = "no-store, must-understand, max-age=60, public";
        assert!(stored(&Method::GET, 200, &[("cache-control", told)]));
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(told));
        make_private(&mut headers);
        assert_eq!(headers[CACHE_CONTROL], "no-store");
    }

    #[test]
    fn private_and_no_store_keep_it_out_and_public_lets_it_in() {
        assert!(!stored(&Method::GET, 200, &[("cache-control", "max-age=60, Private")]));
        assert!(!stored(
            &Method::GET,
            200,
            &[("cache-control", "no-cache"), ("cache-control", "no-store")]
        ));
        assert!(stored(&Method::GET, 302, &[("cache-control", "public, max-age=60")]));
        assert!(stored(
            &Method::GET,
            302,
            &[("expires", "Thu, 01 Jan 2099 00:00:00 GMT")]
        ));
        assert!(stored(&Method::GET, 200, &[("cache-control", "no-cache=\"private\"")]));
    }

    #[test]
    fn private_for_some_fields_leaves_the_rest_to_caches() {
        let kept = |said: &'static str| stored(&Method::GET, 200, &[("cache-control", said)]);
        for some in [
            "private=\"x\", max-age=60",
            "private=x",
            "Private=\"set-cookie\"",
            "no-cache=\"x, private, y\"",
            "a=\"b\\\", private, c\"",
            "no-store=\"x\"",
        ] {
            assert!(kept(some), "{some}");
        }
        for all in [
            "private=\"x\", private",
            "a=\"b, c\", private",
            "a=\"b\\\\\", private",
            " PRIVATE ",
        ] {
            assert!(!kept(all), "{all}");
        }
    }

    #[test]
    fn a_page_is_kept_by_its_visitors_browser_alone_and_the_rest_as_the_shop_says() {
        let after = |kind: &'static str, said: &[(&'static str, &'static str)]| {
            let mut answer = Response::builder().header(CONTENT_TYPE, kind);
            for (name, value) in said {
                answer = answer.header(*name, *value);
            }
            let mut answer = answer.body(()).unwrap();
            keep_page(&Method::GET, &mut answer);
            let headers = answer.headers();
            let left: Vec<String> = lines(headers).map(str::to_owned).collect();
            (left.join(" | "), headers.len())
        };
        let public = ("cache-control", "public, max-age=60, s-maxage=9");
        let page = "Text/HTML; charset=utf-8";
        assert_eq!(after(page, &[public]), ("max-age=60, private".to_owned(), 2));
        assert_eq!(after(page, &[]), ("private".to_owned(), 2), "kept by a guess");
        let cdn = ("cdn-cache-control", "max-age=60");
        assert_eq!(
            after(page, &[cdn, ("cache-control", "private=\"x\"")]),
            ("private".to_owned(), 2)
        );
        let told = "no-store, must-understand, max-age=60, public";
        assert_eq!(
            after(page, &[("cache-control", told)]).0,
            "no-store, max-age=60, private"
        );
        assert_eq!(after(page, &[("cache-control", "no-store")]).0, "no-store");
        assert_eq!(after("text/css", &[public, cdn]), (public.1.to_owned(), 3));
        let html = ("content-type", "text/html");
        for page in [
            "text/css, text/html",
            "Application/XHTML+XML",
            "text/html x",
            "text/html;",
            "",
            "html",
            "; charset=utf-8",
            "*/*",
            "unknown/unknown",
        ] {
            assert_eq!(after(page, &[public]).0, "max-age=60, private", "{page}");
        }
        assert_eq!(after("text/css", &[html, public]).0, "max-age=60, private");
        let mut door = Response::builder().status(302).body(()).unwrap();
        keep_page(&Method::GET, &mut door);
        assert_eq!(
            door.headers()[CACHE_CONTROL],
            "private",
            "kept by no cache that goes by the RFC"
        );
        for (status, is_kept) in [(200, true), (302, true), (503, true), (304, false)] {
            let answer = Response::builder().status(status).header(public.0, public.1);
            let mut answer = answer.body(()).unwrap();
            keep_page(&Method::GET, &mut answer);
            let said = &answer.headers()[CACHE_CONTROL];
            assert_eq!(
                said == "max-age=60, private",
                is_kept,
                "{status} without a type: {said:?}"
            );
        }
    }

    #[test]
    fn fields_for_caches_alone_stand_over_private_and_are_taken_away() {
        let fields = [("cache-control", "private"), ("cdn-cache-control", "max-age=60")];
        assert!(stored(&Method::GET, 200, &fields));
        for name in ["surrogate-control", "edge-control"] {
            assert!(stored(
                &Method::GET,
                200,
                &[("cache-control", "private"), (name, "max-age=60")]
            ));
        }
        assert!(stored(&Method::GET, 304, &[]));
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("cdn-cache-control", "max-age=60"),
            ("x-accel-expires", "60"),
            ("edge-control", "max-age=60"),
            ("expires", "0"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        make_private(&mut headers);
        assert_eq!(headers.len(), 1);
        assert!(!by_shared_caches(&Method::GET, StatusCode::OK, &headers));
    }
}
