//! Bytes that HTTP/1.1 reads differently from HTTP/2: line ends, spaces and framing within fields, methods and paths.

use crate::suite::case::Check;
use crate::suite::http2::case::{CUT, Case, Expect, malformed};
use crate::suite::http2::wire::{WHOLE, block, get, head, headers, post};

pub fn all() -> Vec<Case> {
    let mut cases = fields();
    cases.extend(lines());
    cases.extend(framing());
    cases
}

const HIDDEN: &str = "\r\n\r\nGET /hidden HTTP/1.1\r\nHost: shop.test";

fn fields() -> Vec<Case> {
    let value = |value: &str| get(1, "/", &[("x-a", value)]);
    let name = |name: &str| get(1, "/", &[(name, "b")]);
    malformed(&[
        ("CR LF in a value", "9113, 8.2.1", value("b\r\nx-b: c")),
        ("LF in a value", "9113, 8.2.1", value("b\nx-b: c")),
        ("CR in a value", "9113, 8.2.1", value("b\rx-b: c")),
        ("NUL in a value", "9113, 8.2.1", value("b\0c")),
        ("a request in a value", "9113, 10.3", value(HIDDEN)),
        ("a line end behind a value", "9113, 8.2.1", value("b\r\n")),
        ("a space before a value", "9113, 8.2.1", value(" b")),
        ("a space behind a value", "9113, 8.2.1", value("b ")),
        ("a tab before a value", "9113, 8.2.1", value("\tb")),
        ("a tab behind a value", "9113, 8.2.1", value("b\t")),
        (
            "a length within a value",
            "9113, 10.3",
            value("b\r\ncontent-length: 10"),
        ),
        ("CR LF in a name", "9113, 8.2.1", name("x-a\r\nx-b")),
        ("LF in a name", "9113, 8.2.1", name("x-a\nx-b")),
        ("NUL in a name", "9113, 8.2.1", name("x\0a")),
        ("a colon in a name", "9113, 8.2.1", name("x-a:")),
        ("a field in a name", "9113, 8.2.1", name("transfer-encoding: chunked")),
        ("a space in a name", "9113, 8.2.1", name("x a")),
        ("a space behind a name", "9113, 8.2.1", name("content-length ")),
        ("a space before a name", "9113, 8.2.1", name(" content-length")),
        ("a tab in a name", "9113, 8.2.1", name("x\ta")),
        ("an empty name", "9113, 8.2.1", name("")),
        ("a byte beyond ASCII in a name", "9113, 8.2.1", name("x-\u{e9}")),
        ("DEL in a name", "9113, 8.2.1", name("x-\u{7f}")),
        ("a slash in a name", "9110, 5.1", name("x/a")),
        (
            "a line end in a cookie's crumb",
            "9113, 8.2.1",
            get(1, "/", &[("cookie", "a=1"), ("cookie", "b=2\r\nx: y")]),
        ),
        ("a bell in a value", "9110, 5.5", value("\u{7}")),
        ("DEL in a value", "9110, 5.5", value("b\u{7f}")),
    ])
}

