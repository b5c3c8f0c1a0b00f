//! The router: all rooms and limits in two trees, asked once per reading of a request's path.

mod hits;
mod rule;

use http::Method;

use super::by_host::ByHost;
use super::host::HostPattern;
use super::line::{LineOf, Per, PerSource};
use super::outside::{Brings, Outside};
use super::route::Route;
use super::target::Target;
use super::tree::{Compare, Tree, trimmed};
use super::{NEVER_QUEUED, OWN_PREFIX};
use ropeline_ids::LineName;

use rule::{Owner, Rule};

pub use hits::Hits;

/// The path (or the parameter that names the line) can be read in two ways that would be treated differently: 400.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the target can be read in two ways where it matters")]
pub struct Doubtful;

/// A room's part of the router.
#[derive(Clone, Copy, Debug)]
pub struct RoomRoutes<'c> {
    /// Empty: every host.
    pub hosts: &'c [HostPattern],
    pub routes: &'c [Route],
    pub except: &'c [Route],
    pub return_routes: &'c [Route],
    /// At most 32.
    pub ends_on: &'c [Route],
    /// The request whose body names the account.
    pub names: Option<&'c Route>,
    pub active: ActiveRoutes<'c>,
    pub per: Option<&'c Per>,
}

/// The routes of a room with active slots; none in another.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActiveRoutes<'c> {
    /// Those whose requests keep the slot, at most 16.
    pub holds: &'c [Route],
    /// Those whose requests are no use of a session.
    pub background: &'c [Route],
}

/// An upstream's part of the router.
#[derive(Clone, Copy, Debug)]
pub struct UpstreamRoutes<'c> {
    /// Empty: every host.
    pub hosts: &'c [HostPattern],
    /// Requests whose bodies are streamed.
    pub streamed: &'c [Route],
    /// Some room is in front of it.
    pub has_rooms: bool,
}

/// The room a request is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InRoom {
    /// The room's place in the configuration.
    pub index: usize,
    pub line: LineOf,
    /// On one of the room's `return_routes`.
    pub returning: bool,
    /// A bit for each of the room's `ends_on` rules whose route matches; the answer's status decides.
    pub ends_on: u32,
    /// Its body says who joins.
    pub names: bool,
    /// A bit for each of the room's `hold_slot` rules whose route matches.
    pub holds: u16,
    /// On one of the room's `background` routes.
    pub background: bool,
}

/// Where a request belongs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routed {
    /// Below `/.ropeline`: the gate's own, never forwarded.
    pub own: bool,
    /// Every room names its hosts and this is none of them: 421, since the shop may serve every host in the same way. Or every
    /// upstream names its hosts, and this is none of them.
    pub misdirected: bool,
    /// The place of its upstream among all; `None` where no upstream has this host.
    pub upstream: Option<usize>,
    /// `None`: outside every room, in `except`, or never queued.
    pub room: Option<InRoom>,
    /// Where there is no room: whether one leaves the path outside.
    pub outside: Option<Outside>,
    /// The limits it counts against, in a room or not.
    pub limits: Hits,
    /// Its body is streamed to the shop from the first byte.
    pub streamed: Streamed,
}

/// Whether a body is streamed. Requests that differ only in this have the same treatment.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Streamed(pub bool);

impl PartialEq for Streamed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A request, as one reading of its host has it.
#[derive(Clone, Copy)]
struct Asked<'r, 't> {
    host: &'r str,
    method: &'r Method,
    target: &'r Target<'t>,
    brings: Brings,
}

/// Finds the room and the limits of a request. Made once from a configuration; shared by all cores.
#[derive(Clone, Debug)]
pub struct Router {
    rules: Vec<Rule>,
    protecting: Tree,
    outside: Tree,
    /// How each room tells its lines apart.
    pers: Vec<Option<Per>>,
    served: ByHost,
    /// `None`: the first one has every host.
    upstreams: Option<ByHost>,
    /// Hosts of rooms, limits and upstreams that name a port.
    ported: ByHost,
    /// Some room, limit or upstream names hosts.
    tells_hosts_apart: bool,
    /// Those that some route is for.
    methods: Vec<Method>,
}

