//! The parameter that distinguishes lines, spelled or placed so that a shop reads another value: a visitor inside one line
//! would be served the other's page.

use crate::case::{Body, Case, Fate, Row, attack, ordinary};

pub const ROW: Row = Row {
    room: "routes = [\"/event\", \"/claim\", \"/all/*\"]\nper = \"?event_id\"",
    tables: "",
    cases: &CASES,
};

/// Where a proxy asks, the gate hears of no body.
const ASKED: &[&str] = &["nginx", "haproxy", "caddy", "traefik", "envoy"];

/// By the visitor inside the line `a`.
const fn other(name: &'static str, target: &'static str) -> Case {
    attack(name, "GET", target).inside().fate(Fate::Refused(400))
}

/// By a form that names the line `a` in its query.
const fn form(name: &'static str, kind: &'static [(&'static str, &'static str)], body: &'static str) -> Case {
    attack(name, "POST", "/event?event_id=a")
        .fields(kind)
        .body(Body::Told(body))
        .inside()
        .fate(Fate::Refused(400))
        .not_over(ASKED)
}

const FORM: &[(&str, &str)] = &[("Content-Type", "application/x-www-form-urlencoded")];
const PARTS: &[(&str, &str)] = &[("Content-Type", "multipart/form-data; boundary=b")];

const CASES: [Case; 47] = [
    other("a second value", "/event?event_id=a&event_id=b"),
    other("a second value behind a semicolon", "/event?event_id=a&x=1;event_id=b"),
    other("a name that PHP trims", "/event?event_id=a&%20event_id=b"),
    other("a name that PHP trims, alone", "/event?%20event_id=a"),
    other("a name that a NUL ends", "/event?event_id=a&event_id%00x=b"),
    other("a dot that is an underscore to PHP", "/event?event_id=a&event.id=b"),
    other("a list", "/event?event_id=a&event_id%5B%5D=b"),
    other("a name in brackets", "/event?event_id=a&%5Bevent_id%5D=b"),
    other("a name that is encoded twice", "/event?event_id=a&%2565vent_id=b"),
    other("a wide letter", "/event?event_id=a&%EF%BD%85vent_id=b"),
    other("an over-long byte", "/event?event_id=a&%C1%A5vent_id=b"),
    other("a value that qs parts elsewhere", "/event?event_id=a[x]=b"),
    other("a name behind a dot", "/event?event_id=a&.event_id=b"),
    other("a name before a dot", "/event?event_id=a&event_id.x=b"),
    other(
        "a name with a percent sign that is no escape",
        "/event?event_id=a&event_id%=b",
    ),
    other("a sign before the name", "/event?=event_id=b&event_id=a"),
    other("signs before an escaped name", "/event?event_id=a&==%65vent_id=b"),
    form("a sign before the name in the form", FORM, "=event_id=b"),
    form(
        "a byte-order mark before a form in another type",
        &[("Content-Type", "text/plain")],
        "\u{FEFF}event_id=b",
    ),
    other(
        "a query behind a semicolon of the path",
        "/all/x;event_id=b&y=?event_id=a",
    ),
    other(
        "a query behind an escaped question mark",
        "/all/x%3Fevent_id=b&y=?event_id=a",
    ),
    other(
        "a charset in which it reads otherwise",
        "/event?event_id=a&+AGUAdgBlAG4AdABfAGkAZA-=b",
    )
    .fields(&[("Content-Type", "text/plain; charset=utf-7")]),
    form("another value in the form", FORM, "event_id=b"),
    form("another spelling in the form", FORM, "event_id=a&%20event_id=b"),
    form(
        "another value in a part",
        PARTS,
        "--b\r\nContent-Disposition: form-data; name=\"event_id\"\r\n\r\nb\r\n--b--\r\n",
    ),
    form(
        "another spelling in a part",
        PARTS,
        "--b\r\nContent-Disposition: form-data; name=\"event_id[]\"\r\n\r\nb\r\n--b--\r\n",
    ),
    form(
        "a name within a part's name",
        PARTS,
        "--b\r\nContent-Disposition: form-data; name=\"a; name=event_id\"\r\n\r\nb\r\n--b--\r\n",
    ),
    form(
        "a name within a file's name",
        PARTS,
        "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"x;NAME=event_id\"\r\n\r\nb\r\n--b--\r\n",
    ),
    form(
        "a field of a part whose name ends like the right one",
        PARTS,
        "--b\r\nX-Content-Disposition: form-data; name=\"event_id\"\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--b--\r\n",
    ),
    form(
        "a field of a part within another's value",
        PARTS,
        "--b\r\nX: Content-Disposition: form-data; name=\"event_id\"\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--b--\r\n",
    ),
    form(
        "a boundary that some cut at its comma",
        &[("Content-Type", "multipart/form-data; boundary=b,c")],
        "--b,c\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name=\"event_id\"\r\n\r\nb\r\n--b--\r\n--b,c--\r\n",
    ),
    form(
        "a boundary in another parameter's name",
        &[("Content-Type", "multipart/form-data; xboundary=b; boundary=c")],
        "--c\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b\r\nContent-Disposition: form-data; name=\"event_id\"\r\n\r\nb\r\n--b--\r\n--c--\r\n",
    ),
    form(
        "a packed form",
        &[
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("Content-Encoding", "gzip"),
        ],
        "event_id=b",
    ),
    form("a form without a type", &[], "event_id=b"),
    form(
        "a form in another type",
        &[("Content-Type", "text/plain")],
        "event_id=b",
    ),
    form(
        "a form in the type of JSON",
        &[("Content-Type", "application/json")],
        "x&event_id=b",
    ),
    form(
        "a form in a type of few",
        &[("Content-Type", "application/x-url-encoded")],
        "event_id=b",
    ),
    form(
        "a form's type behind another",
        &[("Content-Type", "text/plain; application/x-www-form-urlencoded")],
        "event_id=b",
    ),
    form("a name behind a dot in the form", FORM, "event_id=a&.event_id=b"),
    form(
        "a part within a part",
        PARTS,
        "--b\r\nContent-Disposition: form-data; name=\"x\"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Disposition: form-data; name=\"event_id\"\r\n\r\nb\r\n--c--\r\n\r\n--b--\r\n",
    ),
    ordinary("an object with an address", "POST", "/event?event_id=a")
        .fields(&[("Content-Type", "application/json")])
        .body(Body::Told("{\"back\":\"/event?x=1&event_id=c\",\"event_id\":\"a\"}"))
        .inside()
        .not_over(ASKED),
    ordinary("a text that says the same", "POST", "/event?event_id=a")
        .fields(&[("Content-Type", "text/plain")])
        .body(Body::Told("event_id=a&seat=7"))
        .inside()
        .not_over(ASKED),
    ordinary("another letter case", "GET", "/event?EVENT_ID=a").inside(),
    ordinary("a session in the path", "GET", "/all/x;jsessionid=a1?event_id=a").inside(),
    ordinary("an escaped letter", "GET", "/event?%65vent_id=a").inside(),
    ordinary(
        "names that only look alike",
        "GET",
        "/event?event_id=a&id=b&x[event_id]=c&eventid=d",
    )
    .inside(),
    ordinary("a form that says the same", "POST", "/event?event_id=a")
        .fields(FORM)
        .body(Body::Told("event_id=a&seat=7"))
        .inside()
        .not_over(ASKED),
];
