//! The shop's servers behind the binary: one is killed while visitors are inside, one has all it can take, one is drained.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::runtime;
use tokio::task::JoinSet;

use crate::gate::Gate;
use crate::guest::{Guest, SCRIPT};
use crate::house::eventually;
use crate::http::{Message, Pool, Wire};
use crate::shop::{PLAIN, Reply, Shop};

/// Slow enough that some requests are always under way.
const REPLIES: &[Reply] = &[Reply {
    after: Duration::from_millis(5),
    ..PLAIN
}];
const VISITORS: u32 = 8;
const REQUESTS: u32 = 200;
const PATIENCE: Duration = Duration::from_secs(60);
const GET: &[u8] = b"GET /goods HTTP/1.1\r\nHost: shop.test\r\n\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_costs_no_visitor_an_answer() {
    // A runtime of its own: at its end every socket of the server closes, as when a process is killed.
    let doomed = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let dying = doomed.spawn(Shop::open(REPLIES)).await.unwrap();
    let living = Shop::open(REPLIES).await;
    let mut gate = Gate::at(dying.address, "mode = \"off\"", "");
    let one = format!("url = \"http://{}\"\n[store]", dying.address);
    let two = format!(
        "servers = [{{ url = \"http://{}\" }}, {{ url = \"http://{}\" }}]\n[store]",
        dying.address, living.address
    );
    let config = fs::read_to_string(gate.config()).unwrap();
    assert!(config.contains(&one), "{config}");
    fs::write(gate.config(), config.replace(&one, &two)).unwrap();
    gate.start();
    gate.ready().await;

    let answered = Arc::new(AtomicU32::new(0));
    let mut visitors = JoinSet::new();
    for _ in 0..VISITORS {
        let (address, answered) = (gate.address, Arc::clone(&answered));
        visitors.spawn(async move {
            let mut wire = Wire::open(address).await.unwrap();
            for _ in 0..REQUESTS {
                let answer = wire.ask(GET).await.unwrap();
                assert_eq!((answer.status(), answer.text().as_str()), (200, "come in"));
                answered.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    while answered.load(Ordering::SeqCst) < VISITORS * REQUESTS / 4 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(!dying.seen().is_empty(), "both were asked");
    doomed.shutdown_background();
    while let Some(visitor) = visitors.join_next().await {
        visitor.unwrap();
    }
    let shown = gate.admin_ask("GET", "/api/v1/upstreams", "").await.json();
    let server = |at: usize| shown["upstreams"][at].clone();
    assert_eq!(
        (&server(0)["healthy"], &server(1)["healthy"]),
        (&false.into(), &true.into()),
        "{shown}"
    );
    let metrics = gate.admin_ask("GET", "/metrics", "").await.text();
    for line in [
        format!(
            "ropeline_upstream_healthy{{origin=\"{}\",upstream=\"\"}} 0",
            dying.address
        ),
        format!(
            "ropeline_upstream_healthy{{origin=\"{}\",upstream=\"\"}} 1",
            living.address
        ),
        format!(
            "ropeline_upstream_failures_total{{origin=\"{}\",upstream=\"\"}} 0",
            living.address
        ),
    ] {
        assert!(metrics.contains(&line), "no {line} in\n{metrics}");
    }
    gate.stop();
}

#[tokio::test]
async fn who_finds_the_shop_full_is_told_when_to_come_back() {
    const NEVER: &[Reply] = &[Reply {
        after: Duration::from_secs(3600),
        ..PLAIN
    }];
    let shop = Shop::open(NEVER).await;
    let way = format!(
        "[upstream]\nurl = \"http://{}\"\nmax_connections = 1\nmax_waiting = 0",
        shop.address
    );
    let mut gate = Gate::configured("embedded:data", &way, "mode = \"off\"", "");
    gate.start();
    gate.ready().await;
    let mut first = Wire::open(gate.address).await.unwrap();
    first.send(GET).await.unwrap();
    let taken = async {
        while gate.admin_ask("GET", "/api/v1/upstreams", "").await.json()["upstreams"][0]["in_flight"] != 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, taken).await.unwrap();
    let refused = Wire::open(gate.address).await.unwrap().ask(GET).await.unwrap();
    assert_eq!((refused.status(), refused.field("retry-after")), (503, Some("5")));
    assert_eq!(refused.field("ropeline-status"), Some("exhausted"));
    drop(first);
    gate.stop();
}

/// Visitors inside, before a shop that takes one request at a time.
struct Busy {
    shop: Shop,
    gate: Gate,
    guests: Vec<Guest>,
    asked: JoinSet<(&'static str, Message)>,
}

impl Busy {
    async fn with(guests: u32) -> Self {
        const SLOW: &[Reply] = &[Reply {
            target: "/slow",
            after: Duration::from_secs(3),
            ..PLAIN
        }];
        let shop = Shop::open(SLOW).await;
        let way = format!(
            "[upstream]\nurl = \"http://{}\"\nmax_connections = 1\nwait_timeout = \"60s\"",
            shop.address
        );
        let mut gate = Gate::configured("embedded:data", &way, "total_active_users = 5", "");
        gate.start();
        gate.ready().await;
        let pool = Arc::new(Pool::new(gate.address));
        let mut guests: Vec<Guest> = (1..=guests).map(|index| Guest::new(&pool, index)).collect();
        for guest in &mut guests {
            assert!(guest.page("/").await.is_the_shops());
            assert!(guest.page("/").await.is_the_shops());
        }
        // A visitor without a session comes in by the open room.
        guests.push(Guest::new(&pool, 9));
        let asked = JoinSet::new();
        Self {
            shop,
            gate,
            guests,
            asked,
        }
    }

    /// Each guest asks for one of these, and waits behind those before; the first is at the shop.
    async fn ask(&mut self, paths: &[&'static str]) {
        for (at, (path, guest)) in paths.iter().zip(&self.guests).enumerate() {
            let (path, mut guest) = (*path, guest.clone());
            self.asked
                .spawn(async move { (path, guest.send("POST", path, SCRIPT, "{}").await.unwrap()) });
            eventually("its place", async || {
                let servers = self.gate.admin_ask("GET", "/api/v1/upstreams", "").await.json();
                let server = &servers["upstreams"][0];
                (server["in_flight"] == 1 && server["waiting"] == at).then_some(())
            })
            .await;
        }
    }

    /// Asserts that those of `refused` got these codes and reached no server, and that all others reached the shop.
    async fn judge(self, refused: &[(&str, &str)]) {
        for (path, answer) in self.asked.join_all().await {
            match refused.iter().find(|(refused, _)| *refused == path) {
                Some((_, word)) => {
                    assert_eq!(
                        (answer.status(), answer.word()),
                        (503, *word),
                        "{path}: {}",
                        answer.head
                    );
                    assert!(self.shop.seen_of(path).is_empty(), "{path}");
                }
                None => assert!(answer.is_the_shops(), "{path}: {}", answer.head),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_server_is_judged_again() {
    let mut busy = Busy::with(3).await;
    busy.ask(&["/slow", "/left", "/stays", "/open"]).await;
    assert_eq!(busy.guests[1].own("POST", "leave").await.status(), 200);
    busy.gate.set("{\"mode\": \"closed\"}").await;
    busy.judge(&[("/left", "exhausted"), ("/open", "closed")]).await;
}

/// A visitor who presses "pay" again and again while the shop is slow gives it one order at a time.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_server_is_not_sent_where_its_client_has_hung_up() {
    let mut busy = Busy::with(3).await;
    busy.ask(&["/slow"]).await;
    let waiting = async |many: u32| {
        let servers = busy.gate.admin_ask("GET", "/api/v1/upstreams", "").await.json();
        (servers["upstreams"][0]["waiting"] == many).then_some(())
    };
    let mut wire = Wire::open(busy.gate.address).await.unwrap();
    let gone = busy.guests[1].request("POST", "/gone", SCRIPT, "{}");
    wire.send(gone.as_bytes()).await.unwrap();
    eventually("it waits", async || waiting(1).await).await;
    drop(wire);
    eventually("it has left the line", async || waiting(0).await).await;
    let mut next = busy.guests[2].clone();
    let answer = next.send("POST", "/next", SCRIPT, "{}").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert!(busy.shop.seen_of("/gone").is_empty());
    busy.judge(&[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_server_while_its_room_begins_anew_is_sent_nowhere() {
    let mut busy = Busy::with(2).await;
    busy.ask(&["/slow", "/before"]).await;
    let reset = "{\"confirm\": \"shop\", \"reason\": \"over\"}";
    let answer = busy.gate.admin_ask("POST", "/api/v1/rooms/shop/reset", reset).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    busy.judge(&[("/before", "exhausted")]).await;
}

#[tokio::test]
async fn a_reload_takes_a_server_out_and_back_in_while_visitors_are_served() {
    let shops = [Shop::open(&[]).await, Shop::open(&[]).await];
    let [a, b] = shops.each_ref().map(|shop| shop.address);
    let servers = |weight: u8| format!("{{ url = \"http://{a}\", weight = {weight} }}, {{ url = \"http://{b}\" }}");
    let way = format!("[upstream]\nservers = [{}]", servers(3));
    let mut gate = Gate::configured("embedded:data", &way, "mode = \"off\"", "");
    gate.start();
    gate.ready().await;
    let mut wire = Wire::open(gate.address).await.unwrap();
    for (weight, instead) in [(3, 0), (0, 3)] {
        gate.amend(&servers(weight), &servers(instead));
        let reloaded = gate.admin_ask("POST", "/api/v1/reload", "{}").await;
        assert_eq!(reloaded.status(), 200, "{}", reloaded.text());
        let before = shops[0].seen().len();
        for _ in 0..REQUESTS {
            assert_eq!(wire.ask(GET).await.unwrap().status(), 200);
        }
        assert_eq!(shops[0].seen().len() > before, instead > 0, "weight {instead}");
    }
}
