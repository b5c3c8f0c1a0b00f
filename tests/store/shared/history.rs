//! One history to a log: order among gates, and its end wherever the store may have lost something.

use ropeline::room::{NEWEST, Position};
use ropeline::store::{Beginning, Begun, Exchanged, Log};

use super::{append_of, open, server, until_answered, why};
use crate::contract::{after, append, begin, exchange, fill};
use crate::harness::redis::{Options, Server, until};

#[test]
fn gates_read_one_order_and_each_entry_names_the_one_before() {
    let server = server();
    let start = begin(&mut open(&server.url()));
    std::thread::scope(|scope| {
        for gate in 1..=3 {
            let mut log = open(&server.url());
            scope.spawn(move || {
                let mut at = start;
                for serial in 1..=100 {
                    let read = exchange(&mut log, at, Some(&append_of(gate, serial)));
                    at = read.last().unwrap().position;
                }
            });
        }
    });
    let read = [0, 1].map(|_| {
        let (mut log, mut at, mut entries) = (open(&server.url()), start, Vec::new());
        loop {
            let piece = exchange(&mut log, at, None);
            let Some(last) = piece.last() else { return entries };
            at = last.position;
            entries.extend(piece);
        }
    });
    assert_eq!(read[0], read[1]);
    assert_eq!(read[0].len(), 300);
    assert!(read[0].windows(2).all(|pair| pair[1].previous == pair[0].nonce));
    for gate in 1..=3 {
        let of_gate = read[0].iter().filter(|entry| entry.gate.0 == gate);
        assert!(
            of_gate.map(|entry| entry.serial).eq(1..=100),
            "gate {gate} is in its own order"
        );
    }
}

#[test]
fn an_append_sent_twice_stands_twice_under_one_serial() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    exchange(&mut log, start, Some(&append(1)));
    let entries = exchange(&mut log, start, Some(&append(1)));
    let serials: Vec<_> = entries.iter().map(|entry| entry.serial).collect();
    assert_eq!(serials, [1, 1]);
    assert_eq!(entries[1].previous, entries[0].nonce);
}

/// The answer for every gate that knows the old history, until one begins a new log.
fn ended(url: &str, at: Position) {
    let mut log = open(url);
    let broken = Ok(Exchanged::Broken { epoch: at.epoch });
    assert_eq!(log.exchange(at, Some(&append(9))), broken);
    assert_eq!(log.exchange(at, None), broken, "a reader notices as well");
    let next = Beginning::First {
        epoch: at.epoch + 1,
        append: Box::new(append(1)),
    };
    assert_eq!(log.begin(at.epoch, &next), Ok(Begun::Begun));
    let new = Position {
        epoch: at.epoch + 1,
        sequence: 1,
    };
    fill(&mut log, new, 2);
}

#[test]
fn a_restart_ends_the_history_though_nothing_was_lost() {
    let mut server = Server::start(&Options::durable());
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 5);
    server.kill();
    assert!(why(log.exchange(end, None)).contains("127.0.0.1"));
    server.restart();
    until("data read", || {
        server.try_ask::<u64>("XLEN {ropeline}:log").ok() == Some(6)
    });
    let broken = Exchanged::Broken { epoch: end.epoch };
    assert_eq!(until_answered(&mut log, end, None), broken, "over the same log");
    ended(&server.url(), end);
}

#[test]
fn a_promotion_ends_the_history() {
    let master = server();
    let replica = Server::start(&Options::default().line(&format!("replicaof 127.0.0.1 {}", master.port())));
    // Before: a first replica gives its master another replication id, which ends a history as well.
    until("a replica", || {
        replica.info("replication", "master_link_status").as_deref() == Some("up")
    });
    let mut log = open(&master.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 5);
    until("a replica in sync", || {
        replica.try_ask::<u64>("XLEN {ropeline}:log").ok() == Some(6)
    });
    let mut there = open(&replica.url());
    assert!(
        why(there.exchange(end, None)).contains("replica"),
        "a replica is no log, nor an empty one"
    );
    let _: () = replica.ask("REPLICAOF NO ONE");
    let _: () = master.ask(&format!("REPLICAOF 127.0.0.1 {}", replica.port()));
    for ask in [Some(append(6)), None] {
        let answer = log.exchange(end, ask.as_ref());
        assert!(answer.is_err(), "the old master is none any more: {answer:?}");
    }
    let broken = Exchanged::Broken { epoch: end.epoch };
    assert_eq!(until_answered(&mut there, end, None), broken);
    ended(&replica.url(), end);
}

