//! Whether a cache that serves many people may keep an answer: a cookie must never be stored in one.

use http::header::{CACHE_CONTROL, EXPIRES, HeaderMap, HeaderName};
use http::{HeaderValue, Method, StatusCode};

/// Statuses that caches may keep without being told to (RFC 9110, section 15.1), and 304, whose fields join a kept answer
/// (RFC 9111, section 4.3.4).
const HEURISTIC: [u16; 13] = [200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501];

/// RFC 9111, section 3, for a cache between many visitors and the gate.
#[must_use]
pub fn by_shared_caches(method: &Method, status: StatusCode, headers: &HeaderMap) -> bool {
    if (method != Method::GET && method != Method::HEAD) || status.is_informational() {
        return false;
    }
    if headers.keys().any(is_for_caches_alone) {
        return true;
    }
    if says(headers, "no-store") || says(headers, "private") {
        return false;
    }
    is_explicit(headers) || HEURISTIC.contains(&status.as_u16())
}

/// The answer asks to be kept by caches, rather than saying nothing.
#[must_use]
pub fn is_explicit(headers: &HeaderMap) -> bool {
    ["public", "max-age", "s-maxage"].iter().any(|word| says(headers, word))
        || headers.contains_key(EXPIRES)
        || headers.keys().any(is_for_caches_alone)
}

/// Keeps an answer out of shared caches; the visitor's own browser may still keep it if it checks back.
pub fn make_private(headers: &mut HeaderMap) {
    let for_caches: Vec<HeaderName> = headers
        .keys()
        .filter(|name| is_for_caches_alone(name))
        .cloned()
        .collect();
    for name in for_caches {
        headers.remove(name);
    }
    headers.remove(EXPIRES);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
}

/// Fields that caches obey before `Cache-Control`: `CDN-Cache-Control` and a cache's own (RFC 9213), and older ones.
fn is_for_caches_alone(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.ends_with("-cache-control") || matches!(name, "surrogate-control" | "x-accel-expires")
}

fn says(headers: &HeaderMap, directive: &str) -> bool {
    let lines = headers
        .get_all(CACHE_CONTROL)
        .into_iter()
        .filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|item| {
        let name = item.split('=').next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(directive)
    })
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
    fn fields_for_caches_alone_stand_over_private_and_are_taken_away() {
        let fields = [("cache-control", "private"), ("cdn-cache-control", "max-age=60")];
        assert!(stored(&Method::GET, 200, &fields));
        assert!(stored(&Method::GET, 200, &[("surrogate-control", "max-age=60")]));
        assert!(stored(&Method::GET, 304, &[]));
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("cdn-cache-control", "max-age=60"),
            ("x-accel-expires", "60"),
            ("expires", "0"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        make_private(&mut headers);
        assert_eq!(headers.len(), 1);
        assert!(!by_shared_caches(&Method::GET, StatusCode::OK, &headers));
    }
}
