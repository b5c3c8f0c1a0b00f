//! One server: where it is, how busy, how well.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use arc_swap::ArcSwapOption;
use http::uri::Scheme;

use super::bound::{Bound, Permit};
use super::health::{Change, Health, now_ms};
use super::key::Key;
use super::protocol::Protocol;
use crate::error::Kind;
use crate::settings::{FailureRules, Place, UpstreamServer, UpstreamSettings};
use crate::upstream::pool::Stash;

/// A server that requests go to.
pub(crate) struct Target {
    server: UpstreamServer,
    address: Address,
    name: String,
    upstream: Option<Arc<str>>,
    weight: AtomicU32,
    in_flight: AtomicU32,
    health: Health,
    /// Of connections alone.
    reach: Health,
    rules: FailureRules,
    reason: ArcSwapOption<Reason>,
    bound: Option<Bound>,
    key: Arc<Key>,
    /// The last protocol spoken: 0 for none yet, or HTTP's major version.
    spoken: AtomicU8,
}

/// How a server stands, for people.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The name of its upstream, where there are several.
    pub upstream: Option<Arc<str>>,
    /// Its address, with the name it was found by if there is one.
    pub server: String,
    /// Its share of the requests.
    pub weight: u32,
    /// False while it is passed over.
    pub healthy: bool,
    /// The protocol spoken to it, `"HTTP/1.1"` or `"HTTP/2"`; none before its first connection.
    pub protocol: Option<&'static str>,
    /// Requests and tunnels it is busy with.
    pub in_flight: u32,
    /// Requests that wait for a connection.
    pub waiting: u32,
    /// Requests and checks that failed.
    pub failures: u64,
    /// The last failure; none once it is back.
    pub reason: Option<Arc<str>>,
}

/// `Arc<str>` is two words, which no atomic holds.
struct Reason(Arc<str>);

