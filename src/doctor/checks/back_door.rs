//! Whether the shop answers a client that goes round the gate.
//!
//! The gate's machine may be the only one that the shop lets in, so an answer to it proves nothing of others unless the shop
//! should refuse what is not signed. `ropeline probe --back-door` tries it from elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use futures_util::future::join_all;
use http::StatusCode;

use crate::doctor::check::Checking;
use crate::doctor::finding::Finding;
use crate::doctor::look::{Look, asked};
use crate::doctor::subject::{Shop, Subject};
use crate::proxy::Examined;

pub fn check<'a>(look: &'a Look<'a>) -> Checking<'a> {
    Box::pin(async {
        let subject = look.subject;
        let answers = join_all(subject.shops.iter().map(|shop| asked(shop, false))).await;
        // An error is one of the certificates that the gate uses, which the shop's check reports.
        let servers = subject
            .shops
            .iter()
            .zip(answers.iter().map(|answered| answered.iter().flatten()));
        servers
            .flat_map(|(shop, servers)| servers.filter_map(move |server| judge(subject, shop, server)))
            .collect()
    })
}

/// A shop that says this to a client lets nobody past the line.
#[must_use]
pub fn refuses(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST
    )
}

fn judge(subject: &Subject, shop: &Shop, server: &Examined) -> Option<Finding> {
    let (places, name) = (&subject.places, shop.at(&server.server));
    let found = server.found.as_ref().ok()?;
    if refuses(found.status) {
        let finding = format!(
            "The shop at {name} refuses a request that the gate has not signed ({}).",
            found.status
        );
        return Some(Finding::fine(finding));
    }
    if shop.signer.is_some() {
        let wrong = format!(
            "The shop at {name} answers a request that the gate has not signed ({}): whoever reaches it walks past the line.",
            found.status
        );
        let right =
            "keep it, and let the shop refuse requests without a good Ropeline-Signature (docs/guides/back-door.md)";
        return Some(Finding::fault(wrong).at(places, &shop.key("signature_key"), right));
    }
    let Some(address) = server.address.filter(|address| is_public(*address)) else {
        return Some(Finding::fine(format!("The shop at {name} has no public address.")));
    };
    let kind = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    let wrong = format!(
        "The shop at {name} is at a public {kind} address and answers without the gate: whoever knows it may walk past the line."
    );
    let right = "a private address; or close it to all but the gates, or set signature_key, and try from elsewhere with \
                 ropeline probe --back-door";
    Some(Finding::warning(wrong).at(places, &shop.key("url"), right))
}

/// Whether the Internet routes to an address, by the registries of special addresses (RFC 6890).
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !is_special_v4(address),
        IpAddr::V6(address) => !is_special_v6(address),
    }
}

fn is_special_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_documentation()
        || is_shared
}

fn is_special_v6(address: Ipv6Addr) -> bool {
    let first = address.segments()[0];
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || (first == 0x2001 && address.segments()[1] == 0x0db8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_one_that_the_internet_routes_to() {
        for public in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2600::1", "::ffff:8.8.8.8"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.0.1",
            "100.64.0.1",
            "169.254.1.1",
            "::1",
            "fd00::1",
            "fe80::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }
}
