//! The first table, upper half: requests that are refused before the visitor is identified, and requests that are forwarded
//! to the shop.

use tokio::net::TcpSocket;

use crate::gate::{pass_name, ticket_name};
use crate::guest::{PAGE, SCRIPT};
use crate::http::{Message, Wire};
use crate::shop::Reply;

use super::{House, ONE, assert_turned_away, eventually};

async fn raw(house: &House, request: &str) -> (Message, Wire) {
    let mut wire = Wire::open(house.gate.address).await.unwrap();
    let answer = wire.ask(request.as_bytes()).await.unwrap();
    (answer, wire)
}

#[tokio::test]
async fn what_is_malformed_gets_400_and_reaches_nobody() {
    let house = House::open(ONE, "").await;
    for request in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: shop.test\r\n\r\n",
        "GET /a\0b HTTP/1.1\r\nHost: shop.test\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    ] {
        let (answer, mut wire) = raw(&house, request).await;
        assert_eq!(answer.status(), 400, "{request:?}");
        assert!(wire.closed().await, "{request:?}");
    }
    assert!(house.shop.seen().is_empty());
}

#[tokio::test]
async fn a_path_that_is_protected_or_not_as_it_is_read_gets_400() {
    let (house, _inside) = House::full().await;
    let before = house.shop.seen().len();
    for target in [
        "/static/..%2fevent",
        "/static/%2e%2e/event",
        "/static/..\\event",
        "/static%2f..%2fevent",
        "//static/x/../../e",
    ] {
        let (answer, mut wire) = raw(
            &house,
            &format!("GET {target} HTTP/1.1\r\nHost: shop.test\r\n{SCRIPT}\r\n"),
        )
        .await;
        assert_ne!(answer.status(), 200, "{target}");
        if answer.status() == 400 {
            assert!(wire.closed().await, "{target}");
        } else {
            assert_turned_away(&answer);
        }
    }
    let (answer, _) = raw(
        &house,
        &format!("GET /static/..%2fevent HTTP/1.1\r\nHost: shop.test\r\n{SCRIPT}\r\n"),
    )
    .await;
    assert_eq!(answer.status(), 400);
    assert_eq!(house.shop.seen().len(), before);
}

/// Routers that compare without case, and databases that are asked for a page by its name, take each of these for one of them.
#[tokio::test]
async fn letters_that_a_shop_takes_for_others_lead_to_no_protected_path() {
    let routes = ["/tickets", "/공연", "/билеты", "/café"].map(|route| format!("{route:?}"));
    let room = format!("mode = \"hold\"\nroutes = [{}]", routes.join(", "));
    let house = House::open(&room, "").await;
    let mut guest = house.guest();
    for target in [
        "/t%C4%B1ckets",
        "/T%C4%B0CKETS",
        "/ticket%C5%BF",
        "/tic%E2%84%AAets",
        "/ti%CC%81ckets",
        "/t%C3%ADckets",
        "/tic%C2%ADkets",
        "/tickets%E3%80%80",
        "/tickets+",
        "/t\u{131}ckets",
        "/%E1%84%80%E1%85%A9%E1%86%BC%E1%84%8B%E1%85%A7%E1%86%AB",
        "/%D0%91%D0%98%D0%9B%D0%95%D0%A2%D0%AB",
        "/CAF%C3%89",
        "/cafe%CC%81",
        "/x/%E2%80%A5/tickets",
        "/x/%EF%B9%92%E2%80%A4/tickets",
        "/%E2%88%95tickets",
        "/x/..%EF%B9%A8tickets",
        "/x/..%E2%82%A9tickets",
        "/tickets%CD%BEx",
        "/%F8%80%80%81%B4ickets",
    ] {
        let answer = guest.send("GET", target, SCRIPT, "").await.unwrap();
        assert!(!answer.is_the_shops(), "{target}: {}", answer.head);
    }
    assert!(house.shop.seen().is_empty());
    for target in [
        "/t%C3%BCcher",
        "/%EA%B3%B5%EC%96%B8",
        "/%D0%B1%D0%B0%D0%BB%D0%B5%D1%82",
        "/c++",
    ] {
        let answer = guest.send("GET", target, SCRIPT, "").await.unwrap();
        assert!(answer.is_the_shops(), "{target}: {}", answer.head);
    }
}

