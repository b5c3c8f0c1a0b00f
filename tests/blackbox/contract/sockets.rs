//! Sockets: one that an open room let in without a session goes when the room is not open, one of a session stays.

use std::time::Duration;

use crate::guest::Guest;
use crate::house::eventually;
use crate::http::{PATIENCE, Wire};
use crate::shop::Reply;

use super::House;

const TWO: &str = "total_active_users = 2";

/// The shop's end goes on answering requests over the socket, which shows that it is alive.
pub const SOCKET: &[Reply] = &[Reply::new(
    "/socket",
    "HTTP/1.1 101 Switching Protocols\r\nX-Shop: 1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    "",
)];

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-Fetch-Mode: websocket\r\nSec-Fetch-Dest: empty\r\n";

const ECHO: &[u8] = b"GET /echo HTTP/1.1\r\nHost: shop.test\r\n\r\n";

/// Opens a socket as this visitor.
async fn socket(house: &House, guest: &Guest) -> Wire {
    socket_at(house, guest, "/socket").await
}

/// Opens one at a target that begins with that of [`SOCKET`].
pub async fn socket_at(house: &House, guest: &Guest, target: &str) -> Wire {
    let mut wire = Wire::open(house.gate.address).await.unwrap();
    let request = guest.request("GET", target, UPGRADE, "");
    let answer = wire.ask(request.as_bytes()).await.unwrap();
    assert_eq!(answer.status(), 101, "{}", answer.head);
    assert_alive(&mut wire).await;
    wire
}

pub async fn assert_alive(wire: &mut Wire) {
    let answer = wire.ask(ECHO).await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
}

/// Uses the socket until it is closed, so that it is never closed for idleness.
pub async fn assert_closes(mut wire: Wire, why: &str) {
    let used = async {
        while wire.ask(ECHO).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(
        tokio::time::timeout(PATIENCE, used).await.is_ok(),
        "never closed: {why}"
    );
}

#[tokio::test]
async fn a_socket_without_a_session_goes_when_the_room_is_not_open_and_one_of_a_session_stays() {
    let house = House::scripted(SOCKET, TWO, "").await;
    let inside = house.inside().await;
    let mut of_session = socket(&house, &inside).await;
    for (before, mode) in [("auto", "hold"), ("auto", "closed"), ("off", "hold"), ("off", "closed")] {
        house.gate.set(&format!("{{\"mode\": \"{before}\"}}")).await;
        let of_nobody = socket(&house, &house.guest()).await;
        house.gate.set(&format!("{{\"mode\": \"{mode}\"}}")).await;
        assert_closes(of_nobody, mode).await;
        assert_alive(&mut of_session).await;
        house.gate.set("{\"mode\": \"auto\"}").await;
    }
    let of_nobody = socket(&house, &house.guest()).await;
    let mut second = house.inside().await;
    assert_closes(of_nobody, "full").await;
    assert_alive(&mut of_session).await;

    // The end of the session is the end of its socket.
    let of_second = socket(&house, &second).await;
    second.own("POST", "leave").await;
    assert_closes(of_second, "ended").await;
    assert_alive(&mut of_session).await;
}

/// The shop takes twenty at once.
#[tokio::test]
async fn one_visitor_and_one_client_without_a_session_leave_connections_for_others() {
    let house = House::built(SOCKET, "max_connections = 20", "total_active_users = 3", "").await;
    let inside = house.inside().await;
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(socket(&house, &inside).await);
    }
    assert_no_more(&house, &inside).await;
    let stranger = house.guest();
    for _ in 0..10 {
        held.push(socket(&house, &stranger).await);
    }
    assert_no_more(&house, &stranger).await;
    let mut other = house.inside().await;
    assert!(other.page("/").await.is_the_shops());
    drop(held);
    eventually("a place for a socket", async || {
        let mut wire = Wire::open(house.gate.address).await.unwrap();
        let request = inside.request("GET", "/socket", UPGRADE, "");
        (wire.ask(request.as_bytes()).await.unwrap().status() == 101).then_some(())
    })
    .await;
}

async fn assert_no_more(house: &House, guest: &Guest) {
    let mut wire = Wire::open(house.gate.address).await.unwrap();
    let request = guest.request("GET", "/socket", UPGRADE, "");
    let answer = wire.ask(request.as_bytes()).await.unwrap();
    assert_eq!((answer.status(), answer.word()), (503, "exhausted"), "{}", answer.head);
}
