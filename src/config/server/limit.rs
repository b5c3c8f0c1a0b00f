//! Limits: the operator's on routes, and those of the gate's own endpoints.

use std::num::NonZeroU32;

use crate::config::document::value::{Value, both, fields, name};
use crate::config::document::{Node, Read, Reader, Section};
use crate::config::keys::{Form, span};
use crate::config::room::Room;
use crate::config::upstream::Upstream;
use crate::config::upstream::several::named_by;
use crate::limit::Prefixes;
use crate::room::pace::refresh_ms;
use crate::router::{HostPattern, Route};

/// A burst of `requests` that comes back evenly over the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    pub requests: NonZeroU32,
    pub window_ms: u64,
}

impl Rate {
    /// As many at once as either, coming back as fast as either does.
    fn holding(self, other: Self) -> Self {
        let requests = self.requests.max(other.requests);
        let window_ms = |rate: Self| u64::from(requests.get()) * rate.window_ms / u64::from(rate.requests.get());
        Self {
            requests,
            window_ms: window_ms(self).min(window_ms(other)),
        }
    }
}

/// A rate limit per client on routes; all of its routes count together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    pub name: String,
    /// The place of its upstream among all; 0 where there is none.
    pub upstream: usize,
    /// Empty: every host.
    pub hosts: Vec<HostPattern>,
    pub routes: Vec<Route>,
    pub rate: Rate,
}

/// Limits of the gate's own endpoints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnLimits {
    /// Per client.
    pub join: Rate,
    /// Per room and network.
    pub join_network: Rate,
    /// Per room and wider network.
    pub join_wide: Rate,
    /// By waiting in place of a proof of work, per room and network.
    pub join_without_proof: Rate,
    pub join_network_prefix: Prefixes,
    pub join_wide_prefix: Prefixes,
    /// Per ticket.
    pub status: Rate,
    pub status_network: Rate,
    /// Event streams at once per ticket.
    pub streams: usize,
    /// Event streams at once per client.
    pub streams_per_client: usize,
    /// Per client.
    pub preflight: Rate,
    /// Requests to `return_routes`, per client.
    pub returns: Rate,
    /// Bytes of a body to `return_routes`.
    pub return_body: u64,
    /// Clients that each limit remembers.
    pub clients: usize,
}

/// Most limits.
const MAX_LIMITS: usize = 10_000;

impl Value for Rate {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        let [requests, window] = fields(node, form)?;
        let (requests, window_ms) = both(requests.read(), window.read())?;
        Ok(Self { requests, window_ms })
    }
}

impl Value for Prefixes {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        let [ipv4, ipv6] = fields(node, form)?;
        let (ipv4, ipv6) = both(ipv4.read(), ipv6.read())?;
        Ok(Self { ipv4, ipv6 })
    }
}

pub(in crate::config) fn limits(reader: &Reader<'_>, upstreams: &[Upstream], rooms: &[Room]) -> Vec<Limit> {
    let sections = reader.tables("limit");
    if sections.len() > MAX_LIMITS {
        reader.mistake(
            "limit",
            format!("{} limits", sections.len()),
            format!("at most {MAX_LIMITS}"),
        );
    }
    let mut limits: Vec<Limit> = Vec::new();
    for section in &sections {
        let name = section.get_as("name", name);
        let (upstream, hosts) = named_by(section, upstreams, section.list("hosts"));
        if section.is_set("hosts") && !section.has_mistake("hosts") {
            check_hosts(section, &hosts, &rooms.iter().filter(|room| room.upstream == upstream));
        }
        let routes: Vec<Route> = section.list("routes");
        let (requests, window) = (section.get("requests"), section.get("window"));
        for own in routes.iter().filter(|route| route.is_own()) {
            let right = "[limits], which is for the gate's own endpoints";
            section.mistake(
                "routes",
                format!("{own} never matches: nothing there is forwarded"),
                right,
            );
        }
        if routes.is_empty() && !section.has_mistake("routes") {
            section.mistake(
                "routes",
                "a limit without routes never acts",
                "at least one route, such as [\"/seats/*\"]",
            );
        }
        let (Some(name), Some(requests), Some(window_ms)) = (name, requests, window) else {
            continue;
        };
        if limits.iter().any(|other| other.name == name) {
            section.mistake(
                "name",
                format!("another limit is called \"{name}\""),
                "a name of its own for each",
            );
        }
        limits.push(Limit {
            name,
            upstream,
            hosts,
            routes,
            rate: Rate { requests, window_ms },
        });
    }
    limits
}

/// A request gets 421 if its upstream has rooms, but none for its host.
fn check_hosts<'r>(section: &Section<'_>, hosts: &[HostPattern], rooms: &(impl Iterator<Item = &'r Room> + Clone)) {
    if rooms.clone().next().is_none() || rooms.clone().any(|room| room.hosts.is_empty()) {
        return;
    }
    let meets = |host: &HostPattern| {
        let mut known = rooms.clone().flat_map(|room| &room.hosts);
        known.any(|own| own.covers(host) || host.covers(own))
    };
    for host in hosts.iter().filter(|host| !meets(host)) {
        let wrong = format!("{host} is a host of no room, so this never matches");
        section.mistake("hosts", wrong, "a host that some room names");
    }
}

