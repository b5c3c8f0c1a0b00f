//! State that all cores share: the rules, the keys, the replica, the limits; and the two steps that every request passes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts as Head;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, Uri};
use ipnet::IpNet;

use crate::acme::Answers;
use crate::config::{Asker, Config};
use crate::crawlers::Crawlers;
use crate::logging::{Access, AccessLog};
use crate::metrics::{Metrics, Outcome, Requests};
use crate::names::form;
use crate::pages::{Feeds, PageKind, Pause, Stall, TemplateError, whole_minutes};
use crate::proxy::{self, Body, X_REQUEST_ID, is_trusted};
use crate::replica::{Condition, MAX_PENDING_JOINS, Past, Replica};
use crate::room::{Mode, RoomName, Wall};
use crate::router::{Brings, InRoom, LineOf, PerSource, Routed, Router};
use crate::time;
use crate::token::{Keyring, RequestSigner, SignedBy, SignerMark};

use super::key_use::{KeyUse, Odd};
use super::let_past::LetPast;
use super::pages::Pages;
use super::rules::Rules;
use super::upstream::UpstreamState;
use crate::gate::bounds::detached::Detached;
use crate::gate::bounds::limits::Limits;
use crate::gate::bounds::returning::Returning;
use crate::gate::meter::Meter;
use crate::gate::request::visit::{self, Visit};
use crate::gate::request::{method, payload, preflight, trace};
use crate::gate::verdict::answers::{Answer, Refusal};

/// The parts of a gate besides its configuration.
pub struct Parts {
    pub keyring: Keyring,
    /// What signs the requests forwarded to each upstream, in the configuration's order.
    pub signers: Vec<Option<RequestSigner>>,
    pub replica: Replica,
    pub metrics: Metrics,
    pub access: Option<AccessLog>,
    pub crawlers: Crawlers,
    /// The port over TLS that requests in the clear are sent to.
    pub redirect: Option<u16>,
    /// To an authority that verifies a host.
    pub challenges: Arc<Answers>,
}

/// Shared by all cores, for as long as one configuration is in force; nothing in it is locked on the way of a request but limits
/// and counters.
pub struct Shared {
    pub router: Router,
    pub rules: Vec<Rules>,
    /// Where in `rules` each room is.
    named: HashMap<String, usize>,
    /// Empty: the gate only answers proxies that ask.
    pub upstreams: Vec<UpstreamState>,
    pub limits: Limits,
    pub detached: Detached,
    pub returning: Returning,
    pub keyring: Keyring,
    /// The names of the ring's signers in `key_use`.
    signers: Vec<SignerMark>,
    pub key_use: Arc<KeyUse>,
    pub replica: Replica,
    pub metrics: Metrics,
    /// For answers that have nothing to do with a room.
    pub pages: Pages,
    pub trusted: Vec<IpNet>,
    /// Proxies that may ask about requests which they carry themselves.
    pub askers: Vec<Asker>,
    /// Fields that name a request's account, and that only a trusted proxy may bring.
    pub said_by_proxies: Vec<HeaderName>,
    pub feeds: Arc<Feeds>,
    pub let_past: Arc<LetPast>,
    pub crawlers: Crawlers,
    pub redirect: Option<u16>,
    pub challenges: Arc<Answers>,
    /// For a gate with rooms that have load control.
    pub meter: Option<Arc<Meter>>,
    outside: Requests,
    access: Option<AccessLog>,
}

fn upstreams(
    config: &Config,
    signers: Vec<Option<RequestSigner>>,
    metrics: &Metrics,
    before: Option<&Shared>,
) -> Vec<UpstreamState> {
    let old = |name: &Option<String>| before?.upstreams.iter().find(|old| old.name == *name);
    let each = config.upstreams.iter().zip(signers);
    each.map(|(upstream, signer)| UpstreamState::new(upstream, signer, metrics, old(&upstream.name)))
        .collect()
}

fn said_by_proxies(config: &Config) -> Vec<HeaderName> {
    let identities = config.rooms.iter().filter_map(|room| room.identity.as_ref());
    identities
        .filter_map(|identities| identities.header().cloned())
        .collect()
}

/// The data for the access log about a request whose head is passed on.
pub struct Record {
    method: Method,
    uri: Uri,
    user_agent: Option<HeaderValue>,
    traceparent: Option<HeaderValue>,
}

