//! A user with exactly the rights that `docs/guides/redis.md` names, and the errors for a user with fewer.

use ropeline::store::redis::{Options as LogOptions, RedisLog};
use ropeline::store::{Exchanged, Log, Occasion};

use super::{open, refusal, snapshot, until_answered};
use crate::contract::{begin, fill};
use crate::harness::redis::{Cluster, Options, Sentinel, Server};

/// The rule of `docs/guides/redis.md`, which a test below holds to it.
const RULE: &str = "~{ropeline}:* resetchannels +eval +evalsha +info +time +type +get +set +rename +persist +unlink \
                    +hget +hmget +hset +xadd +xrange +xtrim +sadd +scard +sismember +smembers";

/// In a cluster also this.
const IN_A_CLUSTER: &str = "+cluster|slots +cluster|keyslot +asking";

/// With a database in the URL also this.
const IN_A_DATABASE: &str = "+select";

/// With sentinels also this.
const WITH_SENTINELS: &str = "+role";

fn with_user(rule: &str) -> (Server, String) {
    let server = Server::start(&Options::default().line(&format!("user gate on >word {rule}")));
    let url = format!("redis://gate:word@127.0.0.1:{}", server.port());
    (server, url)
}

#[test]
fn the_rights_of_the_documentation_are_enough() {
    let (_server, url) = with_user(RULE);
    let mut log = open(&url);
    let start = begin(&mut log);
    let end = fill(&mut log, start, 3);
    log.save(snapshot(end, b"x"), Occasion::Checkpoint).unwrap();
    log.save(snapshot(end, b"x"), Occasion::Root).unwrap();
    log.root(&[0; 32]).unwrap();
    log.skip(end).unwrap();
    assert_eq!(log.load().unwrap().skips, [end]);
    assert_eq!(log.skips().unwrap().positions, [end]);
}

#[test]
fn each_right_is_missed_at_the_start() {
    let words = || RULE.split_whitespace();
    for right in words().filter(|word| word.starts_with('+')) {
        let others: Vec<_> = words().filter(|word| *word != right).collect();
        let (_server, url) = with_user(&others.join(" "));
        let refused = refusal(&url);
        assert!(refused.contains("may not"), "without {right}: {refused}");
    }
    let (_server, url) = with_user(&RULE.replace("~{ropeline}:*", "~other:*"));
    assert!(refusal(&url).contains("may not"));
}

#[test]
fn another_database_needs_the_right_to_choose_it() {
    let (_server, url) = with_user(RULE);
    assert!(refusal(&format!("{url}/3")).contains("may not"));
    let (server, url) = with_user(&format!("{RULE} {IN_A_DATABASE}"));
    begin(&mut open(&format!("{url}/3")));
    let keys = server.info("keyspace", "db3");
    assert!(keys.is_some(), "the log is in the database that the URL names");
}

#[test]
fn who_only_reads_needs_no_right_to_write_and_takes_a_store_that_gates_refuse() {
    let reader = "user reader on >word ~{ropeline}:* resetchannels +hmget +xrange";
    let server = Server::start(&Options::default().line(reader));
    let start = begin(&mut open(&server.url()));
    let end = fill(&mut open(&server.url()), start, 3);
    let _: () = server.ask("CONFIG SET maxmemory 100mb");
    let _: () = server.ask("CONFIG SET maxmemory-policy allkeys-lru");
    assert!(refusal(&server.url()).contains("maxmemory-policy"));

    let url = format!("redis://reader:word@127.0.0.1:{}", server.port());
    let options = LogOptions::default();
    let mut log = RedisLog::open_to_read(&url.parse().unwrap(), options).unwrap();
    let oldest = log.origin().unwrap().expect("there is a log");
    let Ok(Exchanged::Entries { entries, .. }) = log.read(oldest) else {
        panic!("nothing is read")
    };
    assert_eq!(entries.last().map(|entry| entry.position), Some(end));
}

#[test]
fn in_a_cluster_the_way_to_the_keys_is_a_right_too() {
    let rule = |more: &str| Options::default().line(&format!("user gate on >word {RULE} {more}"));
    let cluster = Cluster::start(&rule(IN_A_CLUSTER));
    let url = cluster.url().replace("://", "://gate:word@");
    let mut log = open(&url);
    let end = begin(&mut log);
    let (slot, from) = cluster.home("{ropeline}:head");
    cluster.start_move(slot, from, (from + 1) % cluster.nodes.len());
    let there = until_answered(&mut log, end, None);
    assert!(matches!(there, Exchanged::Broken { .. }), "{there:?}");
    let cluster = Cluster::start(&rule(""));
    let refused = refusal(&cluster.url().replace("://", "://gate:word@"));
    assert!(refused.contains("may not"), "{refused}");
}

#[test]
fn with_sentinels_the_masters_role_is_a_right_too() {
    let stores = Sentinel::start(&Options::default().line(&format!("user gate on >word {RULE} {WITH_SENTINELS}")));
    begin(&mut open(&stores.url().replace("://", "://gate:word@")));
}

#[test]
fn the_documentation_names_this_rule() {
    let docs = include_str!("../../../docs/guides/redis.md");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    for rule in [RULE, IN_A_CLUSTER, IN_A_DATABASE, WITH_SENTINELS] {
        assert!(words(docs).contains(&words(rule)), "docs/guides/redis.md lacks: {rule}");
    }
}
