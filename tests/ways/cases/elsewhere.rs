//! Requests from another site: browsers send no Lax cookies there, so no visitor joins and no action is taken.

use crate::gate::ticket_name;
use crate::guest::{FRAME, Guest, PAGE, SCRIPT, number_of};
use crate::http::Message;

use super::{House, ONE};

fn form() -> String {
    format!("Origin: https://pay.test\r\nSec-Fetch-Site: cross-site\r\n{PAGE}")
}

/// A browser's fields when a person follows a link of another site.
const LINK: &str =
    "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Site: cross-site\r\nAccept: text/html\r\n";

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
            let target = format!("/.ropeline/rooms/shop/{endpoint}");
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
        let target = format!("/.ropeline/rooms/shop/{endpoint}");
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

/// Browsers hold strict cookies back from such a link: a visitor taken for a new one would lose the place.
#[tokio::test]
async fn a_link_of_another_site_costs_nobody_the_place_where_cookies_are_strict() {
    let house = House::open(&format!("{ONE}\nsame_site = \"strict\""), "").await;
    let (mut inside, mut waiting) = (house.inside().await, house.in_line().await);
    let place = number_of(&waiting.ticket().unwrap());
    let kept = std::mem::take(&mut waiting.jar);
    let answer = waiting.send("GET", "/seats?a=1&b", LINK, "").await.unwrap();
    assert_link(&waiting, &answer);
    assert!(
        answer.text().contains("href=\"&#x2f;seats?a=1&amp;b\""),
        "{}",
        answer.text()
    );
    assert_eq!(answer.field("refresh"), Some("1"), "it goes on by itself");
    assert_eq!(house.gate.room().await["joins"], 2);
    waiting.jar = kept;
    let own = LINK.replace("cross-site", "same-origin");
    let answer = waiting.send("GET", "/seats?a=1&b", &own, "").await.unwrap();
    assert_eq!((answer.word(), answer.field("refresh")), ("waiting", None));
    assert_eq!(number_of(&waiting.ticket().unwrap()), place);
    // Where the cookies come along all the same, they count.
    assert_eq!(waiting.send("GET", "/", LINK, "").await.unwrap().word(), "waiting");
    assert!(inside.send("GET", "/", LINK, "").await.unwrap().is_the_shops());
    let mut newcomer = house.guest();
    let answer = newcomer.send("GET", "/", LINK, "").await.unwrap();
    assert_link(&newcomer, &answer);
    let answer = newcomer.send("GET", "/", &own, "").await.unwrap();
    assert_eq!(
        (answer.word(), house.gate.room().await["joins"].clone()),
        ("waiting", 3.into())
    );
    for (method, fields) in [("POST", form()), ("GET", FRAME.to_owned())] {
        let mut stripped = house.guest();
        let answer = stripped.send(method, "/", &fields, "").await.unwrap();
        assert_link(&stripped, &answer);
        assert_eq!(answer.field("refresh"), None, "{method}: a person goes on");
    }
}

#[tokio::test]
async fn a_link_of_another_site_joins_at_once_where_cookies_are_lax() {
    let (house, _inside) = House::full().await;
    let answer = house.guest().send("GET", "/", LINK, "").await.unwrap();
    assert_eq!((answer.word(), answer.field("refresh")), ("waiting", None));
}

/// The page that refuses a code has such a link; a link of any other origin removes nothing.
#[tokio::test]
async fn only_a_link_of_the_room_puts_a_code_away() {
    let room = format!("{ONE}\n[[room.lane]]\nname = \"all\"\n[[room.lane]]\nname = \"press\"\ncode = true\n");
    let house = House::open(&room, "").await;
    let kept = crate::gate::ticket_name().replace("ticket", "code");
    for (site, cleared) in [
        ("cross-site", false),
        ("same-site", false),
        ("same-origin", true),
        ("none", true),
    ] {
        let mut guest = house.guest();
        guest.jar.insert(kept.clone(), "a-code".into());
        let fields = LINK.replace("cross-site", site);
        let answer = guest
            .send("GET", "/?a=1&ropeline_code=none", &fields, "")
            .await
            .unwrap();
        assert_eq!(
            (answer.status(), answer.field("location")),
            (303, Some("/?a=1")),
            "{site}"
        );
        assert_eq!(guest.jar.contains_key(&kept), !cleared, "{site}: {}", answer.head);
    }
}
