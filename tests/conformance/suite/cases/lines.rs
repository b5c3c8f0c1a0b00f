//! Header lines that parsers disagree about.

use crate::suite::case::{Case, HIDDEN, get, refused};

pub fn all() -> Vec<Case> {
    let with = |line: &str| get("/", &format!("{line}\r\n"));
    let rows = [
        ("a folded value", "9112, 5.2", with("X-A: b\r\n c")),
        ("a value folded with a tab", "9112, 5.2", with("X-A: b\r\n\tc")),
        ("a value that begins on the next line", "9112, 5.2", with("X-A:\r\n b")),
        ("an empty folded line", "9112, 5.2", with("X-A: b\r\n ")),
        (
            "the first line folded",
            "9112, 2.2",
            "GET / HTTP/1.1\r\n X-A: b\r\nHost: shop.test\r\n\r\n".into(),
        ),
        (
            "a tab before the first line",
            "9112, 2.2",
            "GET / HTTP/1.1\r\n\tX-A: b\r\nHost: shop.test\r\n\r\n".into(),
        ),
        (
            "Host in a folded line",
            "9112, 5.2",
            "GET / HTTP/1.1\r\nX-A: b\r\n Host: shop.test\r\n\r\n".into(),
        ),
        ("a bare CR in a value", "9112, 2.2", with("X-A: b\rc")),
        ("a bare CR at the end of a value", "9112, 2.2", with("X-A: b\r")),
        ("a bare CR in a name", "9112, 2.2", with("X\r-A: b")),
        ("a bare LF ends a line", "9112, 2.2", with("X-A: b\nX-B: c")),
        (
            "bare LFs end all lines",
            "9112, 2.2",
            "GET / HTTP/1.1\nHost: shop.test\n\n".into(),
        ),
        (
            "a bare LF ends the request line",
            "9112, 2.2",
            "GET / HTTP/1.1\nHost: shop.test\r\n\r\n".into(),
        ),
        (
            "a bare LF ends the head",
            "9112, 2.2",
            "GET / HTTP/1.1\r\nHost: shop.test\r\n\n".into(),
        ),
        (
            "a bare CR ends the head",
            "9112, 2.2",
            format!("GET / HTTP/1.1\r\nHost: shop.test\r\n\r{HIDDEN}"),
        ),
        ("a line with a CR alone", "9112, 2.2", with("\r")),
        ("NUL in a name", "9110, 5.1", with("X\0A: b")),
        ("NUL in a value", "9110, 5.5", with("X-A: b\0c")),
        ("NUL at the end of a value", "9110, 5.5", with("X-A: b\0")),
        ("a bell in a value", "9110, 5.5", with("X-A: \u{7}")),
        ("an escape in a value", "9110, 5.5", with("X-A: \u{1b}[0m")),
        ("DEL in a value", "9110, 5.5", with("X-A: \u{7f}")),
        ("a vertical tab in a value", "9110, 5.5", with("X-A: b\u{b}c")),
        ("a control byte in a name", "9110, 5.1", with("X\u{1}A: b")),
        ("UTF-8 in a name", "9110, 5.1", with("X-\u{e9}: b")),
        ("a space before the colon", "9112, 5.1", with("X-A : b")),
        ("a tab before the colon", "9112, 5.1", with("X-A\t: b")),
        ("a space in a name", "9110, 5.1", with("X A: b")),
        ("a parenthesis in a name", "9110, 5.1", with("X(A): b")),
        ("a slash in a name", "9110, 5.1", with("X/A: b")),
        ("an at sign in a name", "9110, 5.1", with("X@A: b")),
        ("brackets in a name", "9110, 5.1", with("[X]: b")),
        ("a quote in a name", "9110, 5.1", with("\"X\": b")),
        ("a comma in a name", "9110, 5.1", with("X,Y: b")),
        ("an equals sign in a name", "9110, 5.1", with("X=Y: b")),
        ("an empty name", "9110, 5.1", with(": b")),
        ("a colon alone", "9110, 5.1", with(":")),
        ("a line without a colon", "9112, 5", with("X-A")),
        (
            "a request in a line without a colon",
            "9112, 5",
            with("GET /hidden HTTP/1.1"),
        ),
        (
            "a space before Host",
            "9112, 2.2",
            "GET / HTTP/1.1\r\n Host: shop.test\r\nHost: shop.test\r\n\r\n".into(),
        ),
    ];
    refused(&rows)
}
