//! Whether `trusted_proxies` names the proxies in front of the gate, and nothing else.
//!
//! A proxy that it does not name makes all visitors look like one client, with one client's limits. A network too many lets visitors
//! choose the address by which they are counted.

use std::net::{IpAddr, Ipv4Addr};

use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::Look;
use crate::doctor::subject::{Running, Subject};
use crate::logging::Masked;
use crate::metrics::Sight;
use crate::proxy::is_trusted;

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async { found(look.subject, look.running) })
}

fn found(subject: &Subject, running: Option<&Running>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    if subject.has_unix_listener && !is_trusted(LOOPBACK, &subject.trusted) {
        let wrong =
            "Clients of a Unix socket count as 127.0.0.1, which is no trusted proxy: all of them are one client.";
        findings.push(Finding::fault(wrong).at(
            &subject.places,
            KEY,
            "[\"127.0.0.1\"], and the proxies that there are",
        ));
    }
    let Some(running) = running else { return findings };
    let mut direct = Vec::new();
    for sight in &running.sights {
        match sight {
            Sight::Proxy {
                peer,
                others_come_directly,
            } => {
                findings.push(proxy(subject, *peer, *others_come_directly));
            }
            Sight::SilentProxy { peer } => {
                let wrong = format!(
                    "A trusted proxy in {} brings many visitors and names no client in X-Forwarded-For: all of them count as one.",
                    network(*peer)
                );
                let right = "keep the proxy's address, and let the proxy append the client's (nginx: proxy_set_header \
                             X-Forwarded-For $proxy_add_x_forwarded_for)";
                findings.push(Finding::fault(wrong).at(&subject.places, KEY, right));
            }
            Sight::DirectVisitor { peer } => direct.push(network(*peer)),
        }
    }
    direct.sort_unstable();
    direct.dedup();
    if let Some(first) = direct.first() {
        let others = if direct.len() > 1 { " and others" } else { "" };
        let wrong = format!(
            "Visitors come directly from {first}{others}, which trusted_proxies names: they can make up the address that limits \
             count them by."
        );
        let right = "only the addresses of the proxies themselves";
        findings.push(Finding::warning(wrong).at(&subject.places, KEY, right));
    }
    if findings.is_empty() {
        findings.push(Finding::fine(
            "No visitor came through a proxy that trusted_proxies does not name.",
        ));
    }
    findings
}

fn proxy(subject: &Subject, peer: IpAddr, others_come_directly: bool) -> Finding {
    let network = network(peer);
    let right = format!("the address of that proxy, which is in {network}");
    if others_come_directly {
        let wrong = format!(
            "A peer in {network} brings many visitors with X-Forwarded-For, while others come directly: if it is a proxy of \
             yours, trusted_proxies does not name it."
        );
        return Finding::warning(wrong).at(&subject.places, KEY, right);
    }
    let wrong = format!(
        "Visitors come through a proxy in {network} that trusted_proxies does not name: all of them count as one client, with \
         one client's limits."
    );
    Finding::fault(wrong).at(&subject.places, KEY, right)
}

/// SECURITY: a network, since a peer may be a visitor.
fn network(peer: IpAddr) -> String {
    let prefix = if peer.to_canonical().is_ipv4() { 24 } else { 48 };
    format!("{}/{prefix}", Masked(peer))
}

const KEY: &str = "server.trusted_proxies";

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
