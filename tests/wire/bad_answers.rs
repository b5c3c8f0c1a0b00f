//! Faulty answers, one by one: each is a 502 or visibly cut, its connection is dropped, and the next visitor is served.

use crate::gate::Gate;
use crate::shop::{OK, Shop};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const HEAD: &str = "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// The visitor's view.
#[derive(Clone, Copy, Debug)]
enum Seen {
    /// A refusal of the gate's.
    Refused,
    /// An answer that is visibly incomplete, or none.
    Cut,
    /// This status with this body: invalid parts of the answer are not passed on.
    Clean(u16, &'static str),
}
use Seen::{Clean, Cut, Refused};

/// The fault, the shop's bytes, and the visitor's view.
const CASES: [(&str, &str, Seen); 66] = [
    (
        "two lengths",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
        Refused,
    ),
    (
        "two equal lengths",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    (
        "listed lengths",
        "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi",
        Refused,
    ),
    (
        "differing listed lengths",
        "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nhi!",
        Refused,
    ),
    (
        "signed length",
        "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi",
        Refused,
    ),
    (
        "negative length",
        "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nhi",
        Refused,
    ),
    (
        "hex length",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nhi",
        Refused,
    ),
    ("empty length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhi", Refused),
    (
        "length past 64 bits",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551618\r\n\r\nhi",
        Refused,
    ),
    (
        "length that never comes",
        "HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\nhi",
        Cut,
    ),
    (
        "length and chunks",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "chunks and length",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "chunked twice",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "chunked in a list",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "coding that is not chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhi",
        Refused,
    ),
    (
        "coding with a vertical tab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "chunks by HTTP/1.0",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "bytes behind an answer",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!",
        Clean(200, "hi"),
    ),
    (
        "an answer behind an answer",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale",
        Clean(200, "hi"),
    ),
    (
        "bytes behind the last chunk",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n!",
        Clean(200, "2\r\nhi\r\n0\r\n\r\n"),
    ),
    ("body cut", "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi", Cut),
    (
        "chunk cut",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi",
        Cut,
    ),
    (
        "last chunk missing",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
        Cut,
    ),
    (
        "chunk size that is none",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n",
        Cut,
    ),
    (
        "chunk size with a sign",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n0\r\n\r\n",
        Cut,
    ),
    (
        "chunk size past 64 bits",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000002\r\nhi\r\n0\r\n\r\n",
        Cut,
    ),
    (
        "chunk longer than its size",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi!\r\n0\r\n\r\n",
        Cut,
    ),
    (
        "chunk size ended by a bare LF",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n",
        Cut,
    ),
    (
        "NUL in a value",
        "HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    (
        "NUL in a name",
        "HTTP/1.1 200 OK\r\nX\0A: ab\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    (
        "bare CR in a value",
        "HTTP/1.1 200 OK\r\nX-A: a\rSet-Cookie: b\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    (
        "folded line",
        "HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    (
        "folded length",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nhi",
        Refused,
    ),
    (
        "space before the colon",
        "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi",
        Refused,
    ),
    (
        "line without a colon",
        "HTTP/1.1 200 OK\r\nContent-Length\r\n\r\nhi",
        Refused,
    ),
    ("line without a name", "HTTP/1.1 200 OK\r\n: 2\r\n\r\nhi", Refused),
    (
        "first line begins with a space",
        "HTTP/1.1 200 OK\r\n X: a\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    ("interim answers without end", "FLOOD", Refused),
    (
        "101 unasked",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhi",
        Refused,
    ),
    (
        "garbage ahead of the status line",
        "oops\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    ("HTTP/0.9", "<html>hi</html>", Refused),
    ("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Refused),
    ("HTTP/2 frame", "\0\0\0\x04\0\0\0\0\0", Refused),
    ("HTTP/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nhi", Refused),
    ("TLS alert", "\x15\x03\x01\0\x02\x02\x46", Refused),
    ("status 99", "HTTP/1.1 99 Odd\r\nContent-Length: 2\r\n\r\nhi", Refused),
    ("status 099", "HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nhi", Refused),
    (
        "status 1000",
        "HTTP/1.1 1000 Odd\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    ("no status", "HTTP/1.1 OK\r\nContent-Length: 2\r\n\r\nhi", Refused),
    (
        "lines ended by a bare LF",
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
        Clean(200, "hi"),
    ),
    (
        "chunk extension",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n",
        Clean(200, "2\r\nhi\r\n0\r\n\r\n"),
    ),
    (
        "204 with a body",
        "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nhi",
        Clean(204, ""),
    ),
    (
        "304 with a body",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nhi",
        Clean(304, ""),
    ),
    (
        "204 with chunks",
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Clean(204, ""),
    ),
    (
        "304 with chunks",
        "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Clean(304, ""),
    ),
    (
        "interim answer with a body",
        "HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    (
        "interim answer with chunks",
        "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    (
        "empty coding and a length",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 2\r\n\r\nhi",
        Refused,
    ),
    (
        "empty coding and chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "chunked with a parameter",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;q=1\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Refused,
    ),
    (
        "length in quotes",
        "HTTP/1.1 200 OK\r\nContent-Length: \"2\"\r\n\r\nhi",
        Refused,
    ),
    (
        "length with a fraction",
        "HTTP/1.1 200 OK\r\nContent-Length: 2.0\r\n\r\nhi",
        Refused,
    ),
    (
        "trailer without a name",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n: a\r\n\r\n",
        Cut,
    ),
    (
        "trailer that is folded",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: a\r\n b\r\n\r\n",
        Cut,
    ),
    (
        "NUL in a trailer",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: a\0b\r\n\r\n",
        Cut,
    ),
    ("head cut", "HTTP/1.1 200 OK\r\nContent-Le", Refused),
];

/// Answers the first request with `bytes` and holds the connection open, or closes it; those after it well.
fn shop(bytes: &'static str, closes: bool) -> Shop {
    Shop::new(move |line| {
        while line.request().is_some() {
            if line.index > 0 {
                line.send(OK);
                continue;
            }
            if bytes == "FLOOD" {
                let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(100);
                while line.try_send(&interim) {}
                return;
            }
            line.send(bytes);
            if closes {
                return;
            }
            line.drain();
        }
    })
}

fn check(name: &str, shop: &Shop, request: &str, seen: Seen) {
    let gate = Gate::new(shop);
    let mut client = gate.client();
    client.send(request);
    let whole = client.rest();
    let (head, body) = whole.split_once("\r\n\r\n").unwrap_or((&whole, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    match seen {
        Cut if whole.is_empty() => {}
        Cut if status == "200" => assert!(!is_whole(head, body), "{name}: {whole}"),
        Refused | Cut => assert_eq!(status, "502", "{name}: {whole}"),
        Clean(expected, text) => assert_eq!((status, body), (expected.to_string().as_str(), text), "{name}: {whole}"),
    }
    let failures = gate.origins.standing()[0].failures;
    assert_eq!(
        failures,
        u64::from(!matches!(seen, Clean(..))),
        "{name}: counted against its server"
    );
    assert!(!head.contains('\0') && !head.contains("Set-Cookie"), "{name}: {whole}");
    // At once, before anything else could have closed the connection.
    let next = gate.client().ask(GET);
    assert_eq!(
        (next.status, next.body.as_str()),
        (200, "hi"),
        "{name}: the next visitor"
    );
    shop.until_closed(1);
    assert_eq!(shop.connections(), 2, "{name}");
}

fn is_whole(head: &str, body: &str) -> bool {
    match crate::client::header(&head.to_ascii_lowercase(), "content-length") {
        Some(length) => body.len() == length.parse::<usize>().unwrap(),
        None => body.ends_with("0\r\n\r\n"),
    }
}

#[test]
fn every_faulty_answer_is_refused_or_cut_and_harms_nobody_else() {
    for (name, bytes, seen) in CASES {
        // Faults that only show when the connection ends.
        let closes = [
            "length that never comes",
            "body cut",
            "chunk cut",
            "last chunk missing",
            "HTTP/0.9",
            "head cut",
            "HTTP/2 frame",
            "TLS alert",
            "lines ended by a bare LF",
            "chunk extension",
        ]
        .contains(&name);
        check(name, &shop(bytes, closes), GET, seen);
    }
}

#[test]
fn body_that_follows_an_answer_to_head_is_nobodys() {
    let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    check("HEAD with a body", &shop(bytes, false), HEAD, Clean(200, ""));
}

#[test]
fn heads_without_measure_are_refused() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(100_000)).leak();
    check("long head", &shop(long, false), GET, Refused);
    let many = format!(
        "HTTP/1.1 200 OK\r\n{}Content-Length: 2\r\n\r\nhi",
        "X: a\r\n".repeat(101)
    )
    .leak();
    check("many fields", &shop(many, false), GET, Refused);
    let endless = "x".repeat(300_000).leak();
    check("no line end", &shop(endless, false), GET, Refused);
    let begun = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2";
    let extension = format!("{begun};{}\r\nhi\r\n0\r\n\r\n", "x".repeat(300_000)).leak();
    check("long extension", &shop(extension, false), GET, Cut);
    let trailer = format!("{begun}\r\nhi\r\n0\r\nX: {}\r\n\r\n", "x".repeat(300_000)).leak();
    check("long trailer", &shop(trailer, false), GET, Cut);
    let trailers = format!("{begun}\r\nhi\r\n0\r\n{}\r\n", "X: a\r\n".repeat(1_100)).leak();
    check("many trailers", &shop(trailers, false), GET, Cut);
}

#[test]
fn reset_in_a_head_and_in_a_body_is_seen() {
    for (name, bytes, seen) in [
        ("reset in the head", "HTTP/1.1 200 OK\r\nContent-", Refused),
        (
            "reset in the body",
            "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi",
            Cut,
        ),
    ] {
        let shop = Shop::new(move |line| {
            while line.request().is_some() {
                if line.index > 0 {
                    line.send(OK);
                    continue;
                }
                line.send(bytes);
                socket2::SockRef::from(&line.stream)
                    .set_linger(Some(std::time::Duration::ZERO))
                    .unwrap();
                return;
            }
        });
        check(name, &shop, GET, seen);
    }
}
