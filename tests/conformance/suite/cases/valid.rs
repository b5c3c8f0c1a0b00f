//! Messages that must pass intact.

use crate::suite::case::Check::{
    AnswerBody, Body, BodyBytes, Field, Interims, NoField, NoTrailer, Start, Status, Times, Trailer,
};
use crate::suite::case::{Case, Check, Expect, Shop, chunked, get, post};

/// A request that must reach the shop so.
type Row<'a> = (&'a str, &'static str, String, &'a [Check]);

pub fn all() -> Vec<Case> {
    let rows: Vec<Row<'_>> = [plain(), bodies(), chunks()].into_iter().flatten().collect();
    let mut cases: Vec<Case> = rows
        .into_iter()
        .map(|(name, source, text, checks)| Case::new(name, source, text, Expect::Passes(checks.to_vec())))
        .collect();
    cases.extend(methods());
    cases.extend(targets());
    cases.extend(interim());
    cases
}

fn plain() -> Vec<Row<'static>> {
    vec![
        (
            "a GET",
            "9112, 3",
            get("/", ""),
            &[Start("GET / HTTP/1.1"), AnswerBody("hi")],
        ),
        (
            "HTTP/1.0 with Host",
            "9112, 2.5",
            "GET /old HTTP/1.0\r\nHost: shop.test\r\n\r\n".into(),
            &[Status(200)],
        ),
        (
            "field without a value",
            "9110, 5.5",
            get("/", "X-Empty:\r\n"),
            &[Field("x-empty", "")],
        ),
        (
            "no space behind the colon",
            "9112, 5",
            get("/", "X-A:b\r\n"),
            &[Field("x-a", "b")],
        ),
        (
            "spaces and tabs around a value",
            "9112, 5",
            get("/", "X-A: \t b \t\r\n"),
            &[Field("x-a", "b")],
        ),
        (
            "tab inside a value",
            "9110, 5.5",
            get("/", "X-A: b\tc\r\n"),
            &[Field("x-a", "b\tc")],
        ),
        (
            "field name of all token signs",
            "9110, 5.6.2",
            get("/", "X!#$%&'*+.^`|~9: b\r\n"),
            &[Status(200)],
        ),
        (
            "value of all visible signs",
            "9110, 5.5",
            get("/", "X-A: !\"#$%&'()*+,/:;<=>?@[]^{|}~\\\r\n"),
            &[Field("x-a", "!\"#$%&'()*+,/:;<=>?@[]^{|}~\\")],
        ),
        (
            "value with UTF-8",
            "9110, 5.5",
            get("/", "X-A: \u{e9}\r\n"),
            &[Field("x-a", "\u{e9}")],
        ),
        (
            "names in any case",
            "9110, 5.1",
            "GET / HTTP/1.1\r\nhOST: shop.test\r\nX-aB: 1\r\n\r\n".into(),
            &[Field("x-ab", "1"), Field("host", "shop.test")],
        ),
        (
            "Cookie with many pairs",
            "6265, 5.4",
            get("/", "Cookie: a=1; b=2; c=\"3\"\r\n"),
            &[Field("cookie", "a=1; b=2; c=\"3\"")],
        ),
        (
            "Authorization",
            "9110, 11.6.2",
            get("/", "Authorization: Basic YTpi\r\n"),
            &[Field("authorization", "Basic YTpi")],
        ),
        (
            "Range and If-Range",
            "9110, 14",
            get("/", "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n"),
            &[Field("range", "bytes=0-1"), Field("if-range", "\"x\"")],
        ),
        (
            "one empty line before the request",
            "9112, 2.2",
            format!("\r\n{}", get("/a", "")),
            &[Start("GET /a HTTP/1.1")],
        ),
        (
            "two requests at once",
            "9112, 9.3.2",
            format!("{}{}", get("/1", ""), get("/2", "")),
            &[Times(2), Start("GET /1 HTTP/1.1"), Start("GET /2 HTTP/1.1")],
        ),
        (
            "a body, then a request",
            "9112, 9.3.2",
            format!("{}{}", post("Content-Length: 2", "ok"), get("/2", "")),
            &[Times(2), Body("ok"), Start("GET /2 HTTP/1.1")],
        ),
        (
            "chunks, then a request",
            "9112, 9.3.2",
            format!("{}{}", chunked("2\r\nok\r\n0\r\n\r\n"), get("/2", "")),
            &[Times(2), Body("ok"), Start("GET /2 HTTP/1.1")],
        ),
        (
            "Connection: close",
            "9112, 9.6",
            get("/", "Connection: close\r\n"),
            &[Check::Closed],
        ),
    ]
}

fn bodies() -> Vec<Row<'static>> {
    vec![
        ("length 0", "9112, 6.2", post("Content-Length: 0", ""), &[Body("")]),
        (
            "length and body",
            "9112, 6.2",
            post("Content-Length: 5", "hello"),
            &[Body("hello")],
        ),
        (
            "length with leading zeros",
            "9110, 8.6",
            post("Content-Length: 0005", "hello"),
            &[Body("hello")],
        ),
        (
            "length in spaces",
            "9112, 5",
            post("Content-Length:  5 \t", "hello"),
            &[Body("hello")],
        ),
        (
            "a body that looks like a request",
            "9112, 6.2",
            post("Content-Length: 18", "GET / HTTP/1.1\r\n\r\n"),
            &[Body("GET / HTTP/1.1\r\n\r\n")],
        ),
        (
            "a body with NUL and CR LF",
            "9112, 6",
            post("Content-Length: 6", "\0\r\n\r\n\0"),
            &[Body("\0\r\n\r\n\0")],
        ),
        (
            "a GET with a body",
            "9110, 9.3.1",
            get("/", "Content-Length: 2\r\n") + "ok",
            &[Body("ok")],
        ),
        (
            "a large body",
            "9112, 6.2",
            post("Content-Length: 300000", &"x".repeat(300_000)),
            &[BodyBytes(300_000)],
        ),
    ]
}

