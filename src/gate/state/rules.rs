//! The gate's rules for each room, made from the configuration once and shared by all cores.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::config::{self, Lane, OnOutage};
use crate::limit::Held;
use crate::metrics::{Metrics, Requests, Returns};
use crate::pages::{Language, Message, TemplateError};
use crate::proxy::is_trusted;
use crate::room::{LineName, Mode, RehearsalId, RoomName, RoomView};
use crate::token::{code_cookie, pass_cookie, ticket_cookie, virtual_cookies};

use super::join_pace::JoinPace;
use super::pages::Pages;
use crate::gate::meter::{self, RoomMeter};
use crate::gate::request::cookies::{Policy, RELOAD};

/// The parts of one room's configuration that the request path needs; settings that an operator can change are in the room's
/// view.
pub struct Rules {
    pub room: config::Room,
    pub pages: Pages,
    pub requests: Requests,
    /// How often newcomers join here.
    pub joins: Arc<JoinPace>,
    /// Requests of crawlers that are past the line now.
    pub crawlers: Arc<Held<()>>,
    /// For a room with load control.
    pub meter: Option<Arc<RoomMeter>>,
    /// For a room with active slots.
    pub returns: Option<Returns>,
    /// The policies and names of cookies in the clear and over TLS, for the one line that most rooms have.
    cookies: [(Policy, Names); 2],
}

/// The shop's report about a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Ending {
    End,
    /// The session is over, and its visitor has completed the purchase.
    Complete,
}

/// The full names of the cookies of one line.
#[derive(Clone, Debug)]
pub struct Names {
    pub ticket: String,
    pub pass: String,
    pub code: String,
    /// The name of the cookie with the wait that a visitor without a script was shown.
    pub told: String,
    /// The name of the cookie that counts how often a form was sent again.
    pub tries: String,
    /// How the page without a script is reloaded, `off` or `bare`; worth nothing to a forger, so it is not signed.
    pub reload: String,
}

impl Rules {
    /// # Errors
    /// When the room's page template cannot be used.
    pub fn new(room: config::Room, metrics: &Metrics) -> Result<Self, TemplateError> {
        Ok(Self {
            pages: Pages::of_room(&room.page)?,
            requests: metrics.requests(Some(&room.name)),
            joins: Arc::default(),
            crawlers: Held::new(room.crawler_max),
            meter: meter::of_room(&room, None),
            returns: room.active.as_ref().map(|_| metrics.returns(&room.name)),
            cookies: [false, true].map(|secure| cookies_of(&room, secure)),
            room,
        })
    }

    /// Takes over the state that continues under these rules from the former ones.
    pub fn go_on(&mut self, before: &Self) {
        self.joins = Arc::clone(&before.joins);
        self.meter = meter::of_room(&self.room, before.meter.as_ref());
        if self.room.crawler_max == before.room.crawler_max {
            self.crawlers = Arc::clone(&before.crawlers);
        }
    }

    /// The policy and the names of the cookies of a line, on an encrypted connection or not: a virtual visitor has separate
    /// ones.
    #[must_use]
    pub fn cookies(&self, secure: bool, rehearsal: Option<RehearsalId>, line: &LineName) -> (&Policy, Cow<'_, Names>) {
        let (policy, only) = &self.cookies[usize::from(secure)];
        // PERF: nearly always it is that line, and nothing is put together.
        let names = match rehearsal {
            None if line.is_only() => Cow::Borrowed(only),
            None => Cow::Owned(Names::of(policy, &self.room.name, line)),
            Some(_) => Cow::Owned(Names::of_virtual(policy, &self.room.name, line)),
        };
        (policy, names)
    }

    /// The lane of a visitor from that address, where the room has several, unless their token claims one.
    #[must_use]
    pub fn lane(&self, client: IpAddr, claimed: Option<usize>) -> Option<&Lane> {
        if self.room.lanes.len() < 2 {
            return None;
        }
        let from = |lane: &&Lane| is_trusted(client, &lane.networks);
        let claimed = claimed.and_then(|at| self.room.lanes.get(at));
        claimed.or_else(|| self.room.lanes.iter().find(from).or(self.room.lanes.first()))
    }

