//! A store that is emptied, away, or read by a stranger.

use crate::authority::Options;
use crate::harness::redis::{self, Server, until};
use crate::site::{Fleet, HOST, OLD_KEY, QUICK, Site, addresses, logs, many_looks};
use crate::visitor::comes_in;

#[test]
fn what_an_emptied_store_has_lost_is_written_back_and_not_ordered_anew() {
    let Fleet {
        gates: _gates,
        store,
        site,
        certificate,
    } = Fleet::<2>::open();
    let asked = site.pebble.front.asked();
    let _: () = store.ask("FLUSHALL");
    until("the records", || {
        store.ask::<bool>("HEXISTS {ropeline}:certificates certificate:shop.example")
    });
    let newcomer = site.shares(&store);
    assert_eq!(comes_in(addresses(&newcomer).tls, HOST, &site.client), Ok(certificate));
    many_looks(&store);
    assert_eq!(site.pebble.front.asked(), asked);
}

#[test]
fn nobody_orders_while_the_store_is_away() {
    let site = Site::new(Options::default(), &format!("{QUICK}[logging]\nlevel = \"debug\"\n"));
    let mut store = Server::start(&redis::Options::default());
    store.kill();
    let gate = site.shares(&store);
    site.leads_to(&[&gate]);
    logs(&gate, "so no certificate is ordered");
    until("looks at a store that is away", || {
        gate.said().matches("certificates cannot be looked after now").count() > 5
    });
    assert_eq!(site.pebble.front.asked(), 0);
    store.restart();
    let shown = site.serves(&gate, HOST);
    // A certificate in memory is shown without the store.
    store.kill();
    assert_eq!(comes_in(addresses(&gate).tls, HOST, &site.client), Ok(shown));
}

#[test]
fn a_store_that_is_read_by_a_stranger_holds_no_key_and_none_of_its_records_can_be_altered() {
    let Fleet {
        gates: [gate],
        store,
        site,
        ..
    } = Fleet::on(&redis::Options::durable());
    let records: Vec<Vec<u8>> = store.ask("HVALS {ropeline}:certificates");
    assert!(records.len() >= 3);
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
    logs(&gate, "was written to it");
    site.serves(&gate, HOST);
    assert_eq!(site.pebble.front.orders(), 1);
}

#[test]
fn keys_that_are_rotated_open_what_the_old_one_sealed_and_seal_it_anew() {
    let Fleet {
        gates: [gate],
        store: _store,
        site,
        certificate,
    } = Fleet::open();
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
    assert_eq!(comes_in(addresses(&gate).tls, HOST, &site.client), Ok(certificate));
    assert_eq!(site.pebble.front.asked(), asked);
}

/// Both keep what they have in memory, and neither writes over what the other has written.
#[test]
fn gates_with_different_keys_leave_the_records_to_the_one_that_wrote_them() {
    let Fleet {
        gates,
        store,
        site,
        certificate,
    } = Fleet::<2>::open();
    let records = || store.ask::<Vec<Vec<u8>>>("HMGET {ropeline}:certificates revision state certificate:shop.example");
    let (written, orders) = (records(), site.pebble.front.orders());
    gates[1].reconfigure(
        OLD_KEY,
        "{ id = \"other\", secret = \"another secret of the tests, long enough too\" }",
    );
    logs(&gates[1], "neither orders certificates nor writes them");
    many_looks(&store);
    assert_eq!((records(), site.pebble.front.orders()), (written, orders));
    for gate in &gates {
        assert_eq!(site.serves(gate, HOST), certificate);
    }
}

/// What the files say is then of no use, and nothing of it is believed.
#[test]
fn damaged_files_are_told_and_a_new_certificate_is_ordered() {
    let site = Site::new(Options::default(), QUICK);
    let gate = site.alone(&[HOST]);
    site.leads_to(&[&gate]);
    let before = site.serves(&gate, HOST);
    let dead = gate.kill();
    let files = walk(&dead.data().join("certificates"));
    assert!(files.len() >= 3, "{files:?}");
    for (at, file) in files.iter().enumerate() {
        let mut bytes = std::fs::read(file).unwrap();
        match at % 3 {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes.clear(),
            _ => bytes.iter_mut().for_each(|byte| *byte ^= 0x20),
        }
        std::fs::write(file, bytes).unwrap();
    }
    let gate = dead.start();
    site.leads_to(&[&gate]);
    assert_ne!(site.serves(&gate, HOST), before);
    assert!(!gate.said().contains("panicked"), "{}", gate.said());
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
