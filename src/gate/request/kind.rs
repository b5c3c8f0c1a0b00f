//! The kind of a request, from its method and headers alone.
//!
//! Navigations are recognised by Fetch Metadata (`Sec-Fetch-Mode`, `Sec-Fetch-Dest`; W3C Fetch Metadata Request Headers), and by
//! `Accept` where a client sends none (old web views, command-line tools). A mistake here costs a visitor a page or an app
//! a JSON body; it never admits a visitor.

use http::header::{HeaderName, ORIGIN, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method};

use super::preflight;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
pub const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// The row of the outside contract that a request is tried against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A CORS preflight.
    Preflight,
    /// A page a person asked for, by GET.
    Navigation,
    /// A form a person sent.
    Post,
    /// A form sent from another site: its cookies may have been held back (SameSite=Lax).
    CrossSitePost,
    /// A page inside another site's page: Lax cookies are neither sent from there nor kept.
    CrossSiteFrame,
    /// Fetched ahead of need, by HEAD, as a part of a page, or by a client that names itself a crawler: never gets a ticket.
    Passive,
    /// Read by a verified crawler: never a ticket.
    Crawler,
    /// An app, a script, a webhook, a socket: wants JSON, never a ticket.
    Api,
    /// Sent by a page's script or an app to name its visitor's account: a form by other means, which wants JSON.
    SignIn,
}

impl Kind {
    /// Tells the kind of a request. One with the name of a crawler is taken for the crawler's.
    #[must_use]
    pub fn of(head: &Parts, has_body: bool) -> Self {
        if preflight::is_one(head, has_body) {
            return Self::Preflight;
        }
        let (method, headers) = (&head.method, &head.headers);
        let kind = Self::of_no_crawler(method, headers);
        let crawls = method == Method::GET && kind.is_navigation() && is_crawler(headers);
        if crawls { Self::Passive } else { kind }
    }

    /// As [`Kind::of`], for a request that is neither a preflight nor a crawler's, even if it claims to be.
    #[must_use]
    pub fn of_no_crawler(method: &Method, headers: &HeaderMap) -> Self {
        let told = Told::by(headers);
        if method == Method::HEAD || told.ahead_of_need {
            return Self::Passive;
        }
        if told.upgrade {
            return Self::Api;
        }
        match (told.want(), method) {
            (Want::Document, _) if told.is_frame() && is_cross_site(headers) => Self::CrossSiteFrame,
            (Want::Document, &Method::GET) => Self::Navigation,
            (Want::Document, &Method::POST) if is_cross_site(headers) => Self::CrossSitePost,
            (Want::Document, &Method::POST) => Self::Post,
            (Want::Part, &Method::GET) => Self::Passive,
            _ => Self::Api,
        }
    }

    /// The same request as one that names its visitor's account.
    #[must_use]
    pub fn signing_in(self) -> Self {
        if self == Self::Api { Self::SignIn } else { self }
    }

    /// The sender keeps cookies: the answer may set a ticket, or the pass of a turn.
    #[must_use]
    pub fn takes_tokens(self) -> bool {
        self.is_navigation() || self == Self::SignIn
    }

    /// A person is looking at the answer.
    #[must_use]
    pub fn is_navigation(self) -> bool {
        matches!(
            self,
            Self::Navigation | Self::Post | Self::CrossSitePost | Self::CrossSiteFrame
        )
    }
}

enum Want {
    Document,
    Part,
    Data,
}

/// The fields that determine the kind; of a field with several lines the first counts. PERF: one pass over all fields costs a
/// fraction of looking for each.
#[derive(Default)]
struct Told<'h> {
    mode: Option<&'h HeaderValue>,
    dest: Option<&'h HeaderValue>,
    accept: Option<&'h HeaderValue>,
    requested_with: Option<&'h HeaderValue>,
    upgrade: bool,
    /// Browsers fetch ahead of need with one of four fields.
    ahead_of_need: bool,
}

impl<'h> Told<'h> {
    fn by(headers: &'h HeaderMap) -> Self {
        let mut told = Self::default();
        for (name, value) in headers {
            let first = match name.as_str() {
                "sec-fetch-mode" => &mut told.mode,
                "sec-fetch-dest" => &mut told.dest,
                "accept" => &mut told.accept,
                "x-requested-with" => &mut told.requested_with,
                "upgrade" => {
                    told.upgrade = true;
                    continue;
                }
                "sec-purpose" | "purpose" | "x-purpose" | "x-moz" => {
                    told.ahead_of_need |= is_ahead_of_need(value);
                    continue;
                }
                _ => continue,
            };
            first.get_or_insert(value);
        }
        told
    }

