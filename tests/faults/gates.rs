//! Faults of gates: they die, with the store or without it, and are started anew.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::task::block_in_place;

use super::fleet::{GATES, Store};
use super::trial::{self, Trial};
use crate::crowd::gate::Gate;
use crate::crowd::guest::Guest;
use crate::crowd::house::{OFTEN, eventually};
use crate::crowd::http::{PATIENCE, Pool};
use crate::crowd::people::REPLIES;
use crate::crowd::shop::Shop;
use crate::harness::redis::{Options, Server};

fn server() -> Store {
    block_in_place(|| Store::Server(Server::start(&Options::default())))
}

/// Also: what one gate ends is over at the others, in a large trial within a second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_happens() {
    let over_within = Duration::from_secs(if trial::large() { 1 } else { 8 });
    let mut trial = Trial::begin_with("none", server(), Some(over_within)).await;
    trial.over();
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gate_killed_and_started_again() {
    let mut trial = Trial::begin("a gate killed -9 and started again", server()).await;
    trial.over();
    block_in_place(|| trial.fleet.gates[0].kill());
    trial.lasts(Duration::from_secs(1)).await;
    trial.fleet.gates[0].start();
    trial.fleet.gates[0].ready().await;
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "longer than a quarter of a minute: scripts/faults"]
async fn a_gate_dies_with_the_store() {
    let mut trial = Trial::begin("a gate and the store lost together", server()).await;
    block_in_place(|| {
        trial.fleet.gates[0].kill();
        trial.fleet.server().restart();
    });
    trial.over();
    trial.fleet.gates[0].start();
    trial.fleet.gates[0].ready().await;
    assert_eq!(trial.end().await.lives, 2, "the log goes on as if nothing were");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gates_rolled_one_by_one() {
    let mut trial = Trial::begin("all gates restarted one by one", server()).await;
    trial.over();
    for gate in 0..GATES {
        block_in_place(|| trial.fleet.gates[gate].stop());
        trial.fleet.gates[gate].start();
        trial.fleet.gates[gate].ready().await;
    }
    trial.end().await;
}

/// The log has no root until the gate that is gone is given up. One of those that are stopped has read no further than the other, and
/// alone knows what its visitors bought since.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "longer than a quarter of a minute: scripts/faults"]
async fn what_was_bought_at_gates_that_are_stopped_while_the_log_heals_is_kept() {
    const STOCK: &str = "total_active_users = 8\nstock = 8\ncompletes_on = [{ route = \"POST /order\", status = 200 }]";
    let mut server = block_in_place(|| Server::start(&Options::default()));
    let shop = Shop::open(REPLIES).await;
    let mut gates = [(); 3].map(|()| Gate::with_store(&server.url(), shop.address, STOCK, OFTEN));
    gates.iter_mut().for_each(Gate::start);
    for gate in &mut gates {
        gate.ready().await;
    }
    let [gone, one, other] = &mut gates;
    let pools = [one.address, other.address].map(|address| Arc::new(Pool::new(address)));
    let mut guests: Vec<Guest> = (0..4)
        .map(|n: u32| Guest::at(&pools[n as usize % 2], "192.0.2.7", n))
        .collect();
    let come_in = async {
        for guest in &mut guests {
            while !guest.page("/").await.is_the_shops() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    };
    tokio::time::timeout(PATIENCE, come_in).await.unwrap();
    block_in_place(|| {
        gone.kill();
        server.kill();
        server.forget();
        server.restart();
    });
    eventually("a log without a root", async || {
        let gates = one.admin_ask("GET", "/api/v1/gates", "").await.text();
        gates.contains("\"missing\":[\"").then_some(())
    })
    .await;
    for guest in &mut guests {
        assert!(guest.script("POST", "/order").await.is_the_shops());
    }
    block_in_place(|| {
        thread::scope(|scope| {
            scope.spawn(|| one.stop());
            scope.spawn(|| other.stop());
        });
    });
    for gate in [one, other] {
        assert!(!gate.said().contains("did not take"), "{}", gate.said());
        gate.start();
        gate.ready().await;
    }
    eventually("what was bought", async || {
        (gates[1].room().await["completed"] == 4).then_some(())
    })
    .await;
}
