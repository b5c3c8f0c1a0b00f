//! A sale by stock: purchases are counted, no visitor waits for a sold piece, and results are shown only to visitors who took
//! part.

use serde_json::Value;
use tokio::sync::Mutex;

use crate::guest::{Guest, PAGE};
use crate::shop::Reply;

use super::{House, ONE, eventually};

const COMPLETE: &str = "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nRopeline-Session: complete\r\n";

const SELLING: &[Reply] = &[Reply::new("/say-complete", COMPLETE, "sold")];

/// A room of one whose receipt completes; `more` says what there is.
async fn selling(more: &str) -> House {
    let receipt = "completes_on = [{ route = \"/receipt/*\", status = 200 }]";
    House::scripted(SELLING, &format!("{ONE}\nend_grace = \"0s\"\n{receipt}\n{more}"), "").await
}

async fn status(guest: &mut Guest) -> Value {
    guest.own("GET", "status").await.json()
}

/// The visitor's status once it has this state: a question may have been limited meanwhile.
async fn told_when(guest: &mut Guest, state: &str) -> Value {
    let guest = &Mutex::new(guest);
    eventually("a state", async || {
        let told = status(*guest.lock().await).await;
        (told["state"] == state).then_some(told)
    })
    .await
}

/// How many are sold, once there are so many.
async fn sold(house: &House, many: u64) {
    eventually("a sale is on record", async || {
        (house.gate.room().await["completed"] == many).then_some(())
    })
    .await;
}

/// The places of the buyers.
async fn winners(house: &House) -> Vec<u64> {
    let path = "/api/v1/rooms/shop/winners";
    let told = house.gate.admin_ask("GET", path, "").await.json();
    let places = told["winners"].as_array().unwrap().iter();
    places.map(|winner| winner["place"].as_u64().unwrap()).collect()
}

/// Leaving takes the cookies away; these are kept all the same.
async fn leaves_and_keeps_its_cookies(guest: &mut Guest) {
    let kept = guest.jar.clone();
    guest.own("POST", "leave").await;
    guest.jar = kept;
}

#[tokio::test]
async fn the_receipt_of_the_last_piece_sends_everybody_home_and_nobody_joins() {
    let house = selling("stock = 1").await;
    let mut buyer = house.inside().await;
    let mut waiting = house.in_line().await;
    assert!(buyer.page("/receipt/7").await.is_the_shops());
    house.until_state(&mut waiting, "sold_out").await;
    let answer = waiting.page("/").await;
    assert_eq!((answer.status(), answer.word()), (503, "sold_out"));
    assert!(answer.text().contains("Sold out"));

    let mut stranger = house.guest();
    assert_eq!(stranger.page("/").await.word(), "sold_out");
    assert!(stranger.ticket().is_none(), "nobody joins");
    let answer = stranger.script("GET", "/api/seats").await;
    assert_eq!((answer.status(), &answer.json()["reason"]), (503, &"sold_out".into()));
    let joined = stranger.own("POST", "join").await.json();
    assert_eq!((&joined["state"], &joined["won"]), (&"sold_out".into(), &Value::Null));
    assert!(stranger.ticket().is_none());
    let room = house.gate.room().await;
    assert_eq!(
        (&room["stock"], &room["completed"], &room["unfinished"]),
        (&1.into(), &1.into(), &0.into())
    );
    assert_eq!((&room["calls"], &room["joins"]), (&1.into(), &2.into()));
}

#[tokio::test]
async fn a_piece_counts_once_however_the_shop_says_it_and_by_whichever_request() {
    let house = selling("stock = 3").await;
    let mut buyer = house.inside().await;
    assert!(buyer.page("/say-complete").await.is_the_shops());
    sold(&house, 1).await;
    // The request that lets its visitor in buys as any other.
    let mut other = house.guest();
    assert!(
        other
            .send("POST", "/say-complete", PAGE, "pieces=1")
            .await
            .unwrap()
            .is_the_shops()
    );
    sold(&house, 2).await;
    assert_eq!(winners(&house).await, [1, 2]);
    let winners = house
        .gate
        .admin_ask("GET", "/api/v1/rooms/shop/winners", "")
        .await
        .json();
    assert_eq!(winners["next"], Value::Null);
    let page = house
        .gate
        .admin_ask("GET", "/api/v1/rooms/shop/winners?limit=1", "")
        .await
        .json();
    assert_eq!(
        (&page["winners"][0], &page["next"]),
        (&winners["winners"][0], &"1:".into())
    );
    let page = house
        .gate
        .admin_ask("GET", "/api/v1/rooms/shop/winners?limit=1&after=1:", "")
        .await
        .json();
    assert_eq!(page["winners"][0], winners["winners"][1]);
    let admin = format!("http://{}", house.gate.admin.address);
    let csv = house.gate.command(&["winners", "--room", "shop", "--admin", &admin]);
    let csv = String::from_utf8(csv.stdout).unwrap();
    let reference = winners["winners"][1]["reference"].as_str().unwrap();
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.lines().last().unwrap().contains(reference), "{csv}");
}

