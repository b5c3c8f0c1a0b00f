//! Differences where a proxy asks: a yes sets no cookie, so setting one takes a separate answer.

use crate::gate::{pass_name, ticket_name};
use crate::guest::{Guest, PAGE, SCRIPT, number_of};
use crate::http::{Message, Wire};
use crate::proxies::Program as _;
use crate::shop::{Reply, Seen};

use super::{House, ONE, Program, assert_turned_away, eventually};

#[tokio::test]
async fn who_is_called_while_joining_is_sent_back_with_both_cookies_by_a_look_at_them() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    let answer = guest.once("GET", "/seats?row=7&x=%2F", PAGE, "").await.unwrap();
    let check = "/.ropeline/rooms/shop/check?to=%2Fseats%3Frow%3D7%26x%3D%252F";
    assert_eq!(
        (answer.status(), answer.field("location")),
        (303, Some(check)),
        "{}",
        answer.head
    );
    assert_eq!(answer.word(), "called");
    assert!(answer.cookie(&ticket_name()).is_some() && answer.cookie(&pass_name()).is_some());
    assert!(house.shop.seen().is_empty());
    let answer = guest.once("GET", check, PAGE, "").await.unwrap();
    assert_eq!(
        (answer.status(), answer.field("location")),
        (303, Some("/seats?row=7&x=%2F")),
        "{}",
        answer.head
    );
    let answer = guest.once("GET", "/seats?row=7&x=%2F", PAGE, "").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(answer.field("set-cookie"), None, "nothing is set on a yes");
    let seen = house.shop.seen();
    assert_eq!(seen[0].line(), "GET /seats?row=7&x=%2F HTTP/1.1");
    assert_eq!(seen[0].session(), Some(guest.pass().unwrap().session_header().as_str()));
    assert_eq!(
        house.gate.room().await["joins"],
        1,
        "one question changes nothing, the other one thing"
    );
}

#[tokio::test]
async fn who_keeps_no_cookies_is_told_so_and_joins_once() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    guest.keeps = false;
    let answer = guest.page("/seats").await;
    assert_eq!(
        (answer.status(), answer.word()),
        (200, "cookies_refused"),
        "{}",
        answer.head
    );
    assert!(house.shop.seen().is_empty());
    assert_eq!(house.gate.room().await["joins"], 1);
}

#[tokio::test]
async fn the_ticket_of_a_called_number_is_given_its_pass_on_an_answer_of_its_own() {
    let (house, mut inside) = House::full().await;
    let mut waiting = house.in_line().await;
    let number = waiting.ticket().as_ref().and_then(number_of);
    inside.own("POST", "leave").await;
    house.until("called", 1).await;
    let before = house.shop.seen().len();
    let answer = waiting.once("GET", "/seats", PAGE, "").await.unwrap();
    assert_eq!(
        (answer.status(), answer.field("location")),
        (303, Some("/seats")),
        "{}",
        answer.head
    );
    assert_eq!(waiting.pass().map(|pass| pass.number), number);
    assert_eq!(house.shop.seen().len(), before);
    assert!(waiting.once("GET", "/seats", PAGE, "").await.unwrap().is_the_shops());
}

#[tokio::test]
async fn a_form_is_sent_back_with_what_was_in_it_and_reaches_the_shop_once() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    let answer = guest.once("POST", "/order", PAGE, "seat=7").await.unwrap();
    assert_eq!(
        (answer.status(), answer.field("location")),
        (307, Some("/order")),
        "{}",
        answer.head
    );
    assert!(
        guest
            .send("POST", "/order", PAGE, "seat=7")
            .await
            .unwrap()
            .is_the_shops()
    );
    let seen = house.shop.seen_of("/order");
    assert_eq!((seen.len(), seen[0].request.body.as_slice()), (1, &b"seat=7"[..]));
}

