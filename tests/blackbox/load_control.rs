//! Rooms with load control, before a shop that gets slow, one that goes away and comes back, and one without figures.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ropeline::time::uptime;
use serde_json::Value;
use tokio::runtime::{self, Runtime};
use tokio::task::{JoinSet, spawn_blocking, yield_now};
use tokio::time::{sleep, timeout};

use crate::gate::{Gate, free_address};
use crate::guest::Guest;
use crate::http::Pool;
use crate::shop::{PLAIN, Reply, Shop};

/// Slower than the bound below, by far.
const REPLIES: &[Reply] = &[Reply {
    target: "/slow",
    after: Duration::from_millis(400),
    ..PLAIN
}];
/// An invalid answer breaks the exchange off.
const BROKEN: &[Reply] = &[Reply::new("", "no answer\r\n", "")];
const BREAKING: &[Reply] = &[Reply::new("/static/broken", "no answer\r\n", "")];
const ADAPTIVE: &str = "[room.load_control]\nby = \"adaptive\"\np95 = \"100ms\"";
const LINEAR: &str = "[room.load_control]\nby = \"linear\"\nttl = \"5s\"";
const ROOM: &str = "total_active_users = 100";
const RESTING: &str = "The line has paused to relieve the site";
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks the API until the room's admission is so.
async fn until(gate: &Gate, what: &str, is: impl Fn(&Value) -> bool) -> Value {
    let asking = async {
        loop {
            let load_control = gate.room().await["admission"].clone();
            if is(&load_control) {
                return load_control;
            }
            yield_now().await;
        }
    };
    let Ok(load_control) = timeout(PATIENCE, asking).await else {
        panic!("waited in vain: {what}: {}", gate.room().await);
    };
    load_control
}

/// Waits until the gate has logged it.
async fn logged(gate: &Gate, words: &str) {
    let looking = async {
        while !gate.said().contains(words) {
            yield_now().await;
        }
    };
    assert!(timeout(PATIENCE, looking).await.is_ok(), "never logged: {words}");
}

/// Asks for a page until the shop answers it.
async fn comes_in(guest: &mut Guest) {
    let asking = async {
        while !guest.page("/seats").await.is_the_shops() {
            yield_now().await;
        }
    };
    assert!(timeout(PATIENCE, asking).await.is_ok(), "never let in");
}

/// A shop with a runtime of its own: at its end every socket of the shop closes, as when a process is killed.
async fn ends_with_its_runtime(address: SocketAddr, replies: &'static [Reply]) -> Runtime {
    let doomed = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    doomed.spawn(Shop::at(address, replies)).await.unwrap();
    doomed
}

fn nobody(load_control: &Value) -> bool {
    load_control["calls_milli"] == 0
}

#[tokio::test]
async fn figures_that_stop_call_nobody_and_page_log_and_api_say_so() {
    // It answers only proxies, so it sees nothing of the shop.
    let way = "[forward_auth]\nproxies = [\"envoy\"]";
    let mut gate = Gate::configured("embedded:data", way, ROOM, LINEAR);
    gate.start();
    gate.ready().await;
    let pool = Arc::new(Pool::new(gate.address));
    let page = "/.ropeline/forward/envoy/seats";
    let newcomer = |index| {
        let mut guest = Guest::new(&pool, index);
        guest.says("X-Forwarded-Proto", "http");
        guest
    };
    let answer = newcomer(1).page(page).await;
    assert!(answer.text().contains(RESTING), "{}", answer.text());
    let shown = until(&gate, "figures", |load_control| load_control["why"] == "figures").await;
    assert!(nobody(&shown) && shown["shop"].is_null(), "{shown}");
    logged(&gate, "there are no figures of the shop that hold").await;

    let figures = r#"{"requests_per_second": 0, "ttl_secs": 5}"#;
    let given = gate.admin_ask("POST", "/api/v1/rooms/shop/load", figures).await;
    assert_eq!(given.status(), 200, "{}", given.text());
    until(&gate, "given", |load_control| load_control["why"] == "free").await;
    logged(&gate, "nothing slows the calls").await;
    let called = async {
        while gate.room().await["calls"] == 0 {
            yield_now().await;
        }
    };
    timeout(PATIENCE, called).await.unwrap();

    until(&gate, "run out", |load_control| load_control["why"] == "figures").await;
    let answer = newcomer(2).page(page).await;
    assert!(answer.text().contains(RESTING), "{}", answer.text());
    assert_eq!(gate.room().await["calls"], 1);
    gate.stop();
}