impl Router {
    /// `limits` are hosts (empty: every host) and routes, in the configuration's order. At most 65,535 of each.
    #[must_use]
    pub fn new(rooms: &[RoomRoutes<'_>], limits: &[(&[HostPattern], &[Route])]) -> Self {
        let mut router = Self {
            rules: Vec::new(),
            protecting: Tree::new(Compare::Lenient),
            outside: Tree::new(Compare::Exact),
            pers: rooms.iter().map(|room| room.per.cloned()).collect(),
            served: ByHost::default(),
            upstreams: None,
            ported: ByHost::default(),
            tells_hosts_apart: false,
            methods: Vec::new(),
        };
        for (id, room) in (0..).zip(rooms) {
            router.add_room(id, room);
        }
        for (id, (hosts, routes)) in (0..).zip(limits) {
            router.note_hosts(hosts);
            routes
                .iter()
                .for_each(|route| router.add(Owner::Limit(id), hosts, route, None));
        }
        for route in NEVER_QUEUED.iter().filter_map(|pattern| Route::parse(pattern).ok()) {
            router.add(Owner::Never, &[], &route, None);
        }
        router
    }

    /// Sets the upstreams, in the configuration's order.
    #[must_use]
    pub fn to(mut self, upstreams: &[UpstreamRoutes<'_>]) -> Self {
        for (id, upstream) in upstreams.iter().enumerate() {
            for route in upstream.streamed {
                self.add(Owner::Streamed, upstream.hosts, route, None);
            }
            if upstream.hosts.is_empty() {
                continue;
            }
            self.note_hosts(upstream.hosts);
            self.upstreams.get_or_insert_default().insert(upstream.hosts, id);
            if !upstream.has_rooms {
                self.served.insert(upstream.hosts, id);
            }
        }
        self
    }

    /// Where the request belongs; [`Doubtful`] when readings of its host or path would be treated differently.
    pub fn route(&self, method: &Method, target: &Target<'_>, brings: Brings) -> Result<Routed, Doubtful> {
        // PERF: without hosts every spelling has the same treatment.
        let Some(spelled) = target.spelled().filter(|_| self.tells_hosts_apart) else {
            return self.at(target.host(), method, target, brings);
        };
        // SECURITY: a server that compares hosts byte by byte takes this for an unknown host.
        let as_spelled = self.at(spelled, method, target, brings)?;
        let is_meant = as_spelled.misdirected || self.ported.has(spelled);
        if is_meant || self.at(target.host(), method, target, brings)? == as_spelled {
            Ok(as_spelled)
        } else {
            Err(Doubtful)
        }
    }

    fn at(&self, host: &str, method: &Method, target: &Target<'_>, brings: Brings) -> Result<Routed, Doubtful> {
        let asked = Asked {
            host,
            method,
            target,
            brings,
        };
        let mut readings = target.readings();
        let Some(first) = readings.next() else {
            return Err(Doubtful);
        };
        let routed = self.treat(asked, first)?;
        for other in readings {
            if self.treat(asked, other)? != routed {
                return Err(Doubtful);
            }
        }
        let upstream = self.upstream(host);
        let misdirected = upstream.is_none() || (!routed.own && !self.serves(host));
        Ok(Routed {
            misdirected,
            upstream,
            ..routed
        })
    }

    /// PERF: with one upstream for every host nothing is looked up.
    fn upstream(&self, host: &str) -> Option<usize> {
        match &self.upstreams {
            None => Some(0),
            Some(upstreams) => upstreams.find(host).next(),
        }
    }

    /// Some route is for some methods only.
    #[must_use]
    pub fn tells_methods_apart(&self) -> bool {
        !self.methods.is_empty()
    }

    /// One method of each kind that some rule tells apart from others: those that rules name, and one that none does.
    pub fn methods(&self) -> impl Iterator<Item = &Method> {
        [&Method::GET, &Method::HEAD, &Method::TRACE]
            .into_iter()
            .chain(&self.methods)
    }

    /// Whether some room, or an upstream without one, is for this host, in normal form; for any host where there are no rooms.
    #[must_use]
    pub fn serves(&self, host: &str) -> bool {
        self.pers.is_empty() || self.served.has(host)
    }

    fn add_room(&mut self, id: u16, room: &RoomRoutes<'_>) {
        let variable = room.per.and_then(|per| match &per.source {
            PerSource::Path(name) => Some(name.as_str()),
            PerSource::Query(_) => None,
        });
        self.served.insert(room.hosts, usize::from(id));
        self.note_hosts(room.hosts);
        for route in room.routes {
            let segment = variable.and_then(|name| route.variable(name));
            self.add(Owner::Room(id), room.hosts, route, segment);
        }
        for (bit, route) in (0..32).zip(room.ends_on) {
            self.add(Owner::Ends(id, bit), room.hosts, route, None);
        }
        if let Some(route) = room.names {
            self.add(Owner::Names(id), room.hosts, route, None);
        }
        for (bit, route) in (0..16).zip(room.active.holds) {
            self.add(Owner::Holds(id, bit), room.hosts, route, None);
        }
        for route in room.active.background {
            self.add(Owner::Background(id), room.hosts, route, None);
        }
        room.except
            .iter()
            .for_each(|route| self.add(Owner::Except(id), room.hosts, route, None));
        room.return_routes
            .iter()
            .for_each(|route| self.add(Owner::Return(id), room.hosts, route, None));
    }

    fn note_hosts(&mut self, hosts: &[HostPattern]) {
        self.tells_hosts_apart |= !hosts.is_empty();
        for host in hosts.iter().filter(|host| host.has_port()) {
            self.ported.insert(std::slice::from_ref(host), 0);
        }
    }

    fn add(&mut self, owner: Owner, hosts: &[HostPattern], route: &Route, segment: Option<usize>) {
        let id = self.rules.len();
        let fresh = route.methods().iter().filter(|method| !self.methods.contains(method));
        // An entry without a method takes nothing that a form could change.
        let differs = route.queries().is_none() && !matches!(owner, Owner::Streamed);
        let fresh: Vec<Method> = fresh.filter(|_| differs).cloned().collect();
        self.methods.extend(fresh);
        self.rules.push(Rule {
            owner,
            route: route.clone(),
            segment,
        });
        match owner {
            Owner::Room(_)
            | Owner::Ends(..)
            | Owner::Names(_)
            | Owner::Holds(..)
            | Owner::Background(_)
            | Owner::Limit(_) => {
                self.protecting.insert(route, hosts, id);
            }
            Owner::Except(_) | Owner::Return(_) | Owner::Never | Owner::Streamed => {
                self.outside.insert(route, hosts, id);
            }
        }
    }

    fn treat(&self, asked: Asked<'_, '_>, path: &[u8]) -> Result<Routed, Doubtful> {
        let Asked {
            host,
            method,
            target,
            brings,
        } = asked;
        if is_own(path) {
            return Ok(Routed {
                own: true,
                ..Routed::default()
            });
        }
        let mut found = Found::default();
        let mut hit = |id: usize| {
            let rule = &self.rules[id];
            if rule.takes(method, target, brings) {
                found.note(rule, id);
            }
        };
        self.outside.find(host, path, &mut hit);
        self.protecting.find(host, path, &mut hit);
        let room = match found.room {
            Some((index, rule)) => Some(self.in_room(index, &self.rules[rule], &found, target, path)?),
            None => None,
        };
        Ok(Routed {
            outside: found.outside.filter(|_| room.is_none()),
            room,
            limits: found.limits,
            streamed: Streamed(found.streamed),
            ..Routed::default()
        })
    }

    fn in_room(
        &self,
        index: u16,
        rule: &Rule,
        found: &Found,
        target: &Target<'_>,
        path: &[u8],
    ) -> Result<InRoom, Doubtful> {
        let line = match &self.pers[usize::from(index)] {
            None => LineOf::Line(LineName::ONLY),
            Some(per) => match &per.source {
                PerSource::Query(name) => per.of_query(name, path, target.query())?,
                PerSource::Path(_) => per.line(segment(path, rule.segment).unwrap_or_default()),
            },
        };
        let returning = found.returns.contains(index);
        let of_room = |bits: &[(u16, u8)]| {
            let own = bits.iter().filter(|(room, _)| *room == index);
            own.fold(0_u32, |bits, (_, bit)| bits | 1 << bit)
        };
        Ok(InRoom {
            index: usize::from(index),
            line,
            returning,
            ends_on: of_room(&found.ends),
            names: found.names.contains(index),
            holds: of_room(&found.holds).try_into().unwrap_or_default(),
            background: found.background.contains(index),
        })
    }
}

/// The matches of one reading in the trees.
#[derive(Default)]
struct Found {
    never: bool,
    except: Hits,
    returns: Hits,
    names: Hits,
    /// The first room in the configuration's order, and its rule.
    room: Option<(u16, usize)>,
    outside: Option<Outside>,
    ends: Vec<(u16, u8)>,
    holds: Vec<(u16, u8)>,
    background: Hits,
    limits: Hits,
    streamed: bool,
}

impl Found {
    /// The rules that leave a path outside must be noted before the others.
    fn note(&mut self, rule: &Rule, id: usize) {
        match rule.owner {
            Owner::Never => self.never = true,
            Owner::Streamed => self.streamed = true,
            Owner::Except(room) => {
                self.except.add(room);
            }
            Owner::Return(room) => self.returns.add(room),
            Owner::Names(room) => self.names.add(room),
            Owner::Ends(room, bit) => self.ends.push((room, bit)),
            Owner::Holds(room, bit) => self.holds.push((room, bit)),
            Owner::Background(room) => self.background.add(room),
            Owner::Limit(limit) => self.limits.add(limit),
            Owner::Room(room) => {
                if self.never || self.except.contains(room) {
                    self.leave_outside(room);
                } else if self.room.is_none_or(|best| (room, id) < best) {
                    self.room = Some((room, id));
                }
            }
        }
    }

    /// Of several rooms that leave the path outside, the first in the configuration's order counts.
    fn leave_outside(&mut self, room: u16) {
        let room = usize::from(room);
        if self.outside.is_none_or(|first| room < first.room) {
            self.outside = Some(Outside { room });
        }
    }
}

/// Leniently, so that no spelling that a shop may read as one of the gate's own paths is forwarded.
fn is_own(path: &[u8]) -> bool {
    let Some(body) = path.strip_prefix(b"/") else {
        return false;
    };
    let end = body.iter().position(|b| *b == b'/').unwrap_or(body.len());
    trimmed(&body[..end]).eq_ignore_ascii_case(&OWN_PREFIX.as_bytes()[1..])
}

fn segment(path: &[u8], at: Option<usize>) -> Option<&[u8]> {
    let body = path.strip_prefix(b"/").unwrap_or(path);
    body.split(|b| *b == b'/').nth(at?)
}

#[cfg(test)]
mod tests;
