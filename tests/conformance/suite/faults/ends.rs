//! The end of an answer, and bytes behind it.

use super::Seen::{Clean, Either, Refused};
use super::cases::{case, chunks, hi, ok, rows};
use super::{Case, End};

pub fn all() -> Vec<Case> {
    let mut cases = ends();
    cases.extend(bodies());
    cases
}

fn ends() -> Vec<Case> {
    let part = || ok("Content-Length: 20", "hi");
    let head = || "HTTP/1.1 200 OK\r\nContent-Le".to_owned();
    let nothing = String::new;
    vec![
        case("closed without an answer", "9112, 9.5", nothing(), End::Closes, Refused),
        case("reset without an answer", "9112, 9.5", nothing(), End::Resets, Refused),
        case("silent", "9110, 15.6.5", nothing(), End::Holds, Refused),
        case("closed in the head", "9112, 8", head(), End::Closes, Refused),
        case("reset in the head", "9112, 8", head(), End::Resets, Refused),
        case("silent in the head", "9112, 8", head(), End::Holds, Refused),
        case("closed in the body", "9112, 8", part(), End::Closes, Refused),
        case("reset in the body", "9112, 8", part(), End::Resets, Refused),
        case("silent in the body", "9112, 8", part(), End::Holds, Refused),
        case(
            "a head that comes byte by byte",
            "9112, 2.2",
            hi("X-A: a"),
            End::Drips,
            Clean(200, "hi"),
        ),
        case(
            "an answer before the request",
            "9112, 9.3",
            ok("Content-Length: 2", "ho"),
            End::Ahead,
            Either(200, "ho"),
        ),
    ]
}

fn bodies() -> Vec<Case> {
    let stale = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale";
    let mut cases = rows(
        &[
            (
                "bytes behind the answer",
                "9112, 6.3",
                hi("X-A: a") + "!",
                Either(200, "hi"),
            ),
            (
                "another answer behind the answer",
                "9112, 11.2",
                hi("X-A: a") + stale,
                Either(200, "hi"),
            ),
            (
                "another answer behind the last chunk",
                "9112, 11.2",
                chunks("2\r\nhi\r\n0\r\n\r\n") + stale,
                Either(200, "hi"),
            ),
            (
                "204 with a body",
                "9110, 15.3.5",
                hi("X-A: a").replace("200 OK", "204 No Content"),
                Either(204, ""),
            ),
            (
                "204 with an answer for a body",
                "9112, 11.2",
                format!("HTTP/1.1 204 No Content\r\n\r\n{stale}"),
                Either(204, ""),
            ),
            (
                "304 with a body",
                "9110, 15.4.5",
                hi("X-A: a").replace("200 OK", "304 Not Modified"),
                Either(304, ""),
            ),
        ],
        End::Holds,
    );
    cases.push(Case {
        request: "HEAD / HTTP/1.1\r\nHost: shop.test\r\n\r\n".into(),
        ..case(
            "a body behind the answer to HEAD",
            "9110, 9.3.2",
            hi("X-A: a"),
            End::Holds,
            Either(200, ""),
        )
    });
    cases.push(Case {
        request: "HEAD / HTTP/1.1\r\nHost: shop.test\r\n\r\n".into(),
        ..case(
            "an answer behind the answer to HEAD",
            "9112, 11.2",
            ok("Content-Length: 45", stale),
            End::Holds,
            Either(200, ""),
        )
    });
    cases
}
