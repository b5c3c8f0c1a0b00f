//! The upstreams: the shops behind the gate.

pub(in crate::config) mod http2;
pub(in crate::config) mod several;
pub(in crate::config) mod tls;
pub(in crate::config) mod unadmitted;
pub(in crate::config) mod uploads;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};

use crate::config::document::value::{both, fields, host_name, name, text, wrong};
use crate::config::document::{Node, Read, Reader, Section, secret};
use crate::config::keys::Form;
use crate::config::server::Server;
use crate::config::server::listen::{Listen, meets};
use crate::proxy::{ConnectionBound, FailureRules, HealthCheck, Place, UpstreamHttp2, UpstreamServer};
use crate::router::HostPattern;
use crate::token::Key;
use http2::http2;
use uploads::Uploads;

/// The address of a shop, and the limits of requests to it.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// Its table's place in the file: `upstream`, or `upstream[0]` and so on.
    pub place: String,
    /// There is one wherever there are several upstreams.
    pub name: Option<String>,
    /// Empty: every host.
    pub hosts: Vec<HostPattern>,
    /// At least one; at least one with a weight.
    pub servers: Vec<UpstreamServer>,
    pub resolve_every: Duration,
    /// The `Host` of forwarded requests; `None` for the visitor's own.
    pub host: Option<HeaderValue>,
    pub connect_timeout: Duration,
    /// Until the head of the answer is complete, for each try.
    pub response_timeout: Duration,
    /// The same over all tries.
    pub total_timeout: Option<Duration>,
    pub body_timeout: Duration,
    pub write_timeout: Duration,
    pub tunnel_timeout: Duration,
    pub keep_alive: Duration,
    /// Signs every forwarded request.
    pub signature_key: Option<Key>,
    pub bound: Option<ConnectionBound>,
    pub retries: u32,
    /// In a hundred requests.
    pub retry_budget: u32,
    pub failures: FailureRules,
    pub check: Option<HealthCheck>,
    pub tls: tls::Tls,
    pub http2: UpstreamHttp2,
    pub uploads: Uploads,
    pub unadmitted: unadmitted::Unadmitted,
    /// Simultaneous requests of all servers together.
    pub takes: Option<u32>,
}

/// Empty where there may be none and none is named.
pub(in crate::config) fn read(reader: &Reader<'_>, server: &Server, may_be_none: bool) -> Vec<Upstream> {
    let sections = reader.one_or_many(ONE);
    let is_alone = |place: &str| place == ONE;
    let of_option = reader.defaults(ONE, ONE);
    if !sections.iter().any(|section| is_alone(section.path())) && of_option.is_set("url") {
        of_option.get_as("url", address);
        let right = "the option left out, or a file with one [upstream]";
        of_option.mistake("url", "the file has its upstreams in [[upstream]]", right);
    }
    let each = sections.iter();
    let upstreams: Vec<Upstream> = each
        .map(|section| one(section, server, may_be_none && is_alone(section.path())))
        .collect();
    if upstreams.len() > 1 {
        several::check(&sections, &upstreams);
    }
    for (section, upstream) in sections.iter().zip(&upstreams) {
        let has_url = section.is_set("url") || section.is_set("servers");
        if may_be_none && is_alone(section.path()) && !has_url && !upstream.hosts.is_empty() {
            let wrong = "without a url there is no upstream, and requests for any other host would be answered too";
            let right = "a url beside them, or these hosts in each [[room]] instead";
            section.mistake("hosts", wrong, right);
        }
    }
    let is_there = |upstream: &Upstream| !is_alone(&upstream.place) || !upstream.servers.is_empty();
    upstreams.into_iter().filter(is_there).collect()
}

