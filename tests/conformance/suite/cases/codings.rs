//! Transfer-Encoding in every spelling but the one that is sound.

use crate::suite::case::{Case, HIDDEN, post, refused};

/// Chunks that end at once, with a request behind.
fn te(lines: &str) -> String {
    post(lines, "0\r\n\r\n")
}

fn one(value: &str) -> String {
    te(&format!("Transfer-Encoding: {value}"))
}

pub fn all() -> Vec<Case> {
    let both = |first: &str, second: &str| post(&format!("{first}\r\n{second}"), &format!("0\r\n\r\n{HIDDEN}"));
    let (chunked, length) = ("Transfer-Encoding: chunked", "Content-Length: 5");
    let rows = [
        ("chunked twice in a list", "9112, 6.1", one("chunked, chunked")),
        (
            "chunked on two lines",
            "9112, 6.1",
            te("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        ),
        ("gzip, then chunked", "9112, 6.1", one("gzip, chunked")),
        (
            "gzip and chunked on two lines",
            "9112, 6.1",
            te("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"),
        ),
        ("chunked, then gzip", "9112, 6.3", one("chunked, gzip")),
        (
            "chunked and identity on two lines",
            "9112, 6.1",
            te("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
        ),
        (
            "identity and chunked on two lines",
            "9112, 6.1",
            te("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked"),
        ),
        ("identity", "9112, 6.1", one("identity")),
        ("identity in a list", "9112, 6.1", one("identity, chunked")),
        ("gzip alone", "9112, 6.3", one("gzip")),
        ("deflate, chunked", "9112, 6.1", one("deflate, chunked")),
        ("xchunked", "9112, 6.1", one("xchunked")),
        ("chunkedx", "9112, 6.1", one("chunkedx")),
        ("cow", "9112, 6.1", one("cow")),
        ("chunked with a parameter", "9112, 7", one("chunked;q=1")),
        ("chunked with a semicolon", "9112, 7", one("chunked;")),
        ("quoted", "9112, 7", one("\"chunked\"")),
        ("in single quotes", "9112, 7", one("'chunked'")),
        ("in brackets", "9112, 7", one("[chunked]")),
        ("a comma before", "9110, 5.6.1", one(", chunked")),
        ("a comma behind", "9110, 5.6.1", one("chunked,")),
        ("empty", "9112, 6.1", one("")),
        (
            "empty, then chunked on another line",
            "9112, 6.1",
            te("Transfer-Encoding:\r\nTransfer-Encoding: chunked"),
        ),
        ("a vertical tab before", "9110, 5.5", one("\u{b}chunked")),
        ("a form feed behind", "9110, 5.5", one("chunked\u{c}")),
        ("NUL behind", "9110, 5.5", one("chunked\0")),
        ("a no-break space before", "9110, 5.5", one("\u{a0}chunked")),
        ("a letter that folds to K", "9112, 7", one("chun\u{212a}ed")),
        ("a space inside", "9112, 7", one("chun ked")),
        (
            "folded onto the next line",
            "9112, 5.2",
            te("Transfer-Encoding:\r\n chunked"),
        ),
        ("folded with a tab", "9112, 5.2", te("Transfer-Encoding:\r\n\tchunked")),
        (
            "folded behind another field",
            "9112, 5.2",
            te("X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 5"),
        ),
        (
            "a space before the colon",
            "9112, 5.1",
            te("Transfer-Encoding : chunked"),
        ),
        (
            "a tab before the colon",
            "9112, 5.1",
            te("Transfer-Encoding\t: chunked"),
        ),
        (
            "a space before the name",
            "9112, 2.2",
            te(" Transfer-Encoding: chunked"),
        ),
        (
            "a bare CR before the name",
            "9112, 2.2",
            te("X: y\r\rTransfer-Encoding: chunked"),
        ),
        (
            "a bare LF before the name",
            "9112, 2.2",
            te("X: y\nTransfer-Encoding: chunked"),
        ),
        (
            "a bare CR behind the value",
            "9112, 2.2",
            te("Transfer-Encoding: chunked\rX: y"),
        ),
        ("chunked, then a length", "9112, 6.3", both(chunked, length)),
        ("a length, then chunked", "9112, 6.3", both(length, chunked)),
        (
            "a length of the whole beside chunked",
            "9112, 6.3",
            both(&format!("Content-Length: {}", 5 + HIDDEN.len()), chunked),
        ),
        (
            "a length of 0 beside chunked",
            "9112, 6.3",
            both("Content-Length: 0", chunked),
        ),
        (
            "a bad length beside chunked",
            "9112, 6.3",
            both("Content-Length: x", chunked),
        ),
        (
            "a length beside xchunked",
            "9112, 6.3",
            both(length, "Transfer-Encoding: xchunked"),
        ),
        (
            "a length beside chunked, identity",
            "9112, 6.3",
            both(length, "Transfer-Encoding: chunked, identity"),
        ),
        (
            "HTTP/1.0 with chunked",
            "9112, 6.1",
            one("chunked").replace("HTTP/1.1", "HTTP/1.0"),
        ),
        (
            "HTTP/1.0 with chunked and a length",
            "9112, 6.1",
            both(length, chunked).replacen("HTTP/1.1", "HTTP/1.0", 1),
        ),
        (
            "HTTP/1.0 with chunked and keep-alive",
            "9112, 6.1",
            both("Connection: keep-alive", chunked).replacen("HTTP/1.1", "HTTP/1.0", 1),
        ),
        ("a GET with gzip", "9112, 6.1", one("gzip").replace("POST", "GET")),
    ];
    refused(&rows)
}
