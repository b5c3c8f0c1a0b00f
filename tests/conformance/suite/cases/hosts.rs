//! Host: exactly one, and the same as in an absolute target.

use crate::suite::case::Check::{Field, FieldOneOf, OneOf};
use crate::suite::case::{Case, Expect, refused};

fn request(target: &str, lines: &str) -> String {
    format!("GET {target} HTTP/1.1\r\n{lines}\r\n")
}

pub fn all() -> Vec<Case> {
    let host = |value: &str| request("/", &format!("Host: {value}\r\n"));
    let rows = [
        ("no Host", "9112, 3.2", request("/", "")),
        (
            "no Host but an absolute form",
            "9112, 3.2",
            request("http://shop.test/", ""),
        ),
        (
            "two Hosts",
            "9112, 3.2",
            request("/", "Host: shop.test\r\nHost: evil.test\r\n"),
        ),
        (
            "two equal Hosts",
            "9112, 3.2",
            request("/", "Host: shop.test\r\nHost: shop.test\r\n"),
        ),
        (
            "two Hosts, apart",
            "9112, 3.2",
            request("/", "Host: shop.test\r\nX: y\r\nhost: evil.test\r\n"),
        ),
        ("an empty Host", "9110, 4.2.1", host("")),
        ("a list", "9112, 3.2", host("shop.test, evil.test")),
        ("a list without spaces", "9112, 3.2", host("shop.test,evil.test")),
        ("two hosts by a space", "9112, 3.2", host("shop.test evil.test")),
        ("two hosts by a tab", "9112, 3.2", host("shop.test\tevil.test")),
        ("user information", "9110, 4.2.4", host("user@shop.test")),
        ("a path", "9112, 3.2", host("shop.test/a")),
        ("a query", "9112, 3.2", host("shop.test?a")),
        ("a fragment", "9112, 3.2", host("shop.test#a")),
        ("a scheme", "9112, 3.2", host("http://shop.test")),
        ("a backslash", "9112, 3.2", host("shop.test\\evil.test")),
        ("a port of letters", "9112, 3.2", host("shop.test:http")),
        ("a port of six digits", "9112, 3.2", host("shop.test:123456")),
        ("a signed port", "9112, 3.2", host("shop.test:-80")),
        ("two ports", "9112, 3.2", host("shop.test:80:80")),
        ("a port alone", "9110, 4.2.1", host(":80")),
        ("an open bracket", "3986, 3.2.2", host("[::1")),
        ("brackets around a name", "3986, 3.2.2", host("[shop.test]")),
        ("a closed bracket alone", "3986, 3.2.2", host("shop.test]")),
        ("an IPv6 address without brackets", "3986, 3.2.2", host("::1")),
        ("more behind the brackets", "3986, 3.2.2", host("[::1]a")),
        ("quotes", "3986, 3.2.2", host("\"shop.test\"")),
        ("NUL", "9110, 5.5", host("shop.test\0evil.test")),
        ("a control byte", "9110, 5.5", host("shop.test\u{1}")),
        ("a bare CR", "9112, 2.2", host("shop.test\revil.test")),
        ("letters beyond ASCII", "3986, 3.2.2", host("sh\u{f6}p.test")),
        ("percent-encoding", "3986, 3.2.2", host("shop%2etest")),
        ("a less-than sign", "3986, 3.2.2", host("<shop.test>")),
        ("a semicolon", "3986, 3.2.2", host("shop.test;x")),
        ("300 letters", "1035, 2.3.4", host(&"a".repeat(300))),
        (
            "an absolute form against Host",
            "9112, 3.2",
            request("http://shop.test/", "Host: evil.test\r\n"),
        ),
        (
            "an absolute form with another port",
            "9112, 3.2",
            request("http://shop.test:81/", "Host: shop.test\r\n"),
        ),
        (
            "a space before the colon",
            "9112, 5.1",
            request("/", "Host : shop.test\r\n"),
        ),
        ("folded", "9112, 5.2", request("/", "Host:\r\n shop.test\r\n")),
    ];
    let mut cases = refused(&rows);
    let sound = [
        ("with a port", host("shop.test:8080"), Field("host", "shop.test:8080")),
        // Forwarded as it came, or as browsers spell it.
        (
            "with a dot at the end",
            host("shop.test."),
            FieldOneOf("host", ["shop.test.", "shop.test"]),
        ),
        (
            "an IPv4 address",
            host("127.0.0.1:80"),
            FieldOneOf("host", ["127.0.0.1:80", "127.0.0.1"]),
        ),
        (
            "an IPv6 address",
            host("[2001:db8::1]:443"),
            FieldOneOf("host", ["[2001:db8::1]:443", "[2001:db8::1]"]),
        ),
        (
            "with an underscore",
            host("my_shop.test"),
            Field("host", "my_shop.test"),
        ),
        (
            "a name in punycode",
            host("xn--bcher-kva.test"),
            Field("host", "xn--bcher-kva.test"),
        ),
        (
            "an absolute form with its Host",
            request("http://shop.test/a?b", "Host: shop.test\r\n"),
            OneOf(&["GET /a?b HTTP/1.1", "GET http://shop.test/a?b HTTP/1.1"]),
        ),
        (
            "an absolute form, in another case",
            request("HTTP://Shop.test/a", "Host: shop.test\r\n"),
            OneOf(&["GET /a HTTP/1.1", "GET HTTP://Shop.test/a HTTP/1.1"]),
        ),
        (
            "an absolute form without a path",
            request("http://shop.test", "Host: shop.test\r\n"),
            OneOf(&[
                "GET / HTTP/1.1",
                "GET http://shop.test HTTP/1.1",
                "GET http://shop.test/ HTTP/1.1",
            ]),
        ),
        (
            "an absolute form with a query alone",
            request("http://shop.test?a", "Host: shop.test\r\n"),
            OneOf(&[
                "GET /?a HTTP/1.1",
                "GET http://shop.test?a HTTP/1.1",
                "GET http://shop.test/?a HTTP/1.1",
            ]),
        ),
        (
            "an absolute form with the scheme's port",
            request("http://shop.test:80/a", "Host: shop.test\r\n"),
            OneOf(&[
                "GET /a HTTP/1.1",
                "GET http://shop.test/a HTTP/1.1",
                "GET http://shop.test:80/a HTTP/1.1",
            ]),
        ),
    ];
    cases.extend(
        sound.map(|(name, text, check)| {
            Case::new(format!("Host {name}"), "9112, 3.2", text, Expect::Passes(vec![check]))
        }),
    );
    cases
}
