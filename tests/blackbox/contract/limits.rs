//! Limits: 429 with its fields, for whom it is meant and nobody else, and never at the cost of a place.

use std::time::Duration;

use crate::guest::{Guest, PAGE};
use crate::http::Message;

use super::{House, ONE};

const SEATS: &str = "[[limit]]\nname = \"seats\"\nroutes = [\"POST /api/seats/*\", \"GET /api/seats/stream\"]\n\
    requests = 5\nwindow = \"10 min\"";

fn assert_limited(answer: &Message, name: &str) {
    assert_eq!((answer.status(), answer.word()), (429, "limited"), "{}", answer.head);
    assert!(answer.field("retry-after").unwrap().parse::<u64>().unwrap() > 0);
    assert!(
        answer
            .field("ratelimit-policy")
            .unwrap()
            .starts_with(&format!("\"{name}\";q=")),
        "{}",
        answer.head
    );
    assert!(
        answer
            .field("ratelimit")
            .unwrap()
            .starts_with(&format!("\"{name}\";r=0;t=")),
        "{}",
        answer.head
    );
    assert_eq!(answer.field("set-cookie"), None);
}

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

/// A thousand people behind one address, each an app without a token, all within one window of the limit.
async fn a_thousand_are_told(house: &House, state: &str) {
    let mut app = house.guest();
    app.keeps = false;
    for asked in 0..1_000 {
        let (method, endpoint) = if asked % 2 == 0 {
            ("POST", "join")
        } else {
            ("GET", "status")
        };
        let answer = app.own(method, endpoint).await;
        assert_eq!(answer.status(), 200, "{asked}: {}", answer.head);
        assert_eq!(answer.json()["state"], state, "{asked}");
    }
}

/// As few questions as a configuration may allow.
const STRICT: &str = "[limits]\nstatus = { requests = 60, window = \"60s\" }\n\
    status_network = { requests = 60, window = \"60s\" }";

/// Asks until the limit says no.
async fn asks_until_limited(guest: &mut Guest, method: &str, endpoint: &str) {
    for _ in 0..10_000 {
        let answer = guest.own(method, endpoint).await;
        if answer.status() == 429 {
            return assert_limited(&answer, "status");
        }
    }
    panic!("never limited");
}

#[tokio::test]
async fn a_thousand_behind_one_address_are_told_that_the_room_is_closed_or_early() {
    let closed = House::open("mode = \"closed\"", STRICT).await;
    a_thousand_are_told(&closed, "closed").await;
    let early = House::open(
        "opens_at = \"2999-01-01T00:00:00Z\"\nprequeue_from = \"2998-01-01T00:00:00Z\"",
        STRICT,
    )
    .await;
    a_thousand_are_told(&early, "early").await;
}

#[tokio::test]
async fn a_thousand_behind_one_address_are_told_that_all_is_sold() {
    let selling = "stock = 1\nend_grace = \"0s\"\ncompletes_on = [{ route = \"/receipt/*\", status = 200 }]";
    let house = House::open(selling, STRICT).await;
    let mut buyer = house.inside().await;
    assert!(buyer.page("/receipt/7").await.is_the_shops());
    house.until("completed", 1).await;
    a_thousand_are_told(&house, "sold_out").await;
}

#[tokio::test]
async fn a_question_of_nobody_in_an_open_sale_is_counted_by_the_address() {
    let house = House::open(ONE, STRICT).await;
    let mut app = house.guest();
    assert_eq!(app.own("GET", "status").await.json()["state"], "none");
    asks_until_limited(&mut app, "GET", "status").await;
}

#[tokio::test]
async fn each_of_many_behind_one_address_leaves_at_once_and_their_slots_are_free() {
    let joins = format!("{STRICT}\njoin = {{ requests = 100, window = \"1 min\" }}");
    let house = House::open("total_active_users = 100", &joins).await;
    let mut people = Vec::new();
    for _ in 0..100 {
        let mut guest = house.guest_at("127.7.1.1");
        assert!(guest.page("/").await.is_the_shops());
        // The pass alone, as an app keeps it.
        guest.jar.retain(|name, _| name.contains("pass"));
        assert_eq!(guest.jar.len(), 1);
        people.push(guest);
    }
    for guest in &mut people {
        let pass = guest.jar.clone();
        assert_eq!(guest.own("GET", "status").await.json()["state"], "inside");
        guest.jar = pass;
        let answer = guest.own("POST", "leave").await;
        assert_eq!(answer.status(), 200, "{}", answer.head);
    }
    house.until("sessions", 0).await;
}

#[tokio::test]
async fn to_leave_a_place_is_not_limited_and_to_leave_without_one_is() {
    let house = House::open(ONE, STRICT).await;
    let _inside = house.inside().await;
    let mut waiting = house.in_line().await;
    asks_until_limited(&mut waiting, "GET", "status").await;
    assert_eq!(waiting.own("POST", "leave").await.status(), 200);
    let mut nobody = house.guest_at("127.9.1.1");
    asks_until_limited(&mut nobody, "POST", "leave").await;
}
