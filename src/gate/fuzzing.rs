//! The fuzz target for cookies: the gate's own never reach the shop, and no account hides behind another.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use crate::names;
use crate::names::percent::decode_leniently;

use super::request::cookies::{Own, strip};

/// The lines of `Cookie` fields.
///
/// # Panics
/// When a law does not hold.
pub fn cookies(data: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n').take(MAX_LINES) {
        if let Ok(line) = HeaderValue::from_bytes(line) {
            headers.append(COOKIE, line);
        }
    }
    for name in ["id", "ropeline-ticket-shop"] {
        assert!(Own::of(&headers).values(name).count() <= MAX_LINES);
        let lines = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
        let sole = names::cookie::value_of(lines, name).ok().flatten();
        let is = |value: &str| {
            sole.as_ref()
                .is_none_or(|sole| decode_leniently(value.as_bytes()) == sole.as_bytes())
        };
        for (key, value) in parsed(&headers) {
            // Another's reading of the same bytes.
            assert!(key != name || is(&value), "{headers:?}");
        }
    }
    stripped(headers);
}

fn stripped(mut headers: HeaderMap) {
    let theirs = |headers: &HeaderMap| -> Vec<(String, String)> {
        let all = parsed(headers).into_iter();
        all.filter(|(key, _)| !is_ours(key)).collect()
    };
    let before = theirs(&headers);
    strip(&mut headers);
    assert!(parsed(&headers).iter().all(|(key, _)| !is_ours(key)), "{headers:?}");
    assert_eq!(theirs(&headers), before);
    let once = headers.clone();
    strip(&mut headers);
    assert_eq!(headers, once);
}

fn is_ours(key: &str) -> bool {
    let bare = key.strip_prefix("__Host-").or(key.strip_prefix("__Secure-"));
    bare.unwrap_or(key).starts_with("ropeline-")
}

/// As the cookie crate parses them, one by one; it reads no bytes beyond UTF-8.
fn parsed(headers: &HeaderMap) -> Vec<(String, String)> {
    let lines = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
    let pairs = lines.flat_map(|line| line.split(|byte| *byte == b';'));
    let texts = pairs.filter_map(|pair| std::str::from_utf8(pair).ok());
    texts
        .filter_map(|pair| cookie::Cookie::parse(pair).ok())
        .map(|cookie| (cookie.name().to_owned(), cookie.value().to_owned()))
        .collect()
}

/// More than a request has.
const MAX_LINES: usize = 32;