fn chunks() -> Vec<Row<'static>> {
    let many = format!("{}0\r\n\r\n", "1\r\nx\r\n".repeat(500));
    vec![
        ("no chunk but the last", "9112, 7.1", chunked("0\r\n\r\n"), &[Body("")]),
        (
            "one chunk",
            "9112, 7.1",
            chunked("5\r\nhello\r\n0\r\n\r\n"),
            &[Body("hello")],
        ),
        (
            "two chunks",
            "9112, 7.1",
            chunked("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"),
            &[Body("hello")],
        ),
        ("500 chunks", "9112, 7.1", chunked(&many), &[BodyBytes(500)]),
        (
            "hex digits in any case",
            "9112, 7.1",
            chunked("a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n"),
            &[BodyBytes(21)],
        ),
        (
            "leading zeros in a size",
            "9112, 7.1",
            chunked("0005\r\nhello\r\n000\r\n\r\n"),
            &[Body("hello")],
        ),
        (
            "Transfer-Encoding in upper case",
            "9112, 7",
            post("TRANSFER-ENCODING: CHUNKED", "2\r\nok\r\n0\r\n\r\n"),
            &[Body("ok")],
        ),
        (
            "chunk data that looks like the end",
            "9112, 7.1",
            chunked("7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n"),
            &[Body("\r\n0\r\n\r\n")],
        ),
        (
            "a trailer that was announced",
            "9110, 6.5",
            post(
                "Transfer-Encoding: chunked\r\nTrailer: X-Sum",
                "2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
            ),
            &[Body("ok"), NoTrailer("content-length")],
        ),
        (
            "a GET with chunks",
            "9110, 9.3.1",
            get("/", "Transfer-Encoding: chunked\r\n") + "2\r\nok\r\n0\r\n\r\n",
            &[Body("ok")],
        ),
        (
            "trailers dropped or kept, never in the head",
            "9110, 6.5.1",
            chunked("2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"),
            &[Body("ok"), NoField("x-sum"), NoTrailer("x-other")],
        ),
    ]
}

fn methods() -> impl Iterator<Item = Case> {
    let starts = [
        ("HEAD", Start("HEAD /m HTTP/1.1")),
        ("PUT", Start("PUT /m HTTP/1.1")),
        ("DELETE", Start("DELETE /m HTTP/1.1")),
        ("PATCH", Start("PATCH /m HTTP/1.1")),
        ("OPTIONS", Start("OPTIONS /m HTTP/1.1")),
        ("PROPFIND", Start("PROPFIND /m HTTP/1.1")),
        ("M-SEARCH", Start("M-SEARCH /m HTTP/1.1")),
    ];
    starts.into_iter().map(|(method, start)| {
        let text = format!("{method} /m HTTP/1.1\r\nHost: shop.test\r\n\r\n");
        Case::new(
            format!("method {method}"),
            "9110, 9.1",
            text,
            Expect::Passes(vec![start]),
        )
    })
}

fn targets() -> impl Iterator<Item = Case> {
    let starts = [
        ("a query", Start("GET /a?b=c&d=%2F HTTP/1.1")),
        ("an empty query", Start("GET /a? HTTP/1.1")),
        ("two question marks", Start("GET /a?b?c HTTP/1.1")),
        (
            "all signs of RFC 3986",
            Start("GET /~!$&'()*+,;=:@-._?/~!$&'()*+,;=:@ HTTP/1.1"),
        ),
        ("percent-encoding in both cases", Start("GET /%e2%82%AC HTTP/1.1")),
        ("dot segments, untouched", Start("GET /a/../b/./c HTTP/1.1")),
        ("doubled slashes, untouched", Start("GET //a///b HTTP/1.1")),
        (
            "`|` and brackets, as browsers send them",
            Start("GET /a|b[c]?d[]=|e HTTP/1.1"),
        ),
        (
            "`^`, braces and a backtick in a query",
            Start("GET /a?b={c}^`d` HTTP/1.1"),
        ),
    ];
    starts.into_iter().map(|(name, start)| {
        let Start(line) = start else {
            unreachable!("the table holds nothing else")
        };
        let text = format!("{line}\r\nHost: shop.test\r\n\r\n");
        Case::new(
            format!("target with {name}"),
            "9112, 3.2",
            text,
            Expect::Passes(vec![start]),
        )
    })
}

fn interim() -> Vec<Case> {
    let expects = post("Content-Length: 2\r\nExpect: 100-continue", "ok");
    let announced =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n";
    let trailer = post(
        "Transfer-Encoding: chunked\r\nTrailer: X-Sum",
        "2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
    );
    vec![
        Case::new(
            "Expect: 100-continue, and the shop says it",
            "9110, 10.1.1",
            &expects,
            Expect::Passes(vec![Body("ok"), Interims(1)]),
        )
        .shop(Shop::Continues),
        Case::new(
            "an answer in chunks",
            "9112, 7.1",
            get("/", ""),
            Expect::Passes(vec![AnswerBody("hi")]),
        )
        .shop(Shop::Says(announced)),
        Case::new(
            "an answer with 204",
            "9112, 6.3",
            get("/", ""),
            Expect::Passes(vec![Status(204)]),
        )
        .shop(Shop::Says("HTTP/1.1 204 No Content\r\n\r\n")),
        Case::new(
            "an announced trailer reaches the shop",
            "9110, 6.5",
            &trailer,
            Expect::Passes(vec![Body("ok"), Trailer("x-sum", "1")]),
        )
        .gate_alone(),
    ]
}
