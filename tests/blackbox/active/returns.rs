//! A parked visitor comes back: a page, a program, a client that leaves, two browsers of one account.

use std::time::Duration;

use crate::guest::PAGE;
use crate::house::eventually;
use crate::http::Wire;

use super::{ACTIVE, House, OFTEN, PATIENT, assert_parked, house, one_parked, until_served};

#[tokio::test]
async fn an_idle_visitor_gives_the_slot_to_the_next_one_and_stays_let_in() {
    let (house, mut away, _busy) = one_parked(&[], ACTIVE).await;
    let room = house.gate.room().await;
    assert_eq!(
        (
            &room["sessions"],
            &room["parked"],
            &room["rights"],
            &room["max_sessions"]
        ),
        (&1.into(), &1.into(), &2.into(), &3.into())
    );
    let told = away.own("GET", "status").await.json();
    assert_eq!(
        (&told["state"], &told["parked"]),
        (&"inside".into(), &true.into()),
        "{told}"
    );
    let answer = away.page("/seats").await;
    assert_parked(&answer);
    assert!(answer.text().contains("You are still let in"), "{}", answer.text());
    let again: u32 = answer.field("refresh").unwrap().parse().unwrap();
    assert!((1..5).contains(&again), "before a slot that is given meanwhile is lost");
    assert!(house.shop.seen_of("/seats").is_empty(), "the shop saw nothing");
}

#[tokio::test]
async fn a_request_waits_for_the_slot_and_reaches_the_shop_once() {
    let (house, mut away, mut busy) = one_parked(&[], PATIENT).await;
    let waiting = tokio::spawn(async move { (away.page("/seats").await, away) });
    let mut behind = house.in_line().await;
    assert!(busy.page("/still-here").await.is_the_shops());
    busy.own("POST", "leave").await;
    let (answer, mut away) = waiting.await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(house.shop.seen_of("/seats ").len(), 1);
    // Before the line, and the line goes on waiting.
    assert_eq!(behind.own("GET", "status").await.json()["state"], "waiting");
    let told = away.own("GET", "status").await.json();
    assert_eq!((&told["state"], told.get("parked")), (&"inside".into(), None), "{told}");
    assert_eq!(
        house
            .counter("ropeline_returns_total{room=\"shop\",outcome=\"granted\"}")
            .await,
        1
    );
}

#[tokio::test]
async fn a_program_is_told_when_to_try_again_and_keeps_its_pass() {
    let (house, mut away, mut busy) = one_parked(&[], ACTIVE).await;
    let pass = away.pass().unwrap();
    let answer = away.script("POST", "/api/cart").await;
    assert_parked(&answer);
    assert_eq!(answer.field("content-type"), Some("application/problem+json"));
    let problem = answer.json();
    assert_eq!(
        (&problem["reason"], &problem["room"]),
        (&"parked".into(), &"shop".into())
    );
    let after: u32 = answer.field("retry-after").unwrap().parse().unwrap();
    assert!((1..5).contains(&after), "{after}");
    busy.own("POST", "leave").await;
    let answer = eventually("a slot", async || {
        let mut same = away.clone();
        let answer = same.script("POST", "/api/cart").await;
        answer.is_the_shops().then_some(answer)
    })
    .await;
    assert_eq!(answer.status(), 200);
    assert_eq!(
        house.shop.seen_of("/api/cart").len(),
        1,
        "once, and not while it was parked"
    );
    assert_eq!(away.pass().unwrap().id, pass.id);
}

/// The slot that it has asked for is given to it, not used, and given away again.
#[tokio::test]
async fn a_client_that_leaves_ends_its_wait_and_the_shop_never_sees_its_request() {
    let (house, away, mut busy) = one_parked(&[], PATIENT).await;
    let gone = away.request("GET", "/gone", PAGE, "");
    // Another request of the same visitor is behind it in no queue.
    let asks = tokio::spawn(async move {
        let mut other = away;
        other.page("/stays").await.is_the_shops()
    });
    // A client that leaves before the gate has its request has asked for nothing.
    eventually("a wait that the client left", async || {
        let mut wire = Wire::open(house.gate.address).await.unwrap();
        wire.send(gone.as_bytes()).await.unwrap();
        let mut same = busy.clone();
        assert!(same.page("/here").await.is_the_shops());
        drop(wire);
        assert!(same.page("/here").await.is_the_shops());
        (outcomes(&house).await[2] > 0).then_some(())
    })
    .await;
    busy.own("POST", "leave").await;
    assert!(asks.await.unwrap());
    house.until("parked", 1).await;
    assert!(house.shop.seen_of("/gone").is_empty());
    let [granted, later, _] = outcomes(&house).await;
    assert_eq!((granted, later), (1, 0));
}

