//! A user with the rights that `docs/redis.md` names and no more, and what a user with fewer is told.

use anteroom::log::{Log, Occasion};

use super::{open, refusal, snapshot};
use crate::contract::{begin, fill};
use crate::harness::redis::{Options, Server};

/// The rule of `docs/redis.md`, which a test below holds to it.
const RULE: &str = "~{anteroom}:* resetchannels +eval +evalsha +info +time +type +get +set +rename +persist +unlink \
                    +hget +hmget +hset +xadd +xrange +xtrim +sadd +scard +sismember +smembers";

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
    let (_server, url) = with_user(&RULE.replace("~{anteroom}:*", "~other:*"));
    assert!(refusal(&url).contains("may not"));
}

#[test]
fn the_documentation_names_this_rule() {
    let docs = include_str!("../../../docs/redis.md");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    assert!(words(docs).contains(&words(RULE)), "docs/redis.md lacks: {RULE}");
}
