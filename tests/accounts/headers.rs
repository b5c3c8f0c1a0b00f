//! The header of a trusted proxy.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use super::guest::Guest;
use super::house::Way as _;
use super::http::Pool;
use super::*;

#[tokio::test]
async fn two_browsers_of_an_account_have_one_place_and_share_its_session() {
    let (house, mut inside) = full(HEADER).await;
    let (mut laptop, mut phone, mut other) = (named(&house, "ann"), named(&house, "ann"), named(&house, "bob"));
    let place = waits(&mut laptop).await;
    let behind = waits(&mut other).await;
    assert!(behind > place);
    assert_eq!(waits(&mut phone).await, place);
    assert_eq!(laptop.ticket().unwrap().identity, phone.ticket().unwrap().identity);
    let position = |answer: &Message| answer.json()["position"].clone();
    let (one, two) = (laptop.own("GET", "status").await, phone.own("GET", "status").await);
    assert_eq!((position(&one), position(&two)), (1.into(), 1.into()));
    inside.own("POST", "leave").await;
    house.until("called", 1).await;
    for _ in 0..2 {
        for guest in [&mut laptop, &mut phone] {
            let answer = guest.page("/seats").await;
            assert!(answer.is_the_shops(), "{}", answer.head);
        }
    }
    assert_eq!(laptop.pass().unwrap().id, phone.pass().unwrap().id, "one session");
    house.until("sessions", 1).await;
    assert_eq!(waits(&mut other).await, behind, "one slot for both");
    phone.own("POST", "leave").await;
    house.until("called", 1).await;
    let again = waits(&mut laptop).await;
    assert!(again > behind, "after the end an account joins at the back");
}

/// Opens pages until the number is as wanted; the last page.
async fn stands(guest: &mut Guest, wanted: impl Fn(Number) -> bool) -> Message {
    let stood = async {
        loop {
            let page = guest.page("/seats").await;
            assert_eq!(page.word(), "waiting", "{}", page.head);
            if wanted(number(guest)) {
                return page;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(http::PATIENCE, stood)
        .await
        .expect("another number")
}

#[tokio::test]
async fn who_signs_in_to_an_account_in_line_is_not_told_to_stand_at_the_back() {
    const AT_THE_BACK: &str = "at the back.</p>";
    let (house, _inside) = full(HEADER).await;
    let mut laptop = named(&house, "ann");
    let place = waits(&mut laptop).await;
    let mut phone = house.guest();
    assert!(waits(&mut phone).await > place);
    phone.says("X-User", "ann");
    let page = stands(&mut phone, |number| number == place).await;
    assert!(!markup(&page).contains(AT_THE_BACK), "{}", page.text());
    laptop.own("POST", "leave").await;
    let page = stands(&mut phone, |number| number != place).await;
    assert!(markup(&page).contains(AT_THE_BACK), "{}", page.text());
}

/// A request from a peer that is no trusted proxy.
fn from_outside(house: &House) -> Guest {
    let pool = Arc::new(Pool::from(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9)), house.gate.address));
    let mut guest = Guest::at(&pool, "127.0.0.9", 99);
    guest.says("X-User", "ann");
    guest
}

#[tokio::test]
async fn a_header_of_anybody_else_names_nobody_and_never_reaches_the_shop() {
    let (house, _inside) = full(HEADER).await;
    let place = waits(&mut named(&house, "ann")).await;
    let mut forger = from_outside(&house);
    assert_ne!(waits(&mut forger).await, place);
    assert_eq!(forger.ticket().unwrap().identity, None);
    let said = async |guest: &mut Guest, target: &str| {
        guest.page(target).await;
        let seen = house.shop.seen();
        let seen = seen
            .iter()
            .rev()
            .find(|seen| seen.line().contains(target))
            .expect("it reached the shop");
        seen.request.field("x-user").map(str::to_owned)
    };
    assert_eq!(said(&mut forger, "/static/forged").await, None);
    assert_eq!(
        said(&mut named(&house, "ann"), "/static/genuine").await.as_deref(),
        Some("ann")
    );
}

/// Trailers that are not announced are dropped in any case.
const TRAILED: &str = "Transfer-Encoding: chunked\r\nTrailer: X-User, X_User, X-Sum\r\n";

/// A proxy in front sets `X-User` and passes everything else on, such as what CGI takes for the same.
#[tokio::test]
async fn no_alias_trailer_or_connection_makes_the_shop_see_another_account() {
    let house = House::open(&format!("total_active_users = 10\n{HEADER}"), house::OFTEN).await;
    let forgery = "X_User: eve\r\nX.User: eve\r\nX~User: eve\r\nX*User: eve\r\nConnection: X-User\r\n";
    let outside = Arc::new(Pool::from(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9)), house.gate.address));
    for (mut guest, pool, account) in [
        (named(&house, "ann"), house.way.pool(""), Some("ann")),
        (from_outside(&house), outside, None),
    ] {
        for _ in 0..2 {
            let answer = guest.page("/").await;
            assert!(answer.is_the_shops(), "{}", answer.head);
        }
        let head = guest.request("POST", "/pay", &format!("{forgery}{TRAILED}"), "");
        let head = head.replace("Content-Length: 0\r\n", "");
        let sent = format!("{head}1\r\na\r\n0\r\nX-User: eve\r\nX_User: eve\r\nX-Sum: 7\r\n\r\n");
        assert!(pool.ask(sent.as_bytes()).await.unwrap().is_the_shops());
        let seen = house.shop.seen();
        let seen = &seen.last().expect("it reached the shop").request;
        assert_eq!(seen.field("x-user"), account, "{}", seen.head);
        assert!(!seen.head.contains("eve"), "{}", seen.head);
        assert_eq!(seen.trailers.to_lowercase(), "x-sum: 7\r\n");
    }
}

