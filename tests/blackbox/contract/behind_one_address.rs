//! Many visitors behind one address: each gets the right answer, and each can leave at once.

use std::time::Duration;

use ropeline::time::uptime;
use tokio::time::sleep;

use crate::guest::Guest;
use crate::http::Message;

use super::{House, ONE, assert_limited};

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

/// As few questions of one client, and so many of its network that the client's limit is the one that refuses.
const STRICT_TO_CLIENTS: &str = "[limits]\nstatus = { requests = 60, window = \"60s\" }\n\
    status_network = { requests = 6000, window = \"60s\" }";

/// Asks until a limit says no.
async fn refused(guest: &mut Guest, method: &str, endpoint: &str) -> Message {
    for _ in 0..10_000 {
        let answer = guest.own(method, endpoint).await;
        if answer.status() == 429 {
            return answer;
        }
    }
    panic!("never limited");
}

/// Asks until the limit of one client says no.
async fn asks_until_limited(guest: &mut Guest, method: &str, endpoint: &str) {
    assert_limited(&refused(guest, method, endpoint).await, "status");
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
    let house = House::open(ONE, STRICT_TO_CLIENTS).await;
    let mut app = house.guest();
    assert_eq!(app.own("GET", "status").await.json()["state"], "none");
    asks_until_limited(&mut app, "GET", "status").await;
}

/// Neighbours have used up the limit; a waiting visitor who asks is limited too, and stays in line.
#[tokio::test]
async fn who_is_told_to_ask_less_often_is_there_all_the_same() {
    let short = format!("{ONE}\nclaim_deadline = \"4s\"\nfirm_within = \"4s\"\ngrace = \"8s\"");
    let house = House::open(&short, STRICT).await;
    let _inside = house.inside().await;
    let mut waiting = house.in_line().await;
    let mut neighbour = house.guest_at(&waiting.address);
    // Twice `grace` without an answer. On a slow machine the limit has filled up now and then before it is asked.
    let mut unheard = uptime();
    let end = unheard + Duration::from_secs(120);
    while uptime() < unheard + Duration::from_secs(16) {
        assert!(uptime() < end, "hardly ever refused");
        // Of two equal limits either may be the first; waiting visitors count under the network's alone.
        refused(&mut neighbour, "GET", "status").await;
        if waiting.own("POST", "check-in").await.status() != 429 {
            unheard = uptime();
        }
        sleep(Duration::from_millis(500)).await;
    }
    house.until("waiting", 1).await;
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
    let house = House::open(ONE, STRICT_TO_CLIENTS).await;
    let _inside = house.inside().await;
    let mut waiting = house.in_line().await;
    asks_until_limited(&mut waiting, "GET", "status").await;
    assert_eq!(waiting.own("POST", "leave").await.status(), 200);
    let mut nobody = house.guest_at("127.9.1.1");
    asks_until_limited(&mut nobody, "POST", "leave").await;
}
