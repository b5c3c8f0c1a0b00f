//! The attempts of a probe: requests that must not reach the upstream while a room is held.

use super::request::Request;

/// The parts of the requests.
pub struct Site<'s> {
    pub host: &'s str,
    pub room: &'s str,
    /// A protected page.
    pub path: &'s str,
    /// The room covers the whole site, including requests that only the never-waiting paths let past.
    pub is_whole: bool,
    /// A path that the operator left outside the room.
    pub outside: &'s [String],
    /// The query parameter that chooses a line.
    pub parameter: Option<&'s str>,
    /// Where visitors name their account, and the field that does.
    pub account: Option<(&'s str, &'s str)>,
}

/// One request, and its required result.
pub struct Attack {
    pub name: String,
    pub request: Request,
    pub expect: Expect,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// The gate answers it, with any answer.
    Kept,
    /// The gate refuses it as one that can be read in two ways.
    Refused,
    /// The gate finds no account in it, or more than one.
    NoAccount,
    /// The gate leads back to a path on this host.
    OwnPath,
}

/// Everything that is tried of a site, in order.
pub fn all(site: &Site<'_>) -> Vec<Attack> {
    let mut all = preflights(site);
    all.extend(spellings(site));
    all.extend(framing(site));
    all.extend(redirects(site));
    all.extend(outside(site));
    all.extend(lines(site));
    all.extend(told_by_proxies(site));
    all.extend(bodies(site));
    all.extend(accounts(site));
    if site.is_whole {
        all.extend(never_waiting(site));
    }
    all
}

fn attack(name: impl Into<String>, request: Request) -> Attack {
    Attack {
        name: name.into(),
        request,
        expect: Expect::Kept,
    }
}

impl Site<'_> {
    pub fn request(&self, method: &str, target: &str, fields: &str, body: impl Into<Vec<u8>>) -> Request {
        Request {
            host: self.host.to_owned(),
            method: method.to_owned(),
            target: target.to_owned(),
            fields: fields.to_owned(),
            body: body.into(),
        }
    }

    fn joined(target: &str, query: &str) -> String {
        let sign = if target.contains('?') { '&' } else { '?' };
        format!("{target}{sign}{query}")
    }
}

const SOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const PREFLIGHT: &str = "Origin: https://example.com\r\nAccess-Control-Request-Method: POST\r\n";

/// Row by row: variations that make an OPTIONS request not a preflight.
fn preflights(site: &Site<'_>) -> Vec<Attack> {
    let more = [
        ("with a cookie", "Cookie: a=b\r\n", ""),
        ("with Authorization", "Authorization: Bearer x\r\n", ""),
        ("with a body", "Content-Length: 1\r\n", "x"),
        ("with a second Origin", "Origin: https://example.org\r\n", ""),
        ("with a method override", "X-HTTP-Method-Override: POST\r\n", ""),
        ("with a second method", "Access-Control-Request-Method: PUT\r\n", ""),
    ];
    let mut all: Vec<Attack> = more
        .into_iter()
        .map(|(what, field, body)| {
            let fields = format!("{PREFLIGHT}{field}");
            attack(
                format!("a CORS preflight {what}"),
                site.request("OPTIONS", site.path, &fields, body),
            )
        })
        .collect();
    let nameless = "Origin: https://example.com\r\nAccess-Control-Request-Method:\r\n";
    all.push(attack(
        "a CORS preflight without a method",
        site.request("OPTIONS", site.path, nameless, ""),
    ));
    all
}

/// Other spellings of the protected path.
fn spellings(site: &Site<'_>) -> Vec<Attack> {
    let (path, query) = site.path.split_once('?').unwrap_or((site.path, ""));
    let rest = path.trim_start_matches('/');
    let first = rest.bytes().next().filter(u8::is_ascii);
    let escaped = first.map(|byte| format!("/%{byte:02x}{}", &rest[1..]));
    let twice = first.map(|byte| format!("/%25{byte:02x}{}", &rest[1..]));
    let spelt = [
        Some(format!("/{path}")),
        Some(format!("/.{path}")),
        Some(format!("/%2e{path}")),
        Some(format!("/x/..{path}")),
        Some(format!("/x/%2e%2e{path}")),
        Some(format!("/;a=b{path}")),
        Some(format!("{path};a=b")),
        Some(path.to_ascii_uppercase()),
        Some(path.replacen('/', "/\\", 1)),
        Some(format!("{path}%00")),
        escaped,
        twice,
    ];
    let spelt = spelt.into_iter().flatten();
    spelt
        .map(|target| {
            let sent = if query.is_empty() {
                target.clone()
            } else {
                Site::joined(&target, query)
            };
            attack(format!("the path as {target}"), site.request("GET", &sent, "", ""))
        })
        .collect()
}

