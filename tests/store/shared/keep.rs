//! Retention: snapshots, roots, skips, and a log that stays short.

use redis::cmd;
use ropeline::room::{Batch, LineName, MAX_BATCH_BYTES, Position, RoomName, Section};
use ropeline::store::{Exchanged, Log, Occasion};

use super::{open, server, snapshot, why};
use crate::contract::{after, append, begin, exchange, fill};
use crate::harness::redis::Server;

fn log_bytes(log: &mut dyn Log, at: Position) -> u64 {
    let Exchanged::Entries { log_bytes, .. } = log.exchange(at, None).unwrap() else {
        panic!("no entries")
    };
    log_bytes
}

fn entries(server: &Server) -> u64 {
    server.ask("XLEN {ropeline}:log")
}

/// An entry: its id, and each field's name and value.
type Raw = (String, Vec<(String, Vec<u8>)>);

/// Makes every entry older, by writing the stream anew.
fn age(server: &Server, ms: u64) {
    let mut connection = server.connect();
    let key = "{ropeline}:log";
    let all: Vec<Raw> = cmd("XRANGE").arg(key).arg("-").arg("+").query(&mut connection).unwrap();
    cmd("DEL").arg(key).exec(&mut connection).unwrap();
    for (id, fields) in all {
        let mut add = cmd("XADD");
        add.arg(key).arg(id);
        for (name, value) in fields {
            if name == "time" {
                let time: u64 = String::from_utf8(value).unwrap().parse().unwrap();
                add.arg(name).arg(time - ms);
            } else {
                add.arg(name).arg(value);
            }
        }
        add.exec(&mut connection).unwrap();
    }
}

#[test]
fn a_snapshot_of_the_future_or_of_another_log_is_not_kept() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 3);
    let elsewhere = Position {
        epoch: end.epoch - 1,
        ..end
    };
    let saves = [
        (elsewhere, None),
        (after(end, 1), None),
        (end, Some(end)),
        (start, Some(end)),
        (end, Some(end)),
    ];
    for (at, right) in saves {
        log.save(snapshot(at, b"x"), Occasion::Checkpoint).unwrap();
        let kept = log.load().unwrap().snapshots.pop();
        assert_eq!(kept.map(|kept| kept.position), right);
    }
    let forever: i64 = server.ask("TTL {ropeline}:snapshot");
    assert_eq!(forever, -1, "what was written for a minute is kept for good");
    let keys: Vec<String> = server.ask("KEYS *");
    assert_eq!(keys.len(), 3, "nothing is left beside: {keys:?}");
}

#[test]
fn entries_older_than_a_minute_go_but_for_those_behind_the_snapshot() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let old = fill(&mut log, start, 300);
    let before = log_bytes(&mut log, old);
    age(&server, 61_000);
    let end = fill(&mut log, old, 10);
    log.save(snapshot(after(start, 100), b"x"), Occasion::Checkpoint)
        .unwrap();
    assert_eq!(entries(&server), 301 + 10 - 101, "up to the snapshot");
    assert_eq!(log.exchange(start, None), Ok(Exchanged::Moved));
    assert_eq!(log.exchange(after(start, 99), None), Ok(Exchanged::Moved));
    assert_eq!(exchange(&mut log, after(start, 300), None).len(), 10);
    log.save(snapshot(end, b"x"), Occasion::Checkpoint).unwrap();
    assert_eq!(entries(&server), 10, "the young stay");
    let left = log_bytes(&mut log, end);
    assert!(left > 0 && left < before, "{left} of {before}");
    assert_eq!(
        exchange(&mut log, old, None).len(),
        10,
        "and are read from where they begin"
    );
    assert_eq!(fill(&mut log, end, 1), after(end, 1));
}

