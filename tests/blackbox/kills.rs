//! kill -9 at a hundred random moments, while the crowd comes and goes; and once, right behind newcomers.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::crowd::chance::number;
use crate::crowd::gathering::Crowd;
use crate::crowd::people::{FIFTY, LIMITS, REPLIES, World};
use crate::crowd::seed;
use crate::gate::Gate;
use crate::house::{Direct, OFTEN, ONE};
use crate::http::Pool;
use crate::load::{BOUND, MACHINE, judge, people};
use crate::shop::Shop;

type House = crate::house::House<Direct>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gate_killed_a_hundred_times_forgets_nobody_and_lets_nobody_in_too_many() {
    let _machine = MACHINE.lock().await;
    let mut chance = seed::of_run("kills");
    let kills = number("ROPELINE_KILLS").unwrap_or(100);
    let shop = Shop::open(REPLIES).await;
    let mut gate = Gate::open(shop.address, &FIFTY.room(), LIMITS).await;
    let world = Arc::new(World::new(Pool::new(gate.address), FIFTY, true, (200, 1_500)));
    // Spread over the kills, so that people join, wait, are called and go all the while.
    let mut crowd = Crowd::gather(people(), &world, &chance.nth(1 << 40), kills * 900);
    crowd.watch(&world, Pool::new(gate.admin.address));
    let mut under_load = 0;
    for _ in 0..kills {
        // Some lives end before they serve a request.
        sleep(Duration::from_millis(chance.within(30, 1_400))).await;
        under_load += u64::from(crowd.left() > 0);
        gate.kill();
        gate.start();
    }
    gate.ready().await;
    assert_eq!(crowd.disperse(BOUND).await, 0, "some never got in");
    gate.stop();
    let ledger = judge(&world, &shop, &gate, "kills");
    println!("kills: {kills}, {under_load} of them with people still to come or in line");
    assert!(
        under_load == kills || people() < 2_000,
        "the crowd was gone before the killing ended"
    );
    assert!(ledger.lives > kills / 2, "only {} lives left entries", ledger.lives);
}

/// Only the last one asks: the others would come at the pace of their pages.
#[tokio::test]
async fn who_joined_a_moment_before_a_kill_is_called_before_the_one_who_asks_first() {
    let mut house = House::open(ONE, OFTEN).await;
    let mut inside = house.inside().await;
    let mut line = [
        house.in_line().await,
        house.in_line().await,
        house.in_line().await,
        house.in_line().await,
    ];
    house.gate.kill();
    house.gate.start();
    house.gate.ready().await;
    house.until("waiting", 4).await;
    assert_eq!(line[3].own("GET", "status").await.json()["position"], 4);
    inside.own("POST", "leave").await;
    house.until("called", 1).await;
    let [first, .., last] = &mut line;
    assert_eq!(last.own("GET", "status").await.json()["position"], 3);
    assert!(first.page("/").await.is_the_shops(), "the first has the turn");
    house.gate.stop();
    let report = house.gate.command(&["report", "data", "--strict"]);
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(report.status.success() && text.contains("whole and fair"), "{text}");
}
