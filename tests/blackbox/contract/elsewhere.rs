//! What comes from another site: browsers keep Lax cookies back there, so nobody joins and nothing is acted upon.

use crate::gate::ticket_name;
use crate::guest::{FRAME, Guest, PAGE, SCRIPT, number_of};
use crate::http::Message;

use super::{House, ONE};

fn form() -> String {
    format!("Origin: https://pay.test\r\nSec-Fetch-Site: cross-site\r\n{PAGE}")
}

/// Shows that the visitor got the link, and nothing else.
fn assert_link(guest: &Guest, answer: &Message) {
    assert_eq!(
        (answer.status(), answer.word()),
        (House::PAGE, "same_site"),
        "{}",
        answer.head
    );
    assert_eq!(answer.field("set-cookie"), None);
    assert!(guest.ticket().is_none() && guest.pass().is_none());
}

#[tokio::test]
async fn a_frame_in_another_sites_page_never_joins_and_gets_a_link() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    // Joining an empty room would let it in.
    let answer = guest.send("GET", "/framed", FRAME, "").await.unwrap();
    assert_link(&guest, &answer);
    assert!(answer.text().contains("href=\"&#x2f;framed\""), "{}", answer.text());
    assert_eq!(house.gate.room().await["joins"], 0);
    let _inside = house.inside().await;
    let answer = guest.send("GET", "/framed", FRAME, "").await.unwrap();
    assert_link(&guest, &answer);
    assert_eq!(house.gate.room().await["joins"], 1);
    assert!(house.shop.seen_of("/framed").is_empty());
    let same_site = FRAME.replace("cross-site", "same-origin");
    let answer = guest.send("GET", "/framed", &same_site, "").await.unwrap();
    assert_eq!(answer.word(), "waiting", "the shop's own frame");
}

#[tokio::test]
async fn a_form_from_another_site_with_the_shops_own_cookie_neither_joins_nor_takes_a_place_away() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    guest.jar.insert("shop".into(), "1".into());
    let answer = guest.send("POST", "/done", &form(), "card=1").await.unwrap();
    assert_link(&guest, &answer);
    assert_eq!(house.gate.room().await["joins"], 0);
    let mut inside = house.inside().await;
    let answer = guest.send("POST", "/done", &form(), "card=1").await.unwrap();
    assert_link(&guest, &answer);
    assert_eq!(house.gate.room().await["joins"], 1);
    assert!(house.shop.seen_of("/done").is_empty());

    let answer = inside.send("POST", "/done", &form(), "card=1").await.unwrap();
    assert!(answer.is_the_shops(), "a cookie that was sent counts: {}", answer.head);
}

#[tokio::test]
async fn a_form_from_another_site_with_the_rooms_ticket_is_judged_by_it() {
    let (house, mut inside) = House::full().await;
    let mut waiting = house.in_line().await;
    waiting.jar.insert("shop".into(), "1".into());
    let ticket = waiting.jar[&ticket_name()].clone();
    let answer = waiting.send("POST", "/done", &form(), "card=1").await.unwrap();
    assert_eq!((answer.status(), answer.word()), (503, "waiting"), "{}", answer.head);
    assert_eq!(
        (waiting.jar[&ticket_name()] == ticket, answer.field("set-cookie")),
        (true, None)
    );
    assert_eq!(house.gate.room().await["joins"], 2);
    let number = number_of(&waiting.ticket().unwrap());
    inside.own("POST", "leave").await;
    house.until("called", 1).await;
    let answer = waiting.send("POST", "/done", &form(), "card=1").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(waiting.pass().map(|pass| pass.number), number);
}

#[tokio::test]
async fn a_neighbouring_sub_domain_cannot_act_for_a_visitor_and_the_shops_own_page_can() {
    let (house, _inside) = House::full_and_patient().await;
    let mut waiting = house.in_line().await;
    for site in ["same-site", "cross-site"] {
        for endpoint in ["join", "check-in", "leave"] {
            let target = format!("/.anteroom/rooms/shop/{endpoint}");
            let fields = format!("Sec-Fetch-Site: {site}\r\n{SCRIPT}");
            let answer = waiting.send("POST", &target, &fields, "").await.unwrap();
            assert_eq!(
                (answer.status(), answer.word()),
                (403, "cross_site"),
                "{endpoint}, {site}"
            );
            assert_eq!(answer.field("set-cookie"), None);
        }
    }
    assert_eq!(house.gate.room().await["waiting"], 1);
    for (endpoint, state) in [("join", "waiting"), ("check-in", "waiting"), ("leave", "none")] {
        let target = format!("/.anteroom/rooms/shop/{endpoint}");
        let fields = format!("Origin: http://shop.test\r\nSec-Fetch-Site: same-origin\r\n{SCRIPT}");
        let answer = waiting.send("POST", &target, &fields, "").await.unwrap();
        assert_eq!(
            (answer.status(), &answer.json()["state"]),
            (200, &state.into()),
            "{endpoint}"
        );
    }
    let room = house.gate.room().await;
    assert_eq!((&room["joins"], &room["left"]), (&2.into(), &1.into()));
}
