//! A shop that hangs with few requests under way, and one visitor whose request alone hangs.

use std::sync::Arc;
use std::time::Duration;

use ropeline::time::uptime;
use serde_json::Value;
use tokio::task::{JoinSet, yield_now};
use tokio::time::timeout;

use crate::gate::Gate;
use crate::guest::Guest;
use crate::http::Pool;
use crate::shop::{PLAIN, Reply, Shop};

/// A page that takes a while, by which visitors pace themselves, and one that is not answered while a test runs.
const REPLIES: &[Reply] = &[
    Reply {
        target: "/seats",
        after: Duration::from_millis(300),
        ..PLAIN
    },
    Reply {
        target: "/hangs",
        after: Duration::from_secs(3_600),
        ..PLAIN
    },
];
const ROOM: &str = "total_active_users = 100";
/// Six visitors have about 20 requests a second under way, for which this table has 30 calls a step.
const LINEAR: &str =
    "[room.load_control]\nby = \"linear\"\ncalls = { most = 50, least = 1 }\nrequests = { few = 0, many = 50 }";
const ADAPTIVE: &str = "[room.load_control]\nby = \"adaptive\"";
const PATIENCE: Duration = Duration::from_secs(120);

/// Visitors inside, and how they use the shop.
struct Sale {
    gate: Gate,
    pool: Arc<Pool>,
    guests: Vec<Guest>,
    _shop: Shop,
}

impl Sale {
    async fn open(guests: u32, admission: &str) -> Self {
        let shop = Shop::open(REPLIES).await;
        let gate = Gate::open(shop.address, ROOM, admission).await;
        let pool = Arc::new(Pool::new(gate.address));
        let mut guests: Vec<Guest> = (1..=guests).map(|index| Guest::new(&pool, index)).collect();
        for guest in &mut guests {
            let asking = async {
                while !guest.page("/seats").await.is_the_shops() {
                    yield_now().await;
                }
            };
            assert!(timeout(PATIENCE, asking).await.is_ok(), "never let in");
        }
        Self {
            gate,
            pool,
            guests,
            _shop: shop,
        }
    }

    /// The first `count` guests send a form that is not answered.
    fn post(&self, page: &'static str, count: usize) -> JoinSet<()> {
        let mut asking = JoinSet::new();
        for mut guest in self.guests.iter().take(count).cloned() {
            asking.spawn(async move {
                loop {
                    let _ = guest.script("POST", page).await;
                }
            });
        }
        asking
    }

    /// The first `count` guests but for the first `left_out` ask for this page again and again.
    fn ask(&self, page: &'static str, left_out: usize, count: usize) -> JoinSet<()> {
        let mut asking = JoinSet::new();
        for mut guest in self.guests.iter().skip(left_out).take(count).cloned() {
            asking.spawn(async move {
                loop {
                    guest.page(page).await;
                }
            });
        }
        asking
    }

    async fn admission(&self) -> Value {
        self.gate.room().await["admission"].clone()
    }

    async fn calls(&self) -> u64 {
        self.admission().await["calls_milli"].as_u64().unwrap()
    }

    /// Looks at the calls a step until they are so; the most and the least on the way.
    async fn calls_until(&self, what: &str, mut are: impl FnMut(u64) -> bool) -> (u64, u64) {
        let (mut most, mut least) = (0, u64::MAX);
        let looking = async {
            loop {
                let calls = self.calls().await;
                (most, least) = (most.max(calls), least.min(calls));
                if are(calls) {
                    return;
                }
                yield_now().await;
            }
        };
        let met = timeout(PATIENCE, looking).await.is_ok();
        assert!(met, "waited in vain: {what}: {}", self.admission().await);
        (most, least)
    }

    /// Calls settle at what so many requests a second are worth; the most while they do.
    async fn settled(&self) -> u64 {
        self.calls_until("settled", |calls| (20_000..40_000).contains(&calls))
            .await;
        let until = uptime() + Duration::from_secs(8);
        let (most, _) = self.calls_until("eight seconds", |_| uptime() >= until).await;
        most
    }
}

