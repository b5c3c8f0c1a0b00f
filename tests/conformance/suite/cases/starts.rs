//! Request lines: versions, methods, and expectations.

use crate::suite::case::Check::{AnswerBody, AnyTimes, Body, Never, Start, Status};
use crate::suite::case::{Case, Expect, HIDDEN, Shop, Step, get, post, refused};

fn line(line: &str) -> String {
    format!("{line}\r\nHost: shop.test\r\n\r\n")
}

pub fn all() -> Vec<Case> {
    let rows = [
        ("HTTP/0.9 with fields", "9112, 3", line("GET /")),
        ("HTTP/0.9 by name", "9112, 2.3", line("GET / HTTP/0.9")),
        ("HTTP/2.0", "9112, 2.3", line("GET / HTTP/2.0")),
        ("HTTP/3.0", "9112, 2.3", line("GET / HTTP/3.0")),
        (
            "HTTP/2 begun in the clear",
            "9113, 3.4",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(),
        ),
        ("HTTP/11", "9112, 2.3", line("GET / HTTP/11")),
        ("HTTP/1", "9112, 2.3", line("GET / HTTP/1")),
        ("HTTP/1.", "9112, 2.3", line("GET / HTTP/1.")),
        ("HTTP/.1", "9112, 2.3", line("GET / HTTP/.1")),
        ("HTTP/01.1", "9112, 2.3", line("GET / HTTP/01.1")),
        ("HTTP/1.01", "9112, 2.3", line("GET / HTTP/1.01")),
        ("HTTP/1.10", "9112, 2.3", line("GET / HTTP/1.10")),
        ("HTTP/1,1", "9112, 2.3", line("GET / HTTP/1,1")),
        ("HTTP 1.1", "9112, 2.3", line("GET / HTTP 1.1")),
        ("http/1.1", "9112, 2.3", line("GET / http/1.1")),
        ("Http/1.1", "9112, 2.3", line("GET / Http/1.1")),
        ("HTTPS/1.1", "9112, 2.3", line("GET / HTTPS/1.1")),
        ("ICY/1.1", "9112, 2.3", line("GET / ICY/1.1")),
        ("more behind the version", "9112, 3", line("GET / HTTP/1.1 x")),
        ("a space behind the version", "9112, 3", line("GET / HTTP/1.1 ")),
        ("a tab behind the version", "9112, 3", line("GET / HTTP/1.1\t")),
        ("NUL behind the version", "9112, 3", line("GET / HTTP/1.1\0")),
        ("two spaces", "9112, 3", line("GET  / HTTP/1.1")),
        ("a tab for a space", "9112, 3", line("GET\t/ HTTP/1.1")),
        ("a vertical tab for a space", "9112, 3", line("GET /\u{b}HTTP/1.1")),
        ("a space before the method", "9112, 3", line(" GET / HTTP/1.1")),
        (
            "two empty lines before",
            "9112, 2.2",
            format!("\r\n\r\n{}", get("/", "")),
        ),
        ("a bare LF before", "9112, 2.2", format!("\n{}", get("/", ""))),
        ("a bare CR before", "9112, 2.2", format!("\r{}", get("/", ""))),
        ("no method", "9112, 3", line("/ HTTP/1.1")),
        ("an empty method", "9112, 3", line(" / HTTP/1.1")),
        ("a method with a colon", "9110, 9.1", line("GET: / HTTP/1.1")),
        ("a method with a slash", "9110, 9.1", line("GE/T / HTTP/1.1")),
        ("a method with brackets", "9110, 9.1", line("GET[] / HTTP/1.1")),
        ("a method with NUL", "9110, 9.1", line("GE\0T / HTTP/1.1")),
        ("a method beyond ASCII", "9110, 9.1", line("G\u{c9}T / HTTP/1.1")),
        ("a method in quotes", "9110, 9.1", line("\"GET\" / HTTP/1.1")),
        (
            "TLS on a plain port",
            "8446, 5.1",
            "\u{16}\u{3}\u{1}\0\u{5}hello".to_owned() + "\r\n\r\n",
        ),
        ("a line of another protocol", "9112, 3", "EHLO shop.test\r\n\r\n".into()),
    ];
    let mut cases = refused(&rows);
    // A server may take a higher minor version for its own highest, or refuse it.
    cases.extend(["HTTP/1.2", "HTTP/1.9"].map(|version| {
        let text = line(&format!("GET / {version}"));
        Case::new(
            version,
            "9110, 2.5",
            text,
            Expect::Either(vec![Start("GET / HTTP/1.1")]),
        )
    }));
    cases.push(Case::new("HTTP/0.9", "9112, 3", "GET /\r\n", Expect::Refused).step(Step::Finish));
    cases.extend(methods());
    cases.extend(expectations());
    cases
}

