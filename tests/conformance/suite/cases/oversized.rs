//! Requests larger than any client needs.

use crate::suite::case::Check::Status;
use crate::suite::case::{Case, Expect, get, post, refused};

pub fn all() -> Vec<Case> {
    let long = "a".repeat(120 * 1024);
    let rows = [
        ("a target of 120 KiB", "9112, 3", get(&format!("/{long}"), "")),
        ("a field of 120 KiB", "9110, 5.4", get("/", &format!("X: {long}\r\n"))),
        ("a name of 120 KiB", "9110, 5.4", get("/", &format!("{long}: x\r\n"))),
        (
            "a method of 120 KiB",
            "9110, 9.1",
            format!("{long} / HTTP/1.1\r\nHost: shop.test\r\n\r\n"),
        ),
        (
            "a Host of 120 KiB",
            "9110, 7.2",
            format!("GET / HTTP/1.1\r\nHost: {long}\r\n\r\n"),
        ),
        ("1,000 fields", "9110, 5.4", get("/", &"X: y\r\n".repeat(1_000))),
        ("a line of 120 KiB without an end", "9112, 3", format!("GET /{long}")),
        (
            "trailers of 120 KiB",
            "9110, 6.5",
            crate::suite::case::chunked(&format!("0\r\nX: {long}\r\n\r\n")),
        ),
    ];
    let mut cases = refused(&rows);
    cases.extend([
        Case::new(
            "a Cookie of 4 KiB",
            "6265, 6.1",
            get("/", &format!("Cookie: a={}\r\n", "b".repeat(4_000))),
            Expect::Passes(vec![Status(200)]),
        ),
        Case::new(
            "a target of 4 KiB",
            "9112, 3",
            get(&format!("/?{}", "b".repeat(4_000)), ""),
            Expect::Passes(vec![Status(200)]),
        ),
        Case::new(
            "60 fields",
            "9110, 5.4",
            get("/", &"X: y\r\n".repeat(60)),
            Expect::Passes(vec![Status(200)]),
        ),
        Case::new(
            "a body announced with a gigabyte",
            "9110, 15.5.14",
            post("Content-Length: 1000000000", "ok"),
            Expect::Refused,
        )
        .gate_alone(),
    ]);
    cases
}
