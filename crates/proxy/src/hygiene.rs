//! Which header fields pass, in both directions.
//!
//! Hop-by-hop fields and those that `Connection` names are removed first, so that a client cannot have the gate's fields
//! removed (RFC 9110, section 7.6.1), nor fields by which the gate or the upstream decides. Then fields that only a proxy may
//! set are removed, and all aliases of these ([`names::field`]), such as `X_Forwarded_For`, from any sender. The gate's own
//! fields are set last.

use std::borrow::Cow;

use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ALT_SVC,
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, COOKIE,
    DATE, ETAG, EXPECT, Entry, FORWARDED, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION,
    MAX_FORWARDS, ORIGIN, PRAGMA, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, RANGE, REFERER, RETRY_AFTER, SERVER,
    SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, UPGRADE_INSECURE_REQUESTS, USER_AGENT, VARY, VIA,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Version};

use crate::names;

use crate::client::framing;
use crate::client::noted::{Noted, OWN_PREFIX};
use crate::client::request_id::X_REQUEST_ID;
use crate::forward::Forward;

/// Makes fit for the upstream the fields of a request that came with those `noted`.
pub(crate) fn clean_request(headers: &mut HeaderMap, noted: Noted, version: Version, forward: &Forward<'_>) {
    let trailers = noted.te && accepts_trailers(headers);
    let said = forward.said_by_proxies;
    if noted.connection {
        strip_named(headers, said);
    }
    strip(headers, |name| {
        let is_said = || !forward.peer_trusted && said.contains(name);
        is_said() || (!is_ordinary(name) && is_stripped(name, said, forward.peer_trusted))
    });
    if trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(CONNECTION, HeaderValue::from_static("te"));
    }
    if forward.peer_trusted {
        settle_hosts(headers);
    }
    append_forwarded(headers, forward);
    append_via(headers, version);
    for (name, value) in forward.headers {
        headers.insert(name, value.clone());
    }
}

/// Whether a request's field stays behind.
fn is_stripped(name: &HeaderName, said: &[HeaderName], peer_trusted: bool) -> bool {
    is_hop_by_hop(name) || is_ours_alone(name) || is_alias(name, said) || (!peer_trusted && is_said_of_client(name))
}

/// Makes an answer's fields fit for the client; returns the value of its `signal`, which is for the gate alone.
pub(crate) fn clean_response(headers: &mut HeaderMap, signal: Option<&HeaderName>) -> Option<HeaderValue> {
    strip_named(headers, &[]);
    // PERF: to look for a name that is hardly ever there costs more than to compare it with those that are.
    let found = signal.filter(|signal| headers.keys().any(|name| name == *signal));
    let signal = found.and_then(|signal| headers.remove(signal));
    strip(headers, |name| {
        !is_ordinary(name) && (is_hop_by_hop(name) || name.as_str().starts_with(OWN_PREFIX) || *name == ALT_SVC)
    });
    signal
}