#[tokio::test]
async fn a_receipt_that_is_only_looked_at_again_is_no_further_piece() {
    let house = selling("stock = 3").await;
    let mut buyer = house.inside().await;
    assert!(buyer.page("/receipt/7").await.is_the_shops());
    sold(&house, 1).await;
    // The session is over, as `end_grace` is nothing; and a link to it in a mail is opened without any cookie.
    let mut other = house.guest();
    for guest in [&mut buyer, &mut other] {
        assert!(guest.page("/receipt/7").await.is_the_shops());
        leaves_and_keeps_its_cookies(guest).await;
        idles_out(&house).await;
    }
    // The same where one has to wait for it.
    let mut holder = house.inside().await;
    let mut third = house.guest();
    assert_eq!(third.page("/receipt/7").await.word(), "waiting");
    holder.own("POST", "leave").await;
    house.until_state(&mut third, "called").await;
    assert!(third.page("/receipt/7").await.is_the_shops());
    third.own("POST", "leave").await;
    idles_out(&house).await;
    let room = house.gate.room().await;
    assert_eq!((&room["completed"], &room["unfinished"]), (&1.into(), &0.into()));
}

#[tokio::test]
async fn an_accounts_other_browser_brings_the_receipt_of_its_session() {
    let identity = "[room.identity]\nfrom = \"cookie\"\nname = \"sid\"";
    let house = selling(&format!("stock = 2\n{identity}")).await;
    let mut first = house.guest();
    first.jar.insert("sid".into(), "ann".into());
    assert!(first.page("/").await.is_the_shops());
    let mut second = house.guest();
    second.jar.insert("sid".into(), "ann".into());
    assert!(second.page("/receipt/7").await.is_the_shops());
    sold(&house, 1).await;
    assert_eq!(house.gate.room().await["joins"], 1);
}

/// An order that a script sends for a visitor who is not inside holds no piece, though the room is open: neither without a
/// pass nor by one whose session is over, which would be good for any number of orders.
#[tokio::test]
async fn a_scripts_order_passes_by_a_session_alone() {
    let house = selling("stock = 3").await;
    let mut guest = house.guest();
    for _ in 0..2 {
        let refused = guest.script("POST", "/receipt/1").await;
        assert_eq!(
            (refused.status(), refused.json()["reason"].as_str()),
            (503, Some("waiting"))
        );
        assert!(guest.script("GET", "/receipt/1").await.is_the_shops(), "it only looks");
        assert!(guest.page("/").await.is_the_shops());
        assert!(guest.script("POST", "/receipt/1").await.is_the_shops());
        idles_out(&house).await;
    }
    assert_eq!(house.gate.room().await["completed"], 2);
}

/// Idles out, and keeps its cookies.
async fn idles_out(house: &House) {
    eventually("the session has run out", async || {
        (house.gate.room().await["unfinished"] == 0).then_some(())
    })
    .await;
}

const SHORT: &str = "session_duration = \"4s\"\ngrace = \"20s\"\nfirm_within = \"8s\"";

#[tokio::test]
async fn who_read_for_too_long_and_buys_with_the_next_request_has_bought() {
    let house = selling(&format!("stock = 2\n{SHORT}")).await;
    let mut buyer = house.inside().await;
    idles_out(&house).await;
    assert!(buyer.page("/receipt/1").await.is_the_shops(), "let in anew");
    sold(&house, 1).await;
    // Pages viewed after it are in the log when the visitor has left.
    assert!(buyer.page("/receipt/1").await.is_the_shops());
    leaves_and_keeps_its_cookies(&mut buyer).await;
    idles_out(&house).await;
    assert_eq!(house.gate.room().await["completed"], 1);
}

#[tokio::test]
async fn who_comes_back_from_the_payment_after_the_session_has_bought_once_and_takes_nobodys_place() {
    let house = selling(&format!("stock = 3\nreturn_routes = [\"/receipt/*\"]\n{SHORT}")).await;
    let mut buyer = house.inside().await;
    idles_out(&house).await;
    // The room is full.
    let mut inside = house.inside().await;
    for _ in 0..2 {
        assert!(buyer.page("/receipt/1").await.is_the_shops());
        sold(&house, 1).await;
    }
    assert!(inside.page("/").await.is_the_shops());
    // A visitor who was never inside buys nothing by the shop's page, and neither does a place in line.
    let mut waiting = house.in_line().await;
    for guest in [&mut waiting, &mut house.guest()] {
        assert!(guest.page("/receipt/2").await.is_the_shops());
    }
    assert!(inside.page("/receipt/3").await.is_the_shops());
    sold(&house, 2).await;
    assert_eq!(winners(&house).await, [1, 2]);
}

