//! Fields under names that a shop takes for others, behind the body, or named away: where a proxy asks, its example takes them out.

use crate::case::{Body, Case, Fate, Row, attack, ordinary};

pub const ROW: Row = Row {
    room: "",
    tables: "",
    cases: &CASES,
};

/// Requests of these ways are only asked about: no shop, not even a test's, is behind them.
const ASKED: &[&str] = &["traefik", "envoy"];

const fn cleaned(name: &'static str, fields: &'static [(&'static str, &'static str)]) -> Case {
    attack(name, "GET", "/account").fields(fields).inside().not_over(ASKED)
}

const CASES: [Case; 12] = [
    cleaned(
        "Ropeline's word in other spellings",
        &[("Ropeline_Session", "me"), ("Ropeline.Session", "me")],
    )
    .fate(Fate::Passes {
        with: &[],
        without: &["Ropeline_Session", "Ropeline.Session"],
    }),
    cleaned(
        "a proxy's word in other spellings",
        &[("X_Forwarded_For", "10.0.0.1"), ("X~Forwarded*For", "10.0.0.1")],
    )
    .fate(Fate::Passes {
        with: &[],
        without: &["X_Forwarded_For", "X~Forwarded*For"],
    }),
    cleaned(
        "a word on another address, host or proxy",
        &[
            ("Forwarded", "for=192.0.2.9"),
            ("Proxy", "http://192.0.2.9:8080"),
            ("X-Real-IP", "192.0.2.9"),
            ("X-Host", "192.0.2.9"),
            ("X-HTTP-Host-Override", "192.0.2.9"),
            ("X-Forwarded-Prefix", "/192.0.2.9"),
        ],
    )
    .fate(Fate::Passes {
        with: &[],
        without: &[
            "Forwarded",
            "Proxy",
            "X-Real-IP",
            "X-Host",
            "X-HTTP-Host-Override",
            "X-Forwarded-Prefix",
        ],
    }),
    cleaned(
        "a path to take off in front, and another host, which proxies tell servers",
        &[
            ("SCRIPT_NAME", "/account"),
            ("Path_Info", "/seats"),
            ("$WSSN", "other.test"),
        ],
    )
    .fate(Fate::Passes {
        with: &[],
        without: &["SCRIPT_NAME", "Path_Info", "$WSSN"],
    }),
    attack(
        "a path to take off in front, where a proxy only asks",
        "GET",
        "/account",
    )
    .fields(&[("SCRIPT_NAME", "/account")])
    .inside()
    .fate(Fate::Refused(400))
    .not_over(&["http1", "http2", "nginx", "haproxy", "caddy"]),
    attack("another host, where a proxy only asks", "GET", "/account")
        .fields(&[("$WSSN", "other.test")])
        .inside()
        .fate(Fate::Refused(400))
        .not_over(&["http1", "http2", "nginx", "haproxy", "caddy"]),
    cleaned(
        "Ropeline's word named away",
        &[("Connection", "Ropeline-Session, X-Forwarded-For")],
    )
    .fate(Fate::Passes {
        with: &["Ropeline-Session", "X-Forwarded-For"],
        without: &[],
    })
    .not_over(&["http2", "traefik", "envoy", "haproxy"]),
    ordinary("fields by which the gate decides named away", "GET", "/account")
        .fields(&[
            ("Authorization", "Bearer x"),
            ("Origin", "https://shop.test"),
            ("Connection", "Authorization, Origin"),
        ])
        .inside()
        .fate(Fate::Passes {
            with: &["Authorization", "Origin"],
            without: &[],
        })
        .not_over(&["http2", "traefik", "envoy"]),
    attack("other spellings, where they cannot be taken out", "GET", "/account")
        .fields(&[("X_Forwarded_For", "10.0.0.1")])
        .inside()
        .fate(Fate::Refused(400))
        .not_over(&["http1", "http2", "nginx", "haproxy", "caddy"]),
    ordinary("a form with fields in other spellings behind it", "POST", "/account")
        .fields(&[("Trailer", "ropeline_session, x.forwarded.for")])
        .body(Body::Trailed(
            "a=1",
            &[("ropeline_session", "me"), ("x.forwarded.for", "10.0.0.1")],
        ))
        .inside()
        .fate(Fate::Passes {
            with: &["Ropeline-Session"],
            without: &["ropeline_session", "x.forwarded.for"],
        })
        .not_over(&["traefik", "envoy", "haproxy", "caddy"]),
    ordinary("a form of unknown length with fields behind it", "POST", "/account")
        // Trailers that are not announced are dropped in any case.
        .fields(&[(
            "Trailer",
            "ropeline-session, x-forwarded-for, cookie, x-http-method-override",
        )])
        .body(Body::Trailed(
            "a=1",
            &[
                ("ropeline-session", "me"),
                ("x-forwarded-for", "10.0.0.1"),
                ("cookie", "a=1"),
                ("x-http-method-override", "DELETE"),
            ],
        ))
        .inside()
        .fate(Fate::Passes {
            with: &["Ropeline-Session"],
            without: &["x-forwarded-for: 10", "cookie", "x-http-method-override"],
        })
        .not_over(&["traefik", "envoy", "haproxy", "caddy"]),
    attack(
        "fields behind a body, where they cannot be taken out",
        "POST",
        "/account",
    )
    .body(Body::Trailed("a=1", &[("cookie", "a=1")]))
    .inside()
    .not_over(&["http1", "http2", "nginx", "traefik", "envoy"]),
];
