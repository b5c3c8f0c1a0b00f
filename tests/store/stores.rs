//! The stores of the harness have their properties: without this, a test of a fault could pass because there was none.

use crate::harness::redis::{Cluster, Options, Sentinel, Server, until};

#[test]
fn a_killed_server_comes_back_with_what_it_kept_and_under_another_replication_id() {
    let mut server = Server::start(&Options::durable());
    let _: () = server.ask("SET kept this");
    let id = server.info("replication", "master_replid").unwrap();
    server.kill();
    assert!(server.try_ask::<String>("PING").is_err());
    server.restart();
    until("data read", || server.try_ask::<String>("GET kept").is_ok());
    assert_eq!(server.ask::<String>("GET kept"), "this");
    assert_ne!(server.info("replication", "master_replid").unwrap(), id);
    server.kill();
    server.forget();
    server.restart();
    assert_eq!(server.ask::<Option<String>>("GET kept"), None);
}

#[test]
fn a_server_asks_for_its_password() {
    let server = Server::start(&Options::password("hush"));
    assert_eq!(server.ask::<String>("PING"), "PONG");
    let client = redis::Client::open(format!("redis://127.0.0.1:{}", server.port())).unwrap();
    let refused = redis::cmd("PING").query::<String>(&mut client.get_connection().unwrap());
    assert_eq!(refused.unwrap_err().code(), Some("NOAUTH"));
}

#[test]
fn a_slot_moves_with_its_keys() {
    let cluster = Cluster::start(&Options::default());
    let (slot, from) = cluster.home("{a}:key");
    let _: () = cluster.nodes[from].ask("SET {a}:key value");
    let to = (from + 1) % cluster.nodes.len();
    let answer = |node: usize| cluster.nodes[node].try_ask::<String>("GET {a}:key");
    cluster.start_move(slot, from, to);
    assert_eq!(answer(from).unwrap_err().code(), Some("ASK"));
    cluster.end_move(slot, to);
    assert_eq!(answer(from).unwrap_err().code(), Some("MOVED"));
    assert_eq!(answer(to).as_deref(), Ok("value"));
}

#[test]
fn sentinels_promote_the_replica_of_a_dead_master() {
    let mut stores = Sentinel::start(&Options::default());
    let _: () = stores.servers[0].ask("SET kept this");
    stores.until_in_sync();
    assert_eq!(stores.master(), 0);
    stores.servers[0].kill();
    stores.until_promoted(1);
    assert_eq!(stores.servers[1].ask::<String>("GET kept"), "this");
}
