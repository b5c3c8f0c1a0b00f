//! Requests without a session, from more addresses than limits per client can bound.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpSocket;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::gate::{Gate, pass_name};
use crate::guest::{Guest, PAGE, SCRIPT};
use crate::house::eventually;
use crate::http::{Message, Pool, Wire};
use crate::shop::{Reply, Seen, Shop};

const READS: usize = 8;
const POSTS: usize = 4;
const ADDRESSES: u32 = 2_000;

/// A shop that takes its time.
const REPLIES: &[Reply] = &[
    Reply {
        after: Duration::from_secs(4),
        ..reply("/static/held")
    },
    Reply {
        after: Duration::from_millis(100),
        ..reply("/")
    },
];

const fn reply(target: &'static str) -> Reply {
    Reply::new(
        target,
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: text/html\r\n",
        "come in",
    )
}

/// A shop behind a gate with bounds that a test reaches.
async fn site(room: &str) -> (Shop, Gate) {
    site_of(REPLIES, READS, room).await
}

/// As [`site`], with another shop and so many reads.
async fn site_of(replies: &'static [Reply], reads: usize, room: &str) -> (Shop, Gate) {
    let shop = Shop::open(replies).await;
    let way = format!(
        "[upstream]\nurl = \"http://{}\"\nmax_unadmitted_reads = {reads}\nmax_unadmitted_posts = {POSTS}",
        shop.address
    );
    let room =
        format!("{room}\nexcept = [\"/static/*\", \"POST /payment/callback\"]\nreturn_routes = [\"/payment/return\"]");
    let mut gate = Gate::configured("embedded:data", &way, &room, "");
    gate.amend("[server]\n", "[server]\nh2c = true\n");
    gate.start();
    gate.ready().await;
    (shop, gate)
}

const CLOSED: &str = "mode = \"closed\"";

