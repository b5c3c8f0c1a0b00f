//! Which header fields pass, in both directions.
//!
//! Hop-by-hop fields and those `Connection` names go first, so that a client cannot name ours away (RFC 9110, section
//! 7.6.1). Then go the fields only a proxy may set, and names that a CGI-like shop would read as one of them
//! (`X_Forwarded_For`; some take any other sign, as in `X.Forwarded.For`). Ours are set last.

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, COOKIE, EXPECT,
    FORWARDED, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::{HeaderMap, HeaderName, HeaderValue, Version};

use super::upstream::Forward;

/// The shop's word on the session, from its `Anteroom-Session` answer header; an extension of the forwarded response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionWord(pub HeaderValue);

/// Makes a request's fields fit for the shop.
pub(super) fn clean_request(headers: &mut HeaderMap, version: Version, forward: &Forward<'_>) {
    let trailers = accepts_trailers(headers);
    strip_named(headers);
    strip(headers, |name| {
        is_hop_by_hop(name) || is_ours_alone(name) || (!forward.peer_trusted && is_forwarded(name))
    });
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(CONNECTION, HeaderValue::from_static("te"));
    }
    append_forwarded(headers, forward);
    append_via(headers, version);
    for (name, value) in forward.headers {
        headers.insert(name, value.clone());
    }
}

/// Makes an answer's fields fit for the client; returns the shop's word on the session.
pub(super) fn clean_response(headers: &mut HeaderMap) -> Option<SessionWord> {
    strip_named(headers);
    let word = headers.remove(SESSION).map(SessionWord);
    strip(headers, |name| {
        is_hop_by_hop(name) || name.as_str().starts_with(OWN_PREFIX)
    });
    word
}

/// Trailers are merged with the head by some: what may not stand there may not stand here, nor what says how to frame,
/// route, authorise or read the message (RFC 9110, section 6.5.1).
pub(super) fn clean_trailers(trailers: &mut HeaderMap) {
    strip(trailers, |name| {
        is_hop_by_hop(name) || is_ours_alone(name) || is_forwarded(name) || HEAD_ALONE.contains(name)
    });
}

/// Whether this proxy stands in `Via` so often that the request must be going round in circles.
pub(super) fn is_loop(headers: &HeaderMap) -> bool {
    let hops = headers
        .get_all(VIA)
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    hops.filter(|hop| hop.trim_ascii_end().ends_with(PSEUDONYM.as_bytes()))
        .count()
        >= MAX_PASSES
}

/// Removes what `Connection` says belongs to this one only.
fn strip_named(headers: &mut HeaderMap) {
    // PERF: nearly always one of two words stands there alone, which is the name of no field, or of one that goes anyway.
    let is_plain = |line: &HeaderValue| line == "keep-alive" || line == "close";
    let lines = headers.get_all(CONNECTION).iter().filter(|line| !is_plain(line));
    let listed: Vec<HeaderName> = lines.flat_map(names).collect();
    for name in listed.iter().filter(|name| !is_end_to_end(name)) {
        headers.remove(name);
    }
}

fn names(line: &HeaderValue) -> impl Iterator<Item = HeaderName> {
    let names = line.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    names.filter_map(|name| HeaderName::from_bytes(name).ok())
}

fn strip(headers: &mut HeaderMap, gone: impl Fn(&HeaderName) -> bool) {
    let doomed: Vec<HeaderName> = headers.keys().filter(|name| gone(name)).cloned().collect();
    for name in doomed {
        headers.remove(name);
    }
}

fn is_hop_by_hop(name: &HeaderName) -> bool {
    match *name {
        CONNECTION | TE | TRANSFER_ENCODING | UPGRADE | PROXY_AUTHENTICATE | PROXY_AUTHORIZATION => true,
        _ => matches!(name.as_str(), "keep-alive" | "proxy-connection" | "http2-settings"),
    }
}

/// Fields the message cannot do without: `Connection` may not name them away, as that would change what the shop sees
/// after the gate has decided on it. Nor what a trusted peer tells of the client, who may have written that `Connection`.
fn is_end_to_end(name: &HeaderName) -> bool {
    [HOST, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, TRAILER, EXPECT, VIA].contains(name) || is_forwarded(name)
}

