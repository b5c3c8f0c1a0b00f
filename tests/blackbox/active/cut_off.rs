//! A gate that is cut off from its store, and a log that is lost.

use std::sync::Arc;

use crate::contract::House;
use crate::gate::Gate;
use crate::guest::Guest;
use crate::harness::redis::{Options, Server};
use crate::house::{OFTEN, eventually};
use crate::http::{Message, Pool};
use crate::shop::Shop;

use super::forms::FORM;
use super::{ACTIVE, assert_parked, house, until_served};

/// A visitor who is inside and has used the pass.
async fn inside(pool: &Arc<Pool>, at: u32) -> Guest {
    let mut guest = Guest::at(pool, &format!("127.{at}.1.1"), at);
    for _ in 0..2 {
        let answer = guest.page("/").await;
        assert!(answer.is_the_shops(), "not let in: {}", answer.head);
    }
    guest
}

async fn until_room(gate: &Gate, figure: &str, value: u64) {
    eventually(figure, async || (gate.room().await[figure] == value).then_some(())).await;
}

#[tokio::test]
async fn a_gate_cut_off_from_the_store_goes_on_with_active_sessions_and_lets_no_parked_one_in() {
    let mut store = Server::start(&Options::durable());
    let shop = Shop::open(&[]).await;
    let room = format!("total_active_users = 3\n{ACTIVE}");
    let url = format!("redis://127.0.0.1:{}", store.port());
    let mut gate = Gate::with_store(&url, shop.address, &room, OFTEN);
    gate.start();
    gate.ready().await;
    let pool = Arc::new(Pool::new(gate.address));
    let mut away = inside(&pool, 1).await;
    until_room(&gate, "parked", 1).await;
    let mut active = inside(&pool, 2).await;
    store.kill();
    eventually("the gate is cut off", async || {
        let rooms = gate.admin_ask("GET", "/api/v1/rooms", "").await.json();
        rooms["gate"]["cut_off_secs"].is_u64().then_some(())
    })
    .await;
    for _ in 0..8 {
        let answer = active.page("/active").await;
        assert!(answer.is_the_shops(), "{}", answer.head);
        let told = away.page("/parked").await;
        assert_parked(&told);
        assert!(
            told.text().contains("Not available right now"),
            "nobody knows who comes first"
        );
    }
    let told = away.once("POST", "/parked", FORM, "seat=7").await.unwrap();
    assert_parked(&told);
    assert!(told.text().contains("Not available right now"), "{}", told.text());
    assert!(shop.seen_of("/parked").is_empty());
    store.restart();
    assert!(until_served(&mut away, "/parked").await.is_the_shops());
    assert_eq!(shop.seen_of("/parked").len(), 1);
}

/// After a lost log nobody is known. Passes bring sessions back without a slot, as many as there may be.
#[tokio::test]
async fn after_a_lost_log_an_unknown_pass_comes_back_parked_within_the_rights() {
    let mut house = house(1, &format!("{ACTIVE}\nsession_duration = \"2 min\"")).await;
    let mut guests = Vec::new();
    for parked in 0..3 {
        house.until("parked", parked).await;
        guests.push(house.inside().await);
    }
    house.until("rights", 3).await;
    house.gate.kill();
    house.gate.lose_log();
    house.gate.amend("slots =", "max_sessions = 2\nslots =");
    house.gate.start();
    house.gate.ready().await;
    let [first, second, third] = &mut guests[..] else {
        panic!("three")
    };
    assert!(until_served(first, "/back/1").await.is_the_shops());
    assert_waits(&house, first, second, "/back/2", "You come before everyone in line").await;
    let room = house.gate.room().await;
    assert_eq!(
        (&room["sessions"], &room["parked"], &room["excess"]),
        (&1.into(), &1.into(), &0.into())
    );
    assert_waits(&house, first, third, "/back/3", "Not available right now").await;
    assert_eq!(house.gate.room().await["rights"], 2, "no more than there may be");
}

/// The one who has the slot uses it, and the other is told to wait.
async fn assert_waits(house: &House, busy: &mut Guest, waits: &mut Guest, target: &str, says: &str) {
    assert!(busy.page("/busy").await.is_the_shops());
    let answer: Message = waits.page(target).await;
    assert_parked(&answer);
    assert!(answer.text().contains(says), "{says}: {}", answer.text());
    assert!(house.shop.seen_of(target).is_empty());
}