    /// Codes lead to a lane of the room, or past its line.
    #[must_use]
    pub fn takes_codes(&self) -> bool {
        self.room.lanes.iter().any(|lane| lane.code) || self.room.settings.takes_bypass()
    }

    /// Codes lead to the lane of that name.
    #[must_use]
    pub fn has_code_lane(&self, name: &str) -> bool {
        self.room.lanes.iter().any(|lane| lane.code && lane.name == name)
    }

    /// While cut off, all visitors pass the line. A room that an operator holds or has closed stays so.
    #[must_use]
    pub fn opens_in_outage(&self, mode: Mode) -> bool {
        self.room.on_outage == OnOutage::Open && mode == Mode::Auto
    }

    /// The operator's message: the one set live in a language of the visitor's, the one set live for all, or the configured
    /// one. Where there is none of these, the English one that was set live, or the first.
    #[must_use]
    pub fn message<'a>(&'a self, view: &'a RoomView, accept_language: &str) -> Option<Message<'a>> {
        let set = &view.overrides;
        let configured = || {
            let (lang, text) = self.room.message.as_ref()?.for_browser(accept_language);
            Some(Message { text, lang })
        };
        let for_all = || set.message.as_deref().map(Message::from).or_else(configured);
        // PERF: most rooms have no message by language, and need not read the visitor's languages.
        if set.messages.is_empty() {
            return for_all();
        }
        let tags = set.messages.keys().map(String::as_str);
        let of = |tag: Option<&'a str>| {
            let text = set.messages.get(tag?)?;
            Some(Message { text, lang: tag })
        };
        of(Language::best_of(accept_language, &tags))
            .or_else(for_all)
            .or_else(|| of(Language::any_of(&tags)))
    }

    /// For how long the slot is kept after a request that matched these of the room's `hold_slot` rules.
    #[must_use]
    pub fn hold_ms(&self, matched: u16) -> Option<u64> {
        let active = self.room.active.as_ref().filter(|_| matched != 0)?;
        let rules = active.hold_slot.iter().enumerate();
        let met = rules.filter(|(at, _)| matched >> at & 1 == 1);
        met.map(|(_, rule)| rule.for_ms).max()
    }

    /// How long a request waits for a slot.
    #[must_use]
    pub fn return_wait(&self) -> Duration {
        let active = self.room.active.as_ref();
        active.map_or(RETURN_WAIT, |active| Duration::from_millis(active.return_wait_ms))
    }

    /// The report of the shop's answer with this status about the session of the request, if it matched these of the room's
    /// rules.
    #[must_use]
    pub fn ends(&self, matched: u32, status: StatusCode) -> Option<Ending> {
        let rules = self.room.ends_on.iter().enumerate();
        let met = rules.filter(|(at, rule)| matched >> at & 1 == 1 && rule.status == status);
        met.map(|(_, rule)| if rule.completes { Ending::Complete } else { Ending::End })
            .max()
    }
}

/// In a room whose active slots were switched off.
const RETURN_WAIT: Duration = Duration::from_secs(10);

/// The policy of a room's cookies, and the names of those of its only line.
fn cookies_of(room: &config::Room, secure: bool) -> (Policy, Names) {
    let policy = Policy {
        secure,
        same_site: room.same_site,
        domain: room.cookie_domain.clone(),
        pass_max_age_secs: i64::try_from(room.settings.session_max_ms / 1_000).unwrap_or(i64::MAX),
    };
    let names = Names::of(&policy, &room.name, &LineName::ONLY);
    (policy, names)
}

impl Names {
    fn of(policy: &Policy, room: &RoomName, line: &LineName) -> Self {
        Self::with(
            policy,
            (&ticket_cookie(room, line), &pass_cookie(room, line)),
            room,
            line,
        )
    }

