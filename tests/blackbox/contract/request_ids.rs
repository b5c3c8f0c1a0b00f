//! The id of a request: a trusted proxy's or the gate's own, the same at the shop, in the answer and on the page; and the trace that a
//! request belongs to, which the gate does not touch.

use crate::guest::{PAGE, SCRIPT};
use crate::http::{Message, Wire};
use crate::shop::Reply;

use super::{House, ONE};

const OWN_ID: &[Reply] = &[Reply::new(
    "/own-id",
    "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nX-Request-Id: the-shops\r\n",
    "hi",
)];

/// The ids of the answer to a request, and of the request that the shop got for it.
async fn ids(house: &House, target: &str, lines: &str) -> (String, String) {
    let mut wire = Wire::open(house.gate.address).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: 10.1.2.3\r\n{lines}\r\n");
    let answer = wire.ask(request.as_bytes()).await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    let seen = house.shop.seen_of(target).pop().unwrap().request;
    (id_of(&answer), id_of(&seen))
}

/// The one id of a message.
fn id_of(message: &Message) -> String {
    let ids: Vec<&str> = message.fields("x-request-id").collect();
    assert_eq!(ids.len(), 1, "{}", message.head);
    ids[0].to_owned()
}

fn is_own(id: &str) -> bool {
    id.len() == 12
        && id
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

#[tokio::test]
async fn a_trusted_proxys_id_reaches_shop_and_answer_and_a_bad_one_is_replaced() {
    let house = House::scripted(OWN_ID, ONE, "").await;
    let given = "6f1c9d1e-25a4-4b0e-9d57-1f1c6c1f0b11";
    let both = |id: &str| (id.to_owned(), id.to_owned());
    assert_eq!(
        ids(&house, "/static/a", &format!("X-Request-Id: {given}\r\n")).await,
        both(given)
    );
    assert_eq!(
        ids(&house, "/own-id", &format!("{SCRIPT}X-Request-Id: {given}\r\n")).await,
        both(given)
    );
    let long = "x".repeat(10_000);
    for bad in [
        "",
        "X-Request-Id: \r\n",
        "X-Request-Id: a b\r\n",
        "X-Request-Id: <script>\r\n",
        "X-Request-Id: a\r\nX-Request-Id: b\r\n",
        "X_Request_Id: alias\r\n",
        &format!("X-Request-Id: {long}\r\n"),
    ] {
        let (answered, seen) = ids(&house, "/static/b", bad).await;
        assert!(is_own(&answered) && answered == seen, "{bad:?}: {answered}, {seen}");
    }
    // A control character makes a field that no server reads alike: the request is refused, and says so under an id of its own.
    for bad in ["edge\x007", "edge\x1b[31m", "edge\x7f", "edge\r7"] {
        let mut wire = Wire::open(house.gate.address).await.unwrap();
        let request = format!("GET /static/odd HTTP/1.1\r\nHost: shop.test\r\nX-Request-Id: {bad}\r\n\r\n");
        let refused = wire.ask(request.as_bytes()).await.unwrap();
        assert_eq!((refused.status(), refused.word()), (400, "malformed"), "{bad:?}");
        assert!(is_own(&id_of(&refused)), "{bad:?}");
    }
    assert!(house.shop.seen_of("/static/odd").is_empty());
    // `Connection` cannot name it away.
    let (_, seen) = ids(
        &house,
        "/static/c",
        "Connection: X-Request-Id\r\nX-Request-Id: kept\r\n",
    )
    .await;
    assert_eq!(seen, "kept");
}

#[tokio::test]
async fn a_strangers_id_is_replaced() {
    let mut house = House::open(ONE, "").await;
    house.gate.stop();
    house
        .gate
        .amend("trusted_proxies = [\"127.0.0.1/32\"]", "trusted_proxies = []");
    house.gate.start();
    house.gate.ready().await;
    let (answered, seen) = ids(&house, "/static/a", "X-Request-Id: forged\r\n").await;
    assert!(is_own(&answered) && answered == seen, "{answered}, {seen}");
}

#[tokio::test]
async fn every_answer_of_the_gates_own_has_an_id_and_pages_show_it() {
    let (house, mut inside) = House::full().await;
    let mut guest = house.guest();
    guest.says("X-Request-Id", "edge-7");
    let page = guest.send("GET", "/", PAGE, "").await.unwrap();
    assert_eq!((page.word(), id_of(&page).as_str()), ("waiting", "edge-7"));
    assert!(page.text().contains("edge-7"), "{}", page.text());
    let problem = guest.script("GET", "/api/x").await;
    assert_eq!(problem.json()["request_id"], "edge-7");
    assert_eq!(id_of(&problem), "edge-7");
    assert!(is_own(&id_of(&inside.own("GET", "status").await)));
    // What cannot be read has the listener's own answer.
    let mut wire = Wire::open(house.gate.address).await.unwrap();
    let refused = wire.ask(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").await.unwrap();
    assert_eq!(refused.status(), 400);
    assert!(is_own(&id_of(&refused)));
}

#[tokio::test]
async fn a_trace_passes_as_it_came_whatever_it_says() {
    let house = House::open(ONE, "").await;
    let long = "0".repeat(20_000);
    for value in [
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "nonsense",
        &long,
    ] {
        let lines = format!("traceparent: {value}\r\ntracestate: a=1\r\n");
        ids(&house, "/static/traced", &lines).await;
        let seen = house.shop.seen_of("/static/traced").pop().unwrap().request;
        let fields = ["traceparent", "tracestate"].map(|name| seen.field(name));
        assert_eq!(fields, [Some(value), Some("a=1")]);
    }
}
