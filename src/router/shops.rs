//! Models of shops, for the tests and the fuzzer of the router.
//!
//! They are written apart from the readings, after how these servers work: each turns the bytes of a path into the path
//! that its application sees.

/// A server's path for its application; `None` where it refuses.
pub(super) type Shop = fn(&str) -> Option<String>;

/// Once, every escape; `None` for a malformed one.
fn unescape(path: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(out).ok()
}

fn resolve(path: &str) -> String {
    let mut stack: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(stack.pop()),
            _ => stack.push(part),
        }
    }
    format!("/{}", stack.join("/"))
}

fn squeeze(path: &str) -> String {
    let mut out = path.to_owned();
    while out.contains("//") {
        out = out.replace("//", "/");
    }
    out
}

fn without_parameters(path: &str) -> String {
    path.split('/')
        .map(|part| part.split(';').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("/")
}

/// Decodes, resolves, merges: most reverse proxies.
fn proxy(path: &str) -> Option<String> {
    Some(resolve(&squeeze(&unescape(path)?)))
}

/// Parameters go first, then decoding, then dots: a servlet container.
fn container(path: &str) -> Option<String> {
    Some(resolve(&squeeze(&unescape(&without_parameters(path))?)))
}

/// A proxy that normalises before a container that decodes again.
fn chain(path: &str) -> Option<String> {
    container(&proxy(path)?)
}

/// Backslashes are slashes, letter case and dots at the end do not matter: an old server on Windows.
fn windows(path: &str) -> Option<String> {
    let path = proxy(&unescape(path)?.replace('\\', "/"))?.to_lowercase();
    Some(
        path.split('/')
            .map(|part| part.trim_end_matches(['.', ' ']))
            .collect::<Vec<_>>()
            .join("/"),
    )
}

/// Dots at the end of a segment go, and with them a segment of nothing else, once the path is resolved: `CivetWeb`.
fn dotless(path: &str) -> Option<String> {
    let path = resolve(&unescape(path)?.replace('\\', "/"));
    let parts = path.split('/').map(|part| part.trim_end_matches('.'));
    Some(squeeze(&parts.collect::<Vec<_>>().join("/")))
}

/// Takes a session out of the path, one with a name that the law's pieces have: ASP.NET.
fn sessions(path: &str) -> Option<String> {
    Some(proxy(path)?.replace("/(S(x))", ""))
}

/// The WHATWG URL parser on a relative URL, then decoding: scripts that take the path from `new URL(target, base)`.
fn script(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let path = match path.strip_prefix("//") {
        Some(rest) => rest
            .trim_start_matches('/')
            .split_once('/')
            .map_or("/".to_owned(), |(_, path)| format!("/{path}")),
        None => path,
    };
    let dots = path.replace("%2e", ".").replace("%2E", ".");
    unescape(&resolve(&dots))
}

/// Decodes all but slashes, so that a segment may contain one.
fn keeper(path: &str) -> Option<String> {
    let kept = path.replace("%2f", "\u{1}").replace("%2F", "\u{1}");
    Some(resolve(&unescape(&kept)?).replace('\u{1}', "%2f"))
}

/// Decodes needless escapes (RFC 3986, section 6.2.2.2), and resolves: a careful normaliser.
fn normaliser(path: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let escape = rest.get(at..at + 3)?;
        let byte = char::from(u8::from_str_radix(&escape[1..], 16).ok()?);
        let needless = byte.is_ascii_alphanumeric() || "-._~".contains(byte);
        out.push_str(&rest[..at]);
        if needless {
            out.push(byte);
        } else {
            out.push_str(escape);
        }
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    Some(resolve(&out))
}

/// Decodes and then splits off a query: a hand-made router.
fn careless(path: &str) -> Option<String> {
    let path = unescape(path)?;
    Some(path.split(['?', '#']).next().unwrap_or_default().to_owned())
}

pub(super) const SHOPS: [(&str, Shop); 15] = [
    ("plain", |path| Some(path.to_owned())),
    ("proxy", proxy),
    ("container", container),
    ("chain", chain),
    ("windows", windows),
    ("dotless", dotless),
    ("sessions", sessions),
    ("script", script),
    ("keeper", keeper),
    ("container behind a keeper", |path| container(&keeper(path)?)),
    ("container behind a normaliser", |path| container(&normaliser(path)?)),
    ("script behind a normaliser", |path| script(&normaliser(path)?)),
    ("careless behind a normaliser", |path| careless(&normaliser(path)?)),
    ("careless", careless),
    ("careless behind a proxy", |path| careless(&proxy(path)?)),
];
