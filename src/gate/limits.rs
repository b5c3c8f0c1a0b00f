//! The limits in force: the operator's on routes, and those of the gate's own endpoints. A 429 never costs a place.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, StatusCode};
use prometheus_client::metrics::counter::Counter;

use crate::config::routes::Hits;
use crate::config::{Limit, OwnLimits, Rate};
use crate::limit::{ClientKey, Decision, Held, Hold, Limiter};
use crate::metrics::{Metrics, Outcome};
use crate::room::Visitor;
use crate::token::Ticket;
use crate::waiting::PageKind;

use super::answers::{Answer, Refusal};
use super::pages::Pages;
use super::visit::Visit;

const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Every limit of a gate.
pub struct Limits {
    routes: Vec<Arc<Rule>>,
    join: Arc<Rule>,
    join_network: Arc<Rule>,
    status: Arc<Rule>,
    status_network: Arc<Rule>,
    preflight: Arc<Rule>,
    returns: Arc<Rule>,
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
    /// So many are remembered.
    clients: usize,
    limiter: Limiter,
    policy: HeaderValue,
    name: String,
    refused: Counter,
}

/// Over a limit: what to say.
#[derive(Clone, Debug)]
pub struct Over {
    retry_after: Duration,
    policy: HeaderValue,
    state: HeaderValue,
}

impl Limits {
    /// Nobody has asked for anything, but of the limits `before` that stay as they are: those go on. A limit of another rate
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
            status: rule("status", own.status, before.map(|all| &all.status)),
            status_network: rule(
                "status-network",
                own.status_network,
                before.map(|all| &all.status_network),
            ),
            preflight: rule("preflight", own.preflight, before.map(|all| &all.preflight)),
            returns: rule("returns", own.returns, before.map(|all| &all.returns)),
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

    /// Takes over what counts streams, from the limits that these were made of.
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

    /// Counts a join.
    pub fn join(&self, client: IpAddr) -> Result<(), Over> {
        self.join.check(client.into())?;
        self.join_network.check(ClientKey::network(client))
    }

    /// Counts a question of a ticket's holder, from whatever address, or of somebody without one.
    pub fn status(&self, ticket: Option<&Ticket>, client: IpAddr) -> Result<(), Over> {
        let name = |ticket: &Ticket| ClientKey::named(&(&ticket.room, &ticket.line, ticket.lane, ticket.place), client);
        let key = ticket.map_or_else(|| client.into(), name);
        self.status.check(key)?;
        self.status_network.check(ClientKey::network(client))
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
        self.refused.inc();
        let state = format!("\"{}\";r=0;t={}", self.name, secs(retry_after));
        let state = HeaderValue::try_from(state).expect("a limit's name is plain");
        Err(Over {
            retry_after,
            policy: self.policy.clone(),
            state,
        })
    }
}

