//! The fuzz targets for the layers between a socket and the gate: framing on raw bytes, and header fields.
//!
//! The expected results are computed by independent code, with lists of its own.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue, Version};

use crate::client::guard::split_matters;
use crate::client::hop::Hop;
use crate::client::noted::Noted;
use crate::client::proto::Proto;
use crate::forward::Forward;
use crate::hygiene::{clean_request, clean_response, clean_trailers};
use crate::listen::proxy_protocol::{Ends, parse};
use crate::memory::BodyOf;

pub use crate::client::guard::guard_passes;

/// Two bytes of a seed for where the rest is cut; however that comes, the verdict is the same.
///
/// # Panics
/// When a law does not hold.
pub fn framing(data: &[u8]) {
    if let [high, low, rest @ ..] = data {
        let seed = u16::from_be_bytes([*high, *low]);
        assert!(!split_matters(rest, seed), "{:?}", String::from_utf8_lossy(rest));
    }
}

/// A byte of circumstances, then fields, one a line.
///
/// # Panics
/// When a law does not hold.
pub fn headers(data: &[u8]) {
    let Some((flags, lines)) = data.split_first() else {
        return;
    };
    let fields = fields(lines);
    request(&fields, flags & 1 == 1, flags & 2 == 2);
    answer(&fields);
    let mut trailers = fields.clone();
    clean_trailers(&mut trailers);
    let bad = |name: &str| is_hop(name) || is_gates(name) || name.starts_with("x-forwarded-");
    for name in trailers.keys() {
        let name = name.as_str();
        assert!(
            !bad(name) && !["host", "cookie", "via", "expect"].contains(&name),
            "{name} in trailers"
        );
    }
}

/// Bytes that may or may not come from a proxy: the verdict comes as early as possible and stays, and the parsed header is
/// the one that was written.
///
/// # Panics
/// If a law does not hold.
pub fn proxy_protocol(data: &[u8]) {
    let whole = parse(data);
    for length in 0..data.len() {
        match parse(&data[..length]) {
            Ok(None) => {}
            early => assert_eq!(early, whole, "told at {length} of {data:?}"),
        }
    }
    let Ok(Some(header)) = whole else { return };
    assert!(header.length <= data.len());
    assert_eq!(parse(&data[..header.length]), whole, "what lies behind it counts");
    let Some(ends) = header.ends else { return };
    assert_eq!(ends.source.is_ipv4(), ends.destination.is_ipv4());
    for written in [line_of(ends), block_of(ends)] {
        let read = parse(&written).expect("a header").expect("a whole one");
        assert_eq!((read.ends, read.length), (Some(ends), written.len()), "{written:?}");
    }
}

fn fields(lines: &[u8]) -> HeaderMap {
    let mut fields = HeaderMap::new();
    for line in lines.split(|byte| *byte == b'\n').take(100) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            fields.append(name, value);
        }
    }
    fields
}

fn request(before: &HeaderMap, old: bool, trusted: bool) {
    let ours = [(OURS, HeaderValue::from_static("the gate's own"))];
    let forward = Forward {
        whose: BodyOf::Inside([192, 0, 2, 1].into()),
        hop: &Hop::of(([192, 0, 2, 7], 4711).into(), ([192, 0, 2, 1], 80).into(), Proto::Http),
        peer_trusted: trusted,
        said_by_proxies: &[],
        still: &|| true,
        headers: &ours,
        cancel: None,
        signal: None,
        heard: &|_, _| {},
        stage: None,
    };
    let version = if old { Version::HTTP_10 } else { Version::HTTP_11 };
    let mut after = before.clone();
    clean_request(&mut after, Noted::UNKNOWN, version, &forward);
    for (name, value) in &after {
        check_request(name.as_str(), value, trusted);
    }
    assert_eq!(after.get_all(&OURS).iter().count(), 1);
    let peers = after.get_all("x-forwarded-for").iter().collect::<Vec<_>>();
    assert!(
        matches!(&peers[..], [list] if list.as_bytes().ends_with(b"192.0.2.7")),
        "{peers:?}"
    );
    let via = after.get_all("via").iter().next_back().map(HeaderValue::as_bytes);
    assert!(via.is_some_and(|via| via.ends_with(b"ropeline")), "{via:?}");
    kept(before, &after);
    let mut again = after.clone();
    clean_request(&mut again, Noted::UNKNOWN, version, &forward);
    let names = |map: &HeaderMap| map.keys().map(ToString::to_string).collect::<Vec<_>>();
    let (mut once, mut twice) = (names(&after), names(&again));
    once.sort();
    twice.sort();
    assert_eq!(once, twice, "cleaned twice");
}