/// Routers that compare hosts byte by byte use their default for unknown ones, usually the shop.
#[tokio::test]
async fn a_free_host_in_another_spelling_is_no_way_to_the_shop() {
    let blog = "[[room]]\nname = \"blog\"\nhosts = [\"blog.test\"]\nmode = \"off\"";
    let house = House::open("mode = \"hold\"\nhosts = [\"shop.test\"]", blog).await;
    for (host, status) in [
        ("blog.test", 200),
        ("blog.test.", 200),
        ("Blog.TEST", 200),
        ("blog.test:80", 200),
        ("blog.test:1", 421),
        ("blog.test.:8443", 421),
        ("blog.test:0", 400),
        ("blog.test:65536", 400),
    ] {
        let (answer, _) = raw(&house, &format!("GET /buy HTTP/1.1\r\nHost: {host}\r\n{SCRIPT}\r\n")).await;
        assert_eq!(answer.status(), status, "{host}: {}", answer.head);
    }
    assert_eq!(house.shop.seen().len(), 4);
    // Fields of a trusted proxy, which a shop may use.
    for (forwarded, status) in [
        ("blog.test", 200),
        ("BLOG.test.:80, blog.test", 200),
        ("blog.test, blog.test", 200),
        ("", 200),
        ("blog.test:8443", 400),
        ("shop.test", 400),
        ("blog.test, SHOP.test.", 400),
        // No room names it, so the shop may serve it as any.
        ("proxy.test", 400),
        // No hosts, but to shops that read less of them, or more.
        ("shop.test:abc", 400),
        ("shop.test:44 4", 400),
        ("shop.test:x, blog.test", 400),
        ("x@shop.test", 400),
        ("shop.test/", 400),
        ("http://shop.test", 400),
        ("\"shop.test\"", 400),
        ("shop.test;", 400),
        ("[shop.test]", 400),
        (".shop.test", 400),
        ("shop.test\u{e9}", 400),
        (",blog.test", 400),
    ] {
        for field in ["X-Forwarded-Host", "X-Host", "X-Original-Host"] {
            let fields = format!("Host: blog.test\r\n{field}: {forwarded}\r\n{SCRIPT}");
            let (answer, _) = raw(&house, &format!("GET /buy HTTP/1.1\r\n{fields}\r\n")).await;
            assert_eq!(answer.status(), status, "{field}: {forwarded}: {}", answer.head);
        }
    }
    let seen = house.shop.seen();
    assert_eq!(seen.len(), 4 + 3 * 4);
    // One host, as browsers spell it, or none.
    for field in ["x-forwarded-host", "x-host", "x-original-host"] {
        let said = seen.iter().filter_map(|request| request.request.field(field));
        assert!(
            said.clone().count() >= 3 && said.clone().all(|host| host == "blog.test"),
            "{:?}",
            said.collect::<Vec<_>>()
        );
    }
    assert!(
        seen.iter()
            .all(|request| request.request.field("host") == Some("blog.test"))
    );
}

/// ASP.NET takes such segments out of a path.
#[tokio::test]
async fn a_session_in_the_path_leads_to_no_protected_path() {
    let house = House::open("mode = \"hold\"\nroutes = [\"/tickets/*\"]", "").await;
    let mut guest = house.guest();
    for target in [
        "/(S(x))/tickets",
        "/tickets/(S(x))",
        "/tick/(S(x))ets",
        "/%28A(x)F(y)%29/tickets/1",
    ] {
        let answer = guest.send("GET", target, SCRIPT, "").await.unwrap();
        assert!(!answer.is_the_shops(), "{target}: {}", answer.head);
    }
    assert!(house.shop.seen().is_empty());
    let answer = guest.send("GET", "/(S(x))/news", SCRIPT, "").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
}

/// Laravel, Rails, ASP.NET and others take such a request for one with the method that the field names.
#[tokio::test]
async fn a_method_named_in_a_field_walks_round_no_rule() {
    let room = "total_active_users = 1\nroutes = [\"DELETE, PUT /seats/*\", \"/hall\"]\nexcept = [\"GET /hall\"]";
    let house = House::open(room, "").await;
    let mut guest = house.guest();
    for (method, target, field) in [
        ("POST", "/seats/1", "X-HTTP-Method-Override: DELETE"),
        ("POST", "/seats/1", "X-HTTP-Method: put"),
        ("GET", "/seats/1", "X_Method_Override: PUT"),
        ("GET", "/hall", "X-HTTP-Method-Override: POST"),
        ("POST", "/seats/1", "X-HTTP-Method-Override: PUT, GET"),
    ] {
        let fields = format!("{field}\r\n{SCRIPT}");
        let answer = guest.send(method, target, &fields, "").await.unwrap();
        assert_eq!(
            (answer.status(), answer.word()),
            (400, "malformed"),
            "{method} {target} {field}"
        );
    }
    assert!(house.shop.seen().is_empty());
    // Where it is all the same, nothing is changed.
    let tunnelled = format!("X-HTTP-Method-Override: PATCH\r\n{SCRIPT}");
    assert!(
        guest
            .send("POST", "/seats/1", &tunnelled, "")
            .await
            .unwrap()
            .is_the_shops()
    );
    assert!(house.shop.seen()[0].request.head.contains("PATCH"));
}