impl Over {
    /// 429 with `Retry-After` and the `RateLimit` fields (draft-ietf-httpapi-ratelimit-headers-11).
    #[must_use]
    pub fn answer(&self, pages: &Pages, visit: &Visit) -> Answer {
        let refusal = Refusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "limited",
            PageKind::Limited,
            Outcome::Limited,
        );
        let refusal = Refusal {
            retry_after_secs: Some(secs(self.retry_after)),
            ..refusal
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
mod tests {
    use std::num::NonZeroU32;

    use super::super::kind::Kind;
    use super::*;
    use crate::room::{Edition, Era, LaneId, LineName, Number, RoomName, Wall};
    use crate::token::TicketPlace;
    use crate::waiting::Language;

    #[test]
    fn a_ticket_and_an_address_have_their_streams_and_no_more_until_one_ends() {
        let limits = limits();
        let [home, away] = [IpAddr::from([192, 0, 2, 1]), IpAddr::from([198, 51, 100, 1])];
        let open = |n, client| limits.stream(&visitor(n), client);
        let first = open(1, home).unwrap();
        assert!(open(1, away).is_none(), "the ticket's only one");
        let second = open(2, home).unwrap();
        assert!(open(3, home).is_none(), "the address has two");
        let third = open(3, away).unwrap();
        drop(first);
        assert!(open(1, home).is_some());
        drop((second, third));
        assert_eq!((limits.streams.holders(), limits.client_streams.holders()), (0, 0));
    }

    fn visitor(n: u32) -> Visitor {
        Visitor {
            room: RoomName::new("shop").unwrap(),
            line: LineName::ONLY,
            lane: LaneId(0),
            number: Number { era: Era(1), n },
        }
    }

    /// Limits of one question and one join a minute for a client, and three for its network.
    fn limits() -> Limits {
        let rate = |requests| Rate {
            requests: NonZeroU32::new(requests).unwrap(),
            window_ms: 60_000,
        };
        let own = OwnLimits {
            join: rate(1),
            join_network: rate(3),
            status: rate(1),
            status_network: rate(3),
            streams: 1,
            streams_per_client: 2,
            preflight: rate(1),
            returns: rate(1),
            return_body: 10,
            clients: 1_000,
        };
        Limits::new(&[], &own, &Metrics::new(), None)
    }

    fn ticket(n: u32) -> Ticket {
        Ticket {
            room: RoomName::new("shop").unwrap(),
            line: LineName::ONLY,
            lane: LaneId(0),
            edition: Edition(0),
            place: TicketPlace::Numbered(Number { era: Era(1), n }),
            joined_at: Wall(0),
            identity: None,
        }
    }

    #[test]
    fn a_ticket_is_counted_wherever_it_comes_from_and_its_network_with_it() {
        let limits = limits();
        let [home, phone, far] = [[192, 0, 2, 1], [192, 0, 9, 9], [198, 51, 100, 1]].map(IpAddr::from);
        assert!(limits.status(Some(&ticket(1)), home).is_ok());
        assert!(limits.status(Some(&ticket(1)), phone).is_err(), "the same ticket");
        assert!(
            limits.status(Some(&ticket(2)), home).is_ok(),
            "another ticket at the same address"
        );
        assert!(limits.status(None, home).is_ok(), "nobody's");
        assert!(limits.status(Some(&ticket(3)), phone).is_err(), "the network is full");
        assert!(limits.status(Some(&ticket(4)), far).is_ok(), "another network");
    }

    #[test]
    fn joins_are_counted_by_address_and_network() {
        let limits = limits();
        let join = |last| limits.join(IpAddr::from([192, 0, 2, last])).is_ok();
        assert!(join(1) && !join(1));
        assert!(join(2) && join(3) && !join(4));
        assert!(limits.join(IpAddr::from([203, 0, 113, 1])).is_ok());
    }

    #[test]
    fn who_is_over_is_told_when_to_come_back_in_a_form_they_can_read() {
        let limits = limits();
        let client = IpAddr::from([192, 0, 2, 1]);
        assert!(limits.returns(client).is_ok());
        let over = limits.returns(client).unwrap_err();
        let pages = Pages::new(None, Language::all().collect()).unwrap();
        for (kind, content) in [
            (Kind::Navigation, "text/html; charset=utf-8"),
            (Kind::Api, "application/problem+json"),
            (Kind::Passive, "text/plain; charset=utf-8"),
        ] {
            let answer = over.answer(&pages, &Visit::sample(kind));
            assert_eq!(answer.outcome, Outcome::Limited);
            let response = answer.response;
            assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
            let header = |name: &str| response.headers()[name].to_str().unwrap();
            assert_eq!(header("content-type"), content);
            assert_eq!(header("retry-after"), "60");
            assert!(header("cache-control").starts_with("no-store"));
            assert_eq!(header("ratelimit-policy"), "\"returns\";q=1;w=60");
            assert_eq!(header("ratelimit"), "\"returns\";r=0;t=60");
            assert_eq!(header("anteroom-status"), "limited");
        }
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_rounded_up() {
        assert_eq!(secs(Duration::from_millis(1)), 1);
        assert_eq!(secs(Duration::from_millis(2_001)), 3);
        assert_eq!(secs(Duration::from_secs(2)), 2);
    }
}
