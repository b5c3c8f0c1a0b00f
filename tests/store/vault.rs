//! The suite that every vault passes: the folder of a single gate, and the hash of a shared store.

use std::os::unix::fs::PermissionsExt as _;

use ropeline::store::redis::{self, RedisVault};
use ropeline::store::{FolderVault, Vault};

use crate::harness::redis::{Options, Server, until};

fn record(name: &str, bytes: &str) -> (String, Vec<u8>) {
    (name.to_owned(), bytes.as_bytes().to_vec())
}

fn read(vault: &mut dyn Vault, names: &[&str]) -> Vec<Option<String>> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let read = vault.read(&names).unwrap().into_iter();
    read.map(|bytes| bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
        .collect()
}

/// `open` gives another gate on the same records each time.
fn suite(open: &dyn Fn() -> Box<dyn Vault>) {
    let (mut one, mut other) = (open(), open());
    assert_eq!(read(&mut *one, &["a", "b"]), [None, None]);
    assert!(!one.write(&[record("a", "1")]).unwrap(), "without the lease");
    assert!(one.lease().unwrap() && one.lease().unwrap(), "taken and kept");
    assert!(!other.lease().unwrap());
    let written = [record("a", "1"), record("certificate:shop.example", "2")];
    assert!(one.write(&written).unwrap());
    assert!(!other.write(&[record("a", "3")]).unwrap());
    let names = ["certificate:shop.example", "b", "a"];
    let (two, first) = (Some("2".to_owned()), Some("1".to_owned()));
    assert_eq!(read(&mut *other, &names), [two, None, first]);
    // Only the gate that has it gives it back.
    other.release().unwrap();
    assert!(!other.lease().unwrap());
    one.release().unwrap();
    assert!(other.lease().unwrap() && !one.lease().unwrap());
    assert!(!one.write(&[record("a", "4")]).unwrap());
    // A record without bytes is deleted, and one that is not there stays so.
    let long = format!("certificate:{}", "a".repeat(253));
    assert!(
        other
            .write(&[record("a", ""), record("none", ""), record(&long, "5")])
            .unwrap()
    );
    assert_eq!(
        read(&mut *one, &["a", "none", &long]),
        [None, None, Some("5".to_owned())]
    );
    assert!(other.write(&[record(&long, "")]).unwrap());
    assert_eq!(read(&mut *one, &[&long]), [None]);
}

#[test]
fn a_folder_keeps_records_for_the_gate_with_the_lease() {
    let data = tempfile::tempdir().unwrap();
    suite(&|| Box::new(FolderVault::new(data.path())));
    // The lease of a gate that is gone is free. A process that another test starts may hold its file until it is another program.
    for _ in 0..2 {
        until("the free lease", || FolderVault::new(data.path()).lease().unwrap());
    }
    for entry in std::fs::read_dir(data.path().join("certificates")).unwrap().flatten() {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{entry:?}");
    }
}

#[test]
fn a_shared_store_keeps_records_for_the_gate_with_the_lease() {
    let server = Server::start(&Options::default());
    let url = server.url().parse().unwrap();
    suite(&|| Box::new(RedisVault::new(&url, redis::Options::default()).unwrap()));
    let left: i64 = server.ask("PTTL {ropeline}:certificates:lease");
    assert!((1..=15_000).contains(&left), "it ends by itself: {left}");
}

#[test]
fn a_store_that_is_away_is_no_empty_one() {
    let mut server = Server::start(&Options::default());
    let url = server.url().parse().unwrap();
    let mut vault = RedisVault::new(&url, redis::Options::default()).unwrap();
    server.kill();
    assert!(vault.read(&["a".to_owned()]).is_err() && vault.lease().is_err());
    server.restart();
    assert_eq!(read(&mut vault, &["a"]), [None]);
}