    fn want(&self) -> Want {
        let dest = text(self.dest);
        match text(self.mode) {
            Some("navigate" | "nested-navigate") if dest != Some("object") && dest != Some("embed") => {
                return Want::Document;
            }
            Some("navigate" | "nested-navigate") => return Want::Part,
            // A service worker that makes a page's request anew (Fetch, section 5.4: the mode `navigate` becomes `same-origin`).
            Some("same-origin") if dest == Some("empty") && accepts_pages(self.accept) => return Want::Document,
            Some(_) if matches!(dest, None | Some("empty" | "worker" | "sharedworker" | "serviceworker")) => {
                return Want::Data;
            }
            Some(_) => return Want::Part,
            None => {}
        }
        // In-app browsers put the app's name here and are navigations all the same; scripts say XMLHttpRequest.
        if text(self.requested_with) == Some("XMLHttpRequest") {
            return Want::Data;
        }
        if accepts_pages(self.accept) {
            return Want::Document;
        }
        let accept = text(self.accept).unwrap_or_default();
        let part = ["image/", "text/css", "font/", "audio/", "video/"]
            .iter()
            .any(|kind| accept.starts_with(kind));
        if part { Want::Part } else { Want::Data }
    }

    fn is_frame(&self) -> bool {
        matches!(text(self.dest), Some("iframe" | "frame" | "fencedframe"))
    }
}

fn accepts_pages(accept: Option<&HeaderValue>) -> bool {
    let accept = text(accept).unwrap_or_default();
    accept.contains("text/html") || accept.contains("application/xhtml+xml")
}

fn is_ahead_of_need(purpose: &HeaderValue) -> bool {
    let purpose = text(Some(purpose)).unwrap_or_default();
    ["prefetch", "prerender", "preview"]
        .iter()
        .any(|word| purpose.contains(word))
}

/// Sent from another site. Without Fetch Metadata, an Origin belongs to another site if its host is neither the request's own
/// nor, with a trusted proxy ([`FORWARDED_HOST`] of others is removed), the first host that it reports; ports do not count.
pub fn is_cross_site(headers: &HeaderMap) -> bool {
    if let Some(site) = text(headers.get(SEC_FETCH_SITE)) {
        return site == "cross-site";
    }
    let Some(origin) = text(headers.get(ORIGIN)) else {
        return false;
    };
    let names = [headers.get(http::header::HOST), headers.get(FORWARDED_HOST)];
    origin
        .split_once("://")
        .is_none_or(|(_, theirs)| !is_own_host(theirs, names))
}

/// Whether this is the host of `Host`, or the first of [`FORWARDED_HOST`].
pub fn is_own_host(host: &str, [own, said]: [Option<&HeaderValue>; 2]) -> bool {
    let own = text(own);
    let said = text(said).and_then(|list| list.split(',').next());
    let mut named = [own, said].into_iter().flatten();
    named.any(|name| is_same_host(host, name.trim()))
}

/// Whether both name one host, with a port or without.
fn is_same_host(one: &str, other: &str) -> bool {
    let name = |host: &str| {
        let port = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
        let name = port.map_or(host, |(name, _)| name);
        name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
    };
    let one = name(one);
    !one.is_empty() && one == name(other)
}

/// A navigation that a link of another site led to. Without Fetch Metadata none is recognised: browsers send no Origin with a GET.
pub fn is_link_from_elsewhere(headers: &HeaderMap) -> bool {
    text(headers.get(SEC_FETCH_SITE)) == Some("cross-site")
}

/// The visitor came from a page of this origin, or by typing the address. Without Fetch Metadata, no Origin of another site
/// contradicts that. A request that a service worker has made anew does not show where it came from.
pub fn is_by_own_hand(headers: &HeaderMap) -> bool {
    match text(headers.get(SEC_FETCH_SITE)) {
        Some("same-origin") if text(headers.get(SEC_FETCH_MODE)) == Some("same-origin") => false,
        Some(site) => matches!(site, "same-origin" | "none"),
        None => !is_cross_site(headers),
    }
}

/// Crawlers and fetchers of link previews, by the names that their operators document. They get a 503 with `Retry-After` instead of
/// a place that would stay unused.
fn is_crawler(headers: &HeaderMap) -> bool {
    const NAMES: [&str; 29] = [
        "googlebot",
        "googleother",
        "google-",
        "-google",
        "bingbot",
        "bingpreview",
        "yandex",
        "baiduspider",
        "duckduckbot",
        "yeti/",
        "applebot",
        "slurp",
        "ccbot",
        "crawler",
        "spider",
        // Link previews.
        "twitterbot",
        "telegrambot",
        "linkedinbot",
        "slackbot",
        "discordbot",
        "facebookexternalhit",
        "facebookcatalog",
        "meta-external",
        "skypeuripreview",
        "snap url preview",
        // What assistants read for their users.
        "claude-user",
        "chatgpt-user",
        "perplexity-user",
        // A page about the program, which browsers never name.
        "+http",
    ];
    let agent = text(headers.get(USER_AGENT)).unwrap_or_default().to_ascii_lowercase();
    // Browsers within WhatsApp name themselves first, and WhatsApp later or never.
    agent.starts_with("whatsapp/") || is_bot(&agent) || NAMES.iter().any(|name| agent.contains(name))
}

/// A program with `bot` at the end of its name, and its version. Cubot makes phones.
fn is_bot(agent: &str) -> bool {
    agent.match_indices("bot/").any(|(at, _)| !agent[..at].ends_with("cu"))
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value?.to_str().ok()
}

#[cfg(test)]
mod tests;