#[tokio::test]
async fn the_page_is_503_with_the_ticket_and_says_when_to_ask_again() {
    let (house, _inside) = House::full().await;
    let mut guest = house.guest();
    let answer = guest.once("GET", "/", PAGE, "").await.unwrap();
    assert_eq!((answer.status(), answer.word()), (503, "waiting"), "{}", answer.head);
    assert!(answer.field("retry-after").is_some() && guest.ticket().is_some());
    assert!(
        answer.text().contains("id=\"data\""),
        "the whole page: {}",
        answer.text()
    );
    assert_eq!(house.gate.room().await["waiting"], 1);
}

/// The pass's own date decides only where the room does not know the session.
#[tokio::test]
async fn a_session_that_is_used_outlives_the_date_of_its_pass() {
    let short = "claim_deadline = \"4s\"\nsession_duration = \"4s\"";
    let house = House::open(&format!("{ONE}\n{short}"), "").await;
    let mut inside = house.guest();
    assert!(inside.page("/").await.is_the_shops());
    let pass = inside.pass().unwrap();
    eventually("a date that has passed", async || {
        let mut inside = inside.clone();
        let answer = inside.once("GET", "/used", SCRIPT, "").await.unwrap();
        assert!(answer.is_the_shops(), "{}", answer.head);
        assert_eq!(answer.field("set-cookie"), None);
        (ropeline::time::wall() > pass.expires_at.plus(4_000)).then_some(())
    })
    .await;
    assert!(inside.once("GET", "/", PAGE, "").await.unwrap().is_the_shops());
    assert_eq!(house.gate.room().await["sessions"], 1);
}

#[tokio::test]
async fn visitors_cannot_ask_in_the_proxys_name() {
    let house = House::open(ONE, "").await;
    let name = Program::NAME;
    let described = "X-Original-Method: GET\r\nX-Original-Host: shop.test\r\nX-Original-URI: /\r\n\
        X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /\r\nX-Forwarded-Proto: http\r\n";
    for path in [name.to_owned(), format!("{name}/answer"), "other".to_owned()] {
        let target = format!("/.ropeline/forward/{path}");
        let answer = house
            .guest()
            .once("GET", &target, &format!("{described}{PAGE}"), "")
            .await
            .unwrap();
        assert_eq!(answer.status(), 404, "{target}: {}", answer.head);
    }
    // To the gate itself, from an address that is not the proxy's.
    let mut wire = Wire::open_from("127.9.9.9".parse().unwrap(), house.gate.address)
        .await
        .unwrap();
    let forged = format!("{described}X-Forwarded-For: 127.0.0.1\r\n");
    let request = format!("GET /.ropeline/forward/{name} HTTP/1.1\r\nHost: shop.test\r\n{forged}\r\n");
    let answer = wire.ask(request.as_bytes()).await.unwrap();
    assert_eq!((answer.status(), answer.word()), (403, "not_a_proxy"));
    assert_eq!(house.gate.room().await["joins"], 0);
}

#[tokio::test]
async fn what_a_visitor_says_of_the_request_is_not_believed() {
    let (house, _inside) = House::full().await;
    let before = house.shop.seen().len();
    for field in [
        "X-Original-URI: /static/x",
        "X-Forwarded-Uri: /static/x",
        "X-Original-URL: /static/x",
        "X-Original-Method: HEAD",
        "X-Forwarded-Method: OPTIONS",
        "X-Original-Host: other.test",
        "X_Original_URI: /static/x",
    ] {
        let fields = format!("{field}\r\n{SCRIPT}");
        let answer = house.guest().once("GET", "/api", &fields, "").await.unwrap();
        assert!(
            !answer.is_the_shops() && answer.status() >= 400,
            "{field}: {}",
            answer.head
        );
    }
    assert_eq!(house.shop.seen().len(), before);
}

