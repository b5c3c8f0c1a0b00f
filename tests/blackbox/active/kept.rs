//! What keeps the slot without requests: something under way, a payment by a route, and the shop's own word.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::gate::Gate;
use crate::guest::Guest;
use crate::house::eventually;
use crate::http::{Pool, Wire};
use crate::shop::Reply;

use super::{ACTIVE, OFTEN, house, scripted};

const SHOP: &[Reply] = &[
    Reply {
        after: Duration::from_secs(12),
        ..Reply::new("/download", "HTTP/1.1 200 OK\r\nX-Shop: 1\r\n", "at last")
    },
    Reply::new(
        "/pay-elsewhere",
        "HTTP/1.1 303 See Other\r\nX-Shop: 1\r\nRopeline-Session: hold=60\r\n",
        "",
    ),
];

/// A shop that sends its answer's body in twelve seconds, byte by byte.
async fn slow_shop() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(send_slowly(Wire::new(stream)));
        }
    });
    address
}

async fn send_slowly(mut wire: Wire) {
    while let Ok(Some(request)) = wire.request().await {
        let bytes = if request.head.contains("/download") { 24 } else { 1 };
        let head = format!("HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Length: {bytes}\r\n\r\n");
        let _ = wire.send(head.as_bytes()).await;
        for byte in 0..bytes {
            if byte > 0 {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            let _ = wire.send(b".").await;
        }
    }
}

#[tokio::test]
async fn a_download_keeps_the_slot_until_its_last_byte() {
    let room = format!("total_active_users = 1\n{ACTIVE}");
    let gate = Gate::open(slow_shop().await, &room, OFTEN).await;
    let pool = Arc::new(Pool::new(gate.address));
    let mut guest = Guest::at(&pool, "127.1.1.1", 1);
    assert!(guest.page("/").await.is_the_shops());
    let slow = tokio::spawn(async move { (guest.page("/download").await, guest) });
    while !slow.is_finished() {
        let room = gate.room().await;
        assert_eq!((&room["sessions"], &room["parked"]), (&1.into(), &0.into()));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let (answer, mut guest) = slow.await.unwrap();
    assert_eq!(answer.body.len(), 24);
    assert!(guest.page("/next").await.is_the_shops(), "without asking");
    assert_eq!(gate.room().await["calls"], 1);
}

#[tokio::test]
async fn a_request_under_way_keeps_the_slot() {
    let house = scripted(SHOP, 1, ACTIVE).await;
    let mut guest = house.guest();
    let slow = tokio::spawn(async move {
        let answer = guest.page("/download").await;
        (answer, guest)
    });
    house.until("sessions", 1).await;
    let mut waits = house.in_line().await;
    while !slow.is_finished() {
        let room = house.gate.room().await;
        assert_eq!((&room["sessions"], &room["parked"]), (&1.into(), &0.into()));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let (answer, mut reader) = slow.await.unwrap();
    assert!(answer.is_the_shops());
    assert_eq!(waits.own("GET", "status").await.json()["state"], "waiting");
    assert!(reader.page("/next").await.is_the_shops(), "without asking");
    assert_eq!(house.gate.room().await["calls"], 1);
}

/// Of two visitors, the one who pays was in use before the other, and is not parked with the other.
async fn assert_holds((method, target): (&str, &str), room: &str) {
    let house = scripted(SHOP, 2, room).await;
    let mut paying = house.inside().await;
    let answer = paying.script(method, target).await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    let _idle = house.inside().await;
    house.until("parked", 1).await;
    let told = paying.own("GET", "status").await.json();
    assert_eq!((&told["state"], told.get("parked")), (&"inside".into(), None), "{told}");
    assert_eq!(house.gate.room().await["sessions"], 1);
    assert!(paying.page("/receipt").await.is_the_shops(), "without asking");
}

#[tokio::test]
async fn a_route_that_holds_the_slot_keeps_it_without_further_requests() {
    let held = format!("{ACTIVE}\nhold_slot = [{{ route = \"POST /pay\", for = \"1 min\" }}]");
    assert_holds(("POST", "/pay"), &held).await;
}

#[tokio::test]
async fn the_shops_word_keeps_the_slot_without_further_requests() {
    assert_holds(("POST", "/pay-elsewhere"), ACTIVE).await;
}

/// The same route by another method holds nothing.
#[tokio::test]
async fn a_request_that_meets_no_rule_holds_nothing() {
    let held = format!("{ACTIVE}\nhold_slot = [{{ route = \"POST /pay\", for = \"1 min\" }}]");
    let house = house(1, &held).await;
    let mut guest = house.inside().await;
    assert!(guest.page("/pay").await.is_the_shops());
    eventually("parked", async || {
        (house.gate.room().await["parked"] == 1).then_some(())
    })
    .await;
}