fn one(section: &Section<'_>, server: &Server, may_be_none: bool) -> Upstream {
    let reader = section.reader();
    let servers = servers(section, server, may_be_none);
    let (bound, waits) = bound(section);
    let many = u32::try_from(servers.len()).unwrap_or(u32::MAX);
    let shop_takes = bound.map(|bound| bound.connections.saturating_mul(many));
    let uploads = uploads::read(section, shop_takes, waits);
    Upstream {
        place: section.path().to_owned(),
        name: section.get_as("name", name),
        hosts: section.list("hosts"),
        resolve_every: section.need("resolve_every"),
        host: section.need_as("host", sent_host),
        connect_timeout: section.need("connect_timeout"),
        response_timeout: section.need("response_timeout"),
        total_timeout: section.get("total_timeout"),
        body_timeout: section.need("body_timeout"),
        write_timeout: section.need("write_timeout"),
        tunnel_timeout: section.need("tunnel_timeout"),
        keep_alive: section.need("keep_alive"),
        signature_key: section.get_as("signature_key", |node, form| secret::key(reader, node, form)),
        unadmitted: unadmitted::read(section, shop_takes, uploads.streaming.connections),
        takes: shop_takes,
        bound,
        uploads,
        retries: section.need("retries"),
        retry_budget: section.need("retry_budget"),
        failures: failures(section),
        check: check(section),
        tls: tls::read(section, &servers),
        http2: http2(section, &servers),
        servers,
    }
}

fn servers(section: &Section<'_>, server: &Server, may_be_none: bool) -> Vec<UpstreamServer> {
    let one = section.get_as("url", address);
    let many = section.list_as("servers", weighed);
    let (has_one, has_many) = (section.is_set("url"), section.is_set("servers"));
    if has_one && has_many {
        section.mistake("servers", "there is a url too", "one of the two");
    }
    if !has_one && !has_many && !may_be_none {
        section.mistake("url", "this must be set", section.form("url"));
    }
    let key = if has_many { "servers" } else { "url" };
    let servers: Vec<UpstreamServer> = one.into_iter().chain(many).collect();
    if has_many && !section.has_mistake("servers") {
        check_list(section, &servers);
    }
    let is_own = |shop: &UpstreamServer| match &shop.place {
        Place::Host(host, port) => server
            .listen
            .iter()
            .filter_map(Listen::address)
            .any(|own| meets(own, host, *port)),
        Place::Unix(_) => false,
    };
    if servers.iter().any(is_own) {
        section.mistake(
            key,
            "this is the gate's own listener: requests would go round in circles",
            "the shop's address",
        );
    }
    servers
}

fn check_list(section: &Section<'_>, servers: &[UpstreamServer]) {
    if servers.iter().all(|server| server.weight == 0) {
        section.mistake(
            "servers",
            "no server has a weight",
            "a weight of 1 or more for one at least",
        );
    }
    let again = servers
        .iter()
        .enumerate()
        .find(|(at, server)| servers[..*at].iter().any(|before| before.place == server.place));
    if let Some((_, server)) = again {
        section.mistake(
            "servers",
            format!("{} is there twice", server.place),
            "each server once",
        );
    }
}

/// The bound on each server, and how many wait there, and for how long.
fn bound(section: &Section<'_>) -> (Option<ConnectionBound>, (u32, Duration)) {
    let connections = section.get("max_connections");
    let waiting = section.need("max_waiting");
    let wait = section.need("wait_timeout");
    let of = |connections| ConnectionBound {
        connections,
        waiting,
        wait,
    };
    (connections.map(of), (waiting, wait))
}

fn failures(section: &Section<'_>) -> FailureRules {
    let rules = FailureRules {
        most: section.need("max_failures"),
        server_errors: section.need("fail_on_5xx"),
        out: section.need("out_for"),
        out_at_most: section.need("out_at_most"),
    };
    if rules.out_at_most < rules.out {
        section.mistake("out_at_most", "this is shorter than out_for", "the same or longer");
    }
    rules
}

fn check(section: &Section<'_>) -> Option<HealthCheck> {
    let path = section.get_as("health_path", path);
    let host = section.get_as("health_host", host);
    let (interval, timeout) = (section.need("health_interval"), section.need("health_timeout"));
    let statuses = section.need_as("health_status", statuses);
    let out_after = section.need("unhealthy_after");
    let back_after = section.need("healthy_after");
    if path.is_none() && !section.has_mistake("health_path") {
        let rest = [
            "health_host",
            "health_interval",
            "health_timeout",
            "health_status",
            "unhealthy_after",
            "healthy_after",
        ];
        section.only_with(&rest, "health_path");
    }
    if interval < SHORTEST_INTERVAL {
        section.mistake("health_interval", "this is too often", "100ms or more");
    }
    Some(HealthCheck {
        path: path?,
        host,
        interval,
        timeout,
        statuses,
        out_after,
        back_after,
    })
}

