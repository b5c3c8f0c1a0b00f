//! The limits in force: the operator's on routes, and those of the gate's own endpoints. A 429 never costs a place.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, StatusCode};
use ipnet::IpNet;
use prometheus_client::metrics::counter::Counter;

use crate::config::{Limit, OwnLimits, Rate};
use crate::limit::{ClientKey, Decision, Held, Hold, Limiter, Prefixes, RefusedBy, Together};
use crate::metrics::{Metrics, Outcome};
use crate::pages::PageKind;
use crate::router::Hits;
use crate::token::{Pass, Ticket};
use ropeline_ids::{RoomName, Visitor};

use super::pass_networks::Sharing;
use crate::gate::request::visit::Visit;
use crate::gate::state::pages::Pages;
use crate::gate::verdict::answers::{Answer, Refusal};

const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Every limit of a gate.
pub struct Limits {
    routes: Vec<Arc<Rule>>,
    join: Arc<Rule>,
    join_network: Arc<Rule>,
    join_wide: Arc<Rule>,
    join_without_proof: Arc<Rule>,
    /// Of all joins.
    joining: Arc<Together>,
    prefixes: (Prefixes, Prefixes),
    status: Arc<Rule>,
    status_network: Arc<Rule>,
    preflight: Arc<Rule>,
    returns: Arc<Rule>,
    sharing: Arc<Sharing>,
    shared_refused: Counter,
    streams: Arc<Held<Visitor>>,
    client_streams: Arc<Held<ClientKey>>,
    /// Of a ticket, and of a client.
    streams_allowed: (usize, usize),
    streams_refused: Counter,
    /// Longest body of a request to a return route, in bytes.
    pub return_body: u64,
}

struct Rule {
    rate: Rate,
    /// Number of clients that are remembered.
    clients: usize,
    limiter: Limiter,
    policy: HeaderValue,
    name: String,
    refused: Counter,
}

