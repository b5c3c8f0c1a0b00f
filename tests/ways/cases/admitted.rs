//! The first table, upper half: requests that reach the shop on every way, and the fields that the shop gets.

use crate::guest::{PAGE, SCRIPT};
use crate::http::{Message, Wire};

use super::{House, ONE, assert_turned_away};

async fn raw(house: &House, request: &str) -> Message {
    let mut wire = Wire::open(house.entrance).await.unwrap();
    wire.ask(request.as_bytes()).await.unwrap()
}

#[tokio::test]
async fn the_reserved_path_is_never_forwarded_whatever_the_host() {
    let house = House::open(&format!("{ONE}\nhosts = [\"shop.test\"]"), "").await;
    for host in ["shop.test", "other.test"] {
        for target in [
            "/.ropeline/x",
            "/.ropeline/rooms/shop/status",
            "/.ropeline",
            "/%2eropeline/x",
            "/.ROPELINE/health",
            "/.Ropeline",
            "/.ropeline./x",
            "//.ropeline/x",
            "/./.ropeline/x",
            "/.ropeline;v=1/x",
            "/%252eropeline/x",
        ] {
            let answer = raw(&house, &format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
            assert!(!answer.is_the_shops(), "{host}{target}: {}", answer.head);
        }
    }
    assert!(house.shop.seen().is_empty());
}

#[tokio::test]
async fn in_except_and_never_queued_is_forwarded_and_a_host_of_no_room_is_not() {
    let house = House::open(&format!("{ONE}\nhosts = [\"shop.test\"]"), "").await;
    let _inside = house.inside().await;
    let mut guest = house.guest();
    for target in [
        "/static/app.js",
        "/robots.txt",
        "/.well-known/acme-challenge/x",
        "/favicon.ico",
    ] {
        let answer = guest.page(target).await;
        assert!(answer.is_the_shops(), "{target}: {}", answer.head);
    }
    assert!(guest.jar.is_empty());
    let answer = raw(&house, &format!("GET / HTTP/1.1\r\nHost: other.test\r\n{PAGE}\r\n")).await;
    assert_eq!((answer.status(), answer.word()), (421, "unknown_host"));
    assert_turned_away(&guest.script("GET", "/api/x").await);
}

#[tokio::test]
async fn a_client_of_a_bypass_network_never_waits_and_takes_no_slot() {
    let house = House::open(&format!("{ONE}\nbypass_networks = [\"127.77.0.0/16\"]"), "").await;
    let _inside = house.inside().await;
    let mut monitor = house.guest_at("127.77.1.2");
    for _ in 0..2 {
        assert!(monitor.page("/").await.is_the_shops());
    }
    assert!(monitor.jar.is_empty());
    assert_eq!(house.gate.room().await["joins"], 1);
    assert_eq!(house.guest().page("/").await.word(), "waiting");
}

#[tokio::test]
async fn a_valid_pass_is_forwarded_with_its_session_and_without_the_gates_cookies() {
    let (house, mut inside) = House::full().await;
    inside.jar.insert("sid".into(), "7".into());
    for (method, fields) in [("GET", PAGE), ("POST", PAGE), ("GET", SCRIPT), ("DELETE", SCRIPT)] {
        let answer = inside.send(method, "/basket", fields, "").await.unwrap();
        assert!(answer.is_the_shops(), "{method}: {}", answer.head);
    }
    let seen = house.shop.seen_of("/basket");
    let session = inside.pass().unwrap().session_header();
    for seen in seen {
        assert_eq!(seen.session(), Some(session.as_str()));
        assert_eq!(seen.request.field("cookie"), Some("sid=7"));
        assert!(seen.request.field("ropeline-pass").is_none());
    }
}

#[tokio::test]
async fn a_session_that_the_visitor_claims_in_a_field_is_dropped() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    guest
        .send(
            "GET",
            "/api",
            &format!("Ropeline-Session: stolen\r\nRopeline_Session: stolen\r\n{SCRIPT}"),
            "",
        )
        .await
        .unwrap();
    let seen = house.shop.seen_of("/api");
    assert!(!seen[0].request.head.contains("stolen"), "{}", seen[0].request.head);
}

#[tokio::test]
async fn a_preflight_passes_a_full_room_under_a_limit_of_its_own() {
    let house = House::open(ONE, "[limits]\npreflight = { requests = 2, window = \"1 min\" }").await;
    let _inside = house.inside().await;
    let preflight = "OPTIONS /api HTTP/1.1\r\nHost: shop.test\r\nOrigin: https://app.test\r\n\
        Access-Control-Request-Method: PUT\r\n\r\n";
    for _ in 0..2 {
        let answer = raw(&house, preflight).await;
        assert!(answer.is_the_shops(), "{}", answer.head);
    }
    let answer = raw(&house, preflight).await;
    assert_eq!(answer.status(), 429);
    let answer = house
        .guest()
        .send("OPTIONS", "/api", "Origin: https://app.test\r\n", "")
        .await
        .unwrap();
    assert_turned_away(&answer);
}

#[tokio::test]
async fn a_return_route_reaches_the_shop_without_a_session_under_a_limit() {
    let limits = "[limits]\nreturns = { requests = 2, window = \"1 min\" }";
    let house = House::open(&format!("{ONE}\nreturn_routes = [\"/checkout/return\"]"), limits).await;
    let _inside = house.inside().await;
    let mut guest = house.guest();
    let cross = format!("Origin: https://pay.test\r\nSec-Fetch-Site: cross-site\r\n{PAGE}");
    for _ in 0..2 {
        let answer = guest.send("POST", "/checkout/return", &cross, "ok=1").await.unwrap();
        assert!(answer.is_the_shops(), "{}", answer.head);
    }
    let seen = house.shop.seen_of("/checkout/return");
    assert!(
        seen.iter()
            .all(|seen| seen.session().is_none() && seen.request.body == b"ok=1")
    );
    let answer = guest.send("POST", "/checkout/return", &cross, "ok=1").await.unwrap();
    assert_eq!((answer.status(), answer.word()), (429, "limited"));
    assert!(guest.jar.is_empty());
}
