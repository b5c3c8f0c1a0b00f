//! Gates of two versions that share one log: the version before and today's.
//!
//! `scripts/mixed` names the program of the version before and runs these.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::block_in_place;
use tokio::time::{sleep, timeout};

use super::fleet::{Fleet, GATES, Store};
use super::trial::{self, Trial};
use crate::crowd::gate::Gate;
use crate::crowd::guest::{Guest, PAGE};
use crate::crowd::http::Pool;
use crate::crowd::ledger::Ledger;
use crate::harness::redis::{Options, Server, until};
use crate::harness::{PATIENCE, eventually};

use Version::{Before, Today};

/// How often a visitor asks who waits for nothing else.
const OFTEN: Duration = Duration::from_millis(200);

/// A gate's program.
#[derive(Clone, Copy)]
enum Version {
    Before,
    Today,
}

impl Version {
    #[expect(
        clippy::disallowed_methods,
        reason = "what a test runs on is no configuration of the gate"
    )]
    fn program(self) -> PathBuf {
        match self {
            Before => std::env::var_os("ROPELINE_BEFORE").map(PathBuf::from).unwrap(),
            Today => ropeline_testkit::program(),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the version before: scripts/mixed"]
async fn a_fleet_is_upgraded_gate_by_gate_and_goes_back() {
    let name = "two versions: upgraded gate by gate, then two gates back";
    let mut trial = Trial::begin_before(name, of_an_old_log([Before, Before, Today])).await;
    trial.over();
    agree(&trial.fleet.gates).await;
    trial.fleet.gates[0].upgrade(&Today.program()).await;
    trial.further(30).await;
    restart(&mut trial.fleet.gates[1], Today).await;
    agree(&trial.fleet.gates).await;
    trial.further(30).await;
    restart(&mut trial.fleet.gates[2], Before).await;
    trial.further(30).await;
    trial.fleet.gates[1].upgrade(&Before.program()).await;
    agree(&trial.fleet.gates).await;
    none_was_outvoted(&trial.fleet).await;
    end(trial).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the version before: scripts/mixed"]
async fn a_store_that_is_emptied_gets_the_rooms_back_from_gates_of_both() {
    let name = "two versions: FLUSHALL";
    let mut trial = Trial::begin_before(name, of_an_old_log([Before, Before, Today])).await;
    trial.over();
    let _: () = block_in_place(|| trial.fleet.server().ask("FLUSHALL"));
    trial.further(30).await;
    agree(&trial.fleet.gates).await;
    none_was_outvoted(&trial.fleet).await;
    assert_eq!(end(trial).await.lives, 2, "the log goes on as if nothing were");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the version before: scripts/mixed"]
async fn a_log_that_today_begins_by_the_word_for_a_first_start_is_one_for_both() {
    let name = "two versions: begun by today's with --first-start";
    let open = async {
        let mut fleet = fleet([Today, Before, Before]).await;
        fleet.gates[0].starts_first();
        fleet.start(0..1).await;
        fleet.start(1..GATES).await;
        fleet
    };
    let mut trial = Trial::begin_before(name, open).await;
    trial.over();
    agree(&trial.fleet.gates).await;
    none_was_outvoted(&trial.fleet).await;
    // A word that the version before does not know is not passed on to it.
    trial.fleet.gates[0].upgrade(&Before.program()).await;
    agree(&trial.fleet.gates).await;
    end(trial).await;
}

/// Without that word, the rule by which a log begins from nothing may be another one in each version.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the version before: scripts/mixed"]
async fn a_log_that_two_gates_begin_together_goes_on_with_one_of_them() {
    for (first, second) in [(Before, Today), (Today, Before)] {
        let mut fleet = fleet([first, second, Today]).await;
        fleet.start(0..2).await;
        tell_whether_they_differ("one gate of each", &fleet.gates[..2]).await;
        let mut guests = guests(&fleet.gates[..2]);
        for guest in &mut guests {
            guest.page("/").await;
        }
        block_in_place(|| fleet.gates[1].stop());
        agree(&fleet.gates[..1]).await;
        all_come_in(&mut guests).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the version before: scripts/mixed"]
async fn a_log_that_three_gates_begin_together_is_that_of_most() {
    for versions in [[Before, Before, Today], [Today, Today, Before]] {
        let mut fleet = fleet(versions).await;
        fleet.start(0..GATES).await;
        tell_whether_they_differ("two gates and one", &fleet.gates).await;
        agree(&fleet.gates).await;
        all_come_in(&mut guests(&fleet.gates)).await;
    }
}

/// Gates of these versions that are not started yet, and no start is said to be the first.
async fn fleet(versions: [Version; GATES]) -> Fleet {
    let store = block_in_place(|| Store::Server(Server::start(&Options::default())));
    let mut fleet = Fleet::of(store, trial::rules(), "").await;
    for (gate, version) in fleet.gates.iter_mut().zip(versions) {
        gate.runs(&version.program());
        gate.starts_again();
    }
    fleet
}

/// The first two gates began the log longer ago than a session lasts, and agree on a snapshot.
async fn of_an_old_log(versions: [Version; GATES]) -> Fleet {
    let mut fleet = fleet(versions).await;
    fleet.start(0..2).await;
    sleep(Duration::from_secs(trial::rules().session_secs + 5)).await;
    block_in_place(|| until("a snapshot", || fleet.server().ask("EXISTS {ropeline}:snapshot")));
    fleet.start(2..GATES).await;
    fleet
}

/// Stops a gate, and starts it as this version.
async fn restart(gate: &mut Gate, version: Version) {
    block_in_place(|| gate.stop());
    gate.runs(&version.program());
    gate.start();
    gate.ready().await;
}

/// Waits until these gates, and no others, have voted for one state that is later than this call.
async fn agree(gates: &[Gate]) {
    let mut read = None;
    for gate in gates {
        read = read.max(sequence(&state(gate).await["log"]["position"]));
    }
    eventually("gates that agree", async || {
        for gate in gates {
            let said = state(gate).await;
            let of = said["gates"].as_array()?;
            let all = of.len() == gates.len() && of.iter().all(|gate| gate["agrees"] == true);
            let later = said["log"]["checkpoint"]["sequence"].as_u64() > read;
            if !all || !later || said["log"]["alarm"] == true {
                return None;
            }
        }
        Some(())
    })
    .await;
}

/// Prints what gates that begin a log from nothing make of it.
async fn tell_whether_they_differ(which: &str, gates: &[Gate]) {
    let word = eventually("a word on the states", async || {
        for gate in gates {
            let said = state(gate).await;
            let of = said["gates"].as_array()?;
            if said["log"]["alarm"] == true {
                return Some("ALARM: the states differ, and none is that of most");
            }
            if of.iter().any(|gate| gate["agrees"] == false) {
                return Some("the states differ, and one is outvoted");
            }
            if of.len() == gates.len() && of.iter().all(|gate| gate["agrees"] == true) {
                return Some("the states are equal");
            }
        }
        None
    })
    .await;
    println!("begun: | {which} | {word} |");
}

async fn state(gate: &Gate) -> Value {
    gate.admin_ask("GET", "/api/v1/gates", "").await.json()
}

/// The sequence of a position as operators write it.
fn sequence(position: &Value) -> Option<u64> {
    position.as_str()?.rsplit('-').next()?.parse().ok()
}

/// A few, whose requests go from gate to gate.
fn guests(gates: &[Gate]) -> Vec<Guest> {
    let addresses: Vec<SocketAddr> = gates.iter().map(|gate| gate.address).collect();
    let pool = Arc::new(Pool::over(&addresses));
    (0..5).map(|index| Guest::new(&pool, index)).collect()
}

/// Asks until everybody is inside. A gate that is not there gives no answer.
async fn all_come_in(guests: &mut [Guest]) {
    let asked = async {
        for guest in guests {
            while !guest
                .send("GET", "/", PAGE, "")
                .await
                .is_ok_and(|answer| answer.is_the_shops())
            {
                sleep(OFTEN).await;
            }
        }
    };
    timeout(PATIENCE, asked).await.expect("a visitor is kept out");
}

/// No gate has ever differed from the others.
async fn none_was_outvoted(fleet: &Fleet) {
    let outvoted = fleet.figures("ropeline_state_outvoted_total ").await;
    assert!(outvoted.iter().all(|times| *times == 0.0), "{outvoted:?}");
}

/// Ends the trial. No visitor had an answer of 500 to 599 but for the waiting room's own.
async fn end(trial: Trial) -> Ledger {
    let world = Arc::clone(&trial.world);
    let ledger = trial.end().await;
    assert_eq!(world.tally.lock().unwrap().unavailable, 0);
    ledger
}
