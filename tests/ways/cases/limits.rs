//! Limits: 429 with its fields, only for the client over its limit, and never at the cost of a place.

use std::time::Duration;

use crate::guest::PAGE;

use super::{House, ONE, assert_limited};

const SEATS: &str = "[[limit]]\nname = \"seats\"\nroutes = [\"POST /api/seats/*\", \"GET /api/seats/stream\"]\n\
    requests = 5\nwindow = \"10 min\"";

#[tokio::test]
async fn the_sixth_at_once_is_refused_also_with_a_pass_and_other_clients_are_not() {
    let house = House::open("total_active_users = 10", SEATS).await;
    let mut guest = house.inside().await;
    for _ in 0..4 {
        assert!(guest.script("POST", "/api/seats/7").await.is_the_shops());
    }
    assert!(
        guest.script("GET", "/api/seats/stream").await.is_the_shops(),
        "the opening of a stream counts as one"
    );
    let answer = guest.script("POST", "/api/seats/7").await;
    assert_limited(&answer, "seats");
    assert!(answer.field("ratelimit-policy").unwrap().contains("q=5;w=600"));
    assert_eq!(answer.field("content-type"), Some("application/problem+json"));
    assert_eq!(
        (&answer.json()["status"], &answer.json()["reason"]),
        (&429.into(), &"limited".into())
    );
    let answer = guest.send("POST", "/api/seats/7", PAGE, "").await.unwrap();
    assert_limited(&answer, "seats");
    assert!(answer.field("content-type").unwrap().starts_with("text/html"));
    assert_eq!(house.shop.seen_of("/api/seats").len(), 5);
    assert!(guest.page("/").await.is_the_shops());
    assert!(house.guest().script("POST", "/api/seats/7").await.is_the_shops());
}

#[tokio::test]
async fn a_limit_holds_outside_every_room_too() {
    let house = House::open("routes = [\"/event/*\"]", SEATS).await;
    let mut guest = house.guest();
    for _ in 0..5 {
        assert!(guest.script("POST", "/api/seats/7").await.is_the_shops());
    }
    assert_limited(&guest.script("POST", "/api/seats/7").await, "seats");
}

#[tokio::test]
async fn what_was_used_comes_back_evenly() {
    let limit = "[[limit]]\nname = \"seats\"\nroutes = [\"/api/*\"]\nrequests = 2\nwindow = \"2s\"";
    let house = House::open("routes = [\"/event/*\"]", limit).await;
    let mut guest = house.guest();
    while guest.script("GET", "/api/x").await.is_the_shops() {}
    let answer = guest.script("GET", "/api/x").await;
    let wait = answer.field("retry-after").map_or(1, |secs| secs.parse().unwrap());
    tokio::time::sleep(Duration::from_secs(wait)).await;
    assert!(
        guest.script("GET", "/api/x").await.is_the_shops(),
        "who waits as told is not refused again"
    );
}

#[tokio::test]
async fn too_many_joins_of_one_client_are_refused_and_the_places_it_has_are_kept() {
    let limits = "[limits]\njoin = { requests = 3, window = \"10 min\" }";
    let house = House::open(ONE, limits).await;
    let mut inside = house.inside().await;
    let mut guest = house.guest();
    let mut waiting = guest.clone();
    waiting.page("/").await;
    for _ in 0..2 {
        guest.keeps = false;
        assert_eq!(guest.page("/").await.word(), "waiting");
    }
    let answer = guest.page("/").await;
    assert_limited(&answer, "join");
    assert_limited(&guest.own("POST", "join").await, "join");
    assert_eq!(waiting.own("GET", "status").await.json()["position"], 1);
    assert_eq!(waiting.page("/").await.word(), "waiting");
    assert_eq!(house.gate.room().await["joins"], 4);
    assert!(inside.page("/").await.is_the_shops());
    assert_eq!(house.guest().page("/").await.word(), "waiting");
}

#[tokio::test]
async fn too_many_questions_are_refused_by_ticket_and_cost_no_place() {
    let limits = "[limits]\nstatus = { requests = 60, window = \"60s\" }";
    let house = House::open(ONE, limits).await;
    let _inside = house.inside().await;
    let (mut first, mut second) = (house.in_line().await, house.in_line().await);
    second.moves_to(&first);
    let mut allowed = 0;
    let refused = loop {
        let answer = first
            .own(
                if allowed % 2 == 0 { "GET" } else { "POST" },
                if allowed % 2 == 0 { "status" } else { "check-in" },
            )
            .await;
        if answer.status() != 200 {
            break answer;
        }
        assert_eq!(answer.json()["position"], 1);
        allowed += 1;
        assert!(allowed < 10_000, "never refused");
    };
    assert!(allowed >= 60, "refused after {allowed}");
    assert_limited(&refused, "status");
    assert_eq!(
        second.own("GET", "status").await.json()["ahead"],
        1,
        "the limit is a ticket's, not an address's"
    );
    assert_eq!(first.page("/").await.word(), "waiting");
}
