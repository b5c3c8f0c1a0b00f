//! The circumstances of one request: its sender, its way, and its aim.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, ACCEPT_LANGUAGE, HOST, HeaderName, REFERER, USER_AGENT};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue};
use ipnet::IpNet;

use crate::pages::Codings;
use crate::proxy::{Conn, Hop, Noted, Proto, RequestId, client_address, is_trusted};
use crate::router::Target;
use crate::time;
use ropeline_ids::{RehearsalId, Wall};

use super::aim::Aim;
use super::cookies::stop_reloads;
use super::kind::{FORWARDED_HOST, Kind};
use super::referer::came_from_here;

const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Carries the mark; in answers it names the visitors to whom they were given.
pub const REHEARSAL_HEADER: HeaderName = HeaderName::from_static("ropeline-rehearsal");

/// The rehearsal of a virtual visitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rehearsed {
    pub id: RehearsalId,
    pub forward: bool,
}

/// The facts of a request before anything is decided.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Visit {
    /// A trusted proxy's, or one of our own.
    pub id: RequestId,
    pub started: Duration,
    /// When it is judged, which is later than it came where its body, or a slot, took long.
    pub wall: Wall,
    /// How long the gate has waited for its body, and for a slot.
    pub waited: Duration,
    pub client: IpAddr,
    /// The other end of the connection.
    pub peer: IpAddr,
    pub hop: Arc<Hop>,
    pub peer_trusted: bool,
    /// The socket belongs to this visitor alone, so bytes that it has taken have reached the visitor.
    pub direct: bool,
    /// The visitor's own connection is encrypted, here or at a trusted proxy.
    pub secure: bool,
    pub kind: Kind,
    /// It is use of its session, and keeps a slot; in rooms without active slots, all are.
    pub counts: bool,
    /// A body comes, or may come.
    pub has_body: bool,
    /// The purpose of the request: a page of the shop for the visitor, or a proxy's question about it.
    pub aim: Aim,
    /// The request's mark of a rehearsal, genuine or not.
    pub mark: Option<HeaderValue>,
    /// The visitor is a virtual one: the mark was judged.
    pub rehearsed: Option<Rehearsed>,
    /// The place of its upstream among all, once the request is routed.
    pub upstream: Option<usize>,
    /// Which fields the request came with.
    pub noted: Noted,
    /// A navigation of a visitor who has stopped pages from loading again by themselves.
    pub stands_still: bool,
    languages: Option<HeaderValue>,
    host: Option<HeaderValue>,
    codings: Option<HeaderValue>,
    target: Option<PathAndQuery>,
    /// Of a form: the page that it was on, and the host by a proxy's word.
    form: [Option<HeaderValue>; 2],
}

impl Visit {
    /// Reads a request's circumstances.
    #[must_use]
    pub fn of(conn: &Conn, head: &Parts, has_body: bool, trusted: &[IpNet]) -> Self {
        let headers = &head.headers;
        let peer = conn.peer().ip();
        let peer_trusted = is_trusted(peer, trusted);
        let kind = Kind::of(head, has_body);
        let given = peer_trusted.then(|| RequestId::of_proxy(headers)).flatten();
        Self {
            id: given.unwrap_or_else(RequestId::fresh),
            started: time::uptime(),
            wall: time::wall(),
            waited: Duration::ZERO,
            client: client_address(peer, headers, trusted),
            peer,
            hop: Arc::clone(conn.hop()),
            peer_trusted,
            direct: !peer_trusted && !conn.is_multiplexed(),
            secure: conn.proto() == Proto::Https || (peer_trusted && says_https(headers)),
            kind,
            counts: true,
            has_body,
            aim: Aim::Shop,
            mark: headers.get(REHEARSAL_HEADER).cloned(),
            rehearsed: None,
            upstream: None,
            noted: Noted::UNKNOWN,
            stands_still: kind == Kind::Navigation && stop_reloads(headers),
            languages: headers.get(ACCEPT_LANGUAGE).cloned(),
            host: headers.get(HOST).cloned(),
            codings: headers.get(ACCEPT_ENCODING).cloned(),
            target: head.uri.path_and_query().cloned(),
            form: [REFERER, FORWARDED_HOST].map(|name| headers.get(name).filter(|_| kind == Kind::Post).cloned()),
        }
    }

    /// A visitor of this kind at `/here`, for tests.
    #[cfg(test)]
    #[must_use]
    pub fn sample(kind: Kind) -> Self {
        Self::sample_at(kind, "/here")
    }

    /// A visitor of this kind at this target, for tests.
    #[cfg(test)]
    #[must_use]
    pub fn sample_at(kind: Kind, target: &'static str) -> Self {
        Self {
            id: RequestId::fresh(),
            started: time::uptime(),
            wall: time::wall(),
            waited: Duration::ZERO,
            client: IpAddr::from([192, 0, 2, 1]),
            peer: IpAddr::from([192, 0, 2, 1]),
            hop: Arc::new(Hop::of(
                ([192, 0, 2, 1], 4711).into(),
                ([192, 0, 2, 2], 80).into(),
                Proto::Http,
            )),
            peer_trusted: false,
            direct: true,
            secure: false,
            kind,
            counts: true,
            has_body: false,
            aim: Aim::Shop,
            mark: None,
            rehearsed: None,
            upstream: None,
            noted: Noted::UNKNOWN,
            stands_still: false,
            languages: None,
            host: None,
            codings: None,
            target: Some(PathAndQuery::from_static(target)),
            form: [None, None],
        }
    }

