//! An authority that refuses nonces, is busy, broken or no authority at all, and gates that end in the middle of an order.

use crate::authority::Options;
use crate::front::Fault;
use crate::harness::redis::{Server, until};
use crate::site::{HOST, HOSTS, QUICK, Site, logs, many_looks, metric};
use crate::visitor::asks;

#[test]
fn refused_nonces_do_not_keep_a_certificate_away() {
    let refuses = Options {
        refused_nonces: 20,
        ..Options::default()
    };
    let site = Site::new(refuses, QUICK);
    // Of nine nonces or more in an order, one is refused nearly always, and one three times in a row, which ends the order, in one of
    // fourteen.
    for _ in 0..20 {
        let before = site.pebble.front.refused();
        let gate = site.alone(&[HOST]);
        site.leads_to(&[&gate]);
        site.serves(&gate, HOST);
        let is_first = !gate.said().contains("has not issued a certificate");
        if is_first && site.pebble.front.refused() > before {
            return;
        }
    }
    panic!("a refused nonce ends the order");
}

#[test]
fn what_an_authority_asks_for_lasts_until_the_settings_change() {
    let site = Site::new(Options::default(), QUICK);
    let store = Server::start(&crate::harness::redis::Options::default());
    site.pebble.front.next(&[Fault::Busy(3_600)]);
    let gate = site.shares(&store);
    site.leads_to(&[&gate]);
    logs(&gate, "has not issued a certificate");
    // Another host is no reason to ask an authority that is busy.
    gate.reconfigure(
        "hosts = [\"shop.example\"]",
        "hosts = [\"shop.example\", \"tickets.example\"]",
    );
    many_looks(&store);
    assert_eq!(site.pebble.front.asked(), 1);
    gate.reconfigure("retry = \"1s\"", "retry = \"2s\"");
    site.serves(&gate, HOST);
}

#[test]
fn a_host_that_makes_the_authority_fail_keeps_no_other_from_its_turn() {
    let site = Site::new(Options::default(), QUICK);
    site.pebble.front.of_hosts(&[(HOST, Fault::Broken)]);
    let gate = site.alone(&HOSTS);
    site.leads_to(&[&gate]);
    site.serves(&gate, HOSTS[1]);
    site.pebble.front.of_hosts(&[]);
    site.serves(&gate, HOST);
}

#[test]
fn what_the_authority_asks_of_one_host_is_not_asked_of_another() {
    let site = Site::new(Options::default(), QUICK);
    let front = &site.pebble.front;
    front.of_host_and_after(HOST, Fault::Limited(3_600), Fault::Cut);
    let gate = site.alone(&HOSTS);
    site.leads_to(&[&gate]);
    logs(&gate, "rateLimited");
    // The other host's first request gets no answer at all.
    logs(&gate, "does not speak HTTP");
    front.always(None);
    site.serves(&gate, HOSTS[1]);
}

#[test]
fn an_account_that_the_authority_does_not_know_is_brought_back_by_no_gate() {
    let site = Site::new(Options::default(), "retry = \"4s\"\n");
    let store = Server::start(&crate::harness::redis::Options::default());
    let gates = [site.shares(&store), site.shares(&store)];
    site.leads_to(&gates.each_ref());
    for gate in &gates {
        site.serves(gate, HOST);
    }
    site.pebble.front.of_hosts(&[(HOSTS[1], Fault::NoAccount)]);
    gates[0].reconfigure(
        "hosts = [\"shop.example\"]",
        "hosts = [\"shop.example\", \"tickets.example\"]",
    );
    logs(&gates[0], "accountDoesNotExist");
    site.pebble.front.of_hosts(&[]);
    site.serves(&gates[0], HOSTS[1]);
    assert_eq!(site.pebble.front.accounts(), 2);
}

#[test]
fn an_authority_that_is_busy_broken_or_none_is_left_alone_for_a_while_and_asked_again() {
    let site = Site::new(Options::default(), QUICK);
    site.pebble.front.next(&[Fault::Busy(2), Fault::Broken, Fault::Garbage]);
    let gate = site.alone(&[HOST]);
    site.leads_to(&[&gate]);
    site.serves(&gate, HOST);
    assert_eq!(site.pebble.front.faulted(), 3);
    let said = gate.said();
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("has not issued a certificate"))
        .collect();
    assert_eq!(lines.len(), 3, "{said}");
    for (line, word) in lines.iter().zip(["429", "500", "not as ACME has it"]) {
        assert!(
            line.contains(word) && line.contains(HOST) && line.contains("again"),
            "{line}"
        );
    }
    until("failures that are over", || {
        metric(&gate, "ropeline_acme_failures{host=\"shop.example\"} 0").len() == 1
    });
}

/// The authority is not asked while the pause lasts, which is an hour here, whatever looks at the store there are.
#[test]
fn a_pause_survives_a_restart() {
    let site = Site::new(Options::default(), "retry = \"1h\"\n");
    let store = Server::start(&crate::harness::redis::Options::default());
    site.pebble.front.always(Some(Fault::Broken));
    let gate = site.shares(&store);
    logs(&gate, "has not issued a certificate");
    let asked = site.pebble.front.asked();
    site.pebble.front.always(None);
    let gate = gate.kill().start();
    site.leads_to(&[&gate]);
    let other = site.shares(&store);
    many_looks(&store);
    assert_eq!(site.pebble.front.asked(), asked);
    for gate in [&gate, &other] {
        assert_eq!(metric(gate, "ropeline_acme_failures{host=\"shop.example\"} 1").len(), 1);
    }
}

#[test]
fn an_order_whose_gate_was_killed_is_begun_again_by_another() {
    let site = Site::new(Options::default(), QUICK);
    let store = Server::start(&crate::harness::redis::Options::default());
    let mut gates = vec![site.shares(&store), site.shares(&store)];
    site.leads_to(&gates.iter().collect::<Vec<_>>());
    // Three looks pass before the authority is told to ask.
    until("an order", || site.pebble.front.orders() == 1);
    let at = gates
        .iter()
        .position(|gate| gate.said().contains("ordering a certificate"))
        .unwrap();
    let killed = gates.remove(at).kill();
    site.leads_to(&[&gates[0]]);
    site.serves(&gates[0], HOST);
    assert_eq!(site.pebble.front.orders(), 2);
    // The account is the first gate's.
    assert_eq!(site.pebble.front.accounts(), 1);
    let back = killed.start();
    site.serves(&back, HOST);
    many_looks(&store);
    assert_eq!(site.pebble.front.orders(), 2);
}

#[test]
fn what_the_authority_says_of_a_host_that_it_cannot_reach_is_in_the_log_and_the_doctor_has_it() {
    let site = Site::new(Options::default(), QUICK);
    // The door leads nowhere.
    let gate = site.alone(&[HOST]);
    let line = logs(&gate, "has not issued a certificate");
    assert!(
        line.contains(HOST) && line.contains("urn:ietf:params:acme:error:"),
        "{line}"
    );
    until("the doctor's finding", || {
        let found = asks(gate.admin.parse().unwrap(), "localhost", "/api/v1/doctor");
        let parts = [
            "There is no certificate for shop.example yet.",
            "urn:ietf:params:acme:error:",
        ];
        parts.iter().all(|part| found.contains(part))
    });
}
