//! Features of the gate that need the visitor's own connection and the shop's own answer to pass through it.

use crate::gate::ticket_name;
use crate::guest::{FRAME, PAGE, SCRIPT};

use super::{House, OFTEN, ONE};

#[tokio::test]
async fn over_tls_the_cookies_belong_to_the_host_and_are_secure() {
    let (house, _inside) = House::full().await;
    let mut guest = house.guest();
    guest.says("X-Forwarded-Proto", "https");
    let answer = guest.page("/").await;
    let cookie = answer.fields("set-cookie").next().unwrap();
    assert!(
        cookie.starts_with(&format!("__Host-{}=", ticket_name())) && cookie.contains("Secure"),
        "{cookie}"
    );
    assert_eq!(guest.page("/").await.word(), "waiting");
    assert_eq!(house.gate.room().await["joins"], 2);
}

#[tokio::test]
async fn the_waiting_page_has_the_status_that_is_configured_and_503_for_a_form() {
    for status in [202, 429, 503] {
        let house = House::open(&format!("{ONE}\nwaiting_status = {status}"), "").await;
        let _inside = house.inside().await;
        let mut guest = house.guest();
        let answer = guest.page("/").await;
        assert_eq!((answer.status(), answer.word()), (status, "waiting"));
        let answer = guest.send("POST", "/order", PAGE, "a=1").await.unwrap();
        assert_eq!((answer.status(), answer.word()), (503, "waiting"));
        assert!(house.shop.seen_of("/order").is_empty());
    }
}

#[tokio::test]
async fn the_next_page_with_the_pass_uses_the_ticket_up() {
    let (_house, mut inside) = House::full().await;
    assert!(
        inside.ticket().is_none(),
        "the ticket is cleared once a request has carried the pass"
    );
    assert!(inside.page("/").await.is_the_shops());
}

#[tokio::test]
async fn a_stream_for_somebody_inside_whose_ticket_is_used_up_is_nothing_to_wait_for() {
    let (_house, mut inside) = House::full().await;
    assert_eq!(inside.own("GET", "events").await.status(), 204);
}

#[tokio::test]
async fn a_frame_joins_where_the_operator_lets_other_sites_have_the_cookies() {
    let house = House::open(&format!("{ONE}\nsame_site = \"none\""), "").await;
    let mut guest = house.guest();
    guest.says("X-Forwarded-Proto", "https");
    let answer = guest.send("GET", "/framed", FRAME, "").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(house.gate.room().await["joins"], 1);
}

#[tokio::test]
async fn a_head_that_is_too_long_is_431_and_a_body_413() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    let answer = guest
        .send("GET", "/", &format!("X-Long: {}\r\n{SCRIPT}", "a".repeat(40_000)), "")
        .await
        .unwrap();
    assert_eq!(answer.status(), 431);
    let announced = "Content-Length: 200000000\r\n";
    let mut wire = crate::http::Wire::open(house.gate.address).await.unwrap();
    let answer = wire
        .ask(format!("POST /big HTTP/1.1\r\nHost: shop.test\r\n{announced}\r\n").as_bytes())
        .await
        .unwrap();
    assert_eq!(answer.status(), 413);
    assert!(house.shop.seen().is_empty());
}

/// A cache that asks whether its copy is still good keeps the cookies of a 304 to itself.
#[tokio::test]
async fn a_newcomer_is_given_a_whole_answer_whatever_a_cache_has() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    let conditions = format!("{PAGE}If-None-Match: \"a\"\r\nIf-Modified-Since: Fri, 27 Nov 2026 00:00:00 GMT\r\n");
    for _ in 0..2 {
        let answer = guest.send("GET", "/page", &conditions, "").await.unwrap();
        assert!(answer.is_the_shops(), "{}", answer.head);
    }
    let [first, second] = &house.shop.seen_of("/page")[..] else {
        panic!("two requests");
    };
    let condition = |seen: &crate::shop::Seen, name| seen.request.field(name).is_some();
    for name in ["if-none-match", "if-modified-since"] {
        assert!(!condition(first, name) && condition(second, name), "{name}");
    }
}