/// Where connections go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Target {
    /// Takes the place of `before`, if there was one, and keeps its count of requests.
    pub(super) fn new(
        server: &UpstreamServer,
        address: Address,
        settings: &UpstreamSettings,
        before: Option<&Self>,
    ) -> Self {
        let bound = before.and_then(Self::bound);
        Self {
            name: name(&server.place, &address),
            upstream: settings.name.clone(),
            weight: AtomicU32::new(server.weight),
            server: server.clone(),
            address,
            in_flight: AtomicU32::new(0),
            health: Health::default(),
            reach: Health::default(),
            rules: settings.failures,
            reason: ArcSwapOption::empty(),
            bound: settings.bound.map(|rules| Bound::new(rules, bound)),
            key: Arc::default(),
            spoken: AtomicU8::new(0),
        }
    }

    pub(super) fn server(&self) -> &UpstreamServer {
        &self.server
    }

    pub(crate) fn is_secured(&self) -> bool {
        self.server.tls
    }

    /// The scheme of requests over HTTP/2.
    pub(crate) fn scheme(&self) -> Scheme {
        if self.is_secured() { Scheme::HTTPS } else { Scheme::HTTP }
    }

    pub(super) fn place(&self) -> &Place {
        &self.server.place
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Whether it is this server at this address; its weight does not matter.
    pub(super) fn is_at(&self, server: &UpstreamServer, address: &Address) -> bool {
        (self.place(), self.server.tls, &self.address) == (&server.place, server.tls, address)
    }

    fn upstream(&self) -> Option<&str> {
        self.upstream.as_deref()
    }

    pub(super) fn is_checked_out(&self) -> bool {
        self.health.is_checked_out()
    }

    pub(super) fn is_by_name(&self) -> bool {
        let (Place::Host(host, _), Address::Tcp(address)) = (&self.server.place, &self.address) else {
            return false;
        };
        *host != address.ip().to_string()
    }

    pub(super) fn weight(&self) -> u32 {
        self.weight.load(Ordering::Relaxed)
    }

    pub(super) fn weigh(&self, weight: u32) {
        self.weight.store(weight, Ordering::Relaxed);
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(super) fn takes(&self, now_ms: u64) -> bool {
        self.health.takes(now_ms)
    }

    /// Whether connections to it come about, as far as is known, and its checks are good.
    pub(super) fn is_reached(&self) -> bool {
        self.reach.is_in() && !self.is_checked_out()
    }

    /// Whether that is, or is due to be found out.
    pub(super) fn may_be_reached(&self, now_ms: u64) -> bool {
        self.reach.takes(now_ms) && !self.is_checked_out()
    }

    pub(super) fn enter(&self, now_ms: u64) -> bool {
        self.health.enter(now_ms)
    }

    pub(super) fn bound(&self) -> Option<&Bound> {
        self.bound.as_ref()
    }

    pub(super) fn is_full(&self) -> bool {
        self.bound.as_ref().is_some_and(Bound::is_full)
    }

    /// Most of its connections are taken.
    pub(crate) fn is_crowded(&self) -> bool {
        self.bound.as_ref().is_some_and(Bound::is_crowded)
    }

    /// It is no longer configured, or its name has another address: its connections are not kept.
    pub(crate) fn leave(&self) {
        self.key.leave();
        self.stash().into_iter().for_each(Stash::clear);
    }

    /// The mark of connections to it.
    pub(crate) fn key(&self) -> &Arc<Key> {
        &self.key
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.key.is_gone()
    }

    /// A connection that speaks this came about.
    pub(crate) fn speaks(&self, protocol: Protocol) {
        let version = match protocol {
            Protocol::Http1 => 1,
            Protocol::Http2 => 2,
        };
        self.spoken.store(version, Ordering::Relaxed);
    }

    pub(crate) fn protocol(&self) -> Option<Protocol> {
        match self.spoken.load(Ordering::Relaxed) {
            1 => Some(Protocol::Http1),
            2 => Some(Protocol::Http2),
            _ => None,
        }
    }

    /// Where its idle connections are kept, if not by each core.
    pub(crate) fn stash(&self) -> Option<&Stash> {
        self.bound.as_ref().map(Bound::idle)
    }

    /// Whether a head with this status is a good one; counted as a failure where it is not.
    pub(crate) fn is_good(&self, status: http::StatusCode) -> bool {
        let is_good = !(self.rules.server_errors && status.is_server_error());
        if !is_good {
            self.failed(status.as_str(), now_ms());
        }
        is_good
    }

    /// A request was answered, and the answer is whole.
    pub(crate) fn succeeded(&self) {
        self.reached();
        self.tell(self.health.succeeded(now_ms));
    }

    /// A request failed by this server's fault.
    pub(crate) fn failed_with(&self, kind: Kind) {
        self.failed(&kind.to_string(), now_ms());
    }

    /// A connection to it came about.
    pub(crate) fn reached(&self) {
        self.reach.succeeded(now_ms);
    }

    /// A connection to it did not come about; why has been [noted](Self::note).
    pub(crate) fn missed(&self) {
        let now_ms = now_ms();
        self.reach.failed(&self.rules, now_ms);
        self.tell(self.health.failed(&self.rules, now_ms));
    }

    pub(super) fn failed(&self, why: &str, now_ms: u64) {
        self.note(why);
        self.tell(self.health.failed(&self.rules, now_ms));
    }

    /// Sets the result of its checks, and reports a change.
    pub(super) fn checked(&self, well: bool) {
        self.tell(self.health.checked(well));
    }

    /// A check passed, whatever the overall health is.
    pub(super) fn check_passed(&self, now_ms: u64) {
        self.reach.check_passed(&self.rules, now_ms);
        self.tell(self.health.check_passed(&self.rules, now_ms));
    }

    pub(super) fn check_failed(&self, why: &str) {
        self.health.check_failed();
        self.note(why);
    }

    /// Keeps the reason for display; logs it when it is a new one.
    pub(crate) fn note(&self, why: &str) {
        if self.reason.load().as_ref().is_some_and(|reason| &*reason.0 == why) {
            return;
        }
        tracing::warn!(upstream = self.upstream(), server = %self.name, why, "a server of the upstream failed");
        self.reason.store(Some(Arc::new(Reason(why.into()))));
    }

    fn tell(&self, change: Change) {
        match change {
            Change::None => {}
            Change::Out => {
                tracing::warn!(upstream = self.upstream(), server = %self.name, "a server of the upstream counts as out");
            }
            Change::Back => {
                self.reason.store(None);
                tracing::info!(upstream = self.upstream(), server = %self.name, "a server of the upstream is back");
            }
        }
    }

    pub(super) fn standing(&self) -> Standing {
        Standing {
            upstream: self.upstream.clone(),
            server: self.name.clone(),
            weight: self.weight(),
            healthy: self.health.is_in(),
            protocol: self.protocol().map(Protocol::name),
            in_flight: self.in_flight(),
            waiting: self.bound.as_ref().map_or(0, Bound::waiting),
            failures: self.health.failures(),
            reason: self.reason.load().as_ref().map(|reason| Arc::clone(&reason.0)),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The configured name, followed by the address that it resolves to.
fn name(place: &Place, address: &Address) -> String {
    match (place, address) {
        (Place::Host(host, _), Address::Tcp(address)) if *host != address.ip().to_string() => {
            format!("{place} ({})", address.ip())
        }
        _ => place.to_string(),
    }
}

/// A request under way at a server, until it drops.
pub(crate) struct Busy {
    target: Arc<Target>,
    _permit: Option<Permit>,
}

impl Busy {
    /// At `target`, or that one back where all its connections are taken.
    pub(crate) fn at(target: Arc<Target>) -> Result<Self, Arc<Target>> {
        let permit = match &target.bound {
            None => None,
            Some(bound) => match bound.enter() {
                None => return Err(target),
                permit => permit,
            },
        };
        Ok(Self::holding(target, permit))
    }

    #[cfg(test)]
    pub(super) fn with(target: Arc<Target>) -> Self {
        Self::holding(target, None)
    }

    pub(super) fn holding(target: Arc<Target>, permit: Option<Permit>) -> Self {
        target.in_flight.fetch_add(1, Ordering::Relaxed);
        Self {
            target,
            _permit: permit,
        }
    }

    pub(crate) fn target(&self) -> &Arc<Target> {
        &self.target
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.target.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