    /// The requested languages, as sent.
    #[must_use]
    pub fn languages(&self) -> &str {
        self.languages
            .as_ref()
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// The host asked for, without its port, for the page; `None` for one that no page shows. A proxy's word on another
    /// host is not asked.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        shown_host(self.host.as_ref()?.to_str().ok()?)
    }

    /// How a page may be sent. A proxy that only asks may lose the field that says how it was.
    #[must_use]
    pub fn codings(&self) -> Codings {
        let accepted = self.codings.as_ref().filter(|_| self.aim == Aim::Shop);
        accepted
            .and_then(|value| value.to_str().ok())
            .map_or(Codings::NONE, Codings::of)
    }

    /// Path and query as asked for.
    #[must_use]
    pub fn here(&self) -> &str {
        self.target.as_ref().map_or("/", PathAndQuery::as_str)
    }

    /// Where a link leads on that sends nothing again: the address of a form of this site may take no GET, so there it is the
    /// page with the form, or `/` where that is not known.
    #[must_use]
    pub fn go_on(&self) -> Cow<'_, str> {
        if self.kind != Kind::Post {
            return self.here().into();
        }
        let [referer, said] = self.form.each_ref().map(Option::as_ref);
        let page = referer.and_then(|referer| came_from_here(referer, [self.host.as_ref(), said]));
        page.map_or("/".into(), Cow::Owned)
    }

    /// The time since it came.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        time::uptime().saturating_sub(self.started)
    }

    /// The gate's own share of that: the time without those waits.
    #[must_use]
    pub fn own_time(&self) -> Duration {
        self.elapsed().saturating_sub(self.waited)
    }

    /// When it is judged.
    #[must_use]
    pub fn judged(&self) -> Duration {
        self.started + self.waited
    }

    /// The gate has waited since `begun`, for its body or for a slot: later decisions use the present time.
    pub fn has_waited(&mut self, begun: Duration) {
        self.waited += time::uptime().saturating_sub(begun);
        self.wall = time::wall();
    }
}

/// The nearest proxy's value for the visitor's connection: the last one, because each hop appends its own.
fn says_https(headers: &HeaderMap) -> bool {
    let last = headers
        .get_all(FORWARDED_PROTO)
        .iter()
        .next_back()
        .and_then(|value| value.to_str().ok());
    last.and_then(|list| list.rsplit(',').next())
        .is_some_and(|proto| proto.trim().eq_ignore_ascii_case("https"))
}

/// Most characters of a host on a page. A longer one is not cut: the rest of it could be another host.
const MAX_SHOWN_HOST: usize = 60;

/// The host of `host:port`, if it is a name or an address that fits on a page.
fn shown_host(authority: &str) -> Option<&str> {
    let port = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit());
    let host = match authority.rsplit_once(':') {
        Some((host, rest)) if port(rest) => host,
        _ => authority,
    };
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let plain = match inner {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)),
    };
    (plain && (1..=MAX_SHOWN_HOST).contains(&host.len())).then_some(host)
}

/// The host asked for; the proxy has made sure that there is exactly one.
#[must_use]
pub fn host(head: &Parts) -> &str {
    head.headers
        .get(HOST)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// The target of a request; `None` if it is malformed.
pub fn target(head: &Parts) -> Option<Target<'_>> {
    target_at(host(head), head)
}

/// Its target at another host.
pub fn target_at<'a>(host: &'a str, head: &'a Parts) -> Option<Target<'a>> {
    let target = head.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    Target::parse(host, target).ok()
}

/// The user agent for the access log.
#[must_use]
pub fn user_agent(head: &Parts) -> Option<HeaderValue> {
    head.headers.get(USER_AGENT).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_a_host_without_its_port_and_no_more_than_a_host() {
        for (authority, host) in [
            ("shop.example", Some("shop.example")),
            ("shop.example:8443", Some("shop.example")),
            ("shop.example:", Some("shop.example")),
            ("192.0.2.1:80", Some("192.0.2.1")),
            ("[2001:db8::1]:443", Some("[2001:db8::1]")),
            ("[2001:db8::1]", Some("[2001:db8::1]")),
            ("", None),
            (":80", None),
            ("[]", None),
            ("[<b>]:80", None),
            ("<b>shop</b>", None),
            ("shop.example@evil.example", None),
            ("shop.example:80:90", None),
            ("caf\u{e9}.example", None),
        ] {
            assert_eq!(shown_host(authority), host, "{authority}");
        }
        assert!(shown_host(&"x".repeat(MAX_SHOWN_HOST)).is_some());
        assert_eq!(shown_host(&"x".repeat(MAX_SHOWN_HOST + 1)), None);
    }

    #[test]
    fn the_nearest_proxys_word_on_the_scheme_counts() {
        let https = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(FORWARDED_PROTO, HeaderValue::from_static(line));
            }
            says_https(&headers)
        };
        assert!(https(&["https"]) && https(&["HTTP, HTTPS "]) && https(&["http", "https"]));
        assert!(!https(&["https, http"]) && !https(&["https", "http"]) && !https(&[]) && !https(&["httpss"]));
    }
}
