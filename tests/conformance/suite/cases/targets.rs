//! Request targets: forms and bytes.

use crate::suite::case::Check::{Field, Start};
use crate::suite::case::{Case, Expect, get, refused};

pub fn all() -> Vec<Case> {
    let at = |target: &str| get(target, "");
    let rows = [
        ("no slash before", "9112, 3.2.1", at("index.html")),
        ("a dot alone", "9112, 3.2.1", at(".")),
        ("a query alone", "9112, 3.2.1", at("?a=b")),
        ("a backslash before", "9112, 3.2.1", at("\\index")),
        ("a percent-encoded slash before", "9112, 3.2.1", at("%2findex")),
        ("an authority", "9112, 3.2.3", at("shop.test:80")),
        ("an authority without a port", "9112, 3.2.3", at("shop.test")),
        ("an asterisk with GET", "9112, 3.2.4", at("*")),
        ("an asterisk and more", "9112, 3.2.4", at("*/a")),
        ("a fragment", "9112, 3.2", at("/a#b")),
        ("a fragment in the query", "9112, 3.2", at("/a?b#c")),
        ("a lone fragment", "9112, 3.2", at("#a")),
        (
            "a fragment with another path",
            "CVE-2023-45539",
            at("/admin#/../public.png"),
        ),
        (
            "an absolute form with a fragment",
            "9112, 3.2.2",
            at("http://shop.test/a#b"),
        ),
        (
            "an absolute form with another scheme",
            "9110, 4.2",
            at("ftp://shop.test/"),
        ),
        ("an absolute form without slashes", "9112, 3.2.2", at("http:shop.test/")),
        ("an absolute form without a host", "9110, 4.2.1", at("http:///a")),
        ("an absolute form with a port alone", "9110, 4.2.1", at("http://:80/a")),
        (
            "an absolute form with user information",
            "9110, 4.2.4",
            at("http://user@shop.test/"),
        ),
        (
            "an absolute form with a password",
            "9110, 4.2.4",
            at("http://a:b@shop.test/"),
        ),
        (
            "an absolute form with a bad port",
            "9110, 4.2.1",
            at("http://shop.test:80x/"),
        ),
        (
            "an absolute form with two hosts",
            "3986, 3.2.2",
            at("http://shop.test,evil.test/"),
        ),
        (
            "an absolute form with a backslash",
            "3986, 3.2",
            at("http://shop.test\\@evil.test/"),
        ),
        ("a URN", "9112, 3.2.2", at("urn:shop")),
        ("javascript:", "9112, 3.2.2", at("javascript:alert(1)")),
        ("a space", "9112, 3", at("/a b")),
        ("a tab", "9112, 3", at("/a\tb")),
        ("two spaces before the version", "9112, 3", at("/a ")),
        ("a vertical tab", "9112, 3", at("/a\u{b}b")),
        ("NUL", "9112, 3", at("/a\0b")),
        ("a bare CR", "9112, 3", at("/a\rb")),
        ("a bare LF", "9112, 3", at("/a\nb")),
        ("a control byte", "9112, 3", at("/a\u{1}b")),
        ("DEL", "9112, 3", at("/a\u{7f}")),
        ("a less-than sign", "3986, 2", at("/a<b")),
        ("a greater-than sign in the query", "3986, 2", at("/a?b>c")),
        ("empty", "9112, 3", "GET  HTTP/1.1\r\nHost: shop.test\r\n\r\n".into()),
    ];
    let mut cases = refused(&rows);
    let raw = [
        b"GET /\xff HTTP/1.1\r\nHost: shop.test\r\n\r\n".to_vec(),
        b"GET /?\xc3( HTTP/1.1\r\nHost: shop.test\r\n\r\n".to_vec(),
    ];
    cases.extend(raw.map(|bytes| {
        Case::new(
            "a byte that is no UTF-8",
            "3986, 2",
            bytes,
            Expect::Either(vec![Field("host", "shop.test")]),
        )
    }));
    cases.extend(either());
    cases
}

/// Either refused or passed on as it came (or as the RFC says): no shop reads these in another way than the proxy does.
fn either() -> impl Iterator<Item = Case> {
    let rows = [
        (
            "damaged percent-encoding",
            "3986, 2.1",
            get("/a%zz", ""),
            Start("GET /a%zz HTTP/1.1"),
        ),
        (
            "a lone percent sign",
            "3986, 2.1",
            get("/100%", ""),
            Start("GET /100% HTTP/1.1"),
        ),
        (
            "half an escape",
            "3986, 2.1",
            get("/a%2", ""),
            Start("GET /a%2 HTTP/1.1"),
        ),
        (
            "an encoded NUL",
            "3986, 2.1",
            get("/a%00b", ""),
            Start("GET /a%00b HTTP/1.1"),
        ),
        (
            "an encoded line end",
            "3986, 2.1",
            get("/a%0d%0ab", ""),
            Start("GET /a%0d%0ab HTTP/1.1"),
        ),
        (
            "a %u escape",
            "3986, 2.1",
            get("/%u0041", ""),
            Start("GET /%u0041 HTTP/1.1"),
        ),
        (
            "damaged percent-encoding in the query",
            "3986, 2.1",
            get("/a?b=100%", ""),
            Start("GET /a?b=100% HTTP/1.1"),
        ),
        ("a backslash", "3986, 2", get("/a\\b", ""), Start("GET /a\\b HTTP/1.1")),
        ("a quote", "3986, 2", get("/a\"b", ""), Start("GET /a\"b HTTP/1.1")),
        (
            "letters beyond ASCII",
            "3986, 2",
            get("/\u{e9}", ""),
            Start("GET /\u{e9} HTTP/1.1"),
        ),
        (
            "an asterisk with OPTIONS",
            "9112, 3.2.4",
            get("*", "").replace("GET", "OPTIONS"),
            Start("OPTIONS * HTTP/1.1"),
        ),
    ];
    rows.into_iter()
        .map(|(name, source, text, start)| Case::new(name, source, text, Expect::Either(vec![start])))
}
