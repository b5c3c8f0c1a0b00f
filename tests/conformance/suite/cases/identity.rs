//! The client and the target: fields that only a proxy may set, and names that a shop would take for one of them.

use crate::suite::case::Check::{Field, NoField, Nowhere, Status};
use crate::suite::case::{Case, Check, Expect, get};

pub fn all() -> Vec<Case> {
    let mut cases = forwarded();
    cases.extend(aliases());
    cases.extend(ours());
    cases.extend(passing());
    cases
}

fn case(name: &str, source: &'static str, lines: &str, checks: &[Check]) -> Case {
    Case::new(name, source, get("/", lines), Expect::Passes(checks.to_vec()))
}

/// A stranger's claims about itself. nginx and `HAProxy` are configured by their documentation and pass some of them on,
/// which is their operator's choice: only the gate is judged where it promises more.
fn forwarded() -> Vec<Case> {
    let own = [
        case(
            "X-Forwarded-For of a stranger",
            "7239, 8.1",
            "X-Forwarded-For: 6.6.6.6\r\n",
            &[Field("x-forwarded-for", "127.0.0.1")],
        ),
        case(
            "two X-Forwarded-For of a stranger",
            "7239, 8.1",
            "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 7.7.7.7\r\n",
            &[Field("x-forwarded-for", "127.0.0.1")],
        ),
        case(
            "X-Forwarded-Host of a stranger",
            "7239, 8.1",
            "X-Forwarded-Host: evil.test\r\n",
            &[Field("x-forwarded-host", "shop.test")],
        ),
        case(
            "X-Forwarded-Port of a stranger",
            "7239, 8.1",
            "X-Forwarded-Port: 666\r\n",
            &[Nowhere("666")],
        ),
        case(
            "X-Forwarded-Prefix of a stranger",
            "7239, 8.1",
            "X-Forwarded-Prefix: /evil\r\n",
            &[NoField("x-forwarded-prefix")],
        ),
        case(
            "X-Forwarded-Server of a stranger",
            "7239, 8.1",
            "X-Forwarded-Server: evil\r\n",
            &[NoField("x-forwarded-server")],
        ),
        case(
            "X-Forwarded-Ssl of a stranger",
            "7239, 8.1",
            "X-Forwarded-Ssl: on\r\n",
            &[NoField("x-forwarded-ssl")],
        ),
        case(
            "Forwarded",
            "7239, 8.1",
            "Forwarded: for=6.6.6.6;proto=https\r\n",
            &[NoField("forwarded")],
        ),
        case("X-Real-IP", "design", "X-Real-IP: 6.6.6.6\r\n", &[NoField("x-real-ip")]),
        case(
            "X-Original-URL",
            "design",
            "X-Original-URL: /seat\r\n",
            &[NoField("x-original-url")],
        ),
        case(
            "X-Original-URI",
            "design",
            "X-Original-URI: /seat\r\n",
            &[NoField("x-original-uri")],
        ),
        case(
            "X-Rewrite-URL",
            "design",
            "X-Rewrite-URL: /seat\r\n",
            &[NoField("x-rewrite-url")],
        ),
        case(
            "X-Override-URL",
            "design",
            "X-Override-URL: /seat\r\n",
            &[NoField("x-override-url")],
        ),
        case("X-Host", "design", "X-Host: evil.test\r\n", &[NoField("x-host")]),
        case(
            "X-Original-Host",
            "design",
            "X-Original-Host: evil.test\r\n",
            &[NoField("x-original-host")],
        ),
        case(
            "Proxy (httpoxy)",
            "CVE-2016-5385",
            "Proxy: http://evil.test\r\n",
            &[NoField("proxy")],
        ),
    ];
    let mut cases: Vec<Case> = own.into_iter().map(Case::gate_alone).collect();
    cases.push(case(
        "X-Forwarded-Proto of a stranger",
        "7239, 8.1",
        "X-Forwarded-Proto: https\r\n",
        &[Field("x-forwarded-proto", "http")],
    ));
    cases
}

/// Names that a shop with CGI's habits cannot tell from another.
fn aliases() -> impl Iterator<Item = Case> {
    let names = [
        "X_Forwarded_For",
        "X-Forwarded_For",
        "X_Forwarded_Proto",
        "x_forwarded_host",
        "X_Real_IP",
        "X_Original_URL",
        "X_Rewrite_URL",
        "Ropeline_Session",
        "Ropeline_Pass",
        "Content_Length",
        "Transfer_Encoding",
        "X.Forwarded.For",
        "X~Forwarded~For",
        "X-Forwarded.For",
        "Ropeline.Session",
        "Content.Length",
    ];
    names.into_iter().map(|name| {
        let plain = get("/", &format!("{name}: aliased\r\n"));
        Case::new(
            format!("the alias {name}"),
            "CVE-2025-64484",
            plain,
            Expect::Passes(vec![Nowhere("aliased")]),
        )
        .gate_alone()
    })
}

