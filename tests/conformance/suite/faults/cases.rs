//! Answers that break a rule, each with the part that a visitor may see.

use super::Seen::{Clean, Either, Refused, Repaired};
use super::{Case, End, Faulty, Seen};
use crate::suite::case::get;

pub fn all() -> Vec<Case> {
    let mut cases = lengths();
    cases.extend(codings());
    cases.extend(lines());
    cases.extend(starts());
    cases.extend(super::ends::all());
    cases
}

pub(super) fn case(name: &'static str, source: &'static str, text: String, end: End, expect: Seen) -> Case {
    Case {
        name,
        source,
        request: get("/", ""),
        answer: Faulty {
            bytes: text.leak(),
            end,
        },
        expect,
    }
}

/// A good start, these lines, and this body.
pub(super) fn ok(lines: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n{body}")
}

/// The same with a length of 2 and `hi`.
pub(super) fn hi(lines: &str) -> String {
    ok(&format!("{lines}\r\nContent-Length: 2"), "hi")
}

pub(super) fn chunks(body: &str) -> String {
    ok("Transfer-Encoding: chunked", body)
}

pub(super) fn rows(rows: &[(&'static str, &'static str, String, Seen)], end: End) -> Vec<Case> {
    let rows = rows.iter();
    rows.map(|(name, source, text, expect)| case(name, source, text.clone(), end, *expect))
        .collect()
}

fn lengths() -> Vec<Case> {
    let length = |lengths: &str, body| ok(&format!("Content-Length: {lengths}"), body);
    rows(
        &[
            (
                "two lengths",
                "9112, 6.3",
                length("2\r\nContent-Length: 3", "hi!"),
                Refused,
            ),
            (
                "two equal lengths",
                "9110, 8.6",
                length("2\r\nContent-Length: 2", "hi"),
                Repaired,
            ),
            ("a list of lengths", "9112, 6.3", length("2, 3", "hi!"), Refused),
            ("a list of equal lengths", "9110, 8.6", length("2, 2", "hi"), Repaired),
            ("a signed length", "9110, 8.6", length("+2", "hi"), Refused),
            ("a negative length", "9110, 8.6", length("-2", "hi"), Refused),
            ("a length in hexadecimal", "9110, 8.6", length("0x2", "hi"), Refused),
            (
                "a length past 64 bits",
                "9110, 8.6",
                length("18446744073709551618", "hi"),
                Refused,
            ),
            ("an empty length", "9110, 8.6", length("", "hi"), Refused),
            (
                "a folded length",
                "9112, 5.2",
                ok("Content-Length:\r\n 2", "hi"),
                Repaired,
            ),
        ],
        End::Holds,
    )
}

