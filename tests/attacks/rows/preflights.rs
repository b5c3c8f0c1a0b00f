//! CORS preflights pass every line, so a request that passes as one must be one and contain nothing else.

use crate::case::{Body, Case, Fate, Row, attack, ordinary};

pub const ROW: Row = Row {
    room: "",
    tables: "",
    cases: &CASES,
};

const ORIGIN: (&str, &str) = ("Origin", "https://app.test");
const METHOD: (&str, &str) = ("Access-Control-Request-Method", "PUT");
const LIST: &str = "Access-Control-Request-Headers";

const fn made_up(name: &'static str, fields: &'static [(&'static str, &'static str)]) -> Case {
    attack(name, "OPTIONS", "/api/cart").fields(fields)
}

const CASES: [Case; 24] = [
    made_up("a cookie", &[ORIGIN, METHOD, ("Cookie", "session=1")]),
    made_up("credentials", &[ORIGIN, METHOD, ("Authorization", "Bearer x")]),
    made_up("two origins", &[ORIGIN, ("Origin", "https://b.test"), METHOD]),
    made_up(
        "two origins in one line",
        &[("Origin", "https://a.test, https://b.test"), METHOD],
    ),
    made_up("an origin with a path", &[("Origin", "https://a.test/x"), METHOD]),
    made_up("an empty origin", &[("Origin", ""), METHOD]),
    made_up("no origin", &[METHOD]),
    made_up("no method", &[ORIGIN]),
    made_up("an empty method", &[ORIGIN, ("Access-Control-Request-Method", "")]),
    made_up(
        "a method that is no token",
        &[ORIGIN, ("Access-Control-Request-Method", "P UT")],
    ),
    made_up("two methods", &[ORIGIN, METHOD, METHOD]),
    made_up("two lists of fields", &[ORIGIN, METHOD, (LIST, "a"), (LIST, "b")]),
    made_up("a list of what is no token", &[ORIGIN, METHOD, (LIST, "a b")]),
    made_up(
        "another method in a field",
        &[ORIGIN, METHOD, ("X-HTTP-Method-Override", "POST")],
    ),
    attack("another method in the query", "OPTIONS", "/api/cart?_method=POST").fields(&[ORIGIN, METHOD]),
    made_up("a body", &[ORIGIN, METHOD]).body(Body::Told("{\"seat\":7}")),
    made_up("a body of unknown length", &[ORIGIN, METHOD]).body(Body::Untold("{\"seat\":7}")),
    attack("another method", "POST", "/api/cart").fields(&[ORIGIN, METHOD]),
    // A gate that is asked cannot remove a field, and judges the request as any visitor's.
    made_up(
        "a field of the shop's own, where nobody could take it out",
        &[ORIGIN, METHOD, ("X-Api-Key", "1")],
    )
    .not_over(&["http1", "http2"]),
    made_up(
        "a field of the shop's own",
        &[ORIGIN, METHOD, ("X-Api-Key", "1"), ("Referer", "https://app.test/")],
    )
    .fate(Fate::Passes {
        with: &["Origin", "Access-Control-Request-Method"],
        without: &["X-Api-Key", "Referer"],
    })
    .not_over(&["nginx", "haproxy", "caddy", "traefik", "envoy"]),
    ordinary("of Chromium", "OPTIONS", "/api/cart?id=7").fields(&[
        ("Accept", "*/*"),
        METHOD,
        (LIST, "content-type,x-csrf-token"),
        ORIGIN,
        ("User-Agent", "Mozilla/5.0"),
        ("Sec-Fetch-Mode", "cors"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Dest", "empty"),
        ("Referer", "https://app.test/"),
        ("Accept-Encoding", "gzip, deflate, br"),
        ("Accept-Language", "ko-KR,ko;q=0.9"),
    ]),
    ordinary("of Firefox, without a cache", "OPTIONS", "/api/cart").fields(&[
        ("User-Agent", "Mozilla/5.0"),
        ("Accept", "*/*"),
        METHOD,
        (LIST, "content-type"),
        ("Referer", "https://app.test/"),
        ORIGIN,
        ("DNT", "1"),
        ("Sec-GPC", "1"),
        ("Priority", "u=4"),
        ("Pragma", "no-cache"),
        ("Cache-Control", "no-cache"),
    ]),
    ordinary("of a page without an origin", "OPTIONS", "/api/cart").fields(&[("Origin", "null"), METHOD]),
    ordinary("of the visitor inside, by what is no preflight", "OPTIONS", "/api/cart")
        .fields(&[METHOD])
        .inside(),
];
