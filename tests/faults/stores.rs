//! Faults of the store alone: it dies, forgets, stops, fills up, moves, and fails over to a replica.

use std::time::Duration;

use tokio::task::block_in_place;

use super::fleet::Store;
use super::trial::Trial;
use crate::harness::redis::{Cluster, Options, Sentinel, Server};

fn server(options: &Options) -> Store {
    block_in_place(|| Store::Server(Server::start(options)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_started_from_its_append_only_file() {
    let mut trial = Trial::begin("kill -9, restart with its AOF", server(&Options::durable())).await;
    block_in_place(|| trial.fleet.server().restart());
    trial.over();
    assert_eq!(trial.end().await.lives, 2, "the log goes on as if nothing were");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_started_from_an_old_dump() {
    let mut trial = Trial::begin("kill -9, restart with an old dump", server(&Options::default())).await;
    let _: () = block_in_place(|| trial.fleet.server().ask("SAVE"));
    trial.further(30).await;
    block_in_place(|| trial.fleet.server().restart());
    trial.over();
    assert_eq!(trial.end().await.lives, 2, "the log goes on as if nothing were");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_started_with_nothing() {
    let mut trial = Trial::begin("kill -9, restart without a dump", server(&Options::default())).await;
    block_in_place(|| trial.fleet.server().restart());
    trial.over();
    assert_eq!(trial.end().await.lives, 2, "the log goes on as if nothing were");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flushed() {
    let mut trial = Trial::begin("FLUSHALL", server(&Options::default())).await;
    trial.over();
    let _: () = block_in_place(|| trial.fleet.server().ask("FLUSHALL"));
    assert_eq!(trial.end().await.lives, 2, "the log goes on as if nothing were");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_flushed() {
    let mut trial = Trial::begin("SCRIPT FLUSH", server(&Options::default())).await;
    trial.over();
    let _: () = block_in_place(|| trial.fleet.server().ask("SCRIPT FLUSH"));
    trial.further(10).await;
    let missed = block_in_place(|| trial.fleet.server().info("errorstats", "errorstat_NOSCRIPT"));
    assert!(missed.is_some(), "nobody missed a script");
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asleep_for_three_seconds() {
    let mut trial = Trial::begin("DEBUG SLEEP 3", server(&Options::default())).await;
    let _: () = block_in_place(|| trial.fleet.server().ask("DEBUG SLEEP 3"));
    trial.over();
    assert!(
        trial.end().await.longest_tick_ms() >= 3_000,
        "the log went on meanwhile"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_for_five_seconds() {
    let mut trial = Trial::begin("SIGSTOP 5 s", server(&Options::default())).await;
    trial.fleet.server().pause();
    trial.lasts(Duration::from_secs(5)).await;
    trial.fleet.server().resume();
    trial.over();
    assert!(
        trial.end().await.longest_tick_ms() >= 5_000,
        "the log went on meanwhile"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "longer than a quarter of a minute: scripts/faults"]
async fn down_for_longer_than_grace() {
    let mut trial = Trial::begin("down for 20 s, grace 16 s", server(&Options::durable())).await;
    block_in_place(|| trial.fleet.server().kill());
    trial.lasts(Duration::from_secs(20)).await;
    block_in_place(|| trial.fleet.server().restart());
    trial.over();
    assert_eq!(trial.end().await.lives, 2, "the log goes on as if nothing were");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_for_four_seconds() {
    let mut trial = Trial::begin("maxmemory hit for 4 s", server(&Options::default())).await;
    let _: () = block_in_place(|| trial.fleet.server().ask("CONFIG SET maxmemory 1"));
    trial.lasts(Duration::from_secs(4)).await;
    assert!(trial.fleet.failures().await > 0.0, "nobody noticed");
    let _: () = block_in_place(|| trial.fleet.server().ask("CONFIG SET maxmemory 0"));
    trial.over();
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "longer than a quarter of a minute: scripts/faults"]
async fn a_replica_promoted_without_the_last_writes() {
    let stores = block_in_place(|| Sentinel::start(&Options::default()));
    let mut trial = Trial::begin("a replica promoted, last writes lost", Store::Sentinel(stores)).await;
    let Store::Sentinel(stores) = &mut trial.fleet.store else {
        unreachable!()
    };
    block_in_place(|| {
        stores.until_in_sync();
        // From here on the replica gets nothing, and what the master acknowledges is lost with it.
        let _: () = stores.servers[0].ask("ACL SETUSER default -psync -sync");
        let _: u32 = stores.servers[0].ask("CLIENT KILL TYPE replica");
    });
    trial.further(5).await;
    let Store::Sentinel(stores) = &mut trial.fleet.store else {
        unreachable!()
    };
    block_in_place(|| {
        let offset = |server: &Server, field| server.info("replication", field).unwrap().parse::<u64>().unwrap();
        let (all, had) = (
            offset(&stores.servers[0], "master_repl_offset"),
            offset(&stores.servers[1], "slave_repl_offset"),
        );
        assert!(had < all, "the replica has all {all} bytes");
        stores.servers[0].kill();
        stores.until_promoted(1);
    });
    trial.over();
    assert_eq!(trial.end().await.lives, 2, "the log goes on as if nothing were");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "longer than a quarter of a minute: scripts/faults"]
async fn a_cluster_slot_moves() {
    let cluster = block_in_place(|| Cluster::start(&Options::default()));
    let mut trial = Trial::begin("a cluster slot moved", Store::Cluster(cluster)).await;
    trial.over();
    let Store::Cluster(cluster) = &trial.fleet.store else {
        unreachable!()
    };
    block_in_place(|| {
        let (slot, from) = cluster.home("{ropeline}");
        let to = (from + 1) % cluster.nodes.len();
        cluster.start_move(slot, from, to);
        cluster.end_move(slot, to);
        assert_eq!(cluster.home("{ropeline}"), (slot, to));
    });
    trial.end().await;
}