#[tokio::test]
async fn a_link_of_another_site_neither_stops_a_page_from_coming_again_nor_sets_its_wait() {
    let (house, _inside) = House::full().await;
    let mut guest = house.in_line().await;
    let from = |site: &str| format!("{PAGE}Sec-Fetch-Site: {site}\r\n");
    for parameter in ["reload=off", "by=4102444800"] {
        let target = format!("/.ropeline/rooms/shop/check?{parameter}&to=/");
        let answer = guest.once("GET", &target, &from("cross-site"), "").await.unwrap();
        assert_eq!(
            (answer.status(), answer.fields("set-cookie").count()),
            (303, 0),
            "{parameter}"
        );
        let answer = guest.once("GET", &target, &from("same-origin"), "").await.unwrap();
        assert_eq!(
            (answer.status(), answer.fields("set-cookie").count()),
            (303, 1),
            "{parameter}"
        );
    }
}

#[tokio::test]
async fn the_page_after_leaving_leads_back_to_the_page_that_was_left() {
    let house = House::open("total_active_users = 1\nroutes = [\"/seats/*\"]", "").await;
    let mut inside = house.guest();
    assert!(inside.page("/seats/1").await.is_the_shops());
    for (referer, href) in [
        (
            "Referer: http://shop.test/seats/7?row=2\r\n",
            "href=\"&#x2f;seats&#x2f;7?row=2\"",
        ),
        ("Referer: http://shop.test//evil.test/\r\n", "href=\"&#x2f;\""),
        (
            "Referer: http://shop.test/.ropeline/rooms/shop/check\r\n",
            "href=\"&#x2f;\"",
        ),
        ("", "href=\"&#x2f;\""),
    ] {
        let mut waiting = house.guest();
        assert_eq!(waiting.page("/seats/7?row=2").await.word(), "waiting");
        let fields = format!("{PAGE}Sec-Fetch-Site: same-origin\r\n{referer}");
        let target = "/.ropeline/rooms/shop/leave";
        let left = waiting.send("POST", target, &fields, "").await.unwrap();
        assert_eq!((left.status(), left.word()), (200, "left"), "{referer}");
        let page = left.text().replace('/', "&#x2f;");
        assert!(page.contains(href), "{referer}: {page}");
    }
}

#[tokio::test]
async fn leaving_takes_the_announced_wait_away_with_the_place() {
    let (house, _inside) = House::full().await;
    let mut waiting = house.in_line().await;
    let target = "/.ropeline/rooms/shop/check?reload=bare&by=4102444800&to=/";
    waiting.send("GET", target, PAGE, "").await.unwrap();
    let kept = |guest: &crate::guest::Guest| guest.jar.keys().any(|name| name.contains("-told-"));
    assert!(kept(&waiting), "{:?}", waiting.jar);
    let target = "/.ropeline/rooms/shop/leave";
    assert_eq!(waiting.send("POST", target, PAGE, "").await.unwrap().word(), "left");
    assert!(!kept(&waiting) && waiting.ticket().is_none(), "{:?}", waiting.jar);
}

#[tokio::test]
async fn a_visitor_in_line_is_told_the_place_while_the_room_is_closed() {
    let house = House::open(ONE, OFTEN).await;
    let _inside = house.inside().await;
    let (mut first, mut second, mut stranger) = (house.in_line().await, house.in_line().await, house.guest());
    house.gate.set("{\"mode\": \"closed\"}").await;
    for (guest, ahead) in [(&mut first, 0), (&mut second, 1)] {
        for (method, endpoint) in [("GET", "status"), ("GET", "status?by=1"), ("POST", "check-in")] {
            let status = guest.own(method, endpoint).await.json();
            assert_eq!(status["state"], "closed", "{status}");
            assert_eq!(
                (&status["position"], &status["ahead"]),
                (&(ahead + 1).into(), &ahead.into())
            );
            assert!(
                ["estimate", "by", "why"].iter().all(|field| status[field].is_null()),
                "{status}"
            );
        }
    }
    let status = stranger.own("GET", "status").await.json();
    assert_eq!(status["state"], "closed");
    assert!(status["position"].is_null() && status["ahead"].is_null(), "{status}");
}