fn check_request(name: &str, value: &HeaderValue, trusted: bool) {
    if name == OURS {
        assert_eq!(value, "the gate's own");
        return;
    }
    match name {
        "te" => assert_eq!(value, "trailers"),
        "connection" => assert_eq!(value, "te"),
        _ => assert!(!is_hop(name) && !is_gates(name), "{name} reaches the upstream"),
    }
    if !trusted && name.starts_with("x-forwarded-") {
        let own = matches!(
            name,
            "x-forwarded-for" | "x-forwarded-proto" | "x-forwarded-port" | "x-forwarded-host"
        );
        assert!(
            own && (name != "x-forwarded-for" || value == "192.0.2.7"),
            "{name}: {value:?}"
        );
    }
}

fn answer(before: &HeaderMap) {
    let mut after = before.clone();
    let signal = clean_response(&mut after, Some(&OURS));
    for name in after.keys() {
        let name = name.as_str();
        assert!(
            !is_hop(name) && !name.starts_with("ropeline-"),
            "{name} reaches the visitor"
        );
    }
    assert!(signal.is_none() || before.contains_key(OURS));
    kept(before, &after);
}

/// Fields that concern only the ends stay unchanged and in order.
fn kept(before: &HeaderMap, after: &HeaderMap) {
    let listed = |name: &HeaderName| {
        let lines = before.get_all("connection").iter();
        lines
            .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
            .any(|word| word.trim_ascii().eq_ignore_ascii_case(name.as_str().as_bytes()))
    };
    let plain = |name: &HeaderName| {
        let text = name.as_str();
        let odd = text.starts_with('-') || text.bytes().any(|byte| !byte.is_ascii_alphanumeric() && byte != b'-');
        let hints = [
            "x-forwarded-",
            "x-original-",
            "x-override-",
            "x-rewrite-",
            "x-http-",
            "x-host",
        ];
        let targets = [
            "url",
            "uri",
            "script-name",
            "path-info",
            "traversal-path",
            "request-base",
        ];
        let hint = hints.iter().any(|start| text.starts_with(start)) || targets.iter().any(|end| text.ends_with(end));
        !odd && !hint && !is_hop(text) && !is_gates(text) && text != "via"
    };
    for name in before.keys().filter(|name| plain(name) && !listed(name)) {
        let values = |map: &HeaderMap| map.get_all(name).iter().cloned().collect::<Vec<_>>();
        assert_eq!(values(before), values(after), "{name}");
    }
}

/// Of one connection only (RFC 9110, section 7.6.1).
fn is_hop(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "connection",
        "te",
        "transfer-encoding",
        "upgrade",
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "proxy-authorization",
        "http2-settings",
    ];
    NAMES.contains(&name)
}

/// Fields of the gate, and fields that an upstream may take for those or for another path or address.
fn is_gates(name: &str) -> bool {
    const NAMES: [&str; 5] = ["forwarded", "x-real-ip", "x-original-url", "x-rewrite-url", "proxy"];
    const BEHIND_UNDERSCORES: [&str; 9] = [
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
    let alias = name.replace('_', "-");
    let underscore = name.contains('_');
    alias.starts_with("ropeline-")
        || NAMES.contains(&alias.as_str())
        || underscore && (alias.starts_with("x-forwarded-") || BEHIND_UNDERSCORES.contains(&alias.as_str()))
}

/// Version 1, as haproxy writes it.
fn line_of(ends: Ends) -> Vec<u8> {
    let family = if ends.source.is_ipv4() { 4 } else { 6 };
    let (source, destination) = (ends.source, ends.destination);
    let (from, to) = (source.ip(), destination.ip());
    format!(
        "PROXY TCP{family} {from} {to} {} {}\r\n",
        source.port(),
        destination.port()
    )
    .into_bytes()
}

/// Version 2, without additions.
fn block_of(ends: Ends) -> Vec<u8> {
    let octets = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let (from, to) = (octets(ends.source.ip()), octets(ends.destination.ip()));
    let ports = [ends.source.port(), ends.destination.port()].map(u16::to_be_bytes);
    let family = if ends.source.is_ipv4() { 0x11 } else { 0x21 };
    let length = u8::try_from(2 * from.len() + 4).expect("at most 36");
    let start = [b"\r\n\r\n\0\r\nQUIT\n".as_slice(), &[0x21, family, 0, length]].concat();
    [start, from, to, ports.concat()].concat()
}

const OURS: HeaderName = HeaderName::from_static("ropeline-session");
