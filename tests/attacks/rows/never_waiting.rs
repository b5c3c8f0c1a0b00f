//! Paths that never wait can be read by any client, and no other request passes there.

use crate::case::{Body, Case, Row, attack, ordinary};

pub const ROW: Row = Row {
    room: "",
    tables: "",
    cases: &CASES,
};

const CASES: [Case; 23] = [
    attack("a query", "GET", "/robots.txt?add-to-cart=7"),
    attack("a query that caches use", "GET", "/robots.txt?v=7"),
    attack("a parameter to a rewrite", "GET", "/.well-known/x&url=cart"),
    attack("an escaped parameter to a rewrite", "GET", "/.well-known/x%26url=cart"),
    attack("an escaped query", "GET", "/.well-known/x%3Fadd=7"),
    attack("POST with a query", "POST", "/favicon.ico?wc-ajax=checkout").body(Body::Told("a=1")),
    attack("POST", "POST", "/favicon.ico").body(Body::Told("a=1")),
    attack("POST without a body", "POST", "/.well-known/x"),
    attack("PUT", "PUT", "/.well-known/acme-challenge/x").body(Body::Told("a=1")),
    attack("DELETE", "DELETE", "/robots.txt"),
    attack("OPTIONS", "OPTIONS", "/robots.txt"),
    attack("a method in small letters", "get", "/robots.txt").not_over(&["nginx"]),
    attack("GET with a body", "GET", "/robots.txt").body(Body::Told("a=1")),
    attack("GET with a body of unknown length", "GET", "/.well-known/x").body(Body::Untold("a=1")),
    attack("a cookie", "GET", "/robots.txt").fields(&[("Cookie", "cart=7")]),
    attack("credentials", "GET", "/.well-known/x").fields(&[("Authorization", "Basic eDp5")]),
    attack("another method in a field", "GET", "/robots.txt").fields(&[("X-HTTP-Method-Override", "POST")]),
    attack(
        "another method in a field that is spelt otherwise",
        "GET",
        "/robots.txt",
    )
    .fields(&[("X-Method-Override", "delete")]),
    ordinary("a crawler's rules", "GET", "/robots.txt").fields(&[("User-Agent", "Googlebot/2.1")]),
    ordinary("a certificate's proof", "GET", "/.well-known/acme-challenge/x"),
    ordinary("whether there is a picture", "HEAD", "/favicon.ico"),
    ordinary("a picture", "GET", "/apple-touch-icon.png").fields(&[("Accept", "image/*")]),
    ordinary(
        "a picture, with the cookies of the visitor inside",
        "GET",
        "/favicon.ico",
    )
    .fields(&[("Cookie", "cart=7")])
    .inside(),
];