#[test]
fn a_first_replica_ends_the_history_too() {
    let master = server();
    let mut log = open(&master.url());
    let end = begin(&mut log);
    let replica = Server::start(&Options::default().line(&format!("replicaof 127.0.0.1 {}", master.port())));
    until("a replica", || {
        replica.info("replication", "master_link_status").as_deref() == Some("up")
    });
    ended(&master.url(), end);
}

#[test]
fn a_store_that_was_emptied_has_no_log() {
    let server = server();
    let mut log = open(&server.url());
    let end = begin(&mut log);
    let _: () = server.ask("FLUSHALL");
    assert_eq!(log.exchange(end, Some(&append(1))), Ok(Exchanged::Broken { epoch: 0 }));
    assert_eq!(log.exchange(end, None), Ok(Exchanged::Broken { epoch: 0 }));
    let loaded = log.load().unwrap();
    assert_eq!((loaded.epoch, loaded.last_known, loaded.clean), (0, 0, false));
}

#[test]
fn a_store_that_fell_back_is_told_from_one_that_goes_on() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 3);
    // As after a failover that keeps its id: the last entry is gone.
    let _: () = server.ask(&format!("XDEL {{ropeline}}:log {}-{}", end.epoch, end.sequence));
    let _: () = server.ask(&format!("HSET {{ropeline}}:head sequence {}", end.sequence - 1));
    let broken = Ok(Exchanged::Broken { epoch: end.epoch });
    assert_eq!(log.exchange(end, None), broken);
    assert_eq!(log.exchange(end, Some(&append(4))), broken);
}

#[test]
fn an_entry_of_a_later_machine_is_named_and_not_passed() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 2);
    let mut later = append(3);
    later.version = NEWEST + 1;
    for _ in 0..2 {
        let Exchanged::Entries { entries, newer, .. } = log.exchange(start, Some(&later)).unwrap() else {
            panic!("no entries")
        };
        assert_eq!((entries.len(), newer), (2, Some(NEWEST + 1)));
    }
    let Exchanged::Entries { entries, newer, .. } = log.exchange(end, None).unwrap() else {
        panic!("no entries")
    };
    assert_eq!((entries.len(), newer), (0, Some(NEWEST + 1)));
    assert_eq!(exchange(&mut log, after(end, 2), None), []);
}

#[test]
fn a_history_that_ended_can_still_be_looked_at() {
    let mut server = Server::start(&Options::durable());
    let mut log = open(&server.url());
    assert_eq!(log.origin(), Ok(None));
    let start = begin(&mut log);
    let end = fill(&mut log, start, 5);
    server.restart();
    until("data read", || {
        server.try_ask::<u64>("XLEN {ropeline}:log").ok() == Some(6)
    });
    until("an answer", || log.origin().is_ok());
    assert_eq!(log.origin(), Ok(Some(Position { sequence: 0, ..start })));
    let Ok(Exchanged::Entries { entries, more, .. }) = log.read(start) else {
        panic!("no entries")
    };
    assert!(entries.len() == 5 && !more);
    let broken = |epoch| Ok(Exchanged::Broken { epoch });
    assert_eq!(log.exchange(end, None), broken(end.epoch), "nobody goes on with it");
    assert_eq!(log.read(after(end, 1)), broken(end.epoch));
    let other = Position {
        epoch: end.epoch - 1,
        ..end
    };
    assert_eq!(log.read(other), broken(end.epoch));
    let _: () = server.ask("XTRIM {ropeline}:log MAXLEN 2");
    assert_eq!(log.read(start), Ok(Exchanged::Moved));
    assert_eq!(log.origin(), Ok(Some(after(start, 3))));
}