impl Shared {
    /// State that continues under another configuration is taken from the one in force `before`.
    ///
    /// # Errors
    /// When a room's page template cannot be used; `check` has reported it before.
    pub fn new(config: &Config, parts: Parts, before: Option<&Self>) -> Result<Self, TemplateError> {
        let old = |room: &RoomName| before?.rules.iter().find(|old| old.room.name == *room);
        let follows = config.rooms.iter().any(|room| room.settings.load_control.is_some());
        let rules = config.rooms.iter().map(|room| {
            let mut rules = Rules::new(room.clone(), &parts.metrics)?;
            if let Some(old) = old(&room.name) {
                rules.go_on(old);
            }
            Ok(rules)
        });
        Ok(Self {
            router: config.router(),
            rules: rules.collect::<Result<_, _>>()?,
            named: config
                .rooms
                .iter()
                .map(|room| room.name.as_str().to_owned())
                .zip(0..)
                .collect(),
            limits: Limits::new(
                &config.limits,
                &config.own_limits,
                &parts.metrics,
                before.map(|before| &before.limits),
            ),
            signers: parts.keyring.marks(),
            key_use: match before {
                Some(before) => Arc::clone(&before.key_use),
                None => Arc::new(KeyUse::new(&parts.keyring, time::wall())),
            },
            upstreams: upstreams(config, parts.signers, &parts.metrics, before),
            detached: Detached::new(&parts.metrics, before.map(|before| &before.detached)),
            returning: Returning::new(&parts.metrics, before.map(|before| &before.returning)),
            keyring: parts.keyring,
            replica: parts.replica,
            pages: Pages::built_in()?,
            trusted: config.server.trusted_proxies.clone(),
            askers: config.forward_auth.clone(),
            said_by_proxies: said_by_proxies(config),
            feeds: before.map(|before| Arc::clone(&before.feeds)).unwrap_or_default(),
            let_past: before.map(|before| Arc::clone(&before.let_past)).unwrap_or_default(),
            outside: parts.metrics.requests(None),
            metrics: parts.metrics,
            access: parts.access,
            crawlers: parts.crawlers,
            meter: follows.then(|| {
                let before = before.and_then(|before| before.meter.clone());
                before.unwrap_or_else(|| Arc::new(Meter::new()))
            }),
            redirect: parts.redirect,
            challenges: parts.challenges,
        })
    }

    /// The keys of this configuration are in force from now on; returns the oddities of that.
    pub fn take_keys(&self, now: Wall) -> Vec<Odd> {
        let sessions = self.rules.iter().map(|rules| rules.room.settings.session_max_ms);
        let session_max_ms = sessions.max().unwrap_or_default();
        self.key_use.change(&self.keyring, now, session_max_ms)
    }

    /// A genuine token by this signer was presented.
    pub fn was_shown(&self, by: SignedBy, now: Wall) {
        // PERF: the first signer is not searched for.
        if let Some(mark) = self.signers.get(by.index()).filter(|_| !by.is_first()) {
            self.key_use.shown(mark, now);
        }
    }

    /// Where requests are written down, if they are.
    pub fn access(&self) -> Option<&AccessLog> {
        self.access.as_ref()
    }

    /// Where requests are written down from now on.
    pub fn log_to(&mut self, access: Option<AccessLog>) {
        self.access = access;
    }

    /// The room of a request; `None` when its target is malformed, when target or method can be read in two ways where it
    /// matters, or when it asks for something that no script may send.
    #[must_use]
    pub fn route(&self, head: &Head, visit: &Visit) -> Option<Routed> {
        if preflight::speaks_for_proxies(head) {
            return None;
        }
        let target = visit::target(head)?;
        let (mut routed, mut brings) = (
            self.router.route(&head.method, &target, Brings::Nothing).ok()?,
            Brings::Nothing,
        );
        // PERF: a request's content is examined only where it matters.
        if routed.outside.is_some() {
            brings = payload::of(head, visit.has_body);
            if brings != Brings::Nothing {
                routed = self.router.route(&head.method, &target, brings).ok()?;
            }
        }
        // SECURITY: a shop may take the request for one with the method that such a field names.
        if self.router.tells_methods_apart() {
            let in_query = method::in_query(head.uri.query().unwrap_or_default());
            for claimed in method::claimed(&head.headers).chain(in_query) {
                let other = self.router.route(&claimed.ok()?, &target, Brings::More).ok()?;
                if other != routed {
                    return None;
                }
            }
        }
        if visit.peer_trusted && self.is_elsewhere_by_said_host(head, brings, &routed) {
            return None;
        }
        let by_query =
            |at: usize| matches!(&self.rules[at].room.per, Some(per) if matches!(per.source, PerSource::Query(_)));
        let is_plain = || form::is_query_plain(&head.headers);
        let fits = routed
            .room
            .as_ref()
            .is_none_or(|room| !by_query(room.index) || is_plain());
        fits.then_some(routed)
    }

    /// A trusted proxy reports that its client asked for another host, for which the request would be treated differently, or
    /// for an invalid host. SECURITY: many proxies pass on the client's own text in such a field, and many shops use it, each
    /// in its own reading.
    fn is_elsewhere_by_said_host(&self, head: &Head, brings: Brings, routed: &Routed) -> bool {
        let is_here = |host: &str| {
            let other = visit::target_at(host, head).map(|target| self.router.route(&head.method, &target, brings));
            other.is_some_and(|other| other.as_ref() == Ok(routed))
        };
        proxy::hosts_said(&head.headers).any(|said| !said.is_some_and(|host| is_here(&host)))
    }

    /// The room that would have a request if it left nothing outside.
    #[must_use]
    pub fn room_behind(&self, head: &Head) -> Option<InRoom> {
        let target = visit::target(head)?;
        self.router.route(&head.method, &target, Brings::Everything).ok()?.room
    }