/// Whether a request or an answer authenticates its connection instead of itself: NTLM, and Negotiate as some servers
/// implement it (RFC 4559, section 6). The server then attributes all requests on that connection to the same client,
/// whichever client sent them.
pub(crate) fn binds_connection(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get_all(name).iter().map(HeaderValue::as_bytes).any(|value| {
        let is = |scheme: &[u8]| {
            value
                .get(..scheme.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
        };
        is(b"NTLM") || is(b"Negotiate")
    })
}

/// Whether a request may be sent twice: by its method, and by any that its fields or query may name instead (RFC 9110, section 9.2.2).
pub(crate) fn is_repeatable<B>(request: &Request<B>) -> bool {
    let is_named = |name: &HeaderName| names::field::names_a_method(name.as_str());
    let in_query = |query: &str| query.to_ascii_lowercase().contains("method");
    request.method().is_idempotent()
        && !request.headers().keys().any(is_named)
        && !request.uri().query().is_some_and(in_query)
}

/// Some recipients merge trailers with the head. So fields that are removed from the head are removed here too, and also
/// fields that frame, route, authorise, request or describe the message (RFC 9110, section 6.5.1).
pub(crate) fn clean_trailers(trailers: &mut HeaderMap) {
    strip(trailers, |name| {
        is_hop_by_hop(name)
            || is_ours_alone(name)
            || is_alias(name, &[])
            || is_said_of_client(name)
            || HEAD_ALONE.contains(name)
            || RELIED_ON.contains(name)
            || IN_HEADS_ALONE.iter().any(|start| name.as_str().starts_with(start))
            // These depend on their position in the head.
            || names::field::METHODS.contains(&name.as_str())
    });
}

/// Trailers of a request that reach the upstream under the name, or an alias, of a field that proxies say an account in.
pub(crate) fn strip_said(trailers: &mut HeaderMap, said: &[HeaderName]) {
    strip(trailers, |name| {
        said.iter()
            .any(|own| names::field::is_same(own.as_str(), name.as_str()))
    });
}

/// The trailers that a head announces.
pub(crate) fn trailers_announced(headers: &HeaderMap) -> Vec<HeaderName> {
    headers.get_all(TRAILER).iter().flat_map(names).collect()
}

/// Whether this proxy occurs in `Via` so often that the request must be in a loop.
pub(crate) fn is_loop(headers: &HeaderMap) -> bool {
    // PERF: to compare with all names costs less than to look for one.
    let lines = headers.iter().filter(|(name, _)| **name == VIA);
    let hops = lines.flat_map(|(_, line)| line.as_bytes().split(|byte| *byte == b','));
    hops.filter(|hop| hop.trim_ascii_end().ends_with(PSEUDONYM.as_bytes()))
        .count()
        >= MAX_PASSES
}

/// Removes the fields that `Connection` names.
fn strip_named(headers: &mut HeaderMap, said: &[HeaderName]) {
    // PERF: nearly always one of two words stands there alone, which is the name of no field, or of one that goes anyway.
    let is_plain = |line: &HeaderValue| line == "keep-alive" || line == "close";
    let lines = headers.get_all(CONNECTION).iter().filter(|line| !is_plain(line));
    let listed: Vec<HeaderName> = lines.flat_map(names).collect();
    for name in listed.iter().filter(|name| !is_end_to_end(name, said)) {
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

/// Fields of most requests and answers, which pass unchanged. PERF: one look at this list saves several checks of a name's
/// letters.
fn is_ordinary(name: &HeaderName) -> bool {
    match *name {
        ACCEPT
        | ACCEPT_ENCODING
        | ACCEPT_LANGUAGE
        | AUTHORIZATION
        | CACHE_CONTROL
        | CONTENT_LENGTH
        | CONTENT_TYPE
        | COOKIE
        | DATE
        | ETAG
        | HOST
        | IF_MODIFIED_SINCE
        | IF_NONE_MATCH
        | LAST_MODIFIED
        | ORIGIN
        | PRAGMA
        | REFERER
        | SERVER
        | SET_COOKIE
        | UPGRADE_INSECURE_REQUESTS
        | USER_AGENT
        | VARY => true,
        _ => ORDINARY.contains(&name.as_str()),
    }
}

fn is_hop_by_hop(name: &HeaderName) -> bool {
    match *name {
        CONNECTION | TE | TRANSFER_ENCODING | UPGRADE | PROXY_AUTHENTICATE | PROXY_AUTHORIZATION => true,
        _ => matches!(name.as_str(), "keep-alive" | "proxy-connection" | "http2-settings"),
    }
}

/// Fields that `Connection` may not remove, because that would change the upstream's view after the gate has decided on the
/// request: fields that the gate reads or sets, and a trusted peer's fields about the client, who may have written that
/// `Connection`.
fn is_end_to_end(name: &HeaderName, said: &[HeaderName]) -> bool {
    RELIED_ON.contains(name)
        || is_said_of_client(name)
        || said.contains(name)
        || RELIED_ON_ALL.iter().any(|start| name.as_str().starts_with(start))
}

/// Whether `Connection` names a field away that it may not.
#[must_use]
pub fn connection_reaches_too_far(headers: &HeaderMap, said: &[HeaderName]) -> bool {
    let mut listed = headers.get_all(CONNECTION).iter().flat_map(names);
    listed.any(|name| is_end_to_end(&name, said) || name.as_str().starts_with(OWN_PREFIX))
}

/// Fields that only the gate sets; refused from trusted peers too.
fn is_ours_alone(name: &HeaderName) -> bool {
    *name == FORWARDED || name.as_str().starts_with(OWN_PREFIX) || is_override(name.as_str())
}

/// A name that is none of the fields which the gate sets, strips or decides by, and that some upstream is shown as one of them.
#[must_use]
pub fn is_alias(name: &HeaderName, said: &[HeaderName]) -> bool {
    let name = name.as_str();
    if names::field::is_plain(name) && !name.starts_with('-') {
        return false;
    }
    // Fields between servers: WebSphere's plug-in names another host, client and scheme (`$WSSN`, `$WSRA`, `$WSSC`),
    // Passenger the way to run the upstream (`!~PASSENGER_...`).
    if !name.starts_with(|first: char| first.is_ascii_alphanumeric()) || names::field::names_a_target(name) {
        return true;
    }
    let is = |own: &str| names::field::is_same(own, name);
    let begins = |start: &&str| names::field::begins_with(name, start);
    [OWN_PREFIX, FORWARDED_PREFIX].iter().chain(&RELIED_ON_ALL).any(begins)
        || SHADOWED.iter().chain(&OVERRIDES).chain(&HOSTS).any(|own| is(own))
        || RELIED_ON.iter().chain(said).any(|own| is(own.as_str()))
}

/// A field that the gate sets, or removes from every request: an operator cannot use it.
#[must_use]
pub fn is_taken(name: &HeaderName) -> bool {
    is_ours_alone(name) || is_hop_by_hop(name) || RELIED_ON.contains(name) || *name == FORWARDED_FOR
}

fn is_override(name: &str) -> bool {
    names::field::names_a_target(name) || OVERRIDES.contains(&name)
}

/// Fields in which a trusted peer identifies the client of a request, and which no other peer may set.
#[must_use]
pub fn is_said_of_client(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.starts_with(FORWARDED_PREFIX) || HOSTS.contains(&name)
}

/// The hosts that fields of a trusted peer name, one by one, as browsers spell them; `None` for an invalid host. An empty
/// field names none.
pub fn hosts_said(headers: &HeaderMap) -> impl Iterator<Item = Option<Cow<'_, str>>> {
    let fields = headers.iter().filter(|(name, _)| HOSTS_SAID.contains(&name.as_str()));
    fields.flat_map(|(_, value)| hosts(value))
}

fn hosts(list: &HeaderValue) -> impl Iterator<Item = Option<Cow<'_, str>>> {
    let hosts = list.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let is_nothing = list.is_empty();
    hosts.filter(move |_| !is_nothing).map(framing::usual)
}

/// Leaves one host in each such field, as browsers spell it: the first, which is the visitor's. SECURITY: upstreams that
/// compare it byte by byte, or take the whole list for one host, would see another, unknown host. The gate treats all of them
/// alike.
fn settle_hosts(headers: &mut HeaderMap) {
    for name in HOSTS_SAID {
        let mut lines = headers.get_all(name).iter();
        let Some(line) = lines.next() else { continue };
        let first = hosts(line).chain(lines.flat_map(hosts)).next().flatten();
        match first.and_then(|host| HeaderValue::from_str(&host).ok()) {
            Some(host) => {
                headers.insert(name, host);
            }
            None => {
                headers.remove(name);
            }
        }
    }
}

/// RFC 9110, section 10.1.4.
fn accepts_trailers(headers: &HeaderMap) -> bool {
    let mut codings = headers
        .get_all(TE)
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    codings.any(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"trailers"))
}