fn lines() -> Vec<Case> {
    let path = |path: &str| get(1, path, &[]);
    let method = |method: &str| headers(WHOLE, 1, &head(method, "/", &[]));
    let scheme = |scheme: &str| {
        let fields = [
            (":method", "GET"),
            (":scheme", scheme),
            (":path", "/"),
            (":authority", "shop.test"),
        ];
        headers(WHOLE, 1, &block(&fields))
    };
    let mut cases = malformed(&[
        ("a space in the path", "9113, 8.3.1", path("/a b")),
        ("a version in the path", "9113, 10.3", path("/ HTTP/1.1")),
        (
            "a request in the path",
            "9113, 10.3",
            path("/ HTTP/1.1\r\nHost: shop.test\r\n\r\nGET /hidden"),
        ),
        ("CR LF in the path", "9113, 8.3.1", path("/a\r\nx-a: b")),
        ("LF in the path", "9113, 8.3.1", path("/a\nb")),
        ("NUL in the path", "9113, 8.3.1", path("/a\0b")),
        ("a tab in the path", "9113, 8.3.1", path("/a\tb")),
        ("a path without a slash", "9113, 8.3.1", path("a")),
        ("an absolute path", "9113, 8.3.1", path("http://other.test/")),
        ("a query alone", "9113, 8.3.1", path("?a")),
        ("an asterisk for GET", "9113, 8.3.1", path("*")),
        ("a colon and more for a path", "9113, 8.3.1", path(":80/")),
        ("a control byte in the path", "9113, 8.3.1", path("/a\u{1}")),
        ("DEL in the path", "9113, 8.3.1", path("/a\u{7f}")),
        ("a backslash at the path's start", "9113, 8.3.1", path("\\a")),
        ("a space in the method", "9113, 8.3.1", method("GET /hidden")),
        (
            "a request in the method",
            "9113, 10.3",
            method("GET /hidden HTTP/1.1\r\nHost: a\r\n\r\nGET"),
        ),
        ("CR LF in the method", "9113, 8.3.1", method("GET\r\n")),
        ("NUL in the method", "9113, 8.3.1", method("G\0T")),
        ("a tab in the method", "9113, 8.3.1", method("GET\t")),
        ("a colon in the method", "9110, 9.1", method("GET:")),
        ("a byte beyond ASCII in the method", "9110, 9.1", method("G\u{c9}T")),
        ("an empty scheme", "9113, 8.3.1", scheme("")),
        ("a host in the scheme", "9113, 8.3.1", scheme("http://other.test/?")),
        ("a line end in the scheme", "9113, 8.3.1", scheme("http\r\nx-a: b")),
        ("a scheme of letters that are none", "9113, 8.3.1", scheme("ht tp")),
    ]);
    cases.push(Case::new("a fragment in the path", "9113, 8.3.1", path("/a#b"), Expect::Malformed).known(CUT));
    cases
}

fn framing() -> Vec<Case> {
    let chunks = "0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: shop.test\r\n\r\n";
    let refused = |name: &str, source, bytes| Case::new(name, source, bytes, Expect::Malformed);
    let never = |name: &str, source, bytes, checks: Vec<Check>| {
        let checks = [vec![Check::Times(1), Check::Never("GET /hidden")], checks].concat();
        Case::new(name, source, bytes, Expect::Either(checks))
    };
    vec![
        refused(
            "chunked and chunks",
            "9113, 8.2.2",
            post(&[("transfer-encoding", "chunked")], chunks),
        ),
        refused(
            "chunked with a capital",
            "9113, 8.2.1",
            post(&[("Transfer-Encoding", "chunked")], chunks),
        ),
        refused(
            "identity",
            "9113, 8.2.2",
            post(&[("transfer-encoding", "identity")], chunks),
        ),
        refused(
            "chunked and a length",
            "9113, 8.2.2",
            post(&[("transfer-encoding", "chunked"), ("content-length", "44")], chunks),
        ),
        refused(
            "a length of 0 before a request",
            "9113, 10.3",
            post(&[("content-length", "0")], chunks),
        )
        .varies(),
        refused(
            "a length within a name's line end",
            "9113, 10.3",
            post(&[("x\r\ncontent-length", "0")], chunks),
        ),
        never(
            "an alias of a coding",
            "9112, 6.1",
            post(&[("transfer_encoding", "chunked")], chunks),
            vec![Check::NoField("transfer_encoding")],
        ),
        never(
            "an alias of a length",
            "9112, 6.2",
            post(&[("content_length", "0")], chunks),
            vec![Check::NoField("content_length")],
        ),
        never(
            "a GET with a body",
            "9110, 9.3.1",
            {
                let head = headers(4, 1, &head("GET", "/", &[]));
                [head, crate::suite::http2::wire::data(1, 1, chunks.as_bytes())].concat()
            },
            vec![],
        ),
        never(
            "an expectation",
            "9110, 10.1.1",
            post(&[("expect", "100-continue")], chunks),
            vec![],
        ),
    ]
}
