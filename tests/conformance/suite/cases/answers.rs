//! Which fields of an answer come back to the client.

use crate::suite::case::Check::{AnswerBody, AnswerField, NoAnswerField, Status};
use crate::suite::case::{Case, Check, Expect, Shop, get};

/// An answer with these lines.
macro_rules! answer {
    ($lines:literal) => {
        concat!("HTTP/1.1 200 OK\r\n", $lines, "Content-Length: 2\r\n\r\nhi")
    };
}

pub fn all() -> Vec<Case> {
    let mut cases: Vec<Case> = rows()
        .into_iter()
        .map(|(name, source, answer, check)| case(name, source, answer, &[check]))
        .collect();
    cases.extend(
        gate()
            .into_iter()
            .map(|(name, answer, check)| case(name, "design", answer, &[check]).gate_alone()),
    );
    cases
}

fn case(name: &str, source: &'static str, answer: &'static str, checks: &[Check]) -> Case {
    Case::new(name, source, get("/", ""), Expect::Passes(checks.to_vec())).shop(Shop::Says(answer))
}

type Row = (&'static str, &'static str, &'static str, Check);

fn rows() -> Vec<Row> {
    vec![
        (
            "a field that the answer's Connection lists",
            "9110, 7.6.1",
            answer!("Connection: X-Inner\r\nX-Inner: 1\r\n"),
            NoAnswerField("x-inner"),
        ),
        (
            "one in a list",
            "9110, 7.6.1",
            answer!("Connection: keep-alive, x-inner\r\nX-Inner: 1\r\n"),
            NoAnswerField("x-inner"),
        ),
        (
            "one on a second line",
            "9110, 7.6.1",
            answer!("Connection: keep-alive\r\nConnection: X-Inner\r\nX-Inner: 1\r\n"),
            NoAnswerField("x-inner"),
        ),
        (
            "Keep-Alive of the shop",
            "9110, 7.6.1",
            answer!("Keep-Alive: timeout=666\r\n"),
            NoAnswerField("keep-alive"),
        ),
        (
            "Proxy-Connection of the shop",
            "9110, 7.6.1",
            answer!("Proxy-Connection: close\r\n"),
            NoAnswerField("proxy-connection"),
        ),
        (
            "Upgrade of the shop",
            "9110, 7.8",
            answer!("Upgrade: h2c\r\nConnection: upgrade\r\n"),
            NoAnswerField("upgrade"),
        ),
        (
            "Set-Cookie passes",
            "6265, 4.1",
            answer!("Set-Cookie: a=1; Path=/\r\n"),
            AnswerField("set-cookie", "a=1; Path=/"),
        ),
        (
            "Location passes",
            "9110, 10.2.2",
            answer!("Location: /b\r\n"),
            AnswerField("location", "/b"),
        ),
        (
            "ETag passes",
            "9110, 8.8.3",
            answer!("ETag: \"x\"\r\n"),
            AnswerField("etag", "\"x\""),
        ),
        (
            "Content-Encoding passes",
            "9110, 8.4",
            answer!("Content-Encoding: br\r\n"),
            AnswerField("content-encoding", "br"),
        ),
        (
            "Strict-Transport-Security passes",
            "6797, 6.1",
            answer!("Strict-Transport-Security: max-age=1\r\n"),
            AnswerField("strict-transport-security", "max-age=1"),
        ),
        (
            "WWW-Authenticate passes",
            "9110, 11.6.1",
            "HTTP/1.1 200 OK\r\nWWW-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nhi",
            AnswerField("www-authenticate", "Basic"),
        ),
        (
            "an unknown status passes",
            "9110, 15",
            "HTTP/1.1 299 Odd\r\nContent-Length: 2\r\n\r\nhi",
            Status(299),
        ),
        (
            "a body to the end of the connection passes",
            "9112, 6.3",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nhi",
            AnswerBody("hi"),
        ),
    ]
}

/// The gate's own names.
fn gate() -> Vec<(&'static str, &'static str, Check)> {
    vec![
        (
            "Ropeline-Session of the shop is for the gate",
            answer!("Ropeline-Session: end\r\n"),
            NoAnswerField("ropeline-session"),
        ),
        (
            "Ropeline-Status of the shop",
            answer!("Ropeline-Status: waiting\r\n"),
            NoAnswerField("ropeline-status"),
        ),
        (
            "Ropeline-Pass of the shop",
            answer!("Ropeline-Pass: x\r\n"),
            NoAnswerField("ropeline-pass"),
        ),
        (
            "Proxy-Authenticate of the shop",
            answer!("Proxy-Authenticate: Basic\r\n"),
            NoAnswerField("proxy-authenticate"),
        ),
        ("TE of the shop", answer!("TE: gzip\r\n"), NoAnswerField("te")),
    ]
}