/// How many waits ended with a slot, without one, and by the client.
async fn outcomes(house: &House) -> [u64; 3] {
    let mut counts = [0; 3];
    for (count, outcome) in counts.iter_mut().zip(["granted", "later", "gone"]) {
        let name = format!("ropeline_returns_total{{room=\"shop\",outcome=\"{outcome}\"}}");
        *count = house.counter(&name).await;
    }
    counts
}

#[tokio::test]
async fn a_request_that_may_not_wait_is_counted_as_limited_only() {
    let (house, away, _busy) = one_parked(&[], ACTIVE).await;
    let asks = (0..10).map(|_| {
        let mut same = away.clone();
        tokio::spawn(async move { assert_parked(&same.page("/seats").await) })
    });
    for ask in asks.collect::<Vec<_>>() {
        ask.await.unwrap();
    }
    assert_eq!(outcomes(&house).await, [0, 8, 0]);
    assert_eq!(
        house
            .counter("ropeline_limited_total{limit=\"returning\",upstream=\"\"}")
            .await,
        2
    );
}

#[tokio::test]
async fn a_wait_of_a_session_that_ends_is_no_return() {
    let (house, mut away, _busy) = one_parked(&[], PATIENT).await;
    let mut same = away.clone();
    let waits = tokio::spawn(async move { same.page("/seats").await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    away.own("POST", "leave").await;
    assert!(!waits.await.unwrap().is_the_shops());
    assert_eq!(outcomes(&house).await, [0, 0, 0]);
}

/// Nobody is called beyond the rights, however many slots are free.
#[tokio::test]
async fn nobody_is_called_beyond_the_sessions_that_there_may_be() {
    let house = house(1, &format!("{ACTIVE}\nmax_sessions = 1")).await;
    let mut away = house.inside().await;
    house.until("parked", 1).await;
    let mut waits = house.in_line().await;
    assert_eq!(house.gate.room().await["sessions"], 0, "a slot is free");
    assert!(until_served(&mut away, "/back").await.is_the_shops());
    away.own("POST", "leave").await;
    house.until_state(&mut waits, "called").await;
}

/// What the gate tells the shop that asks when an order is placed.
#[tokio::test]
async fn a_parked_visitors_order_is_taken() {
    let (house, mut away, _busy) = one_parked(&[], ACTIVE).await;
    let name = house.shop.seen()[0].session().unwrap().to_owned();
    let told = house.gate.verify(&name).await;
    assert_eq!(
        (&told["state"], &told["parked"]),
        (&"inside".into(), &true.into()),
        "{told}"
    );
    away.own("POST", "leave").await;
    let told = house.gate.verify(&name).await;
    assert_eq!((&told["state"], told.get("parked")), (&"ended".into(), None), "{told}");
}

/// The account's session is parked, so its second browser waits for a slot as the first would.
#[tokio::test]
async fn another_browser_of_the_account_comes_in_with_a_slot_only() {
    let tables = format!("[room.identity]\nfrom = \"header\"\nname = \"X-User\"\n{OFTEN}");
    let house = House::open(&format!("total_active_users = 1\n{ACTIVE}"), &tables).await;
    let browser = |user| {
        let mut guest = house.guest();
        guest.says("X-User", user);
        guest
    };
    let mut first = browser("ada");
    assert!(until_served(&mut first, "/first").await.is_the_shops());
    assert!(first.page("/first").await.is_the_shops());
    house.until("parked", 1).await;
    let mut busy = browser("bob");
    assert!(until_served(&mut busy, "/busy").await.is_the_shops());
    let mut second = browser("ada");
    assert_parked(&second.page("/second").await);
    assert!(house.shop.seen_of("/second").is_empty());
    busy.own("POST", "leave").await;
    assert!(until_served(&mut second, "/second").await.is_the_shops());
    let seen = house.shop.seen_of("/second");
    assert_eq!(
        (seen.len(), seen[0].session()),
        (1, house.shop.seen_of("/first")[0].session())
    );
    assert_eq!(house.gate.room().await["calls"], 2);
}

/// Else three times as many as the slots would be in the shop at once.
#[tokio::test]
async fn where_active_slots_are_switched_off_a_parked_session_still_asks() {
    let (mut house, mut away, mut busy) = one_parked(&[], ACTIVE).await;
    house.gate.stop();
    house.gate.amend("slots = \"active\"", "slots = \"session\"");
    house.gate.start();
    house.gate.ready().await;
    assert!(busy.page("/busy").await.is_the_shops());
    assert_parked(&away.page("/back").await);
    assert!(house.shop.seen_of("/back").is_empty());
    busy.own("POST", "leave").await;
    assert!(until_served(&mut away, "/back").await.is_the_shops());
    let room = house.gate.room().await;
    assert_eq!((&room["sessions"], &room["parked"]), (&1.into(), &0.into()));
}