fn codings() -> Vec<Case> {
    let whole = "2\r\nhi\r\n0\r\n\r\n";
    let coded = |lines: &str| ok(lines, whole);
    let mut cases = rows(
        &[
            (
                "a length and chunks",
                "9112, 6.3",
                coded("Content-Length: 2\r\nTransfer-Encoding: chunked"),
                Repaired,
            ),
            (
                "chunks and a length",
                "9112, 6.3",
                coded("Transfer-Encoding: chunked\r\nContent-Length: 2"),
                Repaired,
            ),
            (
                "chunked twice",
                "9112, 6.1",
                coded("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
                Refused,
            ),
            (
                "gzip, chunked",
                "9112, 6.1",
                coded("Transfer-Encoding: gzip, chunked"),
                Refused,
            ),
            (
                "identity",
                "9112, 6.1",
                ok("Transfer-Encoding: identity", "hi"),
                Refused,
            ),
            (
                "chunked with a vertical tab",
                "9112, 6.1",
                coded("Transfer-Encoding: \u{b}chunked"),
                Refused,
            ),
            (
                "chunks by HTTP/1.0",
                "9112, 6.1",
                coded("Transfer-Encoding: chunked").replace("HTTP/1.1", "HTTP/1.0"),
                Repaired,
            ),
            (
                "a chunk size that is none",
                "9112, 7.1",
                chunks("zz\r\nhi\r\n0\r\n\r\n"),
                Refused,
            ),
            (
                "a signed chunk size",
                "9112, 7.1",
                chunks("-2\r\nhi\r\n0\r\n\r\n"),
                Refused,
            ),
            (
                "a chunk size with 0x",
                "9112, 7.1",
                chunks("0x2\r\nhi\r\n0\r\n\r\n"),
                Refused,
            ),
            (
                "a chunk size past 64 bits",
                "9112, 7.1",
                chunks("10000000000000002\r\nhi\r\n0\r\n\r\n"),
                Refused,
            ),
            (
                "a chunk longer than its size",
                "9112, 7.1",
                chunks("2\r\nhi!\r\n0\r\n\r\n"),
                Refused,
            ),
        ],
        End::Holds,
    );
    cases.extend(rows(
        &[
            ("a chunk cut off", "9112, 8", chunks("5\r\nhi"), Refused),
            ("no last chunk", "9112, 8", chunks("2\r\nhi\r\n"), Refused),
            (
                "a last chunk without its end",
                "9112, 8",
                chunks("2\r\nhi\r\n0\r\n"),
                Refused,
            ),
            (
                "a bare LF behind a chunk size",
                "9112, 7.1",
                chunks("2\nhi\r\n0\r\n\r\n"),
                Repaired,
            ),
        ],
        End::Closes,
    ));
    cases
}

fn lines() -> Vec<Case> {
    let mut cases = rows(
        &[
            ("NUL in a value", "9110, 5.5", hi("X-A: a\0b"), Refused),
            ("NUL in a name", "9110, 5.1", hi("X\0A: ab"), Refused),
            (
                "a bare CR in a value",
                "9112, 2.2",
                hi("X-A: a\rSet-Cookie: b=c"),
                Refused,
            ),
            ("a folded value", "9112, 5.2", hi("X-A: a\r\n b"), Repaired),
            ("a first line folded", "9112, 2.2", hi(" X-A: a"), Repaired),
            (
                "a space before the colon",
                "9112, 5.1",
                ok("Content-Length : 2", "hi"),
                Repaired,
            ),
            ("a line without a colon", "9112, 5", hi("X-A"), Repaired),
            ("a line without a name", "9110, 5.1", hi(": a"), Repaired),
            ("a space in a name", "9110, 5.1", hi("X A: b"), Repaired),
            (
                "a line of 300 KB",
                "9110, 5.4",
                hi(&format!("X-A: {}", "a".repeat(300_000))),
                Refused,
            ),
            (
                "3,000 lines",
                "9110, 5.4",
                hi(&vec!["X-A: a"; 3_000].join("\r\n")),
                Refused,
            ),
            (
                "a head without end",
                "9110, 5.4",
                format!("HTTP/1.1 200 OK\r\n{}", "X-A: a\r\n".repeat(100_000)),
                Refused,
            ),
        ],
        End::Holds,
    );
    cases.push(case(
        "lines ended by a bare LF",
        "9112, 2.2",
        hi("X-A: a").replace("\r\n", "\n"),
        End::Holds,
        Either(200, "hi"),
    ));
    cases
}

fn starts() -> Vec<Case> {
    let start = |line: &str| format!("{line}\r\nContent-Length: 2\r\n\r\nhi");
    let mut cases = rows(
        &[
            ("no status", "9112, 4", start("HTTP/1.1 OK"), Refused),
            ("status 99", "9112, 4", start("HTTP/1.1 99 Odd"), Refused),
            ("status 099", "9110, 15", start("HTTP/1.1 099 Odd"), Refused),
            ("status 1000", "9112, 4", start("HTTP/1.1 1000 Odd"), Refused),
            ("status 2x0", "9112, 4", start("HTTP/1.1 2x0 Odd"), Refused),
            ("HTTP/2 in words", "9112, 2.3", start("HTTP/2 200 OK"), Refused),
            ("HTTP/1.2", "9112, 2.3", start("HTTP/1.2 200 OK"), Repaired),
            ("lower case", "9112, 2.3", start("http/1.1 200 OK"), Refused),
            (
                "another protocol",
                "9112, 2.3",
                "SSH-2.0-OpenSSH_9.2\r\n\r\n".into(),
                Refused,
            ),
            (
                "a line ahead of the status",
                "9112, 4",
                start("oops\r\nHTTP/1.1 200 OK"),
                Refused,
            ),
            (
                "101 unasked",
                "9110, 7.8",
                ok("Connection: Upgrade\r\nUpgrade: echo", "hi").replace("200 OK", "101 Switching Protocols"),
                Refused,
            ),
            (
                "three interim answers, then the real one",
                "9110, 15.2",
                format!("{}{}", "HTTP/1.1 102 Processing\r\n\r\n".repeat(3), hi("X-A: a")),
                Clean(200, "hi"),
            ),
        ],
        End::Holds,
    );
    cases.extend(rows(
        &[
            ("HTTP/0.9", "9112, 2.3", "<html>hi</html>".into(), Refused),
            (
                "a TLS alert",
                "9112, 2.3",
                "\u{15}\u{3}\u{1}\0\u{2}\u{2}F".into(),
                Refused,
            ),
            (
                "a frame of HTTP/2",
                "9112, 2.3",
                "\0\0\0\u{4}\0\0\0\0\0".into(),
                Refused,
            ),
        ],
        End::Closes,
    ));
    cases.push(case(
        "interim answers without end",
        "9110, 15.2",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".into(),
        End::Repeats,
        Refused,
    ));
    cases
}