#[tokio::test]
async fn a_preflight_that_asks_for_another_method_is_none() {
    let (house, _inside) = House::full().await;
    let before = house.shop.seen().len();
    let fields = "Origin: https://app.test\r\nAccess-Control-Request-Method: PUT\r\nX-HTTP-Method-Override: POST\r\n";
    assert_turned_away(&house.guest().send("OPTIONS", "/api", fields, "").await.unwrap());
    assert_eq!(house.shop.seen().len(), before);
}

#[tokio::test]
async fn an_address_is_not_believed_from_a_stranger() {
    let house = House::open(&format!("{ONE}\nbypass_networks = [\"10.77.0.0/16\"]"), "").await;
    let _inside = house.inside().await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut wire = Wire::new(socket.connect(house.gate.address).await.unwrap());
    let request = format!("GET / HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: 10.77.1.2\r\n{SCRIPT}\r\n");
    assert_turned_away(&wire.ask(request.as_bytes()).await.unwrap());
}

#[tokio::test]
async fn the_first_pass_lasts_as_long_as_the_session_and_the_ticket_is_cleared() {
    let house = House::open(&format!("{ONE}\nsession_duration = \"4 min\""), "").await;
    let mut guest = house.guest();
    let answer = guest.page("/").await;
    assert!(answer.cookie(&ticket_name()).is_some() && answer.cookie(&pass_name()).is_some());
    let first = guest.pass().unwrap();
    let left_ms = first.expires_at.since(ropeline::time::wall());
    assert!(
        left_ms > 200_000,
        "dated by the session and not by the claim's deadline: {left_ms}"
    );
    let answer = guest.page("/").await;
    assert!(answer.is_the_shops() && guest.ticket().is_none(), "{}", answer.head);
    assert_eq!(guest.pass(), Some(first), "it is not due");
}

const CACHEABLE: &[Reply] = &[Reply::new(
    "/logo",
    "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: image/svg+xml\r\nCache-Control: public, max-age=600\r\n",
    "<svg/>",
)];

#[tokio::test]
async fn no_pass_is_set_on_an_answer_that_shared_caches_keep() {
    let house = House::scripted(CACHEABLE, ONE, "").await;
    let mut guest = house.guest();
    assert!(guest.page("/").await.is_the_shops());
    for _ in 0..3 {
        let answer = guest.page("/logo").await;
        assert!(answer.is_the_shops());
        assert_eq!(answer.field("set-cookie"), None);
        assert_eq!(answer.field("cache-control"), Some("public, max-age=600"));
    }
}

#[tokio::test]
async fn a_first_admission_on_a_cacheable_page_is_made_private() {
    let house = House::scripted(CACHEABLE, ONE, "").await;
    let mut guest = house.guest();
    let answer = guest.page("/logo").await;
    assert!(guest.pass().is_some());
    assert!(
        answer.field("cache-control").unwrap().contains("private"),
        "{}",
        answer.head
    );
}

const PRIVATE_IN_PART: &[Reply] = &[
    Reply::new(
        "/part",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nCache-Control: private=\"x\", max-age=60\r\n",
        "<svg/>",
    ),
    Reply::new(
        "/edge",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nCache-Control: private\r\nEdge-Control: max-age=60\r\n",
        "<svg/>",
    ),
];

#[tokio::test]
async fn what_is_private_in_part_or_not_to_every_cache_is_made_private_with_a_first_pass() {
    for target in ["/part", "/edge"] {
        let house = House::scripted(PRIVATE_IN_PART, ONE, "").await;
        let mut guest = house.guest();
        let answer = guest.page(target).await;
        assert!(answer.is_the_shops() && guest.pass().is_some(), "{}", answer.head);
        assert_eq!(
            answer.field("cache-control"),
            Some("private, no-cache"),
            "{}",
            answer.head
        );
        assert_eq!(answer.field("edge-control"), None);
    }
}

