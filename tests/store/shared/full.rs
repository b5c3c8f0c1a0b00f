//! A store whose memory is full: it accepts commands that free memory, and the log sends those by itself.

use ropeline::room::Position;
use ropeline::store::{Beginning, Begun, Exchanged, Log, Occasion};

use super::{open, server, snapshot, why};
use crate::contract::{append, begin, exchange, fill};
use crate::harness::redis::Server;

/// Sets the limit below the memory in use.
fn fill_up(server: &Server) {
    let used: u64 = server.info("memory", "used_memory").unwrap().parse().unwrap();
    let _: () = server.ask(&format!("CONFIG SET maxmemory {}", used / 2));
}

#[test]
fn a_full_store_refuses_the_append_whole_and_the_log_gives_what_it_can() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 500);
    log.save(snapshot(end, b"x"), Occasion::Checkpoint).unwrap();
    fill_up(&server);
    assert!(why(log.exchange(end, Some(&append(501)))).contains("memory is full"));
    assert_eq!(
        server.ask::<u64>("XLEN {ropeline}:log"),
        0,
        "what the snapshot covers has gone"
    );
    assert_eq!(
        exchange(&mut log, end, None),
        [],
        "nothing was appended, and reading goes on"
    );
    let _: () = server.ask("CONFIG SET maxmemory 0");
    assert_eq!(exchange(&mut log, end, Some(&append(501))).len(), 1);
}

#[test]
fn what_no_snapshot_covers_stays_in_a_full_store() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 50);
    fill_up(&server);
    assert!(why(log.exchange(end, Some(&append(51)))).contains("memory is full"));
    assert_eq!(exchange(&mut log, start, None).len(), 50);
}

#[test]
fn a_log_begins_in_a_full_store() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    fill(&mut log, start, 50);
    fill_up(&server);
    let next = start.epoch + 1;
    let first = Beginning::First {
        epoch: next,
        append: Box::new(append(1)),
    };
    assert_eq!(log.begin(start.epoch, &first), Ok(Begun::Begun));
    let at = Position {
        epoch: next,
        sequence: 0,
    };
    let Ok(Exchanged::Entries { entries, .. }) = log.exchange(at, None) else {
        panic!("no entries")
    };
    assert_eq!(entries.len(), 1, "all of it or nothing");
}