/// The shop has this key: with it, it could sign tickets and passes if they had the same.
pub(in crate::config) fn check_key(reader: &Reader<'_>, upstream: &Upstream, keys: &[Key]) {
    let Some(own) = &upstream.signature_key else { return };
    if keys.iter().any(|key| key.secret.expose() == own.secret.expose()) {
        reader.mistake(
            &format!("{}.signature_key", upstream.place),
            "this is the secret of one of [tokens] keys",
            "a secret of its own, since the shop has to know it",
        );
    }
}

/// `{ url, weight }`, the weight 1 where it is left out.
fn weighed(node: &Node<'_>, form: &Form) -> Read<UpstreamServer> {
    let [url, weight] = fields(node, form)?;
    let weight_of = if weight.is_set { weight.read() } else { Ok(1) };
    let (server, weight) = both(address(url.node, url.form), weight_of)?;
    Ok(UpstreamServer { weight, ..server })
}

fn address(node: &Node<'_>, form: &Form) -> Read<UpstreamServer> {
    let url = text(node, form)?;
    if let Some(path) = url.strip_prefix("unix:") {
        let place = Place::Unix(PathBuf::from(path));
        return if path.starts_with('/') && path.len() <= LONGEST_SOCKET {
            Ok(server(place, false))
        } else {
            wrong(node, format!("\"{url}\" has no whole path of a socket"), form)
        };
    }
    let Ok(uri) = url.parse::<Uri>() else {
        return wrong(node, format!("\"{url}\" is no URL"), form);
    };
    let tls = uri.scheme_str() == Some("https");
    let (Some("http" | "https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return wrong(node, format!("\"{url}\" does not begin with http:// or https://"), form);
    };
    if authority.as_str().contains('@') {
        return wrong(
            node,
            "the URL has a user name in it",
            "the URL without it; headers of visitors are forwarded as they are",
        );
    }
    if uri.query().is_some() || !matches!(uri.path(), "" | "/") {
        return wrong(
            node,
            "the URL has a path",
            "host and port only: requests are forwarded with their own path",
        );
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let usual = if tls { 443 } else { 80 };
    let port = authority
        .port_u16()
        .or_else(|| authority.port().is_none().then_some(usual));
    match port.filter(|port| *port != 0 && !host.is_empty()) {
        Some(port) => Ok(server(Place::Host(host.to_owned(), port), tls)),
        None => wrong(node, format!("\"{url}\" has no host or no port"), form),
    }
}

fn server(place: Place, tls: bool) -> UpstreamServer {
    UpstreamServer { place, weight: 1, tls }
}

fn sent_host(node: &Node<'_>, form: &Form) -> Read<Option<HeaderValue>> {
    if text(node, form)? == "pass" {
        return Ok(None);
    }
    host(node, form).map(Some)
}

fn host(node: &Node<'_>, form: &Form) -> Read<HeaderValue> {
    let text = host_name(node, form)?;
    HeaderValue::from_str(text).or_else(|_| wrong(node, format!("\"{text}\" is no host"), form))
}

fn path(node: &Node<'_>, form: &Form) -> Read<PathAndQuery> {
    let text = text(node, form)?;
    match text.parse::<PathAndQuery>() {
        Ok(path) if text.starts_with('/') => Ok(path),
        _ => wrong(node, format!("\"{text}\" is no path"), form),
    }
}

fn statuses(node: &Node<'_>, form: &Form) -> Read<RangeInclusive<u16>> {
    let text = text(node, form)?;
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let status = |text: &str| text.parse::<u16>().ok().filter(|status| (200..=599).contains(status));
    match (status(from), status(to)) {
        (Some(from), Some(to)) if from <= to => Ok(from..=to),
        _ => wrong(node, format!("\"{text}\" is no status"), form),
    }
}

/// The path of the section where there is one.
const ONE: &str = "upstream";
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);
/// The kernel's limit, without the final NUL.
const LONGEST_SOCKET: usize = 107;