/// From an address of its own, as a trusted proxy says.
fn request(start: &str, index: u32, fields: &str, body: &str) -> String {
    let [_, a, b, c] = index.to_be_bytes();
    format!(
        "{start} HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: 10.{a}.{b}.{c}\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn read(index: u32) -> String {
    let preflight = "Origin: https://app.test\r\nAccess-Control-Request-Method: PUT\r\n";
    match index % 3 {
        0 => request("GET /robots.txt", index, "", ""),
        1 => request("GET /static/app.js?v=1", index, "", ""),
        _ => request("OPTIONS /api", index, preflight, ""),
    }
}

fn callback(index: u32) -> String {
    request("POST /payment/callback", index, "", "paid=1")
}

async fn flood(gate: &Gate, request: fn(u32) -> String, addresses: u32) -> Vec<Message> {
    let pool = Arc::new(Pool::new(gate.address));
    let mut asked = JoinSet::new();
    for index in 0..addresses {
        let pool = Arc::clone(&pool);
        asked.spawn(async move { pool.ask(request(index).as_bytes()).await.unwrap() });
    }
    asked.join_all().await
}

/// Payments from twenty addresses, each without the last byte of this body.
async fn stuck(gate: &Gate, body: &str) -> Vec<Wire> {
    let mut stuck = Vec::new();
    for index in 0..20 {
        let mut wire = Wire::open(gate.address).await.unwrap();
        let whole = request("POST /payment/callback", index, "", body);
        wire.send(&whole.as_bytes()[..whole.len() - 1]).await.unwrap();
        stuck.push(wire);
    }
    stuck
}

async fn assert_callbacks_pass(gate: &Gate, shop: &Shop) {
    let pool = Pool::new(gate.address);
    for index in 100..110 {
        let answer = pool.ask(callback(index).as_bytes()).await.unwrap();
        assert!(answer.is_the_shops(), "{}", answer.head);
    }
    assert_eq!(shop.seen_of("/payment/callback").len(), 10);
}

/// Asserts that some passed, and that the others got a time to come again.
fn assert_bounded(answers: &[Message]) {
    let (passed, refused): (Vec<&Message>, Vec<&Message>) = answers.iter().partition(|answer| answer.is_the_shops());
    assert!(
        !passed.is_empty() && !refused.is_empty(),
        "{} of {}",
        passed.len(),
        answers.len()
    );
    for answer in refused {
        assert_eq!((answer.status(), answer.word()), (503, "exhausted"), "{}", answer.head);
        assert!(answer.field("retry-after").is_some(), "{}", answer.head);
    }
}

/// Shows that the shop had several of these requests at once, and never more than the bound.
fn assert_within(seen: &[Seen], bound: usize) {
    let at = |moment: Duration| {
        seen.iter()
            .filter(|seen| seen.from <= moment && moment < seen.to)
            .count()
    };
    let most = seen.iter().map(|seen| at(seen.from)).max().unwrap_or_default();
    assert!((2..=bound).contains(&most), "{most} at once, of {}", seen.len());
}

/// Longer than the part that is received ahead, so that they are streamed, and without an end: they have a bound of their
/// own.
#[tokio::test]
async fn payments_whose_long_bodies_do_not_end_hold_up_no_other() {
    let (shop, gate) = site(CLOSED).await;
    let _stuck = stuck(&gate, &"x".repeat(70_000)).await;
    eventually("all of them are streamed", async || {
        let metrics = gate.admin_ask("GET", "/metrics", "").await.text();
        metrics
            .contains("\nropeline_streaming_bodies{upstream=\"\"} 20\n")
            .then_some(())
    })
    .await;
    assert_callbacks_pass(&gate, &shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_reads_from_two_thousand_addresses_is_bounded_and_holds_up_no_payment() {
    let (shop, gate) = site(CLOSED).await;
    let payments = async {
        let pool = Pool::new(gate.address);
        for index in 0..8 {
            let answer = pool.ask(callback(5_000 + index).as_bytes()).await.unwrap();
            assert!(answer.is_the_shops(), "{}", answer.head);
            let back = request("POST /payment/return", 6_000 + index, "", "paid=1");
            let answer = pool.ask(back.as_bytes()).await.unwrap();
            assert!(answer.is_the_shops(), "{}", answer.head);
        }
    };
    let (answers, ()) = tokio::join!(flood(&gate, read, ADDRESSES), payments);
    assert_bounded(&answers);
    let reads = shop
        .seen()
        .into_iter()
        .filter(|seen| !seen.line().contains("/payment/"));
    // Preflights have as many places of their own.
    let (preflights, reads): (Vec<Seen>, Vec<Seen>) = reads.partition(|seen| seen.line().starts_with("OPTIONS"));
    assert_within(&preflights, READS);
    assert_within(&reads, READS);
    // Finished requests are not counted any longer.
    let pool = Pool::new(gate.address);
    for index in 0..20 {
        let answer = pool.ask(read(index).as_bytes()).await.unwrap();
        assert!(answer.is_the_shops(), "{}", answer.head);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_payments_has_a_bound_of_its_own_and_holds_up_no_read() {
    let (shop, gate) = site(CLOSED).await;
    let reads = async {
        let pool = Pool::new(gate.address);
        for index in 0..8 {
            let answer = pool.ask(read(7_000 + index).as_bytes()).await.unwrap();
            assert!(answer.is_the_shops(), "{}", answer.head);
        }
    };
    let (answers, ()) = tokio::join!(flood(&gate, callback, 300), reads);
    assert_bounded(&answers);
    assert_within(&shop.seen_of("/payment/callback"), POSTS);
}

#[tokio::test]
async fn payments_whose_bodies_do_not_come_take_no_place() {
    let (shop, gate) = site(CLOSED).await;
    let _stuck = stuck(&gate, "paid=1").await;
    assert_callbacks_pass(&gate, &shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_inside_counts_against_no_bound() {
    let (_shop, gate) = site("total_active_users = 2").await;
    let pool = Arc::new(Pool::new(gate.address));
    let mut inside = Guest::new(&pool, 1);
    for _ in 0..2 {
        assert!(inside.page("/").await.is_the_shops());
    }
    let mut by_ticket = Guest::new(&pool, 2);
    assert!(by_ticket.page("/").await.is_the_shops());
    assert!(by_ticket.jar.remove(&pass_name()).is_some());
    let mut held = JoinSet::new();
    // The question whether all is taken takes a place itself, so one more is held with each.
    for index in 0..200 {
        let pool_of_one = Arc::clone(&pool);
        let hold = request("GET /static/held", index, "", "");
        held.spawn(async move { pool_of_one.ask(hold.as_bytes()).await.unwrap() });
        if pool.ask(read(9_000).as_bytes()).await.unwrap().word() == "exhausted" {
            break;
        }
    }
    assert!(held.len() < 200, "there is no bound");
    for target in ["/static/app.js", "/static/logo.svg?v=2"] {
        let answer = inside.send("GET", target, SCRIPT, "").await.unwrap();
        assert!(answer.is_the_shops(), "{}", answer.head);
        let answer = by_ticket.once("GET", target, PAGE, "").await.unwrap();
        assert!(answer.is_the_shops(), "by the ticket: {}", answer.head);
    }
    assert!(held.join_all().await.iter().any(Message::is_the_shops));
}

/// The shop works on, as shops do that do not notice.
#[tokio::test(flavor = "multi_thread")]
async fn who_hangs_up_keeps_the_place_until_the_shop_has_answered() {
    let (shop, gate) = site(CLOSED).await;
    for index in 0..5 * READS {
        let mut wire = Wire::open(gate.address).await.unwrap();
        let held = request("GET /static/held", u32::try_from(index).unwrap(), "", "");
        wire.send(held.as_bytes()).await.unwrap();
        let _ = timeout(Duration::from_millis(30), wire.head()).await;
    }
    let pool = Pool::new(gate.address);
    eventually("nothing under way", async || {
        let servers = gate.admin_ask("GET", "/api/v1/upstreams", "").await.json();
        (servers["upstreams"][0]["in_flight"] == 0).then_some(())
    })
    .await;
    assert_within(&shop.seen_of("/static/held"), READS);
    let answer = pool.ask(read(9_000).as_bytes()).await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
}

/// More than the sockets on the way take.
const MUCH: usize = 32 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_read_counts_until_the_end_of_its_answer() {
    let much: &str = Box::leak("x".repeat(MUCH).into_boxed_str());
    let large = Reply::new("/static/large", "HTTP/1.1 200 OK\r\nX-Shop: 1\r\n", much);
    let (_shop, gate) = site_of(Box::leak(Box::new([large])), 2, CLOSED).await;
    let mut readers = Vec::new();
    for index in 1..=2 {
        let mut wire = Wire::open(gate.address).await.unwrap();
        let large = request("GET /static/large", index, "", "");
        wire.send(large.as_bytes()).await.unwrap();
        let head = wire.head().await.unwrap();
        assert!(Message::of(head.clone()).is_the_shops(), "{head}");
        readers.push(wire);
    }
    let pool = Pool::new(gate.address);
    assert_eq!(pool.ask(read(9_000).as_bytes()).await.unwrap().word(), "exhausted");
    drop(readers.pop());
    eventually("a place", async || {
        let answer = pool.ask(read(9_000).as_bytes()).await.unwrap();
        answer.is_the_shops().then_some(())
    })
    .await;
}

/// Lines of a long answer that one reads in twenty seconds.
const LINE: usize = 64 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_slowly_is_cut_where_another_would_be_refused_and_who_reads_on_is_not() {
    let much: &str = Box::leak(
        format!("{}\n", "x".repeat(LINE - 1))
            .repeat(MUCH / LINE)
            .into_boxed_str(),
    );
    let large = Reply::new("/static/large", "HTTP/1.1 200 OK\r\nX-Shop: 1\r\n", much);
    let (_shop, gate) = site_of(Box::leak(Box::new([large])), 3, CLOSED).await;
    let mut readers = Vec::new();
    for index in 1..=3 {
        let mut wire = Wire::open(gate.address).await.unwrap();
        wire.send(request("GET /static/large", index, "", "").as_bytes())
            .await
            .unwrap();
        assert!(Message::of(wire.head().await.unwrap()).is_the_shops());
        readers.push(wire);
    }
    let (mut steady, mut slow) = (readers.pop().unwrap(), readers);
    let steady = tokio::spawn(async move {
        for _ in 0..MUCH / LINE {
            steady.through(b"\n").await.unwrap();
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    });
    let pool = Pool::new(gate.address);
    assert_eq!(pool.ask(read(9_000).as_bytes()).await.unwrap().word(), "exhausted");
    // Each takes a place for itself as long as it is held open.
    for index in 4..=5 {
        let reader = eventually("a slow reader's place", async || {
            let mut wire = Wire::open(gate.address).await.unwrap();
            wire.send(request("GET /static/large", index, "", "").as_bytes())
                .await
                .unwrap();
            Message::of(wire.head().await.unwrap()).is_the_shops().then_some(wire)
        })
        .await;
        slow.push(reader);
    }
    for mut cut in slow.drain(..2) {
        let mut lines = 0;
        while cut.through(b"\n").await.is_ok() {
            lines += 1;
        }
        assert!(lines < MUCH / LINE);
    }
    steady.await.unwrap();
    let metrics = gate.admin_ask("GET", "/metrics", "").await.text();
    assert!(
        metrics.contains("\nropeline_limited_total{limit=\"unadmitted-slow\",upstream=\"\"} 2\n"),
        "{metrics}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http2_the_bound_is_the_same_over_all_connections() {
    let (shop, gate) = site(CLOSED).await;
    let mut asked = JoinSet::new();
    for client in 1..=20 {
        asked.spawn(ask_often(IpAddr::from([127, 60, 0, client]), gate.address));
    }
    let statuses: Vec<u16> = asked.join_all().await.concat();
    assert!(statuses.contains(&200) && statuses.contains(&503), "{statuses:?}");
    assert!(
        statuses.iter().all(|status| [200, 503].contains(status)),
        "{statuses:?}"
    );
    assert_within(&shop.seen(), READS);
}

/// Twenty reads side by side on one connection.
async fn ask_often(from: IpAddr, gate: std::net::SocketAddr) -> Vec<u16> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let (sender, connection) = h2::client::handshake(socket.connect(gate).await.unwrap())
        .await
        .unwrap();
    let driven = tokio::spawn(connection);
    let mut answers = Vec::new();
    for _ in 0..20 {
        let mut sender = sender.clone().ready().await.unwrap();
        let request = http::Request::get("http://shop.test/robots.txt").body(()).unwrap();
        answers.push(sender.send_request(request, true).unwrap().0);
    }
    let mut statuses = Vec::new();
    for answer in answers {
        let mut answer = answer.await.unwrap();
        while let Some(data) = answer.body_mut().data().await {
            let _ = answer.body_mut().flow_control().release_capacity(data.unwrap().len());
        }
        statuses.push(answer.status().as_u16());
    }
    driven.abort();
    statuses
}