    /// The room lets the client pass: it is off, or the client never waits in it.
    #[must_use]
    pub fn lets_all_in(&self, room: usize, client: IpAddr) -> bool {
        self.is_off(&self.rules[room].room.name) || self.never_waits(room, client)
    }

    /// The client is of a network that never waits in the room.
    #[must_use]
    pub fn never_waits(&self, room: usize, client: IpAddr) -> bool {
        is_trusted(client, &self.rules[room].room.bypass_networks)
    }

    /// Counts a page that is let past a line because of its client's network, for the log.
    pub fn note_network(&self, place: &InRoom, visit: &Visit) {
        let room = &self.rules[place.index].room.name;
        if let LineOf::Line(line) = &place.line
            && visit.kind.is_navigation()
            && !self.is_off(room)
        {
            self.let_past.count(room, line, Past::Network);
        }
    }

    /// The room has no line at present.
    #[must_use]
    pub fn is_off(&self, room: &RoomName) -> bool {
        let view = self.replica.load();
        view.rooms.get(room).is_some_and(|view| view.settings.mode == Mode::Off)
    }

    /// The reason that stops all lines of this gate, which no view knows.
    #[must_use]
    pub fn outage(&self) -> Option<Pause> {
        if self.replica.condition() == Condition::Opening && self.replica.failure().is_none() {
            return Some((Stall::Opening, None));
        }
        // The time left is the log's own, and stands still while the store does not answer.
        if let Condition::Healing { left, .. } = self.replica.condition()
            && self.replica.failure().is_none()
        {
            let left = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
            return Some((Stall::Healing, Some(whole_minutes(left))));
        }
        self.replica.cut_off().map(|_| (Stall::CutOff, None))
    }

    /// More wait for a number than this gate notes: who comes now is not noted, and keeps asking.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.replica.stats().pending_joins >= MAX_PENDING_JOINS
    }

    /// A rehearsal is under way, in whichever room.
    pub fn is_rehearsing(&self) -> bool {
        self.replica.load().rooms.values().any(|room| room.rehearsal.is_some())
    }

    /// Whether the room sells by stock.
    #[must_use]
    pub fn sells(&self, room: &RoomName) -> bool {
        let view = self.replica.load();
        view.rooms.get(room).is_some_and(|room| room.settings.stock.is_some())
    }

    /// The upstream of this place, which a [`Routed`] names.
    #[must_use]
    pub fn upstream(&self, at: Option<usize>) -> Option<&UpstreamState> {
        self.upstreams.get(at?)
    }

    /// Where in the rules the room of this name is.
    #[must_use]
    pub fn room_named(&self, name: &str) -> Option<usize> {
        self.named.get(name).copied()
    }

    /// The same, if it is a room of that upstream: a host shows nothing of another shop's rooms.
    #[must_use]
    pub fn room_at(&self, name: &str, upstream: Option<usize>) -> Option<usize> {
        let is_there = |at: &usize| upstream == Some(self.rules[*at].room.upstream);
        self.room_named(name).filter(is_there)
    }

    /// Something that should never be missing is.
    #[must_use]
    pub fn unavailable(&self, pages: &Pages, visit: &Visit) -> Answer {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let refusal = Refusal::new(status, "unavailable", PageKind::Unavailable, Outcome::Failed);
        Refusal {
            retry_after_secs: Some(5),
            ..refusal
        }
        .answer(pages, visit)
    }

    /// Keeps the data for the access log; none without one.
    #[must_use]
    pub fn record(&self, head: &Head) -> Option<Record> {
        self.access.as_ref().map(|_| Record {
            method: head.method.clone(),
            uri: head.uri.clone(),
            user_agent: visit::user_agent(head),
            traceparent: trace::parent(&head.headers),
        })
    }

    /// The closing step of every request.
    pub fn finish(
        &self,
        visit: &Visit,
        record: Option<Record>,
        room: Option<usize>,
        mut answer: Answer,
    ) -> Response<Body> {
        let headers = answer.response.headers_mut();
        headers.insert(X_REQUEST_ID, visit.id.value().clone());
        let requests = room.map_or(&self.outside, |at| &self.rules[at].requests);
        requests.count(answer.outcome);
        if answer.upstream.is_none() {
            self.metrics.gate.observe(visit.own_time());
        }
        if let (Some(log), Some(record)) = (&self.access, record) {
            log.record(&Access {
                id: visit.id.as_str(),
                trace: record.traceparent.as_ref().and_then(trace::id),
                client: visit.client,
                method: &record.method,
                path: record.uri.path(),
                status: answer.response.status(),
                duration: visit.elapsed(),
                upstream: answer.upstream,
                upstream_name: self
                    .upstream(visit.upstream)
                    .and_then(|upstream| upstream.name.as_deref()),
                room: room.map(|at| &self.rules[at].room.name),
                outcome: answer.outcome,
                user_agent: record.user_agent.as_ref().and_then(|agent| agent.to_str().ok()),
            });
        }
        answer.response
    }
}
