//! Clients that hang up while the shop works: the shop's answer counts where it matters, and in all other cases the request
//! is dropped.

use std::time::Duration;

use crate::guest::Guest;
use crate::http::Wire;
use crate::shop::Reply;

use super::{House, ONE, eventually};

const COMPLETE: &str = "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nRopeline-Session: complete\r\n";

const SELLING: &[Reply] = &[
    Reply {
        after: Duration::from_millis(1_500),
        ..Reply::new("/pay", COMPLETE, "sold")
    },
    Reply {
        after: Duration::from_millis(1_500),
        ..Reply::new("/receipt/slow", "HTTP/1.1 200 OK\r\nX-Shop: 1\r\n", "sold")
    },
    Reply {
        after: Duration::from_secs(8),
        ..Reply::new("/slowly", COMPLETE, "sold")
    },
    Reply {
        after: Duration::from_secs(60),
        ..Reply::new("/never", COMPLETE, "sold")
    },
];

async fn selling(more: &str) -> House {
    let receipt = "completes_on = [{ route = \"/receipt/*\", status = 200 }]";
    House::scripted(SELLING, &format!("{ONE}\nend_grace = \"0s\"\n{receipt}\n{more}"), "").await
}

/// Waits until so many of the gate's requests are at the shop.
async fn at_shop(house: &House, many: u64) {
    eventually("so many are at the shop", async || {
        let servers = house.gate.admin_ask("GET", "/api/v1/upstreams", "").await.json();
        (servers["upstreams"][0]["in_flight"] == many).then_some(())
    })
    .await;
}

/// Sends a request and hangs up when it is the `nth` that the shop has.
async fn hangs_up(house: &House, guest: &Guest, (method, target): (&str, &str), nth: u64) {
    let before = house.shop.begun();
    let mut wire = Wire::open(house.gate.address).await.unwrap();
    wire.send(guest.request(method, target, "", "").as_bytes())
        .await
        .unwrap();
    at_shop(house, nth).await;
    eventually("the shop has it", async || (house.shop.begun() > before).then_some(())).await;
}

async fn sold(house: &House, many: u64) {
    eventually("a sale is on record", async || {
        (house.gate.room().await["completed"] == many).then_some(())
    })
    .await;
}

/// A visitor who presses "pay" twice breaks off the first request, and the shop has sold all the same.
#[tokio::test]
async fn what_the_shop_sells_counts_also_where_the_buyer_has_hung_up() {
    let house = selling("stock = 3").await;
    for (sale, asked) in [(1, ("POST", "/pay")), (2, ("GET", "/receipt/slow"))] {
        let buyer = house.inside().await;
        hangs_up(&house, &buyer, asked, 1).await;
        assert_eq!(
            house.gate.room().await["completed"],
            sale - 1,
            "it has not answered yet"
        );
        sold(&house, sale).await;
    }
}

// The shop answers while the test waits for the process.
#[tokio::test(flavor = "multi_thread")]
async fn a_graceful_stop_waits_for_what_the_shop_sells() {
    let mut house = selling("stock = 3").await;
    let buyer = house.inside().await;
    hangs_up(&house, &buyer, ("POST", "/pay"), 1).await;
    house.gate.stop();
    house.gate.start();
    house.gate.ready().await;
    sold(&house, 1).await;
}

#[tokio::test]
async fn the_buyers_session_and_piece_are_kept_until_the_shop_has_answered() {
    let house = selling("stock = 1\nsession_duration = \"4s\"\ngrace = \"20s\"\nfirm_within = \"8s\"").await;
    let buyer = house.inside().await;
    let mut waiting = house.in_line().await;
    hangs_up(&house, &buyer, ("POST", "/slowly"), 1).await;
    house.until_state(&mut waiting, "sold_out").await;
    assert_eq!(house.gate.room().await["calls"], 1, "only the buyer");
}

#[tokio::test]
async fn one_visitor_has_four_requests_that_go_on_without_them() {
    let house = selling("stock = 3").await;
    let buyer = house.inside().await;
    for nth in 1..=4 {
        hangs_up(&house, &buyer, ("POST", "/never"), nth).await;
    }
    hangs_up(&house, &buyer, ("POST", "/never"), 5).await;
    at_shop(&house, 4).await;
    let metrics = house.gate.admin_ask("GET", "/metrics", "").await.text();
    let counted = metrics.lines().find(|line| line.contains("limit=\"detached\""));
    assert!(counted.is_some_and(|line| line.ends_with(" 1")), "{counted:?}");
}

#[tokio::test]
async fn what_only_reads_and_what_sells_nothing_is_called_off() {
    let house = selling("stock = 3").await;
    let guest = house.inside().await;
    hangs_up(&house, &guest, ("GET", "/never"), 1).await;
    at_shop(&house, 0).await;
    let house = House::scripted(SELLING, ONE, "").await;
    let guest = house.inside().await;
    hangs_up(&house, &guest, ("POST", "/never"), 1).await;
    at_shop(&house, 0).await;
}