#[test]
fn more_than_eight_mebibytes_are_not_kept_but_for_those_behind_the_snapshot() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let (room, line) = (RoomName::new("shop").unwrap(), LineName::new(&"x".repeat(64)).unwrap());
    let mut large = append(1);
    large.batch = Batch {
        sections: vec![Section::new(room, line); 600],
        ..Batch::default()
    };
    let size = large.batch.encoded_len() as u64;
    assert!(size > 40_000 && size <= MAX_BATCH_BYTES as u64, "{size}");
    let count = 10 * 1024 * 1024 / size;
    for number in 0..count {
        large.serial = number + 1;
        exchange(&mut log, after(start, number), Some(&large));
    }
    log.save(snapshot(after(start, 5), b"x"), Occasion::Checkpoint).unwrap();
    assert_eq!(entries(&server), count - 5, "up to the snapshot");
    log.save(snapshot(after(start, count), b"x"), Occasion::Checkpoint)
        .unwrap();
    let bytes = log_bytes(&mut log, after(start, count));
    let most = 8 << 20;
    assert!((most - 2 * size..=most + 2 * size).contains(&bytes), "{bytes}");
    let mut at = after(start, count - entries(&server));
    let mut read = 0;
    loop {
        let piece = exchange(&mut log, at, None);
        let Some(last) = piece.last() else { break };
        let bytes: usize = piece.iter().map(|entry| entry.batch.encoded_len()).sum();
        assert!(bytes <= 5 << 20, "{bytes} in one answer");
        (at, read) = (last.position, read + piece.len() as u64);
    }
    assert_eq!(read, entries(&server));
}

#[test]
fn entries_lost_behind_the_snapshot_end_the_history() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let saved = fill(&mut log, start, 3);
    log.save(snapshot(saved, b"x"), Occasion::Checkpoint).unwrap();
    let end = fill(&mut log, saved, 3);
    let _: () = server.ask("DEL {ropeline}:log");
    assert_eq!(log.exchange(start, None), Ok(Exchanged::Moved), "the snapshot has that");
    let broken = Exchanged::Broken { epoch: end.epoch };
    assert_eq!(log.exchange(saved, None), Ok(broken), "nobody has this any more");
    assert_eq!(exchange(&mut log, end, None), [], "who has read all misses nothing");
    assert_eq!(exchange(&mut log, end, Some(&append(7))).len(), 1);
}

#[test]
fn a_root_is_found_by_its_hash_for_an_hour() {
    let server = server();
    let mut log = open(&server.url());
    let at = begin(&mut log);
    let root = snapshot(at, b"the state of some rooms");
    assert_eq!(log.root(&root.hash()), Ok(None));
    log.save(root.clone(), Occasion::Root).unwrap();
    assert_eq!(open(&server.url()).root(&root.hash()), Ok(Some(root.clone())));
    assert_eq!(log.root(&[1; 32]), Ok(None));
    assert_eq!(log.load().unwrap().snapshots, [], "it is none to load from");
    let keys: Vec<String> = server.ask("KEYS *root*");
    let secs: i64 = server.ask(&format!("TTL {}", keys[0]));
    assert!(secs > 3_500, "{secs}");
    log.save(snapshot(at, b"another state"), Occasion::Root).unwrap();
    let both: Vec<String> = server.ask("KEYS *root*");
    let other = both.iter().find(|key| **key != keys[0]).unwrap();
    let _: () = server.ask(&format!("RENAME {other} {}", keys[0]));
    assert_eq!(log.root(&root.hash()), Ok(None), "what stands there is another");
}

#[test]
fn skips_have_an_end() {
    let server = server();
    let mut log = open(&server.url());
    let at = begin(&mut log);
    for count in 1..=1_000 {
        log.skip(after(at, count)).unwrap();
    }
    log.skip(after(at, 7)).unwrap();
    assert!(why(log.skip(after(at, 2_000))).contains("skipped already"));
    assert_eq!(log.load().unwrap().skips.len(), 1_000);
}

#[test]
fn looking_for_skips_reads_no_snapshot() {
    let server = server();
    let mut log = open(&server.url());
    let at = begin(&mut log);
    log.save(snapshot(at, b"a state"), Occasion::Checkpoint).unwrap();
    log.skip(at).unwrap();
    let _: () = server.ask("CONFIG RESETSTAT");
    assert_eq!(log.skips().unwrap().positions, [at]);
    let commands: String = server.ask("INFO commandstats");
    let called = |command: &str| commands.contains(&format!("cmdstat_{command}:"));
    assert!(called("smembers"), "{commands}");
    assert!(!called("get") && !called("xrange"), "{commands}");
}
