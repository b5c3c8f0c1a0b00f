//! Requests that are none: pseudo-fields, fields of a connection, lengths and trailers (RFC 9113, section 8).

use crate::suite::case::Check;
use crate::suite::http2::case::{Case, Expect, malformed};
use crate::suite::http2::wire::{END_HEADERS, END_STREAM, WHOLE, block, data, field, get, head, headers, post};

pub fn all() -> Vec<Case> {
    let mut cases = pseudo();
    cases.extend(connection());
    cases.extend(lengths());
    cases.extend(trailers());
    cases.extend(hosts());
    cases.extend(tunnels());
    cases
}

fn of(fields: &[(&str, &str)]) -> Vec<u8> {
    headers(WHOLE, 1, &block(fields))
}

const METHOD: (&str, &str) = (":method", "GET");
const SCHEME: (&str, &str) = (":scheme", "http");
const PATH: (&str, &str) = (":path", "/");
const AUTHORITY: (&str, &str) = (":authority", "shop.test");

fn pseudo() -> Vec<Case> {
    let listed: [(&str, &str, &'static str, Vec<u8>); 12] = [
        (
            "http2 8.1.2.1, 1",
            "an unknown pseudo-field",
            "9113, 8.3",
            get(1, "/", &[(":test", "ok")]),
        ),
        (
            "http2 8.1.2.1, 2",
            "an answer's pseudo-field",
            "9113, 8.3",
            get(1, "/", &[(":status", "200")]),
        ),
        (
            "http2 8.1.2.1, 4",
            "a pseudo-field behind a field",
            "9113, 8.3",
            of(&[METHOD, SCHEME, AUTHORITY, ("x-a", "b"), PATH]),
        ),
        ("http2 8.1.2.3, 1", "an empty :path", "9113, 8.3.1", get(1, "", &[])),
        (
            "http2 8.1.2.3, 2",
            "no :method",
            "9113, 8.3.1",
            of(&[SCHEME, PATH, AUTHORITY]),
        ),
        (
            "http2 8.1.2.3, 3",
            "no :scheme",
            "9113, 8.3.1",
            of(&[METHOD, PATH, AUTHORITY]),
        ),
        (
            "http2 8.1.2.3, 4",
            "no :path",
            "9113, 8.3.1",
            of(&[METHOD, SCHEME, AUTHORITY]),
        ),
        (
            "http2 8.1.2.3, 5",
            "two :method",
            "9113, 8.3",
            of(&[METHOD, METHOD, SCHEME, PATH, AUTHORITY]),
        ),
        (
            "http2 8.1.2.3, 6",
            "two :scheme",
            "9113, 8.3",
            of(&[METHOD, SCHEME, SCHEME, PATH, AUTHORITY]),
        ),
        (
            "http2 8.1.2.3, 7",
            "two :path",
            "9113, 8.3",
            of(&[METHOD, SCHEME, PATH, PATH, AUTHORITY]),
        ),
        (
            "http2 8.1.2, 1",
            "a name with a capital",
            "9113, 8.2.1",
            get(1, "/", &[("X-TEST", "ok")]),
        ),
        (
            "http2 8.1.2.2, 1",
            "a field of the connection",
            "9113, 8.2.2",
            get(1, "/", &[("connection", "keep-alive")]),
        ),
    ];
    let mut cases: Vec<Case> = listed
        .into_iter()
        .map(|(place, name, source, bytes)| Case::new(name, source, bytes, Expect::Malformed).listed(place))
        .collect();
    cases.extend(malformed(&[
        (
            "two :authority",
            "9113, 8.3",
            of(&[METHOD, SCHEME, PATH, AUTHORITY, AUTHORITY]),
        ),
        (
            "two :path that differ",
            "9113, 8.3",
            of(&[METHOD, SCHEME, PATH, (":path", "/hidden"), AUTHORITY]),
        ),
        (
            "two :method that differ",
            "9113, 8.3",
            of(&[METHOD, (":method", "POST"), SCHEME, PATH, AUTHORITY]),
        ),
        (
            "a pseudo-field with a capital",
            "9113, 8.3",
            of(&[(":Method", "GET"), SCHEME, PATH, AUTHORITY]),
        ),
        ("a name that is a colon", "9113, 8.3", get(1, "/", &[(":", "a")])),
        ("no field at all", "9113, 8.3.1", of(&[])),
        (
            "an empty :method",
            "9113, 8.3.1",
            of(&[(":method", ""), SCHEME, PATH, AUTHORITY]),
        ),
        (
            ":authority behind a field",
            "9113, 8.3",
            of(&[METHOD, SCHEME, PATH, ("x-a", "b"), AUTHORITY]),
        ),
        (
            ":protocol without CONNECT",
            "8441, 4",
            of(&[METHOD, SCHEME, PATH, AUTHORITY, (":protocol", "websocket")]),
        ),
    ]));
    cases
}

fn connection() -> Vec<Case> {
    let with = |name: &str, value: &str| get(1, "/", &[(name, value)]);
    let mut cases = malformed(&[
        (
            "connection that lists a field",
            "9113, 8.2.2",
            get(1, "/", &[("connection", "x-a"), ("x-a", "b")]),
        ),
        ("connection: close", "9113, 8.2.2", with("connection", "close")),
        (
            "proxy-connection",
            "9113, 8.2.2",
            with("proxy-connection", "keep-alive"),
        ),
        ("keep-alive", "9113, 8.2.2", with("keep-alive", "5")),
        ("upgrade", "9113, 8.2.2", with("upgrade", "websocket")),
        ("transfer-encoding", "9113, 8.2.2", with("transfer-encoding", "chunked")),
        ("te: trailers, gzip", "9113, 8.2.2", with("te", "trailers, gzip")),
        ("te: gzip", "9113, 8.2.2", with("te", "gzip")),
    ]);
    cases.push(
        Case::new(
            "te: trailers, deflate",
            "9113, 8.2.2",
            with("te", "trailers, deflate;q=0.5"),
            Expect::Malformed,
        )
        .listed("http2 8.1.2.2, 2"),
    );
    cases
}

fn lengths() -> Vec<Case> {
    let said = |length: &str, parts: &[&str]| {
        let mut bytes = headers(END_HEADERS, 1, &head("POST", "/", &[("content-length", length)]));
        for (at, part) in parts.iter().enumerate() {
            let flags = if at + 1 == parts.len() { END_STREAM } else { 0 };
            bytes.extend(data(flags, 1, part.as_bytes()));
        }
        bytes
    };
    let two = |second| post(&[("content-length", "5"), ("content-length", second)], "hello");
    let mut cases = malformed(&[
        ("a length shorter than the body", "9113, 8.1.1", said("2", &["hello"])),
        ("a length longer than the body", "9113, 8.1.1", said("50", &["hello"])),
        (
            "a length without a body",
            "9113, 8.1.1",
            headers(WHOLE, 1, &head("POST", "/", &[("content-length", "5")])),
        ),
        ("a length of nothing, and a body", "9113, 8.1.1", said("0", &["hello"])),
        ("two equal lengths", "9110, 8.6", two("5")),
        ("two lengths", "9110, 8.6", two("3")),
        ("a list of lengths", "9110, 8.6", said("5, 5", &["hello"])),
        ("a signed length", "9110, 8.6", said("+5", &["hello"])),
        ("a negative length", "9110, 8.6", said("-5", &["hello"])),
        ("a length in hexadecimal", "9110, 8.6", said("0x5", &["hello"])),
        ("an empty length", "9110, 8.6", said("", &["hello"])),
        (
            "a length past 64 bits",
            "9110, 8.6",
            said("18446744073709551621", &["hello"]),
        ),
        ("a length in spaces", "9113, 8.2.1", said(" 5 ", &["hello"])),
        ("a length in words", "9110, 8.6", said("five", &["hello"])),
    ]);
    for (place, name, parts) in [
        ("http2 8.1.2.6, 1", "a length of 1 and 4 bytes", &["test"][..]),
        ("http2 8.1.2.6, 2", "a length of 1 and twice 4 bytes", &["test", "test"]),
    ] {
        cases.push(Case::new(name, "9113, 8.1.1", said("1", parts), Expect::Malformed).listed(place));
    }
    // An answer may come before the body does, and then says so.
    cases.into_iter().map(Case::varies).collect()
}

fn trailers() -> Vec<Case> {
    let behind = |fields: &[(&str, &str)], flags| {
        [
            headers(END_HEADERS, 1, &head("POST", "/", &[("trailer", "x-sum")])),
            data(0, 1, b"test"),
            headers(flags, 1, &block(fields)),
        ]
        .concat()
    };
    let refused = |name: &str, source, bytes| Case::new(name, source, bytes, Expect::Malformed);
    let dropped = |name: &str, source, field: &str, check| {
        let bytes = behind(&[("x-sum", "1"), (field, "shop.test")], WHOLE);
        Case::new(name, source, bytes, Expect::Either(vec![check]))
    };
    vec![
        refused(
            "a pseudo-field in a trailer",
            "9113, 8.1",
            behind(&[(":method", "POST")], WHOLE),
        )
        .listed("http2 8.1.2.1, 3"),
        refused(
            "a path in a trailer",
            "9113, 8.1",
            behind(&[(":path", "/hidden")], WHOLE),
        ),
        refused(
            "an unknown pseudo-field in a trailer",
            "9113, 8.1",
            behind(&[(":test", "a")], WHOLE),
        ),
        refused(
            "a trailer that ends nothing",
            "9113, 8.1",
            behind(&[("x-sum", "1")], END_HEADERS),
        ),
        refused(
            "a capital in a trailer's name",
            "9113, 8.2.1",
            behind(&[("X-Sum", "1")], WHOLE),
        ),
        refused(
            "a field of the connection in a trailer",
            "9113, 8.2.2",
            behind(&[("connection", "close")], WHOLE),
        ),
        refused(
            "a line end in a trailer",
            "9113, 8.2.1",
            behind(&[("x-sum", "1\r\nx-b: 2")], WHOLE),
        ),
        dropped(
            "a length in a trailer",
            "9110, 6.5.1",
            "content-length",
            Check::NoTrailer("content-length"),
        ),
        dropped(
            "a coding in a trailer",
            "9110, 6.5.1",
            "transfer-encoding",
            Check::NoTrailer("transfer-encoding"),
        ),
        dropped("a host in a trailer", "9110, 6.5.1", "host", Check::NoTrailer("host")),
        dropped(
            "a cookie in a trailer",
            "9110, 6.5.1",
            "cookie",
            Check::NoTrailer("cookie"),
        ),
    ]
}

fn hosts() -> Vec<Case> {
    let at = |authority: &str, fields: &[(&str, &str)]| {
        let pseudo = [METHOD, SCHEME, PATH, (":authority", authority)];
        headers(WHOLE, 1, &block(&[&pseudo, fields].concat()))
    };
    malformed(&[
        (
            "a host against :authority",
            "9113, 8.3.1",
            at("shop.test", &[("host", "other.test")]),
        ),
        (
            "two hosts, one of them :authority's",
            "9113, 8.3.1",
            at("shop.test", &[("host", "shop.test"), ("host", "other.test")]),
        ),
        (
            "another port than :authority's",
            "9113, 8.3.1",
            at("shop.test:80", &[("host", "shop.test:81")]),
        ),
        (
            "neither host nor :authority",
            "9113, 8.3.1",
            of(&[METHOD, SCHEME, PATH]),
        ),
        ("an empty :authority", "9113, 8.3.1", at("", &[])),
        (
            "an empty host",
            "9113, 8.3.1",
            of(&[METHOD, SCHEME, PATH, ("host", "")]),
        ),
        (
            "two hosts without :authority",
            "9113, 8.3.1",
            of(&[METHOD, SCHEME, PATH, ("host", "a.test"), ("host", "b.test")]),
        ),
        ("a user in :authority", "9113, 8.3.1", at("ann@shop.test", &[])),
        ("a path in :authority", "9113, 8.3.1", at("shop.test/hidden", &[])),
        ("a space in :authority", "9113, 8.3.1", at("shop.test hidden", &[])),
        ("a list in :authority", "9113, 8.3.1", at("shop.test, other.test", &[])),
        ("a line end in :authority", "9113, 10.3", at("shop.test\r\nx-a: b", &[])),
        ("a question mark in :authority", "9113, 8.3.1", at("shop.test?a", &[])),
    ])
}

fn tunnels() -> Vec<Case> {
    let connect =
        |fields: &[(&str, &str)]| headers(END_HEADERS, 1, &block(&[&[(":method", "CONNECT")], fields].concat()));
    let mut cases = malformed(&[
        ("CONNECT to a host", "9113, 8.5", connect(&[AUTHORITY])),
        ("CONNECT with a path", "9113, 8.5", connect(&[SCHEME, PATH, AUTHORITY])),
        ("CONNECT without :authority", "9113, 8.5", connect(&[])),
        (
            "an extended CONNECT for h2c",
            "8441, 4",
            connect(&[SCHEME, PATH, AUTHORITY, (":protocol", "h2c")]),
        ),
        (
            "an extended CONNECT for a protocol of one's own",
            "8441, 4",
            connect(&[SCHEME, PATH, AUTHORITY, (":protocol", "echo")]),
        ),
        (
            "an extended CONNECT without a path",
            "8441, 4",
            connect(&[SCHEME, AUTHORITY, (":protocol", "websocket")]),
        ),
        (
            "an extended CONNECT with two protocols",
            "8441, 4",
            connect(&[
                SCHEME,
                PATH,
                AUTHORITY,
                (":protocol", "websocket"),
                (":protocol", "h2c"),
            ]),
        ),
    ]);
    cases.push(Case::new(
        "Upgrade and HTTP2-Settings over HTTP/2",
        "9113, 8.2.2",
        headers(
            WHOLE,
            1,
            &[
                head("GET", "/", &[]),
                field("upgrade", "h2c"),
                field("http2-settings", "AAMAAABk"),
            ]
            .concat(),
        ),
        Expect::Malformed,
    ));
    cases
}
