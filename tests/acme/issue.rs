//! A certificate from nothing, by each kind of challenge and store.

use crate::authority::{EXTERNAL, Options};
use crate::harness::redis::{Server, until};
use crate::site::{HOST, HOSTS, QUICK, Site, addresses, logs, metric};
use crate::visitor::{asks, comes_in};

#[test]
fn a_gate_serves_http_until_the_authority_has_issued_and_then_tls() {
    let site = Site::new(Options::default(), QUICK);
    site.pebble.front.always(Some(crate::front::Fault::Broken));
    let gate = site.alone(&HOSTS);
    let at = addresses(&gate);
    logs(&gate, "visitors cannot come over TLS until");
    let refused = comes_in(at.tls, HOST, &site.client).unwrap_err();
    assert!(refused.contains("AccessDenied"), "{refused}");
    assert!(asks(at.clear, HOST, "/robots.txt").ends_with("the shop"));
    logs(&gate, "the authority has not issued a certificate");
    until("failures that are counted", || {
        metric(&gate, "ropeline_acme_failures{host=\"shop.example\"} 0").is_empty()
    });

    site.leads_to(&[&gate]);
    site.pebble.front.always(None);
    let certificates = HOSTS.map(|host| site.serves(&gate, host));
    assert_ne!(certificates[0], certificates[1]);
    assert_eq!((site.pebble.front.orders(), site.pebble.front.accounts()), (2, 1));
    until("failures that are over", || {
        metric(&gate, "ropeline_acme_failures{host=\"shop.example\"} 0").len() == 1
    });
    let expiry = metric(
        &gate,
        "ropeline_certificate_expiry_timestamp_seconds{name=\"shop.example\",file=\"acme\"}",
    );
    assert_eq!(expiry.len(), 1);
    // Neither the authority's questions nor their answers are the shop's, and those of others are not ours.
    assert_eq!(site.shop.asked("/.well-known/"), Vec::<String>::new());
    assert!(asks(at.clear, HOST, "/.well-known/acme-challenge/another-s").ends_with("the shop"));
    assert!(!gate.said().contains("PRIVATE KEY"), "{}", gate.said());
}

#[test]
fn a_certificate_is_had_by_a_handshake_where_nothing_listens_in_the_clear() {
    let site = Site::new(Options::default(), "challenge = \"tls-alpn-01\"\nretry = \"1s\"\n");
    let store = Server::start(&crate::harness::redis::Options::default());
    let gates = [site.shares(&store), site.shares(&store)];
    site.leads_to(&[&gates[0], &gates[1]]);
    let [one, other] = gates.each_ref().map(|gate| site.serves(gate, HOST));
    assert_eq!(one, other);
    assert_eq!(site.pebble.front.orders(), 1);
}

#[test]
fn an_external_account_is_bound_and_without_it_the_authority_says_what_it_wants() {
    let external = Options {
        external: true,
        ..Options::default()
    };
    let without = Site::new(external, QUICK);
    let gate = without.alone(&[HOST]);
    let line = logs(&gate, "the authority has not issued a certificate");
    assert!(line.contains("externalAccountRequired"), "{line}");
    drop(gate);

    let (id, secret) = EXTERNAL;
    let site = Site::new(
        external,
        &format!("{QUICK}external_account = {{ id = \"{id}\", secret = \"{secret}\" }}\n"),
    );
    let gate = site.alone(&[HOST]);
    site.leads_to(&[&gate]);
    site.serves(&gate, HOST);
    assert!(!gate.said().contains(secret));
}

#[test]
fn a_gate_that_is_started_again_has_its_certificate_at_once_and_orders_none() {
    let site = Site::new(Options::default(), QUICK);
    let gate = site.alone(&[HOST]);
    site.leads_to(&[&gate]);
    let before = site.serves(&gate, HOST);
    let gate = gate.kill().start();
    assert_eq!(comes_in(addresses(&gate).tls, HOST, &site.client), Ok(before));
    // It has looked, and has had time to order, when another host has a certificate.
    site.leads_to(&[&gate]);
    gate.reconfigure(
        "hosts = [\"shop.example\"]",
        "hosts = [\"shop.example\", \"tickets.example\"]",
    );
    site.serves(&gate, HOSTS[1]);
    assert_eq!(site.pebble.front.orders(), 2);
}

#[test]
fn a_host_that_a_reload_adds_gets_its_certificate_and_the_others_keep_theirs() {
    let site = Site::new(Options::default(), QUICK);
    let gate = site.alone(&[HOST]);
    site.leads_to(&[&gate]);
    let before = site.serves(&gate, HOST);
    assert!(comes_in(addresses(&gate).tls, HOSTS[1], &site.client).is_err());
    gate.reconfigure(
        "hosts = [\"shop.example\"]",
        "hosts = [\"tickets.example\", \"shop.example\"]",
    );
    site.serves(&gate, HOSTS[1]);
    assert_eq!(site.serves(&gate, HOST), before);
    assert_eq!((site.pebble.front.orders(), site.pebble.front.accounts()), (2, 1));
}