const PAGES: &[Reply] = &[
    Reply::new("/door", "HTTP/1.1 302 Found\r\nX-Shop: 1\r\nLocation: /seats\r\n", ""),
    Reply::new(
        "/page",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: text/html\r\nCache-Control: public, max-age=60\r\nCDN-Cache-Control: max-age=600\r\n",
        "hello",
    ),
    Reply::new(
        "/style.css",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: text/css\r\nCache-Control: public, max-age=60\r\n",
        "a{}",
    ),
];

/// A cache before the gate would give it to visitors in line, and to called ones, whose turn would be missed.
#[tokio::test]
async fn a_rooms_page_is_kept_by_no_shared_cache_and_what_belongs_to_it_is() {
    let house = House::scripted(PAGES, ONE, "").await;
    let mut guest = house.guest();
    let answer = guest.page("/door").await;
    assert_eq!((answer.status(), guest.pass().is_some()), (302, true));
    assert_eq!(
        answer.field("cache-control"),
        Some("private, no-cache"),
        "with a first pass"
    );
    let answer = guest.page("/door").await;
    assert_eq!(answer.field("cache-control"), Some("private"));
    let answer = guest.page("/page").await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(answer.field("cache-control"), Some("max-age=60, private"));
    assert_eq!(answer.field("cdn-cache-control"), None);
    let answer = guest.page("/style.css").await;
    assert_eq!(answer.field("cache-control"), Some("public, max-age=60"));
    let ways = [
        "mode = \"off\"",
        "bypass_networks = [\"127.0.0.0/8\", \"::1/128\"]",
        "return_routes = [\"/page\"]",
    ];
    for past in ways {
        let house = House::scripted(PAGES, &format!("{ONE}\n{past}"), "").await;
        let answer = house.guest().page("/page").await;
        assert_eq!(answer.field("cache-control"), Some("max-age=60, private"), "{past}");
    }
}

const FOR_CACHES: &[Reply] = &[Reply::new(
    "/logo",
    "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: image/svg+xml\r\nCache-Control: private\r\nCDN-Cache-Control: max-age=600\r\n",
    "<svg/>",
)];

/// Such a field stands over `Cache-Control` for the caches it is meant for.
#[tokio::test]
async fn a_field_for_caches_alone_goes_for_a_first_pass_and_keeps_a_renewed_one_away() {
    let house = House::scripted(
        FOR_CACHES,
        &format!("{ONE}\nsession_duration = \"4s\"\nclaim_deadline = \"4s\""),
        "",
    )
    .await;
    let mut guest = house.guest();
    let answer = guest.page("/logo").await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    let first = guest.pass().unwrap();
    assert_eq!(answer.field("cdn-cache-control"), None);
    assert!(answer.field("cache-control").unwrap().contains("private"));

    // Past half of its life it is due, and set on the first answer that no cache keeps.
    let due = eventually("a renewed pass", || {
        let mut guest = guest.clone();
        async move {
            let answer = guest.page("/logo").await;
            assert!(answer.is_the_shops(), "{}", answer.head);
            assert!(answer.cookie(&pass_name()).is_none(), "{}", answer.head);
            assert_eq!(answer.field("cdn-cache-control"), Some("max-age=600"));
            guest.page("/").await;
            guest.pass().filter(|pass| pass.expires_at > first.expires_at)
        }
    });
    assert_eq!(due.await.id, first.id);
}

#[tokio::test]
async fn a_return_route_is_forwarded_without_a_session_under_a_limit_and_a_body_cap() {
    let limits = "[limits]\nreturns = { requests = 2, window = \"1 min\" }\nreturn_body = \"10 B\"";
    let house = House::open(&format!("{ONE}\nreturn_routes = [\"/checkout/return\"]"), limits).await;
    let _inside = house.inside().await;
    let mut guest = house.guest();
    let cross = format!("Origin: https://pay.test\r\nSec-Fetch-Site: cross-site\r\n{PAGE}");
    let answer = guest.send("POST", "/checkout/return", &cross, "ok=1").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(house.shop.seen_of("/checkout/return")[0].session(), None);
    let answer = guest
        .send("POST", "/checkout/return", &cross, "more than ten bytes")
        .await
        .unwrap();
    assert_eq!(answer.status(), 413);
    let answer = guest.send("POST", "/checkout/return", &cross, "ok=1").await.unwrap();
    assert_eq!((answer.status(), answer.word()), (429, "limited"));
    assert!(guest.jar.is_empty());
}
