//! What happens to gates: they die, with the store or without it, and are started anew.

use std::time::Duration;

use tokio::task::block_in_place;

use super::fleet::{GATES, Store};
use super::trial::{self, Trial};
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