/// Messages that two parsers read differently, and other ways in.
fn framing(site: &Site<'_>) -> Vec<Attack> {
    let (host, path) = (site.host, site.path);
    let chunked = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
    let behind = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
    let absolute = format!("http://{host}{path}");
    vec![
        attack(
            "a length beside chunks",
            site.request("POST", path, chunked, "0\r\n\r\n"),
        ),
        attack(
            "two lengths",
            site.request("POST", path, "Content-Length: 0\r\nContent-Length: 1\r\n", "x"),
        ),
        attack(
            "a second Host",
            site.request("GET", path, &format!("Host: other.{host}\r\n"), ""),
        ),
        attack("an upgrade to h2c", site.request("GET", path, behind, "")),
        attack("a target with scheme and host", site.request("GET", &absolute, "", "")),
        attack("CONNECT", site.request("CONNECT", &format!("{host}:443"), "", "")),
        attack(
            "a pass that nobody signed",
            site.request("GET", path, "Ropeline-Pass: AQ\r\n", ""),
        ),
    ]
}

fn redirects(site: &Site<'_>) -> Vec<Attack> {
    let check = format!("/.ropeline/rooms/{}/check?ticket=any&to=", site.room);
    ["//0", "/%5C0", "%2F%2Fx", "//example.com/", "https://example.com/"]
        .into_iter()
        .map(|to| Attack {
            expect: Expect::OwnPath,
            ..attack(
                format!("a way back to {to}"),
                site.request("GET", &format!("{check}{to}"), "", ""),
            )
        })
        .collect()
}

/// Paths that never wait take GET and HEAD, without a query, a body or anything of a visitor's own.
fn never_waiting(site: &Site<'_>) -> Vec<Attack> {
    let tries = [
        ("GET", "/robots.txt?add-to-cart=7", "", ""),
        ("POST", "/favicon.ico?wc-ajax=checkout", "Content-Length: 0\r\n", ""),
        ("POST", "/robots.txt", "Content-Length: 3\r\n", "a=b"),
        ("GET", "/robots.txt", "Cookie: a=b\r\n", ""),
        ("GET", "/.well-known/x", "Authorization: Basic eDp4\r\n", ""),
        ("GET", "/robots.txt", "X-HTTP-Method-Override: POST\r\n", ""),
    ];
    tries
        .into_iter()
        .map(|(method, target, fields, body)| {
            let with = fields.split(':').next().filter(|name| !name.is_empty());
            let with = with.map(|name| format!(" with {name}")).unwrap_or_default();
            attack(
                format!("{method} {target}{with}"),
                site.request(method, target, fields, body),
            )
        })
        .collect()
}

/// Paths that the operator left outside may only be read.
fn outside(site: &Site<'_>) -> Vec<Attack> {
    let mut all = Vec::new();
    for path in site.outside {
        let target = Site::joined(path, "wc-ajax=checkout");
        all.push(attack(
            format!("POST {target}"),
            site.request("POST", &target, "Content-Length: 0\r\n", ""),
        ));
        let target = Site::joined(path, "add-to-cart=7");
        all.push(attack(format!("GET {target}"), site.request("GET", &target, "", "")));
        all.push(attack(
            format!("GET {path} with a body"),
            site.request("GET", path, "Content-Length: 1\r\n", "x"),
        ));
        all.push(attack(
            format!("GET {path} as a WebSocket"),
            site.request("GET", path, SOCKET, ""),
        ));
    }
    all
}

/// Spellings of the parameter that chooses a line.
fn lines(site: &Site<'_>) -> Vec<Attack> {
    let Some(name) = site.parameter else { return Vec::new() };
    let spelt = [
        format!("{name}=5&%20{name}=7"),
        format!("{name}=5&{name}=7"),
        format!("{name}[]=5"),
        format!("{name}%00x=5"),
        format!("[{name}]=5"),
    ];
    spelt
        .into_iter()
        .map(|query| Attack {
            expect: Expect::Refused,
            ..attack(
                format!("the line by ?{query}"),
                site.request("GET", &Site::joined(site.path, &query), "", ""),
            )
        })
        .collect()
}