/// Fields nobody may send us, trusted or not.
fn is_ours_alone(name: &HeaderName) -> bool {
    let name = name.as_str();
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return *name == FORWARDED || name.starts_with(OWN_PREFIX) || is_override(name);
    }
    let alias = alias(name);
    alias.starts_with(OWN_PREFIX)
        || alias.starts_with(FORWARDED_PREFIX)
        || is_override(&alias)
        || SHADOWED.contains(&alias.as_str())
}

/// A field that some shops take as another target than the request's, however its name is spelled.
pub(crate) fn names_another_target(name: &HeaderName) -> bool {
    TARGETS.contains(&alias(name.as_str()).as_str())
}

fn is_override(name: &str) -> bool {
    TARGETS.contains(&name) || OVERRIDES.contains(&name)
}

/// A name as a shop sees it that reads every sign as one.
fn alias(name: &str) -> String {
    name.replace(|sign: char| !sign.is_ascii_alphanumeric(), "-")
}

/// Fields that a trusted peer may set, and nobody else.
fn is_forwarded(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.starts_with(FORWARDED_PREFIX) || HOSTS.contains(&name)
}

/// RFC 9110, section 10.1.4.
fn accepts_trailers(headers: &HeaderMap) -> bool {
    let mut codings = headers
        .get_all(TE)
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    codings.any(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"trailers"))
}

/// The peer joins the list of addresses; what a trusted peer says of scheme, host and port stands.
fn append_forwarded(headers: &mut HeaderMap, forward: &Forward<'_>) {
    let hop = forward.hop;
    let before: Vec<&str> = headers
        .get_all(&FORWARDED_FOR)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .collect();
    let list = match &before[..] {
        [] => hop.peer.clone(),
        _ => text(format!(
            "{}, {}",
            before.join(", "),
            hop.peer.to_str().unwrap_or_default()
        )),
    };
    headers.insert(FORWARDED_FOR, list);
    let proto = || HeaderValue::from_static(hop.proto.as_str());
    headers.entry(FORWARDED_PROTO).or_insert_with(proto);
    headers.entry(FORWARDED_PORT).or_insert_with(|| hop.port.clone());
    if let Some(host) = headers.get(HOST).cloned() {
        headers.entry(FORWARDED_HOST).or_insert(host);
    }
}

/// RFC 9110, section 7.6.3.
fn append_via(headers: &mut HeaderMap, version: Version) {
    let hop = match version {
        Version::HTTP_10 => "1.0 anteroom",
        Version::HTTP_2 => "2.0 anteroom",
        _ => "1.1 anteroom",
    };
    let mut lines = headers.get_all(VIA).iter();
    // Further lines, and one with bytes beyond ASCII, stand as they are.
    match (lines.next().map(HeaderValue::to_str), lines.next()) {
        (Some(Ok(before)), None) => {
            let list = text(format!("{before}, {hop}"));
            headers.insert(VIA, list);
        }
        _ => {
            headers.append(VIA, HeaderValue::from_static(hop));
        }
    }
}

fn text(value: String) -> HeaderValue {
    HeaderValue::try_from(value).expect("what is made of header values and addresses is one")
}

/// Our name in `Via`.
const PSEUDONYM: &str = "anteroom";
/// More gates than this in a row are a circle.
const MAX_PASSES: usize = 5;
const OWN_PREFIX: &str = "anteroom-";
const FORWARDED_PREFIX: &str = "x-forwarded-";
const SESSION: HeaderName = HeaderName::from_static("anteroom-session");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PORT: HeaderName = HeaderName::from_static("x-forwarded-port");
/// Fields that some shops take as another target than the request's.
const TARGETS: [&str; 4] = ["x-original-url", "x-original-uri", "x-rewrite-url", "x-override-url"];
/// Fields that some shops take as another address or proxy than the request's.
const OVERRIDES: [&str; 2] = ["x-real-ip", "proxy"];
/// Fields that some shops take as another host than the request's; load balancers set them too.
const HOSTS: [&str; 3] = ["x-host", "x-original-host", "x-http-host-override"];
/// Fields that have their meaning in a head alone.
const HEAD_ALONE: [HeaderName; 11] = [
    HOST,
    COOKIE,
    VIA,
    EXPECT,
    AUTHORIZATION,
    SET_COOKIE,
    TRAILER,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    CONTENT_ENCODING,
    CONTENT_RANGE,
];
/// Fields that decide on framing, routing or identity: an underscore or the like must not smuggle in a second one.
const SHADOWED: [&str; 10] = [
    "forwarded",
    "host",
    "via",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "expect",
    "cookie",
    "authorization",
];
