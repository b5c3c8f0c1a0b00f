//! Spellings of the protected path, of the host and of the method: none may reach the shop without a pass.

use crate::suite::case::Check::{Field, NoField, Start};
use crate::suite::case::{Case, Expect};

/// The same path by RFC 3986 (sections 2.1, 5.2.4 and 6.2.2).
const SAME: [&str; 36] = [
    "/seat",
    "/seat/",
    "/seat/7",
    "/seat?x=1",
    "/seat?",
    "/seat/7?x=/a",
    "/%73eat",
    "/s%65at",
    "/se%61t",
    "/sea%74",
    "/%73%65%61%74",
    "/%73%65%61%74/7",
    "/./seat",
    "/././seat",
    "/seat/.",
    "/seat/x/..",
    "/seat/./7",
    "/a/../seat",
    "/a/b/../../seat",
    "/a/b/../../seat/7",
    "/a/./../seat",
    "/../seat",
    "/../../seat",
    "/a/../../seat",
    "/%2e/seat",
    "/a/%2e%2e/seat",
    "/a/%2E%2E/seat",
    "/a/.%2e/seat",
    "/a/%2e./seat",
    "/%2e%2e/seat",
    "/a/../%73eat",
    "/seat/../seat",
    "/static/../seat/7",
    "/favicon.ico/../seat",
    "/.well-known/../seat",
    "/robots.txt/../seat/7",
];

/// The same path to some servers in common use, and why.
const ALIKE: [(&str, &str); 60] = [
    ("/SEAT", "IIS, Express: case"),
    ("/Seat/7", "IIS, Express: case"),
    ("/sEAT?x", "IIS, Express: case"),
    ("/%53EAT", "IIS: case, encoded"),
    ("//seat", "merged slashes"),
    ("///seat", "merged slashes"),
    ("//seat//7", "merged slashes"),
    ("/a//../seat", "merged slashes, then dots"),
    ("/a//..//seat", "merged slashes, then dots"),
    ("//a/../seat", "merged slashes, then dots"),
    ("//evil.test/seat", "an authority to URL parsers"),
    ("///evil.test/seat", "an authority to URL parsers"),
    ("/.//seat", "dots, then an empty segment"),
    ("/;/seat", "Tomcat: parameters"),
    ("/;x=1/seat", "Tomcat: parameters"),
    ("/seat;x=1", "Tomcat: parameters"),
    ("/seat;x=1/7", "Tomcat: parameters"),
    ("/seat;", "Tomcat: parameters"),
    ("/a/..;/seat", "Tomcat: parameters and dots"),
    ("/a/..;x=1/seat", "Tomcat: parameters and dots"),
    ("/a/.;/../seat", "Tomcat: parameters and dots"),
    ("/%3b/seat", "an encoded semicolon"),
    ("/seat%3bx", "an encoded semicolon"),
    ("\\seat", "a backslash"),
    ("/\\seat", "a backslash"),
    ("/a\\..\\seat", "IIS: backslashes"),
    ("/a/..\\seat", "IIS: backslashes"),
    ("/\\evil.test/seat", "an authority to browsers"),
    ("/%5cseat", "an encoded backslash"),
    ("/a%5c..%5cseat", "encoded backslashes"),
    ("/%2fseat", "an encoded slash"),
    ("/%2Fseat", "an encoded slash"),
    ("/a/..%2fseat", "an encoded slash"),
    ("/a%2f..%2fseat", "encoded slashes"),
    ("/seat%2f7", "an encoded slash"),
    ("/a/%2e%2e%2fseat", "all of it encoded"),
    ("/%2573eat", "decoded twice"),
    ("/%252fseat", "decoded twice"),
    ("/a/%252e%252e/seat", "decoded twice"),
    ("/a/%252e%252e%252fseat", "decoded twice"),
    ("/%25252fseat", "decoded three times"),
    ("/%c0%afseat", "overlong UTF-8"),
    ("/a/%c0%ae%c0%ae/seat", "overlong UTF-8"),
    ("/%e0%80%afseat", "overlong UTF-8"),
    ("/%c1%b3eat", "overlong UTF-8"),
    ("/%ef%bd%93eat", "full-width letters"),
    ("/seat%00", "NUL ends it"),
    ("/seat%00.css", "NUL ends it"),
    ("/a%00/../seat", "NUL ends it"),
    ("/seat%20", "IIS: a space at the end"),
    ("/seat.", "IIS: a dot at the end"),
    ("/seat%3Fx", "decoded before it is split"),
    ("/seat%23x", "decoded before it is split"),
    ("/%u0073eat", "IIS: %u"),
    ("/seat%2e", "IIS: an encoded dot at the end"),
    ("/seat%2f", "an encoded slash at the end"),
    ("/seat//", "merged slashes"),
    ("/seat/%2e%2e/seat/7", "encoded dots"),
    ("/%c5%bfeat", "another case beyond ASCII"),
    ("/seat%5c", "an encoded backslash at the end"),
];

/// Other host, same shop: the room protects every host.
const HOSTS: [&str; 6] = [
    "SHOP.TEST",
    "shop.test.",
    "shop.test:80",
    "shop.test:8443",
    "127.0.0.1",
    "[::1]",
];

const METHODS: [&str; 12] = [
    "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", "Get", "TRACE", "PROPFIND", "QUERY", "DEBUG",
];