/// The sender of a question to the endpoints.
#[derive(Clone, Copy)]
pub enum Asker<'t> {
    /// The holder of a pass whose session is live.
    Session(&'t Pass),
    Ticket(&'t Ticket),
    /// A client without a token.
    Nobody,
}

impl<'t> Asker<'t> {
    /// The holder of a ticket, or a stranger.
    #[must_use]
    pub fn of(ticket: Option<&'t Ticket>) -> Self {
        ticket.map_or(Self::Nobody, Self::Ticket)
    }

    /// The key under which it is counted.
    fn key(&self, client: IpAddr) -> ClientKey {
        match self {
            Self::Session(pass) => ClientKey::named(&(&pass.room, &pass.line, pass.lane, pass.id), client),
            Self::Ticket(ticket) => ClientKey::named(&(&ticket.room, &ticket.line, ticket.lane, ticket.place), client),
            Self::Nobody => client.into(),
        }
    }
}

/// Over a limit: the answer's data.
#[derive(Clone, Debug)]
pub struct Over {
    retry_after: Duration,
    policy: HeaderValue,
    state: HeaderValue,
    /// A newcomer: the page goes on trying.
    joining: bool,
}

impl Limits {
    /// Empty counts, except that limits of `before` with an unchanged rate keep theirs. A limit of another rate
    /// begins anew.
    #[must_use]
    pub fn new(limits: &[Limit], own: &OwnLimits, metrics: &Metrics, before: Option<&Self>) -> Self {
        let rule = |name: &str, rate: Rate, before: Option<&Arc<Rule>>| {
            let same = |old: &&Arc<Rule>| old.name == name && old.rate == rate && old.clients == own.clients;
            let made = || Arc::new(Rule::new(name, rate, own.clients, metrics));
            before.filter(same).map_or_else(made, Arc::clone)
        };
        let of_route = |limit: &Limit| {
            let named = |old: &&Arc<Rule>| old.name == limit.name;
            rule(
                &limit.name,
                limit.rate,
                before.and_then(|all| all.routes.iter().find(named)),
            )
        };
        Self {
            routes: limits.iter().map(of_route).collect(),
            join: rule("join", own.join, before.map(|all| &all.join)),
            join_network: rule("join-network", own.join_network, before.map(|all| &all.join_network)),
            join_wide: rule("join-wide", own.join_wide, before.map(|all| &all.join_wide)),
            join_without_proof: rule(
                "join-without-proof",
                own.join_without_proof,
                before.map(|all| &all.join_without_proof),
            ),
            joining: before.map(|all| Arc::clone(&all.joining)).unwrap_or_default(),
            prefixes: (own.join_network_prefix, own.join_wide_prefix),
            status: rule("status", own.status, before.map(|all| &all.status)),
            status_network: rule(
                "status-network",
                own.status_network,
                before.map(|all| &all.status_network),
            ),
            preflight: rule("preflight", own.preflight, before.map(|all| &all.preflight)),
            returns: rule("returns", own.returns, before.map(|all| &all.returns)),
            sharing: before.map(|all| Arc::clone(&all.sharing)).unwrap_or_default(),
            shared_refused: metrics.limited("pass-networks"),
            streams: before.map_or_else(|| Held::new(own.streams), |all| Arc::clone(&all.streams)),
            client_streams: before.map_or_else(
                || Held::new(own.streams_per_client),
                |all| Arc::clone(&all.client_streams),
            ),
            streams_allowed: (own.streams, own.streams_per_client),
            streams_refused: metrics.limited("streams"),
            return_body: own.return_body,
        }
    }

    /// Takes over the counts of streams from the limits before these.
    pub fn take_force(&self) {
        self.streams.allow(self.streams_allowed.0);
        self.client_streams.allow(self.streams_allowed.1);
    }

    /// Counts a request against the operator's limits that it met.
    pub fn routes(&self, hits: &Hits, client: IpAddr) -> Result<(), Over> {
        hits.iter()
            .filter_map(|at| self.routes.get(at))
            .try_for_each(|rule| rule.check(client.into()))
    }

    /// Counts a join. Networks are counted for each room, so a flood of one room does not affect another. A refused join
    /// counts nowhere, so that a network over its bound does not use up its addresses' own limits.
    pub fn join(&self, room: &RoomName, client: IpAddr) -> Result<(), Over> {
        self.joins(&self.join_bounds(room, client))
    }

    /// Counts a join of a visitor who waited in place of a proof of work: against one limit more.
    pub fn join_without_proof(&self, room: &RoomName, client: IpAddr) -> Result<(), Over> {
        let [join, network, wide] = self.join_bounds(room, client);
        self.joins(&[join, (&self.join_without_proof, network.1), network, wide])
    }

    /// The narrowest first: a client over several limits gets the answer of that one.
    fn join_bounds(&self, room: &RoomName, client: IpAddr) -> [(&Rule, ClientKey); 3] {
        let (network, wide) = self.prefixes;
        [
            (&self.join, client.into()),
            (&self.join_network, ClientKey::within(room, client, network)),
            (&self.join_wide, ClientKey::within(room, client, wide)),
        ]
    }

    fn joins<const N: usize>(&self, bounds: &[(&Rule, ClientKey); N]) -> Result<(), Over> {
        let limiters = bounds.map(|(rule, client)| (&rule.limiter, client));
        self.joining
            .check(&limiters)
            .map_err(|RefusedBy { at, retry_after }| Over {
                joining: true,
                ..bounds[at].0.over(retry_after)
            })
    }

    /// Whether a pass may be used from the client's address, in a room that allows this number of networks.
    #[must_use]
    pub fn pass(&self, pass: &Pass, client: IpAddr, allowed: Option<u8>) -> bool {
        let allows = |allowed| self.sharing.allows(pass, self.network(client), allowed);
        let allowed = allowed.is_none_or(allows);
        if !allowed {
            self.shared_refused.inc();
        }
        allowed
    }

    /// The client's network, as `join_network` counts it.
    #[must_use]
    pub fn network(&self, client: IpAddr) -> IpNet {
        self.prefixes.0.network(client)
    }

    /// Counts a question. A session and a ticket are counted from any address. Only a session is not counted with its
    /// network too: there are never more sessions than slots, and a stranger can make tickets without end.
    pub fn status(&self, asker: Asker<'_>, client: IpAddr) -> Result<(), Over> {
        self.status.check(asker.key(client))?;
        if matches!(asker, Asker::Session(_)) {
            return Ok(());
        }
        self.status_network.check(ClientKey::network(client))
    }

    /// Counts a visitor who leaves with a ticket that may hold nothing, by the ticket alone.
    pub fn leave(&self, ticket: &Ticket, client: IpAddr) -> Result<(), Over> {
        self.status.check(Asker::Ticket(ticket).key(client))
    }

    pub fn preflight(&self, client: IpAddr) -> Result<(), Over> {
        self.preflight.check(client.into())
    }

    pub fn returns(&self, client: IpAddr) -> Result<(), Over> {
        self.returns.check(client.into())
    }

    /// Counts an event stream until the guard drops; `None` when the ticket or the client has as many as it may.
    #[must_use]
    pub fn stream(&self, visitor: &Visitor, client: IpAddr) -> Option<StreamGuard> {
        let taken = self
            .streams
            .take(visitor.clone())
            .and_then(|ticket| Some((ticket, self.client_streams.take(client.into())?)));
        if taken.is_none() {
            self.streams_refused.inc();
        }
        taken
    }

    /// Forgets idle clients; to be called now and then.
    pub fn forget_idle(&self) {
        let own = [
            &self.join,
            &self.join_network,
            &self.join_wide,
            &self.join_without_proof,
            &self.status,
            &self.status_network,
            &self.preflight,
            &self.returns,
        ];
        self.routes
            .iter()
            .chain(own)
            .for_each(|rule| rule.limiter.forget_idle());
    }
}

impl Rule {
    fn new(name: &str, rate: Rate, clients: usize, metrics: &Metrics) -> Self {
        let window = Duration::from_millis(rate.window_ms);
        let policy = format!("\"{name}\";q={};w={}", rate.requests, window.as_secs().max(1));
        Self {
            limiter: Limiter::new(rate.requests, window, clients),
            rate,
            clients,
            policy: HeaderValue::try_from(policy).expect("a limit's name is plain"),
            name: name.to_owned(),
            refused: metrics.limited(name),
        }
    }

    fn check(&self, client: ClientKey) -> Result<(), Over> {
        let Decision::Refused { retry_after } = self.limiter.check(client) else {
            return Ok(());
        };
        Err(self.over(retry_after))
    }

    fn over(&self, retry_after: Duration) -> Over {
        self.refused.inc();
        let state = format!("\"{}\";r=0;t={}", self.name, secs(retry_after));
        let state = HeaderValue::try_from(state).expect("a limit's name is plain");
        Over {
            retry_after,
            policy: self.policy.clone(),
            state,
            joining: false,
        }
    }
}

impl Over {
    /// 429 with `Retry-After` and the `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers-11).
    #[must_use]
    pub fn answer(&self, pages: &Pages, visit: &Visit) -> Answer {
        let page = if self.joining {
            PageKind::Busy
        } else {
            PageKind::Limited
        };
        let refusal = Refusal {
            retry_after_secs: Some(secs(self.retry_after)),
            ..Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limited", page, Outcome::Limited)
        };
        let mut answer = refusal.answer(pages, visit);
        let headers = answer.response.headers_mut();
        headers.insert(RATELIMIT_POLICY, self.policy.clone());
        headers.insert(RATELIMIT, self.state.clone());
        answer
    }
}

/// Whole seconds, rounded up: a client that waits so long is not refused again.
fn secs(wait: Duration) -> u32 {
    let up = u64::from(wait.subsec_nanos() > 0);
    u32::try_from(wait.as_secs() + up).unwrap_or(u32::MAX).max(1)
}

/// One event stream, of a visitor and of a client.
pub type StreamGuard = (Hold<Visitor>, Hold<ClientKey>);

#[cfg(test)]
mod tests;
