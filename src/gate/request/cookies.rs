//! The gate's two cookies on the wire: their full names, their attributes, and keeping them from the shop.
//!
//! Over TLS the names carry the `__Host-` prefix, or `__Secure-` where sub-domains share a room (RFC 6265bis, section
//! 4.1.3), so that no neighbour and no plain connection can plant one. The signed date alone decides; `Max-Age` only
//! lets a browser forget.

use std::sync::LazyLock;

use cookie::{Cookie, SameSite};
use http::header::{COOKIE, Entry};
use http::{HeaderMap, HeaderValue};
use memchr::{memchr, memmem};

use crate::token::VIRTUAL;

/// Cookies of one request looked at under one name; more are ignored.
const MAX_VALUES: usize = 4;

/// How a room's cookies are set, for one scheme.
#[derive(Clone, Debug)]
pub struct Policy {
    pub secure: bool,
    pub same_site: SameSite,
    pub domain: Option<String>,
    /// How long a browser keeps a pass: `session_max`.
    pub pass_max_age_secs: i64,
}

/// How long a browser keeps a ticket: a line can be longer than a session, and only the room decides whether the ticket is
/// valid.
pub const TICKET_MAX_AGE_SECS: i64 = 7 * 24 * 3_600;

/// A little longer than the longest wait of one try.
const TRIES_MAX_AGE_SECS: i64 = 90;

impl Policy {
    /// The name on the wire of the cookie with this base name.
    #[must_use]
    pub fn name(&self, base: &str) -> String {
        match (self.secure, &self.domain) {
            (true, None) => format!("__Host-{base}"),
            (true, Some(_)) => format!("__Secure-{base}"),
            (false, _) => base.to_owned(),
        }
    }

    /// A `Set-Cookie` value for a pass; `name` is the cookie's full name, here as below.
    #[must_use]
    pub fn set_pass(&self, name: &str, value: String) -> HeaderValue {
        self.header(name, value, Some(self.pass_max_age_secs))
    }

    /// A `Set-Cookie` value for a ticket.
    #[must_use]
    pub fn set_ticket(&self, name: &str, value: String) -> HeaderValue {
        self.header(name, value, Some(TICKET_MAX_AGE_SECS))
    }

    /// A `Set-Cookie` value for the ticket of a visitor who is admitted at once. A browser keeps it as long as the pass.
    #[must_use]
    pub fn set_ticket_inside(&self, name: &str, value: String) -> HeaderValue {
        self.header(name, value, Some(self.pass_max_age_secs))
    }

    /// A `Set-Cookie` value that the browser may forget when it is closed.
    #[must_use]
    pub fn set_for_now(&self, name: &str, value: &str) -> HeaderValue {
        self.header(name, value.to_owned(), None)
    }

    /// A `Set-Cookie` value for the count of one form's tries, which is forgotten soon after the last.
    #[must_use]
    pub fn set_tries(&self, name: &str, tries: u8) -> HeaderValue {
        self.header(name, tries.to_string(), Some(TRIES_MAX_AGE_SECS))
    }

    /// A `Set-Cookie` value that makes the browser forget the cookie.
    #[must_use]
    pub fn clear(&self, name: &str) -> HeaderValue {
        self.header(name, String::new(), Some(0))
    }

    fn header(&self, name: &str, value: String, max_age_secs: Option<i64>) -> HeaderValue {
        let mut cookie = Cookie::build((name, value))
            .path("/")
            .http_only(true)
            .same_site(self.same_site);
        if let Some(secs) = max_age_secs {
            cookie = cookie.max_age(cookie::time::Duration::seconds(secs));
        }
        if self.secure {
            cookie = cookie.secure(true);
        }
        if let Some(domain) = &self.domain {
            cookie = cookie.domain(domain.clone());
        }
        HeaderValue::try_from(cookie.build().to_string())
            .expect("names, base64url values and checked domains are header text")
    }
}