#[tokio::test]
async fn what_a_shop_may_read_as_another_account_is_refused() {
    let (house, _inside) = full(HEADER).await;
    let before = house.shop.seen().len();
    for other in ["bob", "ann", ""] {
        let mut torn = named(&house, "ann");
        torn.says("X-User", other);
        let answer = torn.page("/seats").await;
        assert_eq!((answer.status(), answer.word()), (400, "malformed"), "{}", answer.head);
    }
    let answer = named(&house, &"x".repeat(1_025)).page("/seats").await;
    assert_eq!((answer.status(), answer.word()), (400, "malformed"), "{}", answer.head);
    assert_eq!(house.shop.seen().len(), before);
    let place = waits(&mut named(&house, "ann")).await;
    assert_eq!(waits(&mut named(&house, " ann ")).await, place);
    let (house, _inside) = full(REFUSING).await;
    for nobody in ["", " "] {
        let answer = named(&house, nobody).page("/seats").await;
        assert_eq!(answer.word(), "sign_in", "{nobody}");
    }
}

#[tokio::test]
async fn without_an_account_nobody_joins_where_that_is_asked_for_and_the_page_leads_to_the_sign_in() {
    let (house, _inside) = full(REFUSING).await;
    let mut guest = house.guest();
    let answer = guest.page("/seats").await;
    assert_eq!((answer.status(), answer.word()), (403, "sign_in"));
    assert!(guest.jar.is_empty());
    assert!(
        markup(&answer).contains("href=\"/static/login\""),
        "{}",
        markup(&answer)
    );
    let app = guest.own("POST", "join").await;
    assert_eq!((app.status(), app.word()), (403, "sign_in"));
    assert!(
        app.json()["type"].is_string() || app.json()["code"].is_string(),
        "{}",
        app.text()
    );
    assert!(guest.page("/static/login").await.is_the_shops());
    let mut ann = named(&house, "ann");
    let joined = ann.own("POST", "join").await;
    assert_eq!((joined.status(), &joined.json()["state"]), (200, &"waiting".into()));
}
