//! Unprotected paths, which must pass unchanged.

use crate::suite::case::Check::Start;
use crate::suite::case::{Case, Expect};

pub fn all() -> Vec<Case> {
    let starts = [
        Start("GET / HTTP/1.1"),
        Start("GET /shop HTTP/1.1"),
        Start("GET /public/seat HTTP/1.1"),
        Start("GET /a?next=/seat HTTP/1.1"),
        Start("GET /a?b=../seat HTTP/1.1"),
        Start("GET /%EA%B3%B5%EC%97%B0/a%20b HTTP/1.1"),
        Start("GET /a;jsessionid=1/b HTTP/1.1"),
        Start("GET /img/https://cdn.test//a.png HTTP/1.1"),
        Start("GET /files/a%2Fb HTTP/1.1"),
        Start("GET /a/%2e%2e/b HTTP/1.1"),
        Start("GET /.well-known/acme HTTP/1.1"),
        Start("GET /a%25b HTTP/1.1"),
    ];
    let case = |start: crate::suite::case::Check| {
        let Start(line) = start else {
            unreachable!("the table holds nothing else")
        };
        let name = format!("{} passes", line.split(' ').nth(1).unwrap_or_default());
        Case::new(
            name,
            "3986, 3.3",
            format!("{line}\r\nHost: shop.test\r\n\r\n"),
            Expect::Passes(vec![start]),
        )
    };
    starts.into_iter().map(case).collect()
}