/// The gate's own fields and cookies.
fn ours() -> Vec<Case> {
    let rows = [
        case(
            "Ropeline-Session of a stranger",
            "design",
            "Ropeline-Session: forged\r\n",
            &[Nowhere("ropeline-"), Nowhere("forged")],
        ),
        case(
            "Ropeline-Pass",
            "design",
            "Ropeline-Pass: forged\r\n",
            &[Nowhere("forged")],
        ),
        case(
            "Ropeline-Ticket",
            "design",
            "Ropeline-Ticket: forged\r\n",
            &[Nowhere("forged")],
        ),
        case(
            "Ropeline-Signature",
            "design",
            "Ropeline-Signature: forged\r\n",
            &[Nowhere("forged")],
        ),
        case(
            "Ropeline-Anything",
            "design",
            "Ropeline-Anything: forged\r\n",
            &[Nowhere("forged")],
        ),
        case(
            "Ropeline-Session, listed in Connection",
            "design",
            "Connection: Ropeline-Session\r\nRopeline-Session: forged\r\n",
            &[Nowhere("forged")],
        ),
        case(
            "a pass cookie alone",
            "design",
            "Cookie: ropeline-pass-seats=secret\r\n",
            &[NoField("cookie")],
        ),
        case(
            "a pass cookie among others",
            "design",
            "Cookie: a=1; ropeline-pass-seats=secret; b=2\r\n",
            &[Field("cookie", "a=1; b=2")],
        ),
        case(
            "a pass cookie with spaces around its sign",
            "design",
            "Cookie: b=2; ropeline-pass-seats = secret\r\n",
            &[Nowhere("secret")],
        ),
        case(
            "a pass cookie without a space before it",
            "design",
            "Cookie: b=2;ropeline-pass-seats=secret;c=3\r\n",
            &[Nowhere("secret"), Status(200)],
        ),
        case(
            "a ticket cookie",
            "design",
            "Cookie: ropeline-ticket-seats=secret; b=2\r\n",
            &[Field("cookie", "b=2")],
        ),
        case(
            "a __Host- pass cookie",
            "design",
            "Cookie: __Host-ropeline-pass-seats=secret; b=2\r\n",
            &[Nowhere("secret")],
        ),
        case(
            "a __Secure- pass cookie",
            "design",
            "Cookie: __Secure-ropeline-pass-seats=secret; b=2\r\n",
            &[Nowhere("secret")],
        ),
        case(
            "cookies on two lines",
            "design",
            "Cookie: a=1\r\nCookie: ropeline-pass-seats=secret\r\n",
            &[Nowhere("secret")],
        ),
        case(
            "Via of a client",
            "9110, 7.6.3",
            "Via: 1.0 a\r\n",
            &[Field("via", "1.0 a, 1.1 ropeline")],
        ),
        case("no Via", "9110, 7.6.3", "", &[Field("via", "1.1 ropeline")]),
        case(
            "Via five times through here",
            "9110, 7.6.3",
            &"Via: 1.1 ropeline\r\n".repeat(5),
            &[Status(508), Check::Times(0)],
        ),
        case(
            "Via beyond ASCII",
            "9110, 7.6.3",
            "Via: 1.1 \u{e9}\r\n",
            &[Nowhere("forged"), Check::Start("GET / HTTP/1.1")],
        ),
    ];
    rows.into_iter().map(Case::gate_alone).collect()
}

/// Fields that do not concern a proxy.
fn passing() -> Vec<Case> {
    vec![
        case(
            "User-Agent passes",
            "9110, 10.1.5",
            "User-Agent: a/1 (b)\r\n",
            &[Field("user-agent", "a/1 (b)")],
        ),
        case(
            "Referer passes",
            "9110, 10.1.3",
            "Referer: https://a.test/b\r\n",
            &[Field("referer", "https://a.test/b")],
        ),
        case(
            "Accept-Encoding passes",
            "9110, 12.5.3",
            "Accept-Encoding: gzip, br\r\n",
            &[Field("accept-encoding", "gzip, br")],
        ),
        case(
            "Cache-Control passes",
            "9111, 5.2",
            "Cache-Control: no-cache\r\n",
            &[Field("cache-control", "no-cache")],
        ),
        case(
            "X-HTTP-Method-Override passes",
            "docs/reference/proxy.md",
            "X-HTTP-Method-Override: PUT\r\n",
            &[Field("x-http-method-override", "PUT")],
        ),
        case(
            "a cookie that is nobody's passes",
            "6265, 5.4",
            "Cookie: ropeline=1; a=b\r\n",
            &[Field("cookie", "ropeline=1; a=b")],
        ),
    ]
}