/// Fields by which a proxy asks a gate, or on which the gate itself relies, sent by a visitor; also under names that CGI
/// folds.
fn told_by_proxies(site: &Site<'_>) -> Vec<Attack> {
    let told = [
        ("X-Forwarded-Uri", "/robots.txt"),
        ("X-Forwarded-Method", "OPTIONS"),
        ("X-Forwarded-Host", "elsewhere.invalid"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Original-URI", "/robots.txt"),
        ("X-Original-URL", "/robots.txt"),
        ("X-Original-Method", "OPTIONS"),
        ("Ropeline-Body", "none"),
        ("Ropeline-Session", "complete"),
    ];
    let mut all = Vec::new();
    for (name, value) in told {
        for spelt in [name.to_owned(), name.replace('-', "_"), name.replacen('-', ".", 1)] {
            let field = format!("{spelt}: {value}\r\n");
            all.push(attack(
                format!("a visitor's own {spelt}"),
                site.request("GET", site.path, &field, ""),
            ));
        }
        let away = format!("Connection: {name}\r\n");
        all.push(attack(
            format!("{name} named away by Connection"),
            site.request("GET", site.path, &away, ""),
        ));
    }
    all
}

/// A body is not read before admission: the answer comes without it, and no `100 Continue` is sent.
fn bodies(site: &Site<'_>) -> Vec<Attack> {
    let post = |fields: &str| site.request("POST", site.path, fields, "");
    vec![
        attack("a body that never comes", post("Content-Length: 5\r\n")),
        attack("chunks that never come", post("Transfer-Encoding: chunked\r\n")),
        attack(
            "a body that asks to be sent",
            post("Content-Length: 5\r\nExpect: 100-continue\r\n"),
        ),
    ]
}

/// Bodies that name two accounts, or one that not everybody reads, where visitors name theirs.
fn accounts(site: &Site<'_>) -> Vec<Attack> {
    let Some((path, name)) = site.account else {
        return Vec::new();
    };
    let form = "application/x-www-form-urlencoded";
    let upper = name.to_uppercase();
    let part = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
    let tries = [
        ("named twice in a form", form, format!("{name}=a&{name}=b")),
        ("named again with a blank", form, format!("{name}=a&%20{name}=b")),
        ("named as a list", form, format!("{name}[]=a")),
        (
            "named twice in JSON",
            "application/json",
            format!("{{\"{name}\":\"a\",\"{name}\":\"b\"}}"),
        ),
        (
            "named in two letter cases in JSON",
            "application/json",
            format!("{{\"{name}\":\"a\",\"{upper}\":\"b\"}}"),
        ),
        (
            "named in two parts",
            "multipart/form-data; boundary=b",
            format!("{part}a\r\n{part}b\r\n--b--\r\n"),
        ),
        ("in a body without a type", "", format!("{name}=a")),
        ("not named", form, "x=y".to_owned()),
    ];
    let mut all: Vec<Attack> = tries
        .into_iter()
        .map(|(what, media, body)| {
            let kind = if media.is_empty() {
                String::new()
            } else {
                format!("Content-Type: {media}\r\n")
            };
            account(site, path, what, &kind, body.into_bytes())
        })
        .collect();
    let packed = format!("Content-Type: {form}\r\nContent-Encoding: gzip\r\n");
    all.push(account(
        site,
        path,
        "in a packed body",
        &packed,
        format!("{name}=a").into_bytes(),
    ));
    let padded = format!("x={}&{name}=a", "y".repeat(PADDING)).into_bytes();
    all.push(account(
        site,
        path,
        "behind a long field",
        &format!("Content-Type: {form}\r\n"),
        padded,
    ));
    all
}

fn account(site: &Site<'_>, path: &str, what: &str, fields: &str, body: Vec<u8>) -> Attack {
    let fields = format!("{fields}Content-Length: {}\r\n", body.len());
    Attack {
        expect: Expect::NoAccount,
        ..attack(format!("an account {what}"), site.request("POST", path, &fields, body))
    }
}

/// More bytes than a gate reads to find an account.
const PADDING: usize = 32 * 1024;