/// The gate's own cookies of a request. PERF: a browser brings many others, and these are looked through some five times.
pub struct Own<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Own<'a> {
    #[must_use]
    pub fn of(headers: &'a HeaderMap) -> Self {
        let lines = headers.get_all(COOKIE).into_iter();
        Self(lines.flat_map(pairs).filter(|(name, _)| is_ours(name)).collect())
    }

    /// As [`values`](Self::values), with those that were set before a `cookie_domain` was: no other host can set these.
    pub fn tokens(&self, name: &str) -> impl Iterator<Item = &'a str> + Clone {
        let base = name.strip_prefix("__Secure-");
        let before = base.map(|base| self.values(&format!("__Host-{base}")).collect::<Vec<_>>());
        self.values(name).chain(before.unwrap_or_default())
    }

    /// The values of every cookie called `name`, a few at most: a planted one must not hide the genuine one. Bytes beyond
    /// ASCII, as scripts put into cookies of their own, hide nothing.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &'a str> + Clone {
        self.0
            .iter()
            .filter_map(move |(key, value)| (*key == name.as_bytes()).then_some(*value))
            .filter_map(|value| std::str::from_utf8(value).ok())
            .take(MAX_VALUES)
    }
}

/// Names and values of a line of cookies.
pub fn pairs(line: &HeaderValue) -> impl Iterator<Item = (&[u8], &[u8])> {
    split(line.as_bytes()).filter_map(|pair| {
        let at = memchr(b'=', pair)?;
        Some((pair[..at].trim_ascii(), pair[at + 1..].trim_ascii()))
    })
}

/// The pieces between the `;`. PERF: `memchr` finds them.
fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let end = memchr(b';', line);
        rest = end.map(|end| &line[end + 1..]);
        Some(end.map_or(line, |end| &line[..end]))
    })
}

/// Which of the gate's own cookies a request had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stripped {
    /// One of a virtual visitor.
    pub of_rehearsal: bool,
}

/// Takes the gate's own cookies out of a request on its way to the shop; the others keep their bytes and order.
pub fn strip(headers: &mut HeaderMap) -> Stripped {
    // PERF: made once, since it costs more than a search.
    static FINDER: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(OURS));
    let ours = |line: &HeaderValue| FINDER.find(line.as_bytes()).is_some();
    let Entry::Occupied(mut lines) = headers.entry(COOKIE) else {
        return Stripped::default();
    };
    if !lines.iter().any(ours) {
        return Stripped::default();
    }
    let is_virtual = |(name, _): (&[u8], _)| bare(name).starts_with(VIRTUAL.as_bytes());
    let of_rehearsal = lines.iter().flat_map(pairs).any(is_virtual);
    let kept: Vec<HeaderValue> = lines.iter().filter_map(without_ours).collect();
    let mut kept = kept.into_iter();
    match kept.next() {
        Some(first) => {
            lines.insert(first);
            kept.for_each(|line| lines.append(line));
        }
        None => {
            lines.remove();
        }
    }
    Stripped { of_rehearsal }
}

/// The base name of a cookie.
fn bare(name: &[u8]) -> &[u8] {
    let name = name.trim_ascii_start();
    name.strip_prefix(b"__Host-")
        .or(name.strip_prefix(b"__Secure-"))
        .unwrap_or(name)
}

/// How a page without a script is reloaded: a visitor's wish for all rooms.
pub const RELOAD: &str = "ropeline-reload";

/// The visitor has stopped the pages that load again by themselves.
#[must_use]
pub fn stop_reloads(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(COOKIE).into_iter().flat_map(pairs);
    all.any(|(name, value)| bare(name) == RELOAD.as_bytes() && value == b"off")
}

fn is_ours(name: &[u8]) -> bool {
    bare(name).starts_with(OURS.as_bytes())
}

const OURS: &str = "ropeline-";

