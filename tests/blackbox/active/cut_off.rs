//! A gate that is cut off from its store, and a log that is lost.

use crate::contract::House;
use crate::contract::sockets::{SOCKET, assert_alive, assert_closes, socket_at};
use crate::guest::Guest;
use crate::harness::redis::{Options, Server};
use crate::house::{OFTEN, eventually};
use crate::http::Message;

use super::forms::FORM;
use super::{ACTIVE, assert_parked, house, until_served};

#[tokio::test]
async fn a_gate_cut_off_from_the_store_goes_on_with_active_sessions_and_lets_no_parked_one_in() {
    let mut store = Server::start(&Options::durable());
    let room = format!("total_active_users = 3\n{ACTIVE}");
    let house = House::on_store(&store.url(), &[], &room, OFTEN).await;
    let (gate, shop) = (&house.gate, &house.shop);
    let mut away = house.inside().await;
    house.until("parked", 1).await;
    let mut active = house.inside().await;
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

/// The gate that holds the sockets brings their sessions back: what is used keeps its slot, and what is not is parked in its time.
#[tokio::test]
async fn sockets_and_their_sessions_outlive_a_store_that_is_emptied() {
    let store = Server::start(&Options::durable());
    let room = format!("total_active_users = 2\n{ACTIVE}\nbackground = [\"/socket/background\"]");
    let house = House::on_store(&store.url(), SOCKET, &room, OFTEN).await;
    let (stays, leaves) = (house.inside().await, house.inside().await);
    let mut kept = socket_at(&house, &stays, "/socket").await;
    let closed = socket_at(&house, &leaves, "/socket/background").await;
    let _: String = store.ask("FLUSHALL");
    house.until("parked", 1).await;
    assert_closes(closed, "parked").await;
    assert_alive(&mut kept).await;
    let room = house.gate.room().await;
    assert_eq!(
        (&room["sessions"], &room["rights"], &room["excess"]),
        (&1.into(), &2.into(), &0.into()),
        "{room}"
    );
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
