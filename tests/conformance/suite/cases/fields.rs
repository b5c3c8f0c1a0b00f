//! Hop-by-hop fields of requests, and fields that `Connection` lists.

use crate::suite::case::Check::{Body, Field, NoField, Nowhere};
use crate::suite::case::{Case, Check, Expect, chunked, get, post};

pub fn all() -> Vec<Case> {
    let mut cases = gone();
    cases.extend(kept());
    cases.extend(te());
    cases
}

/// Fields of one connection, which a proxy removes.
fn gone() -> Vec<Case> {
    let rows = [
        (
            "Connection: close, not passed on as it is",
            "Connection: close, X-Secret\r\nX-Secret: 1\r\n",
            NoField("x-secret"),
        ),
        (
            "a field that Connection lists",
            "Connection: X-Secret\r\nX-Secret: 1\r\n",
            NoField("x-secret"),
        ),
        (
            "one that it lists in another case",
            "Connection: x-SECRET\r\nX-Secret: 1\r\n",
            NoField("x-secret"),
        ),
        (
            "one that it lists before the field comes",
            "X-Secret: 1\r\nConnection: X-Secret\r\n",
            NoField("x-secret"),
        ),
        (
            "one in a list",
            "Connection: keep-alive, X-Secret\r\nX-Secret: 1\r\n",
            NoField("x-secret"),
        ),
        (
            "one in a list with empty items",
            "Connection: ,, X-Secret ,\r\nX-Secret: 1\r\n",
            NoField("x-secret"),
        ),
        (
            "one on a second Connection line",
            "Connection: keep-alive\r\nConnection: X-Secret\r\nX-Secret: 1\r\n",
            NoField("x-secret"),
        ),
        (
            "a listed field that stands twice",
            "Connection: X-Secret\r\nX-Secret: 1\r\nX-Secret: 2\r\n",
            NoField("x-secret"),
        ),
        ("Keep-Alive", "Keep-Alive: timeout=5\r\n", NoField("keep-alive")),
        (
            "Keep-Alive, listed",
            "Connection: keep-alive, Keep-Alive\r\nKeep-Alive: timeout=5\r\n",
            NoField("keep-alive"),
        ),
        (
            "Proxy-Connection",
            "Proxy-Connection: keep-alive\r\n",
            NoField("proxy-connection"),
        ),
        (
            "Upgrade that is not listed",
            "Upgrade: websocket\r\n",
            NoField("upgrade"),
        ),
        (
            "HTTP2-Settings",
            "Connection: HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n",
            NoField("http2-settings"),
        ),
    ];
    let all =
        rows.map(|(name, lines, check)| Case::new(name, "9110, 7.6.1", get("/", lines), Expect::Passes(vec![check])));
    // These may be passed on by a proxy that is not the one asked; this one is never the one.
    let proxies = [
        (
            "Proxy-Authorization",
            "Proxy-Authorization: Basic x\r\n",
            NoField("proxy-authorization"),
        ),
        (
            "Proxy-Authenticate",
            "Proxy-Authenticate: Basic\r\n",
            NoField("proxy-authenticate"),
        ),
    ];
    let ours = proxies.map(|(name, lines, check)| {
        Case::new(name, "9110, 11.7", get("/", lines), Expect::Passes(vec![check])).gate_alone()
    });
    all.into_iter().chain(ours).collect()
}

/// Fields that `Connection` may not remove: the message would be another, or the proxy's own fields would be gone.
fn kept() -> Vec<Case> {
    let rows: [(&str, &str, Check); 7] = [
        ("Host", "", Field("host", "shop.test")),
        ("Cookie", "Cookie: a=1\r\n", Field("cookie", "a=1")),
        (
            "X-Forwarded-For",
            "X-Forwarded-For: 6.6.6.6\r\n",
            Field("x-forwarded-for", "127.0.0.1"),
        ),
        (
            "X-Forwarded-Proto",
            "X-Forwarded-Proto: https\r\n",
            Field("x-forwarded-proto", "http"),
        ),
        ("Via", "", Field("via", "1.1 ropeline")),
        ("X-Forwarded-Host", "", Field("x-forwarded-host", "shop.test")),
        ("Content-Type", "Content-Type: a/b\r\n", Field("content-type", "a/b")),
    ];
    let mut cases: Vec<Case> = rows
        .map(|(name, lines, check)| {
            let text = get("/", &format!("{lines}Connection: {name}\r\n"));
            Case::new(
                format!("Connection lists {name}"),
                "9110, 7.6.1",
                text,
                Expect::Passes(vec![check]),
            )
            .gate_alone()
        })
        .into();
    let length = post("Content-Length: 2\r\nConnection: Content-Length", "ok");
    cases.push(Case::new(
        "Connection lists Content-Length",
        "9110, 7.6.1",
        length,
        Expect::Passes(vec![Body("ok")]),
    ));
    let coding = chunked("2\r\nok\r\n0\r\n\r\n").replace("\r\n\r\n2", "\r\nConnection: Transfer-Encoding\r\n\r\n2");
    cases.push(Case::new(
        "Connection lists Transfer-Encoding",
        "9110, 7.6.1",
        coding,
        Expect::Passes(vec![Body("ok")]),
    ));
    cases
}

fn te() -> Vec<Case> {
    let rows = [
        ("TE: gzip", "TE: gzip\r\n", NoField("te")),
        ("TE: gzip, listed", "Connection: TE\r\nTE: gzip\r\n", NoField("te")),
        (
            "TE: trailers and gzip pass as trailers at most",
            "Connection: TE\r\nTE: trailers, gzip\r\n",
            Nowhere("gzip"),
        ),
        (
            "TE twice",
            "Connection: TE\r\nTE: gzip\r\nTE: deflate\r\n",
            NoField("te"),
        ),
    ];
    rows.map(|(name, lines, check)| Case::new(name, "9110, 10.1.4", get("/", lines), Expect::Passes(vec![check])))
        .into()
}