#[tokio::test]
async fn whom_the_stock_cannot_reach_is_told_so_and_told_when_it_can() {
    let house = selling("stock = 2").await;
    let mut inside = house.inside().await;
    let mut first = house.in_line().await;
    let mut second = house.guest();
    let page = second.page("/").await;
    assert!(
        page.text().contains("only if enough people ahead of you do not buy"),
        "{}",
        page.text()
    );
    assert_eq!(told_when(&mut first, "waiting").await["reachable"], Value::Null);
    let told = told_when(&mut second, "waiting").await;
    assert_eq!((&told["reachable"], &told["estimate"]), (&false.into(), &Value::Null));
    // A piece goes back, and reaches one further.
    inside.own("POST", "leave").await;
    let second = &Mutex::new(second);
    eventually("the piece is in reach", async || {
        let told = status(&mut *second.lock().await).await;
        (told["state"] == "waiting" && told["reachable"].is_null()).then_some(())
    })
    .await;
    let mut second = second.lock().await;
    assert!(!second.page("/").await.text().contains("enough people ahead"));
}

#[tokio::test]
async fn an_operator_adds_to_the_stock_and_cannot_take_away_what_is_sold() {
    let house = selling("stock = 1").await;
    let mut buyer = house.inside().await;
    let mut waiting = house.in_line().await;
    assert!(buyer.page("/receipt/7").await.is_the_shops());
    house.until_state(&mut waiting, "sold_out").await;
    house.gate.set("{\"stock\": 3}").await;
    house.until_state(&mut waiting, "called").await;
    assert!(waiting.page("/").await.is_the_shops());
    assert!(waiting.page("/receipt/8").await.is_the_shops());
    sold(&house, 2).await;
    for wrong in [
        "{\"stock\": 1}",
        "{\"stock\": null}",
        "{\"stock\": 0}",
        "{\"stock\": \"many\"}",
    ] {
        let answer = house.gate.admin_ask("PATCH", "/api/v1/rooms/shop", wrong).await;
        assert_eq!(answer.status(), 422, "{wrong}");
    }
    assert_eq!(house.gate.room().await["stock"], 3);
}

#[tokio::test]
async fn nobody_hears_who_has_won_before_the_date() {
    let house = selling("stock = 1\ncloses_at = \"2999-12-01T00:00:00Z\"\nresults_at = \"2999-12-01T00:00:00Z\"").await;
    let mut loser = house.inside().await;
    leaves_and_keeps_its_cookies(&mut loser).await;
    let mut buyer = house.inside().await;
    assert!(buyer.page("/receipt/7").await.is_the_shops());
    sold(&house, 1).await;
    for guest in [&mut buyer, &mut loser] {
        let told = told_when(guest, "sold_out").await;
        assert_eq!(
            (&told["won"], &told["results_at"]),
            (&Value::Null, &"2999-12-01T00:00:00.000Z".into())
        );
        let page = guest.page("/").await.text();
        assert!(
            page.contains("this page shows whether you got one") && !page.contains("You got one"),
            "{page}"
        );
    }
}

#[tokio::test]
async fn who_took_part_hears_what_came_of_it_and_nobody_else() {
    let house = selling("stock = 1").await;
    let mut loser = house.inside().await;
    leaves_and_keeps_its_cookies(&mut loser).await;
    let mut buyer = house.inside().await;
    let mut waiting = house.in_line().await;
    assert!(buyer.page("/receipt/7").await.is_the_shops());
    for (guest, won, words) in [
        (&mut buyer, Value::from(true), "You got one."),
        (&mut loser, Value::from(false), "You did not get one this time."),
        (&mut waiting, Value::Null, "Everything has been sold."),
    ] {
        assert_eq!(told_when(guest, "sold_out").await["won"], won);
        let page = guest.page("/").await.text();
        assert!(page.contains(words), "{page}");
        assert_eq!(page.contains("get one") || page.contains("got one"), !won.is_null());
    }
}

#[tokio::test]
async fn a_stream_tells_that_all_is_sold() {
    let house = selling("stock = 1").await;
    let mut buyer = house.inside().await;
    let mut waiting = house.in_line().await;
    let stream = waiting.own("GET", "events");
    let (answer, sold) = tokio::join!(stream, buyer.page("/receipt/7"));
    assert!(sold.is_the_shops());
    assert!(answer.text().contains("{\"state\":\"sold_out\"}"), "{}", answer.text());
}