/// Appends the peer to the list of addresses; a trusted peer's scheme, host and port are kept.
fn append_forwarded(headers: &mut HeaderMap, forward: &Forward<'_>) {
    let hop = forward.hop;
    match headers.entry(FORWARDED_FOR) {
        Entry::Vacant(lines) => {
            lines.insert(hop.peer.clone());
        }
        Entry::Occupied(mut lines) => {
            let hops = lines.iter().chain([&hop.peer]).filter_map(|line| line.to_str().ok());
            let list = hops.collect::<Vec<&str>>().join(", ");
            lines.insert(text(list));
        }
    }
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
        Version::HTTP_10 => "1.0 ropeline",
        Version::HTTP_2 => "2.0 ropeline",
        _ => "1.1 ropeline",
    };
    match headers.entry(VIA) {
        Entry::Vacant(lines) => {
            lines.insert(HeaderValue::from_static(hop));
        }
        Entry::Occupied(mut lines) => match (lines.get().to_str(), lines.iter().count()) {
            (Ok(before), 1) => {
                let list = text(format!("{before}, {hop}"));
                lines.insert(list);
            }
            // Further lines, and one with bytes beyond ASCII, stay unchanged.
            _ => lines.append(HeaderValue::from_static(hop)),
        },
    }
}

fn text(value: String) -> HeaderValue {
    HeaderValue::try_from(value).expect("what is made of header values and addresses is one")
}