fn methods() -> Vec<Case> {
    let of = |method: &str| line(&format!("{method} / HTTP/1.1"));
    let either = |name: &'static str, text: String, start: &'static str| {
        Case::new(name, "9110, 9.1", text, Expect::Either(vec![Start(start)]))
    };
    vec![
        Case::new(
            "CONNECT to an authority",
            "9110, 9.3.6",
            "CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\r\n",
            Expect::Declined,
        ),
        Case::new("CONNECT to a path", "9112, 3.2.3", of("CONNECT"), Expect::Declined),
        Case::new(
            "CONNECT with a body behind",
            "9110, 9.3.6",
            format!("CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\r\n{HIDDEN}"),
            Expect::Refused,
        ),
        either("TRACE", of("TRACE"), "TRACE / HTTP/1.1"),
        either("get in lower case", of("get"), "get / HTTP/1.1"),
        either(
            "a method of odd token signs",
            of("!#$%&'*+-.^_`|~"),
            "!#$%&'*+-.^_`|~ / HTTP/1.1",
        ),
        either("an unknown method", of("QUEUE"), "QUEUE / HTTP/1.1"),
        Case::new(
            "a method of 5,000 letters",
            "9110, 15.6.2",
            of(&"A".repeat(5_000)),
            Expect::Either(Vec::new()),
        ),
        Case::new(
            "TRACE with a body",
            "9110, 9.3.8",
            post("Content-Length: 2", "ok").replace("POST", "TRACE"),
            Expect::Either(vec![Body("ok")]),
        ),
    ]
}

/// CL.0, 0.CL and other attacks with `Expect` (Kettle, "HTTP/1.1 must die", 2025).
fn expectations() -> Vec<Case> {
    let expects = |value: &str| post(&format!("Content-Length: 2\r\nExpect: {value}"), "ok");
    let early = Shop::Early("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    let hidden = HIDDEN.len();
    vec![
        Case::new(
            "Expect: 100-Continue in another case",
            "9110, 10.1.1",
            expects("100-Continue"),
            Expect::Passes(vec![Body("ok")]),
        )
        .shop(Shop::Continues),
        Case::new(
            "Expect of something else",
            "9110, 10.1.1",
            expects("gold"),
            Expect::Either(vec![Body("ok")]),
        ),
        Case::new(
            "Expect of two things",
            "9110, 10.1.1",
            expects("100-continue, gold"),
            Expect::Either(vec![Body("ok")]),
        ),
        Case::new(
            "Expect twice",
            "9110, 10.1.1",
            expects("100-continue\r\nExpect: 100-continue"),
            Expect::Either(vec![Body("ok")]),
        )
        .shop(Shop::Continues),
        Case::new(
            "Expect with a value in quotes",
            "9110, 10.1.1",
            expects("\"100-continue\""),
            Expect::Either(vec![Body("ok")]),
        ),
        Case::new(
            "an obfuscated Expect",
            "Kettle 2025",
            expects("y 100-continue"),
            Expect::Either(vec![Body("ok")]),
        ),
        Case::new(
            "a folded Expect",
            "9112, 5.2",
            expects("\r\n 100-continue"),
            Expect::Refused,
        ),
        Case::new(
            "Expect with HTTP/1.0",
            "9110, 10.1.1",
            expects("100-continue").replace("HTTP/1.1", "HTTP/1.0"),
            Expect::Passes(vec![Body("ok")]),
        ),
        Case::new(
            "Expect without a body",
            "9110, 10.1.1",
            get("/", "Expect: 100-continue\r\n"),
            Expect::Passes(vec![Status(200)]),
        ),
        Case::new(
            "Expect, and a body that is a request",
            "Kettle 2025",
            post(&format!("Content-Length: {hidden}\r\nExpect: 100-continue"), HIDDEN),
            Expect::Passes(vec![Body(HIDDEN)]),
        )
        .shop(Shop::Continues),
        // Whether more is read from the connection depends on which bytes arrived first; the body is never read as a request.
        Case::new(
            "an early answer, and a body that is a request",
            "9112, 9.3",
            format!(
                "{}{}",
                post(&format!("Content-Length: {hidden}"), HIDDEN),
                get("/next", "")
            ),
            Expect::Passes(vec![AnyTimes, AnswerBody("hi"), Never("GET /hidden")]),
        )
        .shop(early)
        .varies(),
        Case::new(
            "an early answer with Expect",
            "Kettle 2025",
            post(&format!("Content-Length: {hidden}\r\nExpect: 100-continue"), HIDDEN),
            Expect::Passes(vec![AnyTimes, Status(200), Never("GET /hidden")]),
        )
        .shop(early)
        .varies(),
    ]
}
