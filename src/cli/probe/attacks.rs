//! What is tried: requests that must not reach the shop while a room is held, as a socket sends them.

/// What the requests are made of.
pub struct Site<'s> {
    pub host: &'s str,
    pub room: &'s str,
    /// A protected page.
    pub path: &'s str,
    /// The room covers the whole site, and so what only the never-waiting paths let past.
    pub is_whole: bool,
    /// A path that the operator left outside the room.
    pub outside: &'s [String],
    /// The query parameter that chooses a line.
    pub parameter: Option<&'s str>,
}

/// One request, and what has to become of it.
pub struct Attack {
    pub name: String,
    pub bytes: Vec<u8>,
    pub expect: Expect,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// The gate answers it, whatever it says.
    Kept,
    /// The gate refuses it as one that can be read in two ways.
    Refused,
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
    if site.is_whole {
        all.extend(never_waiting(site));
    }
    all
}

fn attack(name: impl Into<String>, bytes: Vec<u8>) -> Attack {
    Attack {
        name: name.into(),
        bytes,
        expect: Expect::Kept,
    }
}

impl Site<'_> {
    /// A request that no browser's navigation is, so that nobody joins by it.
    pub fn request(&self, method: &str, target: &str, fields: &str, body: &str) -> Vec<u8> {
        let host = self.host;
        format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\n{fields}Connection: close\r\n\r\n{body}")
            .into_bytes()
    }

    fn joined(target: &str, query: &str) -> String {
        let sign = if target.contains('?') { '&' } else { '?' };
        format!("{target}{sign}{query}")
    }
}

const SOCKET: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const PREFLIGHT: &str = "Origin: https://example.com\r\nAccess-Control-Request-Method: POST\r\n";

/// Row by row: what makes an OPTIONS request no preflight.
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
            site.request("GET", path, "Anteroom-Pass: AQ\r\n", ""),
        ),
    ]
}

fn redirects(site: &Site<'_>) -> Vec<Attack> {
    let check = format!("/.anteroom/rooms/{}/check?ticket=any&to=", site.room);
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

/// What the operator left outside is for reading.
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
