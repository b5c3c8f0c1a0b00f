//! A store that forgets scripts, is slow, or does not answer: retries, never an answer that is none.

use std::time::Duration;

use ropeline::store::redis::{Options, RedisLog};
use ropeline::store::{Beginning, Begun, Log, Occasion};

use super::{open, server, snapshot, until_answered, why};
use crate::contract::{after, append, begin, exchange, fill};
use crate::harness::redis::until;

#[test]
fn a_store_that_forgot_the_scripts_is_told_them_within_the_call() {
    let server = server();
    let mut log = open(&server.url());
    let forget = || server.ask::<()>("SCRIPT FLUSH");
    forget();
    let start = begin(&mut log);
    forget();
    let end = fill(&mut log, start, 3);
    forget();
    log.save(snapshot(end, b"x"), Occasion::Checkpoint).unwrap();
    assert_eq!(log.load().unwrap().snapshots.len(), 1);
    forget();
    log.skip(end).unwrap();
    forget();
    let next = Beginning::First {
        epoch: start.epoch + 1,
        append: Box::new(append(1)),
    };
    assert_eq!(log.begin(start.epoch, &next), Ok(Begun::Begun));
}

#[test]
fn an_answer_that_comes_too_late_is_never_taken_for_the_next() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 3);
    server.pause();
    assert!(why(log.exchange(start, Some(&append(4)))).contains("no answer in time"));
    assert!(log.load().is_err());
    server.resume();
    let answer = until_answered(&mut log, end, None);
    let ropeline::store::Exchanged::Entries { entries, .. } = answer else {
        panic!("{answer:?}")
    };
    // A sent call may have been carried out after all; then it is there once.
    assert!(
        entries.len() <= 1 && entries.iter().all(|entry| entry.serial == 4),
        "{entries:?}"
    );
    assert_eq!(log.load().unwrap().epoch, start.epoch);
    let at = after(end, entries.len() as u64);
    assert_eq!(exchange(&mut log, at, Some(&append(5))).len(), 1);
}

#[test]
fn a_store_that_takes_a_second_or_two_for_a_call_is_slow_and_not_gone() {
    assert!(
        Options::default().response_timeout >= Duration::from_secs(3),
        "two, and what a busy machine adds"
    );
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 1);
    let mut other = server.connect();
    redis::cmd("DEBUG")
        .arg("SLEEP")
        .arg(1)
        .set_no_response(true)
        .exec(&mut other)
        .unwrap();
    assert_eq!(exchange(&mut log, end, Some(&append(2))).len(), 1);
}

#[test]
fn a_gate_may_start_before_its_store() {
    let mut server = server();
    server.kill();
    let mut log = open(&server.url());
    assert_eq!((log.server(), log.warnings()), (None, &[][..]));
    assert!(why(log.load()).contains("127.0.0.1"));
    server.restart();
    until("the store", || log.load().is_ok());
    begin(&mut log);
    assert!(
        log.server()
            .is_some_and(|server| server.starts_with("Redis") || server.starts_with("Valkey"))
    );
}

#[test]
fn a_connection_that_was_cut_is_made_anew() {
    let server = server();
    let mut log = open(&server.url());
    let start = begin(&mut log);
    let end = fill(&mut log, start, 2);
    let _: u64 = server.ask("CLIENT KILL TYPE normal");
    until_answered(&mut log, end, Some(&append(3)));
    assert_eq!(exchange(&mut log, start, None).len(), 3);
}

#[test]
fn a_key_that_became_another_type_is_named_and_never_empty() {
    let server = server();
    let mut log = open(&server.url());
    let end = begin(&mut log);
    let _: () = server.ask("DEL {ropeline}:head");
    let _: () = server.ask("SADD {ropeline}:head x");
    assert!(why(log.exchange(end, None)).contains("another type"));
    assert!(why(log.load()).contains("another type"));
    let first = Beginning::First {
        epoch: end.epoch + 1,
        append: Box::new(append(1)),
    };
    assert!(why(log.begin(0, &first)).contains("another type"));
}

#[test]
fn an_append_that_is_refused_leaves_no_trace() {
    let server = server();
    let mut log = open(&server.url());
    let end = begin(&mut log);
    let head = || server.ask::<Vec<String>>("HMGET {ropeline}:head epoch sequence bytes");
    let before = head();
    let _: () = server.ask("RENAME {ropeline}:log aside");
    let _: () = server.ask("SET {ropeline}:log x");
    assert!(why(log.exchange(end, Some(&append(1)))).contains("another type"));
    assert_eq!(head(), before);
    let _: () = server.ask("RENAME aside {ropeline}:log");
    assert_eq!(fill(&mut log, end, 2), after(end, 2));
}

#[test]
fn logs_of_two_prefixes_know_nothing_of_each_other() {
    let server = server();
    let open = |prefix: &str| {
        let options = Options {
            prefix: prefix.into(),
            ..Options::default()
        };
        RedisLog::open(&server.url().parse().unwrap(), options).unwrap()
    };
    let (mut one, mut other) = (open("one"), open("other:shop"));
    let start = begin(&mut one);
    fill(&mut one, start, 2);
    assert_eq!(other.load().unwrap().epoch, 0);
    begin(&mut other);
    assert_eq!(exchange(&mut one, start, None).len(), 2);
}
