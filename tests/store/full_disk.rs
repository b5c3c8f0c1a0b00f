//! A log that cannot grow: a real limit on the size of files, in a child process.
//!
//! The shell ignores the limit's signal, so that a write fails with an error as on a full disk; the child lowers its
//! limit, meets it, and lifts it again.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use ropeline::room::{Batch, Change, RoomChange, RoomName};
use ropeline::store::{Append, Exchanged, Log};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::contract::{after, append, begin, exchange};
use crate::embedded::Folder;

/// Some kilobytes.
fn big(serial: u64) -> Append {
    let room = RoomName::new("a-room-with-a-name-of-32-letters").unwrap();
    let rooms = vec![
        RoomChange {
            room,
            revision: serial,
            change: Change::Reset,
            who: None,
        };
        100
    ];
    Append {
        batch: Batch {
            rooms,
            ..Batch::default()
        },
        ..append(serial)
    }
}

#[test]
fn a_log_that_cannot_grow_takes_the_same_batch_later_and_loses_nothing() {
    let mut child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::child", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"go").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("the limit was met"), "{said}");
}

#[test]
#[ignore = "the child of the test above"]
fn child() {
    let mut told = String::new();
    std::io::stdin().read_to_string(&mut told).unwrap();
    assert_eq!(told, "go");
    let folder = Folder::new();
    let mut log = folder.embedded();
    let start = begin(&mut log);
    let before = getrlimit(Resource::Fsize);
    setrlimit(
        Resource::Fsize,
        Rlimit {
            current: Some(1_200_000),
            ..before
        },
    )
    .unwrap();
    let mut at = start;
    let refused = loop {
        match log.exchange(at, Some(&big(at.sequence + 1))) {
            Ok(Exchanged::Entries { .. }) => at = after(at, 1),
            Ok(other) => panic!("{other:?}"),
            Err(refused) => break refused,
        }
        assert!(at.sequence < 10_000, "the limit was never met");
    };
    println!("the limit was met after {} entries: {refused}", at.sequence);
    let kept = big(at.sequence + 1);
    for _ in 0..3 {
        assert!(log.exchange(at, Some(&kept)).is_err(), "nothing has changed");
    }
    setrlimit(Resource::Fsize, before).unwrap();
    let entries = exchange(&mut log, at, Some(&kept));
    // One that failed only after it was written counts as sent twice.
    assert!(
        entries
            .iter()
            .all(|entry| entry.serial == kept.serial && entry.batch == kept.batch),
        "{entries:?}"
    );
    let mut read = Vec::new();
    while let Exchanged::Entries { entries, .. } = log.exchange(after(start, read.len() as u64), None).unwrap() {
        if entries.is_empty() {
            break;
        }
        read.extend(entries);
    }
    let chained = read.windows(2).all(|pair| pair[1].previous == pair[0].nonce);
    assert!(chained && read.len() as u64 > at.sequence);
    let serials: BTreeSet<_> = read.iter().map(|entry| entry.serial).collect();
    assert_eq!(serials, (1..=kept.serial).collect());
}