#[tokio::test]
async fn a_shop_that_gets_slow_slows_the_calls_and_one_that_is_well_again_does_not() {
    let shop = Shop::open(REPLIES).await;
    let gate = Gate::open(shop.address, ROOM, ADAPTIVE).await;
    let pool = Arc::new(Pool::new(gate.address));
    let mut inside: Vec<Guest> = (1..=8).map(|index| Guest::new(&pool, index)).collect();
    for guest in &mut inside {
        comes_in(guest).await;
    }
    // Strangers without a session may request any page.
    let slow = |guests: Vec<Guest>| {
        let mut asking = JoinSet::new();
        for mut guest in guests {
            asking.spawn(async move {
                loop {
                    guest.page("/slow").await;
                }
            });
        }
        asking
    };
    let asking = slow(inside.clone());
    let stopped = until(&gate, "latency", |load_control| {
        load_control["why"] == "latency" && nobody(load_control)
    })
    .await;
    assert!(
        stopped["shop"]["p95_ms"].as_u64().is_none_or(|ms| ms > 100),
        "{stopped}"
    );
    logged(&gate, "nobody is called until the shop is well again").await;
    let mut late = Guest::new(&pool, 9);
    let answer = late.page("/seats").await;
    assert_eq!(answer.word(), "waiting", "{}", answer.head);
    assert!(answer.text().contains(RESTING), "{}", answer.text());
    drop(asking);
    comes_in(&mut late).await;
}

/// Strangers' requests that the shop always breaks off, or fails, say nothing about the shop.
#[tokio::test]
async fn strangers_whose_requests_the_shop_breaks_off_stop_no_calls() {
    let shop = Shop::open(BREAKING).await;
    let room = format!("{ROOM}\nexcept = [\"/static/*\"]");
    let gate = Gate::open(shop.address, &room, "[room.load_control]\nby = \"adaptive\"").await;
    let pool = Arc::new(Pool::new(gate.address));
    let mut stranger = Guest::new(&pool, 1);
    let breaking = async {
        for index in 2..=4 {
            let mut newcomer = Guest::new(&pool, index);
            // More of them between any two looks than put a server out.
            while !newcomer.page("/seats").await.is_the_shops() {
                for _ in 0..5 {
                    assert_eq!(stranger.script("GET", "/static/broken").await.status(), 502);
                }
                assert_ne!(gate.room().await["admission"]["why"], "circuit");
            }
        }
    };
    assert!(timeout(PATIENCE, breaking).await.is_ok(), "{}", gate.room().await);
    assert!(shop.seen_of("/static/broken").len() > 10);
}

#[tokio::test]
async fn a_shop_that_breaks_off_what_three_visitors_ask_is_sent_nobody_and_is_found_again() {
    let address = free_address();
    let doomed = ends_with_its_runtime(address, BROKEN).await;
    let way = format!("[upstream]\nurl = \"http://{address}\"");
    let mut gate = Gate::configured("embedded:data", &way, ROOM, LINEAR);
    gate.start();
    gate.ready().await;
    let pool = Arc::new(Pool::new(gate.address));
    let mut guests: Vec<Guest> = (1..=3).map(|index| Guest::new(&pool, index)).collect();
    let failing = async {
        // Two of them may ask as long as they like.
        for (at, guest) in guests.iter_mut().enumerate() {
            while guest.page("/seats").await.status() != 502 {
                yield_now().await;
            }
            // Two looks at the shop are over by then.
            let end = uptime() + Duration::from_secs(5);
            while at < 2 && uptime() < end {
                guest.page("/seats").await;
                assert_ne!(gate.room().await["admission"]["why"], "circuit", "{at}");
                sleep(Duration::from_millis(50)).await;
            }
        }
    };
    timeout(PATIENCE, failing).await.unwrap();
    until(&gate, "open", |load_control| load_control["why"] == "circuit").await;
    logged(&gate, "no server of the shop answers").await;
    spawn_blocking(|| doomed.shutdown_timeout(PATIENCE)).await.unwrap();
    let _shop = Shop::at(address, &[]).await;
    comes_in(&mut Guest::new(&pool, 4)).await;
    until(&gate, "closed", |load_control| load_control["why"] == "free").await;
    gate.stop();
}

#[tokio::test]
async fn a_shop_that_goes_away_is_sent_nobody_and_is_found_again_without_a_stray_request() {
    let address = free_address();
    let doomed = ends_with_its_runtime(address, &[]).await;
    let way = format!("[upstream]\nurl = \"http://{address}\"\nout_for = \"2s\"\nout_at_most = \"2s\"");
    let mut gate = Gate::configured("embedded:data", &way, ROOM, LINEAR);
    gate.start();
    gate.ready().await;
    let pool = Arc::new(Pool::new(gate.address));
    let mut last = Guest::new(&pool, 1);
    comes_in(&mut last).await;
    doomed.shutdown_background();
    let failing = async {
        while gate.room().await["admission"]["why"] != "circuit" {
            last.page("/seats").await;
        }
    };
    timeout(PATIENCE, failing).await.unwrap();
    logged(&gate, "no server of the shop answers").await;
    let open = until(&gate, "open", |load_control| load_control["why"] == "circuit").await;
    assert!(nobody(&open) || open["calls_milli"] == 1_000, "{open}");
    // All visitors are gone, and only called visitors still send requests to the shop, as a trial.
    last.own("POST", "leave").await;
    let _shop = Shop::at(address, &[]).await;
    comes_in(&mut Guest::new(&pool, 2)).await;
    until(&gate, "closed", |load_control| load_control["why"] == "free").await;
    gate.stop();
}
