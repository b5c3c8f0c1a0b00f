//! Properties of a store that are refused at the start, and those that give a warning.

use ropeline::store::redis::{Options as LogOptions, RedisLog};

use ropeline::store::Log as _;

use super::{open, refusal, server, why};
use crate::harness::redis::Cluster;
use crate::harness::redis::{Options, Server, until};

fn warnings(options: &Options) -> Vec<String> {
    let server = Server::start(options);
    open(&server.url()).warnings().to_vec()
}

#[test]
fn a_store_that_would_throw_the_log_away_is_refused() {
    let server = Server::start(&Options::default().line("maxmemory 100mb\nmaxmemory-policy allkeys-lru"));
    let refusal = refusal(&server.url());
    assert!(
        refusal.contains("allkeys-lru") && refusal.contains("set maxmemory-policy noeviction"),
        "{refusal}"
    );
    let _: () = server.ask("CONFIG SET maxmemory-policy noeviction");
    open(&server.url());
}

#[test]
fn a_store_that_keeps_nothing_is_a_warning() {
    let said = warnings(&Options::default());
    assert!(said.len() == 1 && said[0].contains("appendonly yes"), "{said:?}");
    assert_eq!(warnings(&Options::durable()), [""; 0]);
    assert_eq!(warnings(&Options::default().line("save 3600 1")), [""; 0]);
}

#[test]
fn a_master_that_goes_on_without_its_replicas_is_a_warning() {
    let master = Server::start(&Options::durable());
    let replica = Server::start(&Options::default().line(&format!("replicaof 127.0.0.1 {}", master.port())));
    crate::harness::redis::until("a replica", || {
        replica.info("replication", "master_link_status").as_deref() == Some("up")
    });
    let said = open(&master.url()).warnings().to_vec();
    assert!(
        said.len() == 1 && said[0].contains("min-replicas-to-write 1"),
        "{said:?}"
    );
    let _: () = master.ask("CONFIG SET min-replicas-to-write 1");
    assert_eq!(open(&master.url()).warnings(), [""; 0]);
}

#[test]
fn what_config_would_have_told_is_a_warning_where_it_is_forbidden() {
    let said = warnings(&Options::default().line("user default on nopass ~* &* +@all -config"));
    assert!(said.len() == 1 && said[0].contains("cannot be seen"), "{said:?}");
}

#[test]
fn a_password_is_asked_for_taken_and_never_shown() {
    let server = Server::start(&Options::password("open-sesame"));
    open(&server.url());
    let bare = format!("redis://127.0.0.1:{}", server.port());
    let asked = refusal(&bare);
    assert!(asked.contains("asks for a password"), "{asked}");
    open(&format!("redis://default:open-sesame@127.0.0.1:{}", server.port()));
    let wrong = refusal(&format!("redis://default:abracadabra@127.0.0.1:{}", server.port()));
    assert!(wrong.contains("does not take this user name and password"), "{wrong}");
    assert!(
        wrong.contains("default:***@") && !wrong.contains("abracadabra"),
        "{wrong}"
    );
    let half = refusal(&format!("redis://ann@127.0.0.1:{}", server.port()));
    assert!(half.contains("a user and no password"), "{half}");
}

#[test]
fn a_database_is_chosen() {
    let server = server();
    let mut log = open(&format!("{}/3", server.url()));
    crate::contract::begin(&mut log);
    assert!(server.info("keyspace", "db3").is_some() && server.info("keyspace", "db0").is_none());
    let none = refusal(&format!("{}/99", server.url()));
    assert!(none.contains("index"), "{none}");
}

#[test]
fn a_url_of_another_kind_of_server_is_told_the_right_one() {
    let cluster = Cluster::start(&Options::default());
    let node = format!("127.0.0.1:{}", cluster.nodes[0].port());
    let one = refusal(&format!("redis://{node}"));
    assert!(one.contains(&format!("redis+cluster://{node}")), "{one}");
    let server = server();
    let node = format!("127.0.0.1:{}", server.port());
    let no_cluster = refusal(&format!("redis+cluster://{node}"));
    assert!(no_cluster.contains("no node of a cluster"), "{no_cluster}");
    let no_sentinel = refusal(&format!("redis+sentinel://{node}/shop"));
    assert!(no_sentinel.contains("this server is none"), "{no_sentinel}");
}

#[test]
fn a_key_of_another_program_is_named() {
    let server = server();
    let _: () = server.ask("RPUSH {ropeline}:log x");
    let refused = refusal(&server.url());
    assert!(
        refused.contains("{ropeline}:log is a list and should be a stream"),
        "{refused}"
    );
}

#[test]
fn a_prefix_that_would_break_the_hash_tag_is_refused() {
    for prefix in ["", "a}b", "a b", &"x".repeat(65)] {
        let options = LogOptions {
            prefix: prefix.into(),
            ..LogOptions::default()
        };
        assert!(
            RedisLog::open(&"redis://127.0.0.1:1".parse().unwrap(), options).is_err(),
            "{prefix}"
        );
    }
}

#[test]
fn a_server_with_too_many_clients_for_now_is_not_refused() {
    let server = Server::start(&Options::password("hush"));
    let mut only = server.connect();
    let mut set = redis::cmd("CONFIG");
    set.arg("SET").arg("maxclients").arg(1).exec(&mut only).unwrap();
    let mut log = open(&server.url());
    assert!(log.warnings().is_empty(), "nothing was seen of it");
    assert!(why(log.load()).contains("max number of clients"));
    drop(only);
    until("room for the gate", || log.load().is_ok());
}