/// Without Fetch Metadata the gate tells another site's page by its Origin.
#[tokio::test]
async fn another_sites_page_is_not_the_shops_by_a_host_that_the_visitor_says() {
    let (house, _inside) = House::full().await;
    let mut waiting = house.in_line().await;
    for field in ["X-Forwarded-Host", "X-Host", "X-HTTP-Host-Override"] {
        let fields = format!("Origin: http://evil.test\r\n{field}: evil.test\r\n{SCRIPT}");
        let answer = waiting
            .send("POST", "/.ropeline/rooms/shop/leave", &fields, "")
            .await
            .unwrap();
        assert_eq!(
            (answer.status(), answer.word()),
            (403, "cross_site"),
            "{field}: {}",
            answer.head
        );
    }
    assert_eq!(waiting.own("GET", "status").await.json()["state"], "waiting");
}

#[tokio::test]
async fn a_free_path_leads_to_no_other_by_a_field() {
    let (house, _inside) = House::full().await;
    let before = house.shop.seen().len();
    for field in ["X-Original-URL", "X-Rewrite-URL", "X-Override-URL", "X-Script-Name"] {
        let fields = format!("{field}: /event\r\n{SCRIPT}");
        let answer = house.guest().once("GET", "/static/x", &fields, "").await.unwrap();
        assert!(
            !answer.is_the_shops() && answer.status() >= 400,
            "{field}: {}",
            answer.head
        );
    }
    assert_eq!(house.shop.seen().len(), before);
}

/// A request for this very target.
async fn asks(house: &House, target: &str) -> std::io::Result<Message> {
    let mut wire = Wire::open_from("127.7.7.7".parse().unwrap(), house.entrance).await?;
    let request = format!("GET {target} HTTP/1.1\r\nHost: shop.test\r\n{SCRIPT}\r\n");
    wire.ask(request.as_bytes()).await
}

#[tokio::test]
async fn no_spelling_of_a_path_gets_past_the_room() {
    let (house, _inside) = House::full().await;
    let before = house.shop.seen().len();
    for target in [
        "/static/..%2fevent",
        "/static/%2e%2e/event",
        "/static/..\\event",
        "/static%2f..%2fevent",
        "//static/x/../../e",
        "/.ropeline/../event",
        "/.ropeline/%2e%2e/event",
        "/%2eropeline/rooms/shop/status",
        "/event#/static/x",
    ] {
        let answer = asks(&house, target).await.unwrap();
        assert!(!answer.is_the_shops(), "{target}: {}", answer.head);
        assert!(answer.status() >= 400, "{target}: {}", answer.head);
    }
    assert_eq!(house.shop.seen().len(), before);
}

