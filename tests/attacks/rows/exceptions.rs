//! Paths that operators left outside can be read by any client; a front controller answers on any path.

use crate::case::{Body, Case, Fate, Row, attack, ordinary};

pub const ROW: Row = Row {
    room: "except = [\"/static/*\", \"/api/stock?*\", \"POST /payment/callback\"]\nreturn_routes = [\"/payment/return\"]",
    tables: "",
    cases: &CASES,
};

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// Where a proxy asks, the gate hears of no body.
const ASKED: &[&str] = &["nginx", "haproxy", "caddy", "traefik", "envoy"];

const SOCKET: &[(&str, &str)] = &[
    ("Upgrade", "websocket"),
    ("Connection", "upgrade"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

const CASES: [Case; 34] = [
    attack("POST", "POST", "/static/x?wc-ajax=checkout")
        .fields(&[FORM])
        .body(Body::Told("a=1")),
    attack("POST without a body", "POST", "/static/x"),
    attack("PUT", "PUT", "/static/x").body(Body::Told("a=1")),
    attack("OPTIONS", "OPTIONS", "/static/x"),
    attack("a method in small letters", "get", "/static/x").not_over(&["nginx"]),
    attack("a method in letters of both kinds", "Head", "/static/x").not_over(&["nginx"]),
    attack("the named method in small letters", "post", "/payment/callback").not_over(&["nginx"]),
    attack("a WebSocket", "GET", "/static/x")
        .fields(SOCKET)
        .not_over(&["http2"]),
    attack("a WebSocket where a payment returns", "GET", "/payment/return")
        .fields(SOCKET)
        .not_over(&["http2"]),
    attack("a query", "GET", "/static/x?add-to-cart=7"),
    attack("a parameter to a rewrite", "GET", "/static/x&url=cart"),
    attack("an escaped parameter to a rewrite", "GET", "/static/x%26url=cart"),
    attack("an escaped query", "GET", "/static/x%3Fadd=7"),
    attack("a query behind a name of caches", "GET", "/static/x?v=1&add-to-cart=7"),
    attack("a query behind a semicolon", "GET", "/static/x?v=1;add-to-cart=7"),
    attack("a list under a name of caches", "GET", "/static/x?v[]=1"),
    attack("a query without a name", "GET", "/static/x?=1"),
    attack("GET with a body", "GET", "/static/x").body(Body::Told("a=1")),
    attack("HEAD with a body of unknown length", "GET", "/static/x").body(Body::Untold("a=1")),
    attack("another method in a field", "GET", "/static/x").fields(&[("X-HTTP-Method-Override", "POST")]),
    attack(
        "another method than the named one, in a field",
        "POST",
        "/payment/callback",
    )
    .fields(&[("X-HTTP-Method-Override", "DELETE")])
    .fate(Fate::Refused(400)),
    attack(
        "another method than the named one, in a form",
        "POST",
        "/payment/callback",
    )
    .fields(&[FORM])
    .body(Body::Told("a=1&_Method=delete"))
    .fate(Fate::Refused(400))
    .not_over(ASKED),
    attack(
        "another method than the named one, in the query",
        "POST",
        "/payment/callback?_method=DELETE",
    )
    .fate(Fate::Refused(400)),
    attack("another method in the query", "GET", "/api/stock?_method=POST"),
    attack("POST where any query passes", "POST", "/api/stock?of=7"),
    attack("another method than the one that is named", "GET", "/payment/callback"),
    ordinary("a file", "GET", "/static/app.js"),
    ordinary("a file of a version", "GET", "/static/app.js?v=3.1&t=1"),
    ordinary("a file of a version that is escaped", "GET", "/static/app.js?%76er=3"),
    ordinary("whether there is a file", "HEAD", "/static/app.js"),
    ordinary("a file, with the shop's cookies", "GET", "/static/app.js").fields(&[("Cookie", "cart=7")]),
    ordinary("any query where the entry says so", "GET", "/api/stock?of=7"),
    ordinary("a payment provider's word", "POST", "/payment/callback?id=7")
        .fields(&[FORM])
        .body(Body::Told("paid=1")),
    ordinary(
        "a payment provider's word of unknown length",
        "POST",
        "/payment/callback",
    )
    .body(Body::Untold("paid=1"))
    .not_over(&["haproxy", "caddy"]),
];