pub(in crate::config) fn own(reader: &Reader<'_>, rooms: &[Room]) -> OwnLimits {
    let section = reader.table("limits");
    let mut limits = OwnLimits {
        join: section.need("join"),
        join_network: section.need("join_network"),
        join_wide: section.need("join_wide"),
        join_without_proof: section.need("join_without_proof"),
        join_network_prefix: section.need("join_network_prefix"),
        join_wide_prefix: section.need("join_wide_prefix"),
        status: section.need("status"),
        status_network: section.need("status_network"),
        streams: section.need("streams"),
        streams_per_client: section.need("streams_per_client"),
        preflight: section.need("preflight"),
        returns: section.need("returns"),
        return_body: section.need("return_body"),
        clients: section.need("clients"),
    };
    widen(&section, &mut limits);
    check_pace(&section, &limits, rooms);
    check_width(&section, &limits);
    check_prefixes(&section, &limits);
    limits
}

/// A page that asks at its room's pace must not be refused.
fn check_pace(section: &Section<'_>, limits: &OwnLimits, rooms: &[Room]) {
    let mistaken = |room: &Room, key: &str| section.reader().has_mistake(&format!("{}.{key}", room.place));
    let paced = rooms
        .iter()
        .filter(|room| !mistaken(room, "grace") && !mistaken(room, "claim_deadline"));
    let Some(room) = paced.max_by_key(|room| asked_per_second(room)) else {
        return;
    };
    let most = asked_per_second(room);
    for (name, own) in [("status", limits.status), ("status_network", limits.status_network)] {
        if per_second(own) < most {
            let wrong = format!(
                "pages at the front of \"{}\" ask more often than this and would be refused",
                room.name
            );
            section.mistake(
                name,
                wrong,
                format!("{} or more for each second of the window", most.div_ceil(1_000)),
            );
        }
    }
}

/// A wider bound that is left at its default gives way to one set within it, so that raising one key is enough.
fn widen(section: &Section<'_>, limits: &mut OwnLimits) {
    let OwnLimits {
        join,
        join_network,
        join_wide,
        status,
        status_network,
        ..
    } = limits;
    widen_one(section, "join_network", join_network, *join);
    widen_one(section, "join_wide", join_wide, *join_network);
    widen_one(section, "status_network", status_network, *status);
    widen_prefix(section, limits);
}

/// The two may then be the same networks, of which the wider bound, as the larger one, asks no more.
fn widen_prefix(section: &Section<'_>, limits: &mut OwnLimits) {
    let (network, wide) = (limits.join_network_prefix, &mut limits.join_wide_prefix);
    let (ipv4, ipv6) = (wide.ipv4.min(network.ipv4), wide.ipv6.min(network.ipv6));
    let widened = Prefixes { ipv4, ipv6 };
    if widened != *wide && section.is_default("join_wide_prefix") {
        *wide = widened;
        section.put_in_force("join_wide_prefix", format!("{{ ipv4 = {ipv4}, ipv6 = {ipv6} }}"));
    }
}

fn widen_one(section: &Section<'_>, name: &'static str, wide: &mut Rate, narrow: Rate) {
    let widened = wide.holding(narrow);
    if widened != *wide && section.is_default(name) {
        *wide = widened;
        section.put_in_force(
            name,
            format!(
                "{{ requests = {}, window = \"{}\" }}",
                widened.requests,
                span(widened.window_ms)
            ),
        );
    }
}

fn check_width(section: &Section<'_>, limits: &OwnLimits) {
    let pairs = [
        ("join_network", limits.join_network, limits.join),
        ("join_wide", limits.join_wide, limits.join_network),
        ("status_network", limits.status_network, limits.status),
    ];
    for (name, wide, narrow) in pairs {
        if per_second(wide) < per_second(narrow) {
            let wrong = "a network may do less than what is within it";
            section.mistake(name, wrong, "as much as the limit of what is within it, or more");
        }
    }
}

fn check_prefixes(section: &Section<'_>, limits: &OwnLimits) {
    let (network, wide) = (limits.join_network_prefix, limits.join_wide_prefix);
    if wide.ipv4 > network.ipv4 || wide.ipv6 > network.ipv6 {
        let wrong = "this is narrower than join_network_prefix";
        section.mistake("join_wide_prefix", wrong, "as many bits as there, or fewer");
    }
}

/// In thousandths, rounded down.
fn per_second(rate: Rate) -> u64 {
    u64::from(rate.requests.get()) * 1_000_000 / rate.window_ms
}

/// How often a page asks at most, in thousandths a second: at the front, where chance makes the wait shortest.
fn asked_per_second(room: &Room) -> u64 {
    1_000_000 / refresh_ms(&room.settings, Some(0), u16::MAX)
}