    fn of_virtual(policy: &Policy, room: &RoomName, line: &LineName) -> Self {
        let (ticket, pass) = virtual_cookies(room, line);
        Self::with(policy, (&ticket, &pass), room, line)
    }

    fn with(policy: &Policy, (ticket, pass): (&str, &str), room: &RoomName, line: &LineName) -> Self {
        Self {
            ticket: policy.name(ticket),
            pass: policy.name(pass),
            code: policy.name(&code_cookie(room, line)),
            // Beside the ticket, of the same line.
            told: policy.name(&ticket.replacen("ticket", "told", 1)),
            tries: policy.name(&ticket.replacen("ticket", "tries", 1)),
            reload: policy.name(RELOAD),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::gate::request::cookies::TICKET_MAX_AGE_SECS;

    const PRIVACY: &str = include_str!("../../../docs/privacy.md");
    const SCRIPT: &str = include_str!("../../../static/page.js");

    /// The first cells of the page's tables, from one heading to the next.
    fn first_cells(heading: &str) -> BTreeSet<String> {
        let (_, part) = PRIVACY.split_once(heading).unwrap();
        let part = part.split("\n#").next().unwrap();
        let cells = part
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        cells.map(str::to_owned).collect()
    }

    #[test]
    fn the_page_on_privacy_has_every_cookie_and_no_other() {
        let room = RoomName::new("main").unwrap();
        let policy = |secure, domain: Option<&str>| Policy {
            secure,
            same_site: cookie::SameSite::Lax,
            domain: domain.map(str::to_owned),
            pass_max_age_secs: 0,
        };
        let all = |names: Names| {
            let Names {
                ticket,
                pass,
                code,
                told,
                tries,
                reload,
            } = names;
            [ticket, pass, code, told, tries, reload]
        };
        let names = all(Names::of(&policy(false, None), &room, &LineName::ONLY));
        let names: BTreeSet<String> = names.iter().map(|name| name.replace("main", "{room}")).collect();
        assert_eq!(first_cells("### Cookies"), names);
        for (domain, prefix) in [(None, "__Host-"), (Some("shop.example"), "__Secure-")] {
            let secure = all(Names::of(&policy(true, domain), &room, &LineName::ONLY));
            assert!(secure.iter().all(|name| name.starts_with(prefix)) && PRIVACY.contains(prefix));
        }
        let virtual_visitors = all(Names::of_virtual(&policy(false, None), &room, &LineName::ONLY));
        let (ticket, pass) = (&virtual_visitors[0], &virtual_visitors[1]);
        assert!(ticket.starts_with(crate::token::VIRTUAL) && pass.starts_with(crate::token::VIRTUAL));
        assert!(PRIVACY.contains(crate::token::VIRTUAL));
        assert_eq!(TICKET_MAX_AGE_SECS, 7 * 86_400);
        assert!(PRIVACY.contains("| 7 days. For a visitor"));
    }

    #[test]
    fn the_page_on_privacy_has_all_that_the_script_stores() {
        for storage in ["localStorage", "indexedDB", "document.cookie", "caches.", "doc.cookie"] {
            assert!(!SCRIPT.contains(storage), "{storage} is not on the page");
        }
        // One function saves, under keys that begin with these texts.
        assert_eq!(SCRIPT.matches("sessionStorage[key] =").count(), 1);
        let keys: BTreeSet<&str> = SCRIPT
            .match_indices("'ropeline:")
            .map(|(at, _)| &SCRIPT[at + 1..])
            .collect();
        let keys: BTreeSet<&str> = keys.into_iter().filter_map(|key| key.split('\'').next()).collect();
        assert_eq!(keys, BTreeSet::from(["ropeline:", "ropeline:go", "ropeline:sound"]));
        let (_, stored) = PRIVACY.split_once("### Other storage").unwrap();
        for key in ["ropeline:/.ropeline/rooms/{room}", "ropeline:go", "ropeline:sound"] {
            assert!(stored.contains(&format!("| `{key}`")), "{key}");
        }
    }
}