/// Our name in `Via`.
const PSEUDONYM: &str = "ropeline";
/// More gates than this in a row are a circle.
const MAX_PASSES: usize = 5;
const FORWARDED_PREFIX: &str = "x-forwarded-";
/// Ordinary names that HTTP libraries have no constants for: Chromium's of a page.
const ORDINARY: [&str; 8] = [
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-site",
    "sec-fetch-mode",
    "sec-fetch-user",
    "sec-fetch-dest",
    "priority",
];
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PORT: HeaderName = HeaderName::from_static("x-forwarded-port");
/// Fields that some upstreams take as another address or proxy than the request's.
const OVERRIDES: [&str; 2] = ["x-real-ip", "proxy"];
/// Fields that some upstreams take as another host than the request's; load balancers set them too.
const HOSTS: [&str; 3] = ["x-host", "x-original-host", "x-http-host-override"];
/// With the one that upstreams expect.
const HOSTS_SAID: [&str; 4] = [HOSTS[0], HOSTS[1], HOSTS[2], "x-forwarded-host"];
/// Fields that have their meaning in a head alone.
const HEAD_ALONE: [HeaderName; 9] = [
    SET_COOKIE,
    CONTENT_RANGE,
    CACHE_CONTROL,
    PRAGMA,
    RANGE,
    MAX_FORWARDS,
    LOCATION,
    RETRY_AFTER,
    VARY,
];
/// Beginnings of the names of others: conditions, a browser's description of its request, and cross-origin rules.
const IN_HEADS_ALONE: [&str; 3] = ["if-", "sec-", "access-control-"];
/// Fields that the gate reads or sets, or that frame or describe the content that it reads.
const RELIED_ON: [HeaderName; 13] = [
    HOST,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    CONTENT_ENCODING,
    COOKIE,
    AUTHORIZATION,
    TRAILER,
    EXPECT,
    VIA,
    ORIGIN,
    ACCESS_CONTROL_REQUEST_METHOD,
    ACCESS_CONTROL_REQUEST_HEADERS,
    X_REQUEST_ID,
];
/// Fields by which the gate distinguishes a page from the resources of a page.
const RELIED_ON_ALL: [&str; 1] = ["sec-fetch-"];
/// Fields of a connection, of which an alias would smuggle a second one in.
const SHADOWED: [&str; 8] = [
    "forwarded",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_fields_are_none_of_those_that_are_stripped() {
        let standard = [
            ACCEPT,
            ACCEPT_ENCODING,
            ACCEPT_LANGUAGE,
            AUTHORIZATION,
            CACHE_CONTROL,
            CONTENT_LENGTH,
            CONTENT_TYPE,
            COOKIE,
            DATE,
            ETAG,
            HOST,
            IF_MODIFIED_SINCE,
            IF_NONE_MATCH,
            LAST_MODIFIED,
            ORIGIN,
            PRAGMA,
            REFERER,
            SERVER,
            SET_COOKIE,
            UPGRADE_INSECURE_REQUESTS,
            USER_AGENT,
            VARY,
        ];
        for name in standard.into_iter().chain(ORDINARY.map(HeaderName::from_static)) {
            assert!(is_ordinary(&name), "{name}");
            assert!(!is_stripped(&name, &[], false) && name != ALT_SVC, "{name}");
        }
        for name in [CONNECTION, TE, UPGRADE, VIA, ALT_SVC, FORWARDED] {
            assert!(!is_ordinary(&name), "{name}");
        }
    }
}