/// Fields by which some frameworks take another path, method or host than the request line says.
const OVERRIDES: [(&str, &str); 9] = [
    ("X-Original-URL", "/a"),
    ("X-Rewrite-URL", "/a"),
    ("X-Original-URI", "/a"),
    ("X-Override-URL", "/a"),
    ("X-HTTP-Method-Override", "OPTIONS"),
    ("X-HTTP-Method", "HEAD"),
    ("X-Method-Override", "HEAD"),
    ("X-Forwarded-Prefix", "/a/.."),
    ("X-Forwarded-Path", "/a"),
];

fn request(method: &str, target: &str, host: &str, lines: &str) -> String {
    format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n")
}

pub fn all() -> Vec<Case> {
    let same = SAME.map(|path| {
        Case::new(
            format!("`{path}`"),
            "3986, 6.2.2",
            request("GET", path, "shop.test", ""),
            Expect::Protected,
        )
    });
    let alike = ALIKE.map(|(path, why)| {
        Case::new(
            format!("`{path}`"),
            why,
            request("GET", path, "shop.test", ""),
            Expect::Alike,
        )
    });
    let hosts = HOSTS.map(|host| {
        Case::new(
            format!("`/seat` at {host}"),
            "9110, 4.2.3",
            request("GET", "/seat", host, ""),
            Expect::Protected,
        )
    });
    let methods = METHODS.map(|method| {
        Case::new(
            format!("{method} `/seat`"),
            "9110, 9.1",
            request(method, "/seat", "shop.test", ""),
            Expect::Protected,
        )
    });
    let overrides = OVERRIDES.map(|(name, value)| {
        let lines = format!("{name}: {value}\r\n");
        Case::new(
            format!("`/seat` with {name}"),
            "9110, 7.1",
            request("GET", "/seat", "shop.test", &lines),
            Expect::Protected,
        )
    });
    let absolute = [
        ("http://shop.test/seat", "shop.test"),
        ("HTTP://SHOP.TEST/seat", "shop.test"),
        ("http://shop.test/%73eat", "shop.test"),
        ("http://shop.test/a/../seat", "shop.test"),
        ("http://shop.test:80/seat", "shop.test"),
        ("https://shop.test/seat", "shop.test"),
    ]
    .map(|(target, host)| {
        Case::new(
            format!("`{target}`"),
            "9112, 3.2.2",
            request("GET", target, host, ""),
            Expect::Protected,
        )
    });
    let mut cases: Vec<Case> = same
        .into_iter()
        .chain(alike)
        .chain(hosts)
        .chain(methods)
        .chain(overrides)
        .chain(absolute)
        .collect();
    cases.extend(forged());
    cases.extend(of_one_room());
    cases
}

/// Routes with methods, routes of one host, and the gate's own, which only the gate is configured with.
fn of_one_room() -> impl Iterator<Item = Case> {
    let kept = [
        ("PUT", "/order", "shop.test"),
        ("put", "/order", "shop.test"),
        ("Put", "/order/", "shop.test"),
        ("GET", "/list", "shop.test"),
        ("HEAD", "/list", "shop.test"),
        ("head", "/list", "shop.test"),
        ("GET", "/boo%e2%84%aa", "shop.test"),
        ("GET", "/office", "box.test"),
        ("GET", "/office", "BOX.TEST"),
        ("GET", "/office", "box.test."),
        ("GET", "/office", "Box.Test.:8443"),
        ("GET", "/office", "box.test.."),
        ("GET", "/office", ".box.test"),
        ("GET", "http://BOX.test/office", "box.test"),
        ("GET", "/.ropeline/health", "shop.test"),
        ("GET", "/%2eropeline/health", "shop.test"),
        ("GET", "/a/../.ropeline/health", "shop.test"),
        ("GET", "//.ropeline/health", "shop.test"),
    ];
    let kept = kept.map(|(method, target, host)| {
        let name = format!("{method} `{target}` at {host}");
        Case::new(name, "design", request(method, target, host, ""), Expect::Protected).gate_alone()
    });
    let free = [
        ("POST", "/order", Start("POST /order HTTP/1.1")),
        ("POST", "/list", Start("POST /list HTTP/1.1")),
        ("GET", "/office", Start("GET /office HTTP/1.1")),
    ];
    let free = free.map(|(method, target, start)| {
        let name = format!("{method} `{target}` passes");
        let lines = "X-Forwarded-Host: box.test\r\nX-Host: box.test\r\n";
        let checks = vec![start, Field("x-forwarded-host", "shop.test"), NoField("x-host")];
        Case::new(
            name,
            "design",
            request(method, target, "shop.test", lines),
            Expect::Passes(checks),
        )
        .gate_alone()
    });
    kept.into_iter().chain(free)
}

/// Forged passes.
fn forged() -> impl Iterator<Item = Case> {
    let lines = [
        "Cookie: ropeline-pass-seats=forged\r\n",
        "Cookie: ropeline-pass-seats=AQ.k1.AAAA.AAAA; ropeline-ticket-seats=AQ.k1.AAAA.AAAA\r\n",
        "Ropeline-Pass: forged\r\n",
        "Ropeline-Session: forged\r\n",
        "X-Forwarded-For: 127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\n",
    ];
    lines.into_iter().enumerate().map(|(count, lines)| {
        let name = format!("`/seat` with a forged pass ({})", count + 1);
        Case::new(
            name,
            "design",
            request("GET", "/seat", "shop.test", lines),
            Expect::Protected,
        )
    })
}