fn without_ours(line: &HeaderValue) -> Option<HeaderValue> {
    let kept: Vec<&[u8]> = split(line.as_bytes()).filter(|pair| !is_ours(pair)).collect();
    let joined = kept.join(&b';');
    let trimmed = joined.trim_ascii();
    if trimmed.is_empty() {
        None
    } else {
        HeaderValue::from_bytes(trimmed).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Policy = Policy {
        secure: false,
        same_site: SameSite::Lax,
        domain: None,
        pass_max_age_secs: 7200,
    };

    fn headers(lines: &[&'static str]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for line in lines {
            map.append(COOKIE, HeaderValue::from_static(line));
        }
        map
    }

    #[test]
    fn over_tls_the_name_is_bound_to_the_host_or_the_domain() {
        let name = "ropeline-pass-shop";
        assert_eq!(PLAIN.name(name), name);
        let secure = Policy { secure: true, ..PLAIN };
        assert_eq!(
            secure.set_pass(&secure.name(name), "v".into()),
            "__Host-ropeline-pass-shop=v; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=7200"
        );
        let shared = Policy {
            domain: Some("shop.example".into()),
            ..secure
        };
        assert_eq!(shared.name("a"), "__Secure-a");
        assert!(
            shared
                .set_pass("a", "v".into())
                .to_str()
                .unwrap()
                .contains("Domain=shop.example")
        );
    }

    #[test]
    fn a_cleared_cookie_is_empty_and_over() {
        assert_eq!(
            PLAIN.clear("ropeline-ticket-shop"),
            "ropeline-ticket-shop=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0"
        );
        assert_eq!(
            PLAIN.set_for_now("ropeline-reload", "bare"),
            "ropeline-reload=bare; HttpOnly; SameSite=Lax; Path=/"
        );
    }

    #[test]
    fn every_value_of_a_name_is_found_up_to_the_limit() {
        let (a, c) = ("__Host-ropeline-a", "ropeline-c");
        let lines = ["A=1; B=2; A=3", "A=4; A=5; A=6"].map(|line| line.replace('A', a));
        let mut map = HeaderMap::new();
        for line in &lines {
            map.append(COOKIE, HeaderValue::from_str(line).unwrap());
        }
        let own = Own::of(&map);
        assert_eq!(own.values(a).collect::<Vec<_>>(), ["1", "3", "4", "5"]);
        assert_eq!(own.values(c).count() + own.values("B").count(), 0);
        let mut beyond = HeaderMap::new();
        let line = "name=\u{d64d}\u{ae38}\u{b3d9}; ropeline-c=1";
        beyond.append(COOKIE, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        assert_eq!(Own::of(&beyond).values(c).collect::<Vec<_>>(), ["1"]);
    }

    #[test]
    fn reloads_are_stopped_by_a_cookie_of_any_policy() {
        for stopped in [
            "ropeline-reload=off",
            "__Host-ropeline-reload=off",
            "a=1; __Secure-ropeline-reload=off",
        ] {
            assert!(stop_reloads(&headers(&["b=2", stopped])), "{stopped}");
        }
        for other in ["", "ropeline-reload=bare", "reload=off", "ropeline-reload-x=off"] {
            assert!(!stop_reloads(&headers(&[other])), "{other}");
        }
    }

    #[test]
    fn the_shop_never_sees_the_gates_cookies_and_keeps_its_own() {
        let mut map = headers(&[
            "sid=\"x\"; ropeline-ticket-shop=t; __Host-ropeline-pass-shop=p;lang=ko",
            "ropeline-pass-a=1",
        ]);
        assert!(!strip(&mut map).of_rehearsal);
        assert_eq!(map.get_all(COOKIE).iter().collect::<Vec<_>>(), ["sid=\"x\";lang=ko"]);
        for name in ["ropeline-rehearsal-pass-shop", "__Host-ropeline-rehearsal-ticket-shop"] {
            let mut map = HeaderMap::new();
            map.append(COOKIE, HeaderValue::try_from(format!("a=1; {name}=x")).unwrap());
            assert!(strip(&mut map).of_rehearsal, "{name}");
            assert_eq!(map.get(COOKIE).unwrap(), "a=1");
        }
        let mut other = headers(&["a=ropeline-1; b = 2"]);
        strip(&mut other);
        assert_eq!(other.get(COOKIE).unwrap(), "a=ropeline-1; b = 2");
    }
}
