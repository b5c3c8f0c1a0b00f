//! The first table, lower half, mostly before a full room: requests that are turned away, and visitors who navigate.

use ropeline::room::LineName;

use crate::gate::pass_name;
use crate::guest::{PAGE, SCRIPT, number_of};
use crate::http::Message;

use super::{House, ONE, assert_turned_away, eventually};

#[tokio::test]
async fn a_form_from_another_site_without_cookies_gets_a_link_to_the_same_path() {
    let (house, _inside) = House::full().await;
    let mut guest = house.guest();
    let cross = format!("Origin: https://pay.test\r\nSec-Fetch-Site: cross-site\r\n{PAGE}");
    let answer = guest.send("POST", "/done?order=7", &cross, "card=1").await.unwrap();
    assert_eq!((answer.status(), answer.word()), (House::PAGE, "same_site"));
    assert!(answer.field("cache-control").unwrap().contains("no-store"));
    assert!(answer.field("content-type").unwrap().starts_with("text/html"));
    let page = answer.text();
    assert!(page.contains("href=\"&#x2f;done?order=7\""), "{page}");
    assert!(!page.contains("card=1") && !page.contains("<form") && guest.jar.is_empty());
    assert!(house.shop.seen_of("/done").is_empty());
}

#[tokio::test]
async fn what_nobody_looks_at_is_turned_away_in_a_few_bytes() {
    let (house, _inside) = House::full().await;
    let crawler = format!("User-Agent: Mozilla/5.0 (compatible; Googlebot/2.1)\r\n{PAGE}");
    for (method, fields) in [
        ("HEAD", PAGE),
        ("GET", "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n"),
        ("GET", "Accept: image/webp,*/*\r\n"),
        (
            "GET",
            "Sec-Purpose: prefetch\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
        ),
        ("GET", crawler.as_str()),
    ] {
        let answer = house.guest().send(method, "/x", fields, "").await.unwrap();
        assert_turned_away(&answer);
        assert!(answer.body.len() < 100, "{}", answer.text());
    }
    assert!(house.shop.seen_of("/x").is_empty());
    assert_eq!(house.gate.room().await["joins"], 1);
}

#[tokio::test]
async fn a_program_is_turned_away_with_json() {
    let (house, _inside) = House::full().await;
    for (method, fields) in [
        ("GET", SCRIPT),
        ("POST", SCRIPT),
        ("POST", "Accept: */*\r\nContent-Type: application/json\r\n"),
        ("GET", "X-Requested-With: XMLHttpRequest\r\nAccept: text/html\r\n"),
        (
            "GET",
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        ),
    ] {
        let answer = house.guest().send(method, "/x", fields, "").await.unwrap();
        assert_turned_away(&answer);
        assert_eq!(
            answer.field("content-type"),
            Some("application/problem+json"),
            "{fields}"
        );
        let json = answer.json();
        assert_eq!(
            (&json["status"], &json["reason"], &json["room"]),
            (&503.into(), &"waiting".into(), &"shop".into())
        );
    }
    assert!(house.shop.seen_of("/x").is_empty());
    assert_eq!(house.gate.room().await["joins"], 1);
}

#[tokio::test]
async fn a_program_with_a_ticket_still_waits_for_nobody() {
    let (house, _inside) = House::full().await;
    let mut waiting = house.in_line().await;
    assert_turned_away(&waiting.script("GET", "/api").await);
    assert!(waiting.ticket().is_some());
}

#[tokio::test]
async fn a_newcomer_gets_a_ticket_and_the_waiting_page_at_the_same_address() {
    let (house, _inside) = House::full().await;
    let mut guest = house.guest();
    let answer = guest.page("/seats?row=7").await;
    assert_eq!((answer.status(), answer.word()), (House::PAGE, "waiting"));
    assert_eq!(answer.field("location"), None);
    assert!(answer.field("cache-control").unwrap().contains("no-store"));
    assert!(
        answer
            .field("x-robots-tag")
            .is_some_and(|robots| robots.contains("noindex")),
        "{}",
        answer.head
    );
    let cookie = answer.fields("set-cookie").next().unwrap();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=604800"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_eq!(answer.cookie(&pass_name()), None);
    assert!(house.shop.seen_of("/seats").is_empty());
}

#[tokio::test]
async fn a_reload_keeps_the_place_and_a_second_visitor_is_behind() {
    let (house, _inside) = House::full().await;
    let (mut first, mut second) = (house.in_line().await, house.in_line().await);
    let number = first.ticket().unwrap();
    for _ in 0..3 {
        assert_eq!(first.page("/seats").await.word(), "waiting");
    }
    assert_eq!(first.ticket().unwrap(), number);
    assert_eq!(house.gate.room().await["joins"], 3);
    let ahead = |answer: Message| answer.json()["ahead"].as_u64().unwrap();
    assert_eq!(ahead(first.own("GET", "status").await), 0);
    assert_eq!(ahead(second.own("GET", "status").await), 1);
}

#[tokio::test]
async fn the_ticket_of_a_called_number_is_let_in_and_given_its_pass() {
    let (house, mut inside) = House::full().await;
    let mut waiting = house.in_line().await;
    let number = waiting.ticket().as_ref().and_then(number_of);
    inside.own("POST", "leave").await;
    house.until("called", 1).await;
    assert_turned_away(&house.guest().script("GET", "/api").await);
    let answer = waiting.page("/seats?row=7").await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    let pass = waiting.pass().unwrap();
    assert_eq!((Some(pass.number), &pass.line), (number, &LineName::ONLY));
    let seen = house.shop.seen_of("/seats?row=7");
    assert_eq!(seen.last().unwrap().session(), Some(pass.session_header().as_str()));
}

#[tokio::test]
async fn a_ticket_whose_pass_was_used_joins_anew_at_the_back_and_is_told_so() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    guest.page("/").await;
    let mut twin = guest.clone();
    guest.page("/").await;
    twin.jar.remove(&pass_name());
    // The log has the pass of a request that is forwarded soon after it.
    let anew = eventually("the ticket is used", || {
        let mut twin = twin.clone();
        async move { (twin.page("/").await.word() == "waiting").then_some(twin) }
    })
    .await;
    assert_ne!(
        anew.ticket().as_ref().and_then(number_of),
        Some(guest.pass().unwrap().number)
    );
    assert!(guest.page("/").await.is_the_shops());
}
