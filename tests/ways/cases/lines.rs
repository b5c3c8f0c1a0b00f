//! One line for each event: `per`, `allow`, `max_lines`, and tokens that are good for one line only.

use ropeline::room::LineName;
use ropeline::token::ticket_cookie;

use crate::gate::room;
use crate::guest::PAGE;

use super::{House, assert_turned_away};

const EVENTS: &str = "total_active_users = 1\nroutes = [\"/event/{id}/*\"]\nper = \"{id}\"";

fn cookie_of(line: &str) -> String {
    ticket_cookie(&room(), &LineName::new(line).unwrap())
}

#[tokio::test]
async fn each_event_has_a_line_and_a_capacity_of_its_own() {
    let house = House::open(EVENTS, "").await;
    let (mut first, mut second, mut third) = (house.guest(), house.guest(), house.guest());
    assert!(first.page("/event/a/seats").await.is_the_shops());
    assert!(second.page("/event/b").await.is_the_shops());
    assert_eq!(third.page("/event/a").await.word(), "waiting");
    assert!(first.page("/event/a/x").await.is_the_shops());
    assert_eq!(
        first.page("/event/b").await.word(),
        "waiting",
        "a pass is good for one line"
    );
    assert!(first.page("/else").await.is_the_shops());
    assert_eq!(house.gate.room().await["lines"], 2);

    let status = third.script("GET", "/.ropeline/rooms/shop/status?line=a").await.json();
    assert_eq!((&status["state"], &status["position"]), (&"waiting".into(), &1.into()));
    let status = third.script("GET", "/.ropeline/rooms/shop/status?line=b").await.json();
    assert_eq!(status["state"], "none");
}

#[tokio::test]
async fn a_ticket_of_one_line_is_worth_nothing_in_another() {
    let house = House::open(EVENTS, "").await;
    for event in ["/event/a", "/event/b"] {
        assert!(house.guest().page(event).await.is_the_shops());
    }
    let mut guest = house.guest();
    assert_eq!(guest.page("/event/a").await.word(), "waiting");
    let ticket = guest.jar[&cookie_of("a")].clone();
    let mut cheat = house.guest();
    cheat.jar.insert(cookie_of("b"), ticket.clone());
    assert_eq!(cheat.page("/event/b").await.word(), "waiting");
    assert_ne!(cheat.jar[&cookie_of("b")], ticket);
}

/// Browsers keep some 180 cookies for a host, and many servers refuse a head of more than 8 KB.
#[tokio::test]
async fn who_looks_at_many_events_keeps_the_cookies_of_a_few_and_the_place_in_line() {
    let house = House::open(EVENTS, "").await;
    assert!(house.guest().page("/event/wanted").await.is_the_shops());
    let mut guest = house.guest();
    assert_eq!(guest.page("/event/wanted").await.word(), "waiting");
    let ticket = guest.jar[&cookie_of("wanted")].clone();
    for event in 0..50 {
        let answer = guest.page(&format!("/event/{event}")).await;
        assert!(answer.is_the_shops(), "{event}: {}", answer.head);
        let last = format!("{event}");
        assert!(guest.jar.contains_key(&cookie_of(&last)), "the present line's stays");
        assert!(guest.jar.len() <= 28, "{event}: {} cookies", guest.jar.len());
    }
    assert_eq!(guest.page("/event/wanted").await.word(), "waiting");
    assert_eq!(guest.jar[&cookie_of("wanted")], ticket);
    assert!(guest.page("/event/49").await.is_the_shops());
    assert!(guest.page("/event/48").await.is_the_shops(), "the last few are inside");
}

/// A page of another site can lead a browser through as many events as it likes.
#[tokio::test]
async fn links_of_another_site_take_nobody_out_of_a_line_or_a_session() {
    let house = House::open(EVENTS, "").await;
    let mut guest = house.guest();
    assert!(guest.page("/event/wanted").await.is_the_shops());
    let link = format!("{PAGE}Sec-Fetch-Site: cross-site\r\n");
    let mut asked = 0;
    for event in 0..40 {
        let answer = guest.send("GET", &format!("/event/{event}"), &link, "").await.unwrap();
        if answer.word() == "same_site" {
            asked += 1;
            assert!(answer.field("set-cookie").is_none() && answer.field("refresh").is_none());
        }
    }
    assert!(asked > 10, "{asked}");
    assert!(guest.page("/event/wanted").await.is_the_shops());
    // The visitor's own click goes on.
    assert!(guest.page("/event/39").await.is_the_shops());
}

#[tokio::test]
async fn an_event_that_is_not_allowed_is_404() {
    let house = House::open(&format!("{EVENTS}\nallow = [\"a\", \"b\"]"), "").await;
    assert!(house.guest().page("/event/a").await.is_the_shops());
    let mut guest = house.guest();
    let answer = guest.page("/event/c").await;
    assert_eq!((answer.status(), answer.word()), (404, "unknown_line"));
    assert_eq!(guest.script("GET", "/event/c").await.status(), 404);
    assert_eq!(
        guest.script("POST", "/.ropeline/rooms/shop/join?line=c").await.status(),
        404
    );
    assert!(guest.jar.is_empty() && house.shop.seen_of("/event/c").is_empty());
}

#[tokio::test]
async fn one_line_too_many_is_503() {
    let house = House::open(&format!("{EVENTS}\nmax_lines = 2"), "").await;
    for event in ["/event/a", "/event/b"] {
        assert!(house.guest().page(event).await.is_the_shops());
    }
    let mut guest = house.guest();
    let answer = guest.page("/event/c").await;
    assert_eq!((answer.status(), answer.word()), (503, "too_many_lines"));
    assert!(answer.field("retry-after").is_some() && guest.jar.is_empty());
    assert!(house.shop.seen_of("/event/c").is_empty());
    assert_eq!(guest.page("/event/a").await.word(), "waiting");
}

/// No visitor has come to it yet, so there is nothing in it to count; whether it is open follows from the room.
#[tokio::test]
async fn a_line_that_is_not_made_yet_is_open_only_if_somebody_could_be_called_in_it() {
    let house = House::open(&format!("{EVENTS}\nmax_lines = 1"), "").await;
    assert!(house.guest().script("GET", "/event/a/api").await.is_the_shops());
    house.gate.set("{\"mode\": \"hold\"}").await;
    assert_turned_away(&house.guest().script("GET", "/event/a/api").await);
    house.gate.set("{\"mode\": \"auto\"}").await;
    assert!(house.guest().page("/event/a").await.is_the_shops());
    assert_turned_away(&house.guest().script("GET", "/event/b/api").await);
    assert_eq!(house.gate.room().await["lines"], 1);
}

#[tokio::test]
async fn a_line_of_a_query_parameter_is_the_same_however_it_is_written() {
    let house = House::open("total_active_users = 1\nroutes = [\"/event\"]\nper = \"?id\"", "").await;
    assert!(house.guest().page("/event?id=%61&x=1").await.is_the_shops());
    assert_eq!(house.guest().page("/event?x=1&id=a").await.word(), "waiting");
    assert_eq!(house.gate.room().await["lines"], 1);
}
