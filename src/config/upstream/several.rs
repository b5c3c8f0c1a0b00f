//! Several upstreams: each has a name and hosts, and every room and limit names its upstream.

use super::Upstream;
use crate::config::document::value::name;
use crate::config::document::{Reader, Section};
use crate::config::room::Room;
use crate::router::HostPattern;

/// Most upstreams. Each has a thread that looks after its servers, and a pool of connections on each core.
const MAX_UPSTREAMS: usize = 100;

/// Checks names and hosts: a request must find one upstream by its host, and no other.
pub(super) fn check(sections: &[Section<'_>], upstreams: &[Upstream]) {
    for (at, (section, upstream)) in sections.iter().zip(upstreams).enumerate() {
        let earlier = &upstreams[..at];
        match &upstream.name {
            None => section.mistake(
                "name",
                "there are several upstreams",
                "a name for each, such as \"shop\"",
            ),
            Some(name) if earlier.iter().any(|other| other.name.as_ref() == Some(name)) => section.mistake(
                "name",
                format!("another upstream is called \"{name}\""),
                "a name of its own for each",
            ),
            Some(_) => {}
        }
        if upstream.hosts.is_empty() {
            let right = "the hosts by which visitors reach it, such as [\"shop.example\"]";
            section.mistake(
                "hosts",
                "there are several upstreams, and requests find theirs by the host",
                right,
            );
        }
        let meets = |host: &HostPattern| {
            let mut theirs = earlier.iter().flat_map(|other| &other.hosts);
            theirs.any(|other| other.covers(host) || host.covers(other))
        };
        if let Some(host) = upstream.hosts.iter().find(|host| meets(host)) {
            let wrong = format!("{host} meets the hosts of an upstream before it");
            section.mistake("hosts", wrong, "hosts that no other upstream has");
        }
        check_key(section, upstream, earlier);
        if at == MAX_UPSTREAMS {
            section.mistake(
                "name",
                format!("{} upstreams", upstreams.len()),
                format!("at most {MAX_UPSTREAMS}"),
            );
        }
    }
}

/// SECURITY: a shop can forge whatever is signed by a secret that it knows.
fn check_key(section: &Section<'_>, upstream: &Upstream, earlier: &[Upstream]) {
    let secret = |upstream: &Upstream| Some(upstream.signature_key.as_ref()?.secret.expose().to_vec());
    if secret(upstream).is_some_and(|own| earlier.iter().any(|other| secret(other).as_ref() == Some(&own))) {
        let wrong = "another upstream has this secret too, and may sign requests to this one";
        section.warning(
            "signature_key",
            wrong,
            "a secret of its own for each, unless both are one shop",
        );
    }
}

/// The upstream that a room or a limit names, as its place among all, and the hosts there: where the table names none, all of
/// the upstream's.
pub(in crate::config) fn named_by(
    section: &Section<'_>,
    upstreams: &[Upstream],
    hosts: Vec<HostPattern>,
) -> (usize, Vec<HostPattern>) {
    let at = place(section, upstreams);
    let Some(upstream) = upstreams.get(at).filter(|upstream| !upstream.hosts.is_empty()) else {
        return (at, hosts);
    };
    if hosts.is_empty() {
        return (at, upstream.hosts.clone());
    }
    let is_foreign = |host: &&HostPattern| !upstream.hosts.iter().any(|own| own.covers(host));
    if let Some(host) = hosts.iter().find(is_foreign) {
        let right = format!("hosts within those of the upstream: {}", some(upstream.hosts.iter()));
        section.mistake("hosts", format!("{host} is no host of the upstream"), right);
    }
    (at, hosts)
}

fn place(section: &Section<'_>, upstreams: &[Upstream]) -> usize {
    let named = section.get_as("upstream", name);
    let names = upstreams.iter().filter_map(|upstream| upstream.name.as_ref());
    let wrong = match &named {
        Some(name) => {
            if let Some(at) = upstreams
                .iter()
                .position(|upstream| upstream.name.as_ref() == Some(name))
            {
                return at;
            }
            format!("no upstream is called \"{name}\"")
        }
        None if upstreams.len() > 1 => "there are several upstreams".to_owned(),
        None => return 0,
    };
    let right = match some(names) {
        names if names.is_empty() => "this left out, since no upstream has a name".to_owned(),
        names => format!("one of: {names}"),
    };
    section.mistake("upstream", wrong, right);
    0
}

/// Says which upstreams are without a line, and which of their hosts a room leaves with 421.
pub(in crate::config) fn warn_of_hosts(reader: &Reader<'_>, upstreams: &[Upstream], rooms: &[Room]) {
    for (at, upstream) in upstreams.iter().enumerate() {
        let own = || rooms.iter().filter(|room| room.upstream == at);
        if own().next().is_none() {
            if upstreams.len() > 1 {
                let wrong = "no room names this upstream, so nobody ever waits for it";
                let key = format!("{}.name", upstream.place);
                reader.warning(&key, wrong, "a [[room]] for it, unless that is meant");
            }
            continue;
        }
        let is_covered = |host: &&HostPattern| own().flat_map(|room| &room.hosts).any(|of_room| of_room.covers(host));
        let key = format!("{}.hosts", upstream.place);
        for host in upstream.hosts.iter().filter(|host| !is_covered(host)) {
            let which = if host.is_below() {
                "a host there that no room names"
            } else {
                "it"
            };
            let wrong = format!("no room of this upstream has {host}, so a request for {which} gets 421");
            reader.warning(&key, wrong, "this in `hosts` of a room too, or left out here");
        }
    }
}

/// The first few, for people.
fn some<T: ToString>(all: impl Iterator<Item = T>) -> String {
    all.take(5)
        .map(|one| format!("\"{}\"", one.to_string()))
        .collect::<Vec<_>>()
        .join(", ")
}