/// With so many requests under way and none answered: not one call more, and far fewer in the end.
async fn calls_fall_with(hanging: usize) {
    let sale = Sale::open(10, LINEAR).await;
    let busy = sale.ask("/seats", 0, 6);
    let before = sale.settled().await;
    drop(busy);
    let hangs = sale.ask("/hangs", 0, hanging);
    let (most, _) = sale.calls_until("fewer", |calls| calls * 2 <= before).await;
    // One request more or less in two seconds is half a call or so.
    assert!(most <= before + 3_000, "{most} after {before}");
    let admission = sale.admission().await;
    assert_eq!(admission["why"], "latency", "{admission}");
    assert_eq!(admission["shop"]["hanging"], hanging, "{admission}");
    // Slowed, and not stopped: a visitor comes and shows that the shop is well.
    let until = uptime() + Duration::from_secs(16);
    let (_, least) = sale.calls_until("sixteen seconds", |_| uptime() >= until).await;
    assert!((1_000..=before / 5).contains(&least), "{least} after {before}");
    drop(hangs);
    let busy = sale.ask("/seats", 0, 6);
    sale.calls_until("as before", |calls| calls * 10 >= before * 9).await;
    drop(busy);
}

#[tokio::test]
async fn a_shop_that_hangs_with_one_request_under_way_is_called_fewer() {
    calls_fall_with(1).await;
}

#[tokio::test]
async fn a_shop_that_hangs_with_three_requests_under_way_is_called_fewer() {
    calls_fall_with(3).await;
}

#[tokio::test]
async fn a_shop_that_hangs_with_ten_requests_under_way_is_called_fewer() {
    calls_fall_with(10).await;
}

#[tokio::test]
async fn a_shop_that_hangs_with_forms_under_way_is_called_fewer() {
    let sale = Sale::open(10, LINEAR).await;
    let busy = sale.ask("/seats", 0, 6);
    let before = sale.settled().await;
    drop(busy);
    let hangs = sale.post("/hangs", 3);
    sale.calls_until("fewer", |calls| calls * 2 <= before).await;
    let admission = sale.admission().await;
    assert_eq!(admission["shop"]["hanging"], 3, "{admission}");
    drop(hangs);
}

#[tokio::test]
async fn one_visitor_whose_requests_hang_slows_nobody_while_others_are_answered() {
    let sale = Sale::open(8, LINEAR).await;
    let busy = sale.ask("/seats", 1, 6);
    sale.settled().await;
    let mut hangs = JoinSet::new();
    for _ in 0..10 {
        let mut guest = sale.guests[0].clone();
        hangs.spawn(async move { guest.page("/hangs").await });
    }
    let until = uptime() + Duration::from_secs(14);
    let looking = async {
        while uptime() < until {
            let admission = sale.admission().await;
            let shop = &admission["shop"];
            assert!(admission["why"] != "latency" && shop["hanging"] == 0, "{admission}");
            yield_now().await;
        }
    };
    looking.await;
    let admission = sale.admission().await;
    // This many requests of one visitor are measured, and they are under way.
    assert!(
        admission["shop"]["in_flight"].as_u64().is_some_and(|held| held >= 4),
        "{admission}"
    );
    drop((busy, hangs));
}

#[tokio::test]
async fn an_adaptive_room_calls_fewer_to_a_shop_that_hangs_and_nobody_once_three_visitors_have_met_it() {
    let sale = Sale::open(4, ADAPTIVE).await;
    // People wait, so that as many are called as may be.
    for index in 10..60 {
        Guest::new(&sale.pool, index).page("/seats").await;
    }
    let (before, _) = sale.calls_until("somebody", |calls| calls > 0).await;
    let one = sale.ask("/hangs", 0, 1);
    let (until, mut last) = (uptime() + Duration::from_secs(10), 0);
    let (_, least) = sale
        .calls_until("ten seconds", |calls| {
            last = calls;
            uptime() >= until
        })
        .await;
    assert!(least > 0 && last < before, "{least} to {last} after {before}");
    let others = sale.ask("/hangs", 1, 2);
    sale.calls_until("nobody", |calls| calls == 0).await;
    drop((one, others));
    let busy = sale.ask("/seats", 0, 3);
    sale.calls_until("again", |calls| calls > 0).await;
    drop(busy);
}