/// Routers that compare hosts byte by byte use their default for unknown ones, usually the shop.
#[tokio::test]
async fn a_free_host_in_another_spelling_reaches_no_other_host() {
    let blog = "[[room]]\nname = \"blog\"\nhosts = [\"blog.test\"]\nmode = \"off\"";
    let house = House::open("mode = \"hold\"\nhosts = [\"shop.test\"]", blog).await;
    for host in ["blog.test", "blog.test.", "Blog.TEST", "blog.test:80", "blog.test:1"] {
        let mut wire = Wire::open(house.entrance).await.unwrap();
        let request = format!("GET /buy HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = wire.ask(request.as_bytes()).await.unwrap();
        assert!(
            answer.is_the_shops() || answer.status() >= 400,
            "{host}: {}",
            answer.head
        );
    }
    // The host of an absolute target is the one that counts (RFC 9112, section 3.2.2).
    let mut wire = Wire::open(house.entrance).await.unwrap();
    let request = "GET http://shop.test/buy HTTP/1.1\r\nHost: blog.test\r\nConnection: close\r\n\r\n";
    let answer = wire.ask(request.as_bytes()).await.unwrap();
    assert!(!answer.is_the_shops(), "{}", answer.head);
    let seen = house.shop.seen();
    assert!(!seen.is_empty());
    assert!(
        seen.iter()
            .all(|request| request.request.field("host") == Some("blog.test"))
    );
}

/// Stacks read a target with a host, or with an empty one, in more than one way.
#[tokio::test]
async fn a_target_with_a_host_reaches_the_shop_as_a_path_or_not_at_all() {
    let (house, _inside) = House::full().await;
    for target in [
        "http://shop.test/static/a.js",
        "http:///static/a.js",
        "http:///x/static/a.js",
        "http:///static/event",
        "foo://a.b/static/a.js",
        "http://a.b@shop.test/static/a.js",
    ] {
        // Some proxies close without an answer.
        let _ = asks(&house, target).await;
    }
    let seen = house.shop.seen();
    let is_path = |line: &str| line.split(' ').nth(1).is_some_and(|target| target.starts_with('/'));
    let odd: Vec<&str> = seen.iter().map(Seen::line).filter(|line| !is_path(line)).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[tokio::test]
async fn a_check_in_of_a_called_visitor_sets_the_pass_and_the_way_is_free() {
    let (house, mut inside) = House::full_and_patient().await;
    let mut waiting = house.in_line().await;
    inside.own("POST", "leave").await;
    house.until_state(&mut waiting, "called").await;
    assert!(waiting.own("POST", "check-in").await.cookie(&pass_name()).is_some());
    assert!(
        waiting
            .once("POST", "/api/seat", SCRIPT, "{}")
            .await
            .unwrap()
            .is_the_shops()
    );
}

#[tokio::test]
async fn a_check_in_of_somebody_inside_renews_the_pass() {
    let house = House::open(ONE, "").await;
    let mut inside = house.guest();
    assert!(inside.page("/").await.is_the_shops());
    let first = inside.pass().unwrap();
    house.until("claims", 1).await;
    let answer = inside.own("POST", "check-in").await;
    assert_eq!(answer.json()["state"], "inside");
    let renewed = inside.pass().unwrap();
    assert_eq!((renewed.number, renewed.id), (first.number, first.id));
    assert!(renewed.expires_at > first.expires_at);
    assert_eq!(
        inside.own("POST", "check-in").await.field("set-cookie"),
        None,
        "not each time"
    );
}

/// Fails closed: a visitor who would be let past is not.
#[tokio::test]
async fn with_the_gate_away_nothing_reaches_the_shop() {
    let (mut house, inside) = House::full().await;
    house.gate.stop();
    let before = house.shop.seen().len();
    let away = async |mut guest: Guest, target: &str, fields| {
        let answer = guest.once("GET", target, fields, "").await.unwrap();
        assert_eq!(answer.status(), Program::GATE_AWAY, "{target}: {}", answer.head);
    };
    for fields in [PAGE, SCRIPT] {
        away(inside.clone(), "/", fields).await;
        away(house.guest(), "/static/x", fields).await;
    }
    assert_eq!(house.shop.seen().len(), before);
    house.gate.start();
    house.gate.ready().await;
    let mut inside = inside;
    assert!(inside.once("GET", "/", PAGE, "").await.unwrap().is_the_shops());
    assert_turned_away(&house.guest().script("GET", "/api").await);
}

#[tokio::test]
async fn a_cookie_line_as_long_as_a_browser_sends_passes() {
    let (house, mut inside) = House::full().await;
    inside.jar.insert("shop".into(), "x".repeat(4_000));
    let answer = inside.once("GET", "/long", PAGE, "").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    let seen = house.shop.seen_of("/long");
    assert_eq!(
        seen[0].request.field("cookie"),
        Some(format!("shop={}", "x".repeat(4_000)).as_str())
    );
}

const SOCKETS: &[Reply] = &[Reply::new(
    "/socket",
    "HTTP/1.1 101 Switching Protocols\r\nX-Shop: 1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
     Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n",
    "",
)];

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-Fetch-Mode: websocket\r\nSec-Fetch-Dest: websocket\r\n";

/// The proxy opens it after a yes; the gate never sees it.
#[tokio::test]
async fn a_socket_opens_with_a_pass_and_not_without() {
    let house = House::scripted(SOCKETS, ONE, "").await;
    let inside = house.inside().await;
    let ask = async |guest: &Guest| {
        let mut wire = Wire::open_from(guest.address.parse().unwrap(), house.entrance)
            .await
            .unwrap();
        let answer = wire
            .ask(guest.request("GET", "/socket", UPGRADE, "").as_bytes())
            .await
            .unwrap();
        (wire, answer)
    };
    let (_, answer) = ask(&house.guest()).await;
    assert_eq!((answer.status(), answer.word()), (503, "waiting"), "{}", answer.head);
    assert_eq!(answer.field("content-type"), Some("application/problem+json"));
    let (mut wire, answer) = ask(&inside).await;
    assert_eq!(answer.status(), 101, "{}", answer.head);
    // The shop's end goes on answering requests over the socket.
    let echo = wire
        .ask(b"GET /echo HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        .await
        .unwrap();
    assert!(echo.is_the_shops(), "{}", echo.head);
    assert_eq!(house.shop.seen_of("/socket").len(), 1);
}

/// Whether the proxy asks once or twice about it.
#[tokio::test]
async fn a_request_that_waits_counts_once_against_a_limit() {
    let limit = "[[limit]]\nname = \"seats\"\nroutes = [\"/seats\"]\nrequests = 3\nwindow = \"10 min\"";
    let house = House::open(ONE, limit).await;
    let _inside = house.inside().await;
    let mut guest = house.guest();
    for _ in 0..3 {
        assert_eq!(guest.page("/seats").await.word(), "waiting");
    }
    let answer = guest.page("/seats").await;
    assert_eq!((answer.status(), answer.word()), (429, "limited"), "{}", answer.head);
    assert!(answer.field("retry-after").is_some() && answer.field("ratelimit").is_some());
}

#[tokio::test]
async fn of_a_request_that_is_nobodys_the_shop_is_told_nothing() {
    let house = House::open(ONE, "").await;
    let mut guest = house.guest();
    guest.jar.insert(pass_name(), "forged".to_owned());
    for field in ["Ropeline-Session: stolen", "Ropeline-Pass: forged", "X-Nothing: 1"] {
        let fields = format!("{field}\r\n{PAGE}");
        assert!(
            guest
                .once("GET", "/static/x", &fields, "")
                .await
                .unwrap()
                .is_the_shops()
        );
    }
    for seen in house.shop.seen() {
        let told = seen.request.head.to_lowercase();
        assert!(!told.contains("ropeline-") && !told.contains("cookie:"), "{told}");
    }
}

const REHEARSAL: &str = r#"{"id": "0303030303030303", "visitors": 5, "seconds": 600}"#;

/// Virtual visitors come to the gate itself: a visitor inside who shows a mark or a cookie of theirs is turned away too.
#[tokio::test]
async fn a_virtual_visitor_is_never_told_yes() {
    let house = House::open(ONE, "").await;
    let mut guest = house.inside().await;
    let before = house.shop.seen().len();
    let marked = format!("{PAGE}Ropeline-Rehearsal: AQNvd24\r\n");
    for (method, target) in [("GET", "/seats"), ("POST", "/order"), ("GET", "/robots.txt")] {
        let answer = guest.once(method, target, &marked, "").await.unwrap();
        assert_eq!(answer.status(), 403, "{method} {target}: {}", answer.head);
    }
    let begun = house
        .gate
        .admin_ask("POST", "/api/v1/rooms/shop/rehearsal", REHEARSAL)
        .await;
    assert_eq!(begun.status(), 200, "{}", begun.text());
    for name in ["ropeline-rehearsal-pass-shop", "__Host-ropeline-rehearsal-ticket-shop"] {
        guest.jar.insert(name.into(), "x".into());
        for (method, target) in [("GET", "/seats"), ("POST", "/order"), ("GET", "/robots.txt")] {
            let answer = guest.once(method, target, PAGE, "").await.unwrap();
            assert_eq!(answer.status(), 403, "{name} {method} {target}: {}", answer.head);
        }
        guest.jar.remove(name);
    }
    assert_eq!(house.shop.seen().len(), before, "the shop was asked");
    assert!(guest.once("GET", "/seats", PAGE, "").await.unwrap().is_the_shops());
}
