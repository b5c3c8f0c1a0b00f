//! Faults of the network between gates and store.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinSet, block_in_place};
use tokio::time::{sleep, timeout};

use super::fleet::{Fleet, Store};
use super::trial::Trial;
use crate::crowd::guest::Guest;
use crate::crowd::http::Pool;
use crate::crowd::people::Rules;
use crate::harness::PATIENCE;
use crate::harness::redis::{Options, Server};
use crate::harness::toxic::Toxic;

fn server() -> Store {
    block_in_place(|| Store::Server(Server::start(&Options::default())))
}

/// A toxic on every gate's connection for some time.
async fn network(name: &'static str, toxic: Toxic, time: Duration) {
    let mut trial = Trial::begin(name, server()).await;
    trial.fleet.network(toxic);
    trial.lasts(time).await;
    let noticed = match toxic {
        // Slow is not gone.
        Toxic::Delay(each_way) => trial.fleet.lag().await >= 2.0 * each_way.as_secs_f64(),
        _ => trial.fleet.failures().await > 0.0,
    };
    assert!(noticed, "nobody noticed");
    trial.fleet.network(Toxic::Pass);
    trial.over();
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_cut_in_the_middle_of_a_reply() {
    network("cut mid-reply for 2 s", Toxic::CutReply(20), Duration::from_secs(2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_swallowed() {
    network("replies swallowed for 5 s", Toxic::Swallow, Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "longer than a quarter of a minute: scripts/faults"]
async fn nothing_arrives_and_connections_stay() {
    network("blackhole for 10 s", Toxic::Blackhole, Duration::from_secs(10)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_gate_cut_off_from_the_store() {
    let mut trial = Trial::begin("one gate of three cut off for 5 s", server()).await;
    trial.over();
    trial.fleet.proxies[0].set(Toxic::Refuse);
    trial.lasts(Duration::from_secs(5)).await;
    assert!(trial.fleet.failures().await > 0.0, "it did not notice");
    trial.fleet.proxies[0].set(Toxic::Pass);
    trial.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "longer than a quarter of a minute: scripts/faults"]
async fn every_call_takes_two_seconds() {
    network("2 s a call for 10 s", SLOW, Duration::from_secs(10)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forwarded_requests_do_not_wait_for_a_slow_store() {
    let rules = Rules {
        capacity: GUESTS.into(),
        session_secs: 60,
    };
    let fleet = Fleet::open(server(), rules, "").await;
    let pool = Arc::new(fleet.pool());
    let inside = enter(&pool).await;
    let (usual, inside) = forwarded(inside).await;
    fleet.network(SLOW);
    let mut newcomer = Guest::new(&pool, 1_000);
    let newcomers = tokio::spawn(async move { newcomer.page("/event").await });
    let (slow, _inside) = forwarded(inside).await;
    fleet.network(Toxic::Pass);
    assert!(!newcomers.await.unwrap().is_the_shops(), "nobody is called meanwhile");
    let ratio = slow.as_secs_f64() / usual.as_secs_f64();
    println!("ratio: | p99 of forwarded requests, 2 s a call | {slow:?} | {usual:?} | {ratio:.2} |");
}

/// A second each way.
const SLOW: Toxic = Toxic::Delay(Duration::from_secs(1));

/// Visitors inside, and requests of each.
const GUESTS: u32 = 8;
const REQUESTS: u32 = 250;

/// Fills the room.
async fn enter(pool: &Arc<Pool>) -> Vec<Guest> {
    let mut guests: Vec<Guest> = (0..GUESTS).map(|index| Guest::new(pool, index)).collect();
    for guest in &mut guests {
        let entering = async {
            while !guest.page("/event").await.is_the_shops() {
                sleep(Duration::from_millis(100)).await;
            }
        };
        timeout(PATIENCE, entering).await.expect("a visitor inside");
    }
    guests
}

/// Everybody inside asks the shop; the time that all but one of a hundred requests take at most.
async fn forwarded(guests: Vec<Guest>) -> (Duration, Vec<Guest>) {
    let mut asking = JoinSet::new();
    for mut guest in guests {
        asking.spawn(async move {
            let mut times = Vec::new();
            for _ in 0..REQUESTS {
                let began = ropeline::time::uptime();
                let answer = guest.page("/event/seats").await;
                times.push(ropeline::time::uptime().saturating_sub(began));
                assert!(answer.is_the_shops(), "a pass is not honoured: {}", answer.head);
            }
            (times, guest)
        });
    }
    let (times, guests): (Vec<_>, Vec<_>) = asking.join_all().await.into_iter().unzip();
    let mut times: Vec<Duration> = times.into_iter().flatten().collect();
    times.sort_unstable();
    (times[times.len() * 99 / 100], guests)
}
