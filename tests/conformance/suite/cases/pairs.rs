//! Pairs of requests of which one hides the other: the second may be answered on its own, or not at all.

use crate::suite::case::Check::{Body, Start, Times};
use crate::suite::case::{Case, Expect, HIDDEN, chunked, get, post, refused};

pub fn all() -> Vec<Case> {
    let whole = HIDDEN.len();
    let poison = "GPOST / HTTP/1.1\r\nX: ";
    let rows = [
        (
            "CL.TE",
            "9112, 11.2",
            post("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\nG"),
        ),
        (
            "CL.TE with a whole request",
            "9112, 11.2",
            post(
                &format!("Content-Length: {}\r\nTransfer-Encoding: chunked", 5 + whole),
                &format!("0\r\n\r\n{HIDDEN}"),
            ),
        ),
        (
            "TE.CL",
            "9112, 11.2",
            post(
                "Transfer-Encoding: chunked\r\nContent-Length: 4",
                &format!("{:x}\r\n{poison}\r\n0\r\n\r\n", poison.len()),
            ),
        ),
        (
            "TE.TE by xchunked",
            "9112, 11.2",
            post(
                "Content-Length: 4\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: xchunked",
                "0\r\n\r\n",
            ),
        ),
        (
            "TE.TE by a space before the colon",
            "9112, 11.2",
            post(
                "Content-Length: 5\r\nTransfer-Encoding : chunked",
                &format!("0\r\n\r\n{HIDDEN}"),
            ),
        ),
        (
            "TE.0: a coding nobody knows hides the body",
            "9112, 11.2",
            post("Transfer-Encoding: cow", &format!("{whole:x}\r\n{HIDDEN}\r\n0\r\n\r\n")),
        ),
        (
            "CL.0: two lengths",
            "9112, 11.2",
            post(&format!("Content-Length: 0\r\nContent-Length: {whole}"), HIDDEN),
        ),
        (
            "a request behind a bare LF head",
            "9112, 2.2",
            format!("GET / HTTP/1.1\nHost: shop.test\n\n{HIDDEN}"),
        ),
        (
            "a request in a chunk extension",
            "Funky Chunks 2025",
            chunked(&format!("2;\n{HIDDEN}xx\r\n0\r\n\r\n")),
        ),
        (
            "a request in the data behind a chunk",
            "Funky Chunks 2025",
            chunked(&format!("1\r\nAXX0\r\n\r\n{HIDDEN}")),
        ),
        (
            "a request in the trailers",
            "Funky Chunks 2025",
            chunked(&format!("0\r\n{HIDDEN}")),
        ),
        (
            "a request in a folded line",
            "9112, 5.2",
            get("/", &format!("X: y\r\n {HIDDEN}")),
        ),
        (
            "a bad first and a sound second",
            "9112, 9.3",
            format!("{}{HIDDEN}", post("Content-Length: x", "")),
        ),
        (
            "a head without Host and a sound second",
            "9112, 9.3",
            format!("GET / HTTP/1.1\r\n\r\n{HIDDEN}"),
        ),
        (
            "HTTP/1.0 with chunks and a request behind",
            "9112, 6.1",
            format!("POST / HTTP/1.0\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}"),
        ),
    ];
    let mut cases = refused(&rows);
    let sound =
        |name: &'static str, text: String, checks: Vec<_>| Case::new(name, "9112, 9.3.2", text, Expect::Passes(checks));
    cases.extend([
        sound(
            "a GET with a length, its body a request",
            get("/", &format!("Content-Length: {whole}\r\n")) + HIDDEN,
            vec![Body(HIDDEN)],
        ),
        sound(
            "a DELETE with a length, its body a request",
            get("/", &format!("Content-Length: {whole}\r\n")).replace("GET", "DELETE") + HIDDEN,
            vec![Body(HIDDEN)],
        ),
        sound(
            "a request in a chunk",
            chunked(&format!("{whole:x}\r\n{HIDDEN}\r\n0\r\n\r\n")),
            vec![Body(HIDDEN)],
        ),
        sound(
            "three requests at once",
            format!("{}{}{}", get("/1", ""), post("Content-Length: 2", "ok"), get("/3", "")),
            vec![Times(3), Start("GET /1 HTTP/1.1"), Start("GET /3 HTTP/1.1")],
        ),
        // Whether the first connection is closed is the proxy's choice; that the second is not mixed up with it is not.
        Case::new(
            "HTTP/1.0 and a request behind it",
            "9112, 9.3",
            format!("GET /1 HTTP/1.0\r\nHost: shop.test\r\n\r\n{HIDDEN}"),
            Expect::Passes(vec![Start("GET /1 HTTP/1.1")]),
        )
        .gate_alone(),
        Case::new(
            "Connection: close and a request behind it",
            "9112, 9.6",
            format!("{}{HIDDEN}", get("/1", "Connection: close\r\n")),
            Expect::Passes(vec![Start("GET /1 HTTP/1.1"), Times(1)]),
        ),
    ]);
    cases
}
