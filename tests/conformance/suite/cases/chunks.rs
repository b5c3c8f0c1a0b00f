//! The grammar of chunks and trailers.

use crate::suite::case::Check::{Body, Field, NoTrailer, Nowhere};
use crate::suite::case::{Case, Expect, HIDDEN, Step, chunked, post, refused};

pub fn all() -> Vec<Case> {
    let behind = |text: &str| chunked(&format!("{text}\r\n0\r\n\r\n{HIDDEN}"));
    let rows = [
        ("an extension", "9112, 7.1.1", chunked("5;a=b\r\nhello\r\n0\r\n\r\n")),
        (
            "an extension without a value",
            "9112, 7.1.1",
            chunked("5;a\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "an extension in quotes with CR LF",
            "9112, 7.1.1",
            chunked("5;a=\"\r\n\"\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "an extension on the last chunk",
            "9112, 7.1.1",
            chunked("5\r\nhello\r\n0;a=b\r\n\r\n"),
        ),
        (
            "a long extension",
            "9112, 7.1.1",
            chunked(&format!("5;{}\r\nhello\r\n0\r\n\r\n", "a".repeat(9_000))),
        ),
        (
            "an extension with a bare LF",
            "9112, 7.1.1",
            chunked("5;a\nhello\r\n0\r\n\r\n"),
        ),
        (
            "an extension with a bare CR",
            "9112, 7.1.1",
            chunked("5;a\rb\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "an extension with NUL",
            "9112, 7.1.1",
            chunked("5;\0\r\nhello\r\n0\r\n\r\n"),
        ),
        ("a lone semicolon", "9112, 7.1.1", chunked("5;\r\nhello\r\n0\r\n\r\n")),
        (
            "a space behind the size",
            "9112, 7.1.1",
            chunked("5 \r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "a space before the size",
            "9112, 7.1",
            chunked(" 5\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "a tab behind the size",
            "9112, 7.1",
            chunked("5\t\r\nhello\r\n0\r\n\r\n"),
        ),
        ("signed +", "9112, 7.1", chunked("+5\r\nhello\r\n0\r\n\r\n")),
        ("signed -", "9112, 7.1", chunked("-5\r\nhello\r\n0\r\n\r\n")),
        ("0x before the size", "9112, 7.1", chunked("0x5\r\nhello\r\n0\r\n\r\n")),
        ("h behind the size", "9112, 7.1", chunked("5h\r\nhello\r\n0\r\n\r\n")),
        (
            "an underscore in the size",
            "9112, 7.1",
            chunked("0_5\r\nhello\r\n0\r\n\r\n"),
        ),
        ("no digit", "9112, 7.1", chunked("\r\nhello\r\n0\r\n\r\n")),
        (
            "a size that is no number",
            "9112, 7.1",
            chunked("x\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "a size of 64 bits and more",
            "9112, 7.1",
            chunked("10000000000000005\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "a size that is -1 in 64 bits",
            "9112, 7.1",
            chunked("ffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "a size that is 5 in 32 bits",
            "9112, 7.1",
            chunked("fffffffffffffff00000005\r\nhello\r\n0\r\n\r\n"),
        ),
        (
            "forty zeros and a size",
            "9112, 7.1",
            chunked(&format!("{}5\r\nhello\r\n0\r\n\r\n", "0".repeat(40))),
        ),
        (
            "a bare LF behind the size",
            "9112, 7.1",
            chunked("5\nhello\r\n0\r\n\r\n"),
        ),
        (
            "a bare CR behind the size",
            "9112, 7.1",
            chunked("5\rhello\r\n0\r\n\r\n"),
        ),
        (
            "two CRs behind the size",
            "9112, 7.1",
            chunked("5\r\r\nhello\r\n0\r\n\r\n"),
        ),
        ("NUL behind the size", "9112, 7.1", chunked("5\0\r\nhello\r\n0\r\n\r\n")),
        ("no CR LF behind the data", "9112, 7.1", chunked("5\r\nhello0\r\n\r\n")),
        (
            "a bare LF behind the data",
            "9112, 7.1",
            chunked("5\r\nhello\n0\r\n\r\n"),
        ),
        (
            "a bare CR behind the data",
            "9112, 7.1",
            chunked("5\r\nhello\r0\r\n\r\n"),
        ),
        ("more data than the size", "9112, 7.1", behind("3\r\nhello")),
        ("two other bytes for CR LF", "9112, 7.1", behind("5\r\nhelloXX")),
        (
            "less data than the size",
            "9112, 7.1",
            chunked("8\r\nhello\r\n0\r\n\r\n"),
        ),
        ("a bare LF ends the body", "9112, 7.1", chunked("5\r\nhello\r\n0\n\n")),
        (
            "a bare LF ends the trailers",
            "9112, 7.1.2",
            chunked("5\r\nhello\r\n0\r\n\n"),
        ),
        ("a trailer without a colon", "9112, 5", chunked("0\r\nX-Sum\r\n\r\n")),
        (
            "a trailer with a space before the colon",
            "9112, 5.1",
            chunked("0\r\nX-Sum : 1\r\n\r\n"),
        ),
        ("a folded trailer", "9112, 5.2", chunked("0\r\nX-Sum: 1\r\n 2\r\n\r\n")),
        ("a trailer with NUL", "9110, 5.5", chunked("0\r\nX-Sum: \0\r\n\r\n")),
        (
            "a trailer that ends with a bare LF",
            "9112, 2.2",
            chunked("0\r\nX-Sum: 1\n\r\n"),
        ),
        (
            "a request for a trailer",
            "9112, 5",
            chunked("0\r\nGET /hidden HTTP/1.1\r\nHost: shop.test\r\n\r\n"),
        ),
    ];
    let mut cases = refused(&rows);
    // The announced bytes never come.
    cases.extend(
        [
            ("the client ends before the last chunk", chunked("5\r\nhello\r\n")),
            ("the client ends inside a chunk", chunked("5\r\nhel")),
            ("the client ends inside the trailers", chunked("0\r\nX-Sum: 1\r\n")),
            ("the client ends before the length", post("Content-Length: 9", "hello")),
        ]
        .map(|(name, text)| Case::new(name, "9112, 8", text, Expect::Refused).step(Step::Finish)),
    );
    cases.extend(forbidden_trailers());
    cases
}

/// Merged into the head they would change what the message means.
fn forbidden_trailers() -> impl Iterator<Item = Case> {
    let names = [
        ("content-length", "99"),
        ("transfer-encoding", "gzip"),
        ("host", "evil.test"),
        ("cookie", "evil=1"),
        ("authorization", "evil"),
        ("x-forwarded-for", "6.6.6.6"),
        ("content-type", "evil/1"),
        ("connection", "evil"),
    ];
    names.into_iter().map(|(name, value)| {
        let lines = format!("Transfer-Encoding: chunked\r\nTrailer: {name}");
        let text = post(&lines, &format!("2\r\nok\r\n0\r\n{name}: {value}\r\n\r\n"));
        let checks = vec![
            Body("ok"),
            NoTrailer(name),
            Nowhere("6.6.6.6"),
            Nowhere("evil"),
            Field("host", "shop.test"),
        ];
        Case::new(
            format!("the trailer {name}"),
            "9110, 6.5.1",
            text,
            Expect::Either(checks),
        )
    })
}
