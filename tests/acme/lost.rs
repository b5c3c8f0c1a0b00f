//! A store that is emptied, away, or read by a stranger.

use crate::authority::Options;
use crate::harness::redis::{Server, until};
use crate::site::{HOST, Site, addresses, logs};
use crate::visitor::comes_in;

const QUICK: &str = "retry = \"1s\"\n";

#[test]
fn what_an_emptied_store_has_lost_is_written_back_and_not_ordered_anew() {
    let site = Site::new(Options::default(), QUICK);
    let store = Server::start(&crate::harness::redis::Options::default());
    let gates = [site.shares(&store), site.shares(&store)];
    site.leads_to(&gates.each_ref());
    let [one, other] = gates.each_ref().map(|gate| site.serves(gate, HOST));
    assert_eq!(one, other);
    let asked = site.pebble.front.asked();
    let _: () = store.ask("FLUSHALL");
    until("the records", || {
        store.ask::<bool>("HEXISTS {ropeline}:certificates certificate:shop.example")
    });
    let newcomer = site.shares(&store);
    assert_eq!(comes_in(addresses(&newcomer).tls, HOST, &site.client), Ok(one));
    assert_eq!(site.pebble.front.asked(), asked);
}

#[test]
fn nobody_orders_while_the_store_is_away() {
    let site = Site::new(Options::default(), QUICK);
    let mut store = Server::start(&crate::harness::redis::Options::default());
    store.kill();
    let gate = site.shares(&store);
    site.leads_to(&[&gate]);
    logs(&gate, "so no certificate is ordered");
    assert_eq!(site.pebble.front.asked(), 0);
    store.restart();
    let shown = site.serves(&gate, HOST);
    // A certificate in memory is shown without the store.
    store.kill();
    assert_eq!(comes_in(addresses(&gate).tls, HOST, &site.client), Ok(shown));
}

#[test]
fn a_store_that_is_read_by_a_stranger_holds_no_key_and_none_of_its_records_can_be_altered() {
    let site = Site::new(Options::default(), QUICK);
    let store = Server::start(&crate::harness::redis::Options::durable());
    let gate = site.shares(&store);
    site.leads_to(&[&gate]);
    site.serves(&gate, HOST);
    let records: Vec<Vec<u8>> = store.ask("HVALS {ropeline}:certificates");
    assert!(records.len() >= 4);
    let mut everything = records.concat();
    for file in walk(store.folder()) {
        everything.extend(std::fs::read(file).unwrap());
    }
    for word in ["PRIVATE KEY", "BEGIN CERTIFICATE", "key_pkcs8", "thumbprint"] {
        let found = everything.windows(word.len()).any(|part| part == word.as_bytes());
        assert!(!found, "{word}");
    }
    // A stranger puts a record in another's place: the gates do not take it.
    let _: i64 =
        store.ask("HSET {ropeline}:certificates challenges forged certificate:shop.example forged revision forged");
    logs(&gate, "were written to it");
    site.serves(&gate, HOST);
    assert_eq!(site.pebble.front.orders(), 1);
}

#[test]
fn keys_that_are_rotated_open_what_the_old_one_sealed_and_seal_it_anew() {
    let site = Site::new(Options::default(), QUICK);
    let store = Server::start(&crate::harness::redis::Options::default());
    let gate = site.shares(&store);
    site.leads_to(&[&gate]);
    let before = site.serves(&gate, HOST);
    let asked = site.pebble.front.asked();
    let (old, new) = (
        "{ id = \"test\"",
        "{ id = \"new\", secret = \"another secret of the tests, long enough too\" }",
    );
    gate.reconfigure(old, &format!("{new}, {old}"));
    logs(&gate, "under an older key");
    // Started with the new key alone, and in a gate that has never had the old one.
    gate.reconfigure(
        ", { id = \"test\", secret = \"a secret of the tests, long enough for any ring\" }",
        "",
    );
    let gate = gate.kill().start();
    assert_eq!(comes_in(addresses(&gate).tls, HOST, &site.client), Ok(before));
    assert_eq!(site.pebble.front.asked(), asked);
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else if path.is_file() {
            files.push(path);
        }
    }
    files
}
