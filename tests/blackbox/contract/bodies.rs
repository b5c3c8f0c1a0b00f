//! Requests whose body takes long: the body is not read before the visitor is admitted, and the decision is made anew once it
//! has arrived.

use std::time::Duration;

use ropeline::time;
use tokio::time::{sleep, timeout};

use crate::guest::{Guest, PAGE, SCRIPT};
use crate::http::{Message, Wire};

use super::{House, ONE, assert_turned_away, eventually};

const RESET: &str = "{\"confirm\": \"shop\", \"reason\": \"a test\"}";

/// A request that has been sent but for its last byte.
struct Slow {
    wire: Wire,
    last: u8,
}

impl Slow {
    /// Waits until the gate has all that was sent.
    async fn send(house: &House, request: &str) -> Self {
        let slow = Self::begin(house, request).await;
        until_metric(house, "ropeline_request_buffer_kib{upstream=\"\"} 1").await;
        slow
    }

    async fn begin(house: &House, request: &str) -> Self {
        let (last, rest) = request.as_bytes().split_last().unwrap();
        let mut wire = Wire::open(house.gate.address).await.unwrap();
        wire.send(rest).await.unwrap();
        Self { wire, last: *last }
    }

    async fn end(mut self) -> Message {
        self.wire.ask(&[self.last]).await.unwrap()
    }
}

async fn metrics(house: &House) -> String {
    house.gate.admin_ask("GET", "/metrics", "").await.text()
}

async fn until_metric(house: &House, line: &str) {
    eventually(line, async || metrics(house).await.contains(line).then_some(())).await;
}

fn order(guest: &Guest, fields: &str) -> String {
    guest.request("POST", "/order", fields, "seat=7")
}

#[tokio::test]
async fn a_session_that_ended_while_its_body_came_reaches_nobody() {
    let (house, mut inside) = House::full().await;
    let _next = house.in_line().await;
    let slow = Slow::send(&house, &order(&inside, SCRIPT)).await;
    inside.own("POST", "leave").await;
    // Another visitor has the place now.
    house.until("called", 1).await;
    assert_turned_away(&slow.end().await);
    assert!(house.shop.seen_of("/order").is_empty());
}

#[tokio::test]
async fn a_session_that_goes_on_is_forwarded_whole() {
    let (house, inside) = House::full().await;
    let answer = Slow::send(&house, &order(&inside, SCRIPT)).await.end().await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    let seen = house.shop.seen_of("/order");
    assert_eq!(seen[0].request.text(), "seat=7");
    assert_eq!(seen[0].session(), house.shop.seen_of("GET / ")[0].session());
}

/// A form over a slow link.
#[tokio::test]
async fn a_session_goes_on_for_as_long_as_its_body_comes() {
    let house = House::open(&format!("{ONE}\nsession_duration = \"4s\""), "").await;
    let inside = house.inside().await;
    let mut waits = house.in_line().await;
    let slow = Slow::send(&house, &order(&inside, SCRIPT)).await;
    sleep(Duration::from_secs(8)).await;
    assert_eq!(waits.page("/").await.word(), "waiting");
    let answer = slow.end().await;
    assert!(answer.is_the_shops(), "{}", answer.head);
}

#[tokio::test]
async fn a_room_that_closed_while_a_body_came_turns_it_away() {
    let house = House::open(ONE, "").await;
    let slow = Slow::send(&house, &order(&house.guest(), SCRIPT)).await;
    house.gate.set("{\"mode\": \"closed\"}").await;
    let answer = slow.end().await;
    assert_eq!(answer.status(), 503, "{}", answer.head);
    assert!(house.shop.seen().is_empty());
}

#[tokio::test]
async fn a_call_that_lapsed_while_a_body_came_lets_nobody_in() {
    let house = House::open(ONE, "").await;
    // A visitor without a place, who is called at once.
    let slow = Slow::send(&house, &order(&house.guest(), PAGE)).await;
    let reset = house.gate.admin_ask("POST", "/api/v1/rooms/shop/reset", RESET).await;
    assert!(reset.status() < 300, "{}", reset.text());
    let answer = slow.end().await;
    assert!(!answer.is_the_shops(), "{}", answer.head);
    assert!(house.shop.seen().is_empty());
}

#[tokio::test]
async fn nothing_is_read_of_who_is_not_let_in() {
    let (house, _inside) = House::full().await;
    let fields = format!("{SCRIPT}Expect: 100-continue\r\n");
    let request = order(&house.guest(), &fields);
    let (head, _) = request.split_once("\r\n\r\n").unwrap();
    let mut wire = Wire::open(house.gate.address).await.unwrap();
    let answer = wire.ask(format!("{head}\r\n\r\n").as_bytes()).await.unwrap();
    assert_turned_away(&answer);
    assert!(
        metrics(&house)
            .await
            .contains("ropeline_request_buffer_kib{upstream=\"\"} 0")
    );
}

#[tokio::test]
async fn routes_that_stream_have_no_buffer() {
    let house = House::configured(
        "stream_routes = [\"POST /upload/*\"]\nmax_streaming_bodies = 1\nwait_timeout = \"50ms\"",
        "mode = \"off\"",
    )
    .await;
    let upload = |target: &str| house.guest().request("POST", target, SCRIPT, "abc");
    let slow = Slow::begin(&house, &upload("/upload/a")).await;
    until_metric(&house, "ropeline_streaming_bodies{upstream=\"\"} 1").await;
    let other = Slow::begin(&house, &upload("/upload/b")).await;
    assert_eq!((other.end().await.status(), house.shop.seen().len()), (503, 0));
    let buffered = Slow::send(&house, &upload("/order")).await;
    assert!(buffered.end().await.is_the_shops());
    assert!(slow.end().await.is_the_shops());
}

#[tokio::test]
async fn the_signature_is_of_when_the_body_is_here() {
    let key = "signature_key = { id = \"2026-11\", secret = \"the shop's secret of thirty-two bytes and more\" }";
    let house = House::configured(key, ONE).await;
    let inside = house.inside().await;
    let seconds = || time::wall().0 / 1_000;
    let begun = seconds();
    let slow = Slow::send(&house, &order(&inside, SCRIPT)).await;
    eventually("another second", async || (seconds() > begun + 1).then_some(())).await;
    let ended = seconds();
    assert!(slow.end().await.is_the_shops());
    let seen = house.shop.seen_of("/order");
    let signature = seen[0].request.field("ropeline-signature").unwrap();
    let signed = signature
        .split(';')
        .find_map(|part| part.trim().strip_prefix("t="))
        .unwrap();
    assert!(signed.parse::<u64>().unwrap() >= ended, "{signature}");
}

/// KiB of all bodies.
async fn held(house: &House) -> u64 {
    let metrics = metrics(house).await;
    let mut lines = metrics.lines();
    let held = lines.find_map(|line| line.strip_prefix("ropeline_request_buffer_kib{upstream=\"\"} "));
    held.unwrap().parse().unwrap()
}

/// Bodies that pause, from ten addresses, as many as the smallest `buffer_memory` has room for and more.
async fn fill(house: &House) -> Vec<Slow> {
    let body = "x".repeat(64 * 1024);
    let mut strangers = Vec::new();
    for index in 0..20 {
        let stranger = house.guest_at(&format!("127.66.0.{}", index % 10 + 1));
        let callback = stranger.request("POST", "/payment/callback", SCRIPT, &body);
        strangers.push(Slow::begin(house, &callback).await);
    }
    eventually("they hold all that they can get", async || {
        let before = held(house).await;
        sleep(Duration::from_millis(200)).await;
        (before >= 480 && before == held(house).await).then_some(())
    })
    .await;
    strangers
}

#[tokio::test]
async fn strangers_whose_bodies_pause_take_the_memory_of_nobody_else() {
    let room = "total_active_users = 1\nexcept = [\"POST /payment/callback\"]\nbypass_networks = [\"127.77.0.0/16\"]";
    let house = House::configured("buffer_memory = \"1 MiB\"", room).await;
    let mut inside = house.inside().await;
    let strangers = fill(&house).await;
    let (small, large) = ("x".repeat(100), "x".repeat(40_000));
    // Shorter than what a body that pauses is waited for: its memory is free then.
    let soon = Duration::from_secs(15);
    for (address, target, body) in [
        ("inside", "/order", &small),
        ("inside", "/order", &large),
        ("127.66.0.99", "/payment/callback", &small),
        ("127.77.0.1", "/payment/callback", &small),
        ("127.77.0.1", "/payment/callback", &large),
    ] {
        let mut other = house.guest_at(address);
        let who = if target == "/order" { &mut inside } else { &mut other };
        let answer = timeout(soon, who.send("POST", target, SCRIPT, body)).await;
        let answer = answer.unwrap_or_else(|_| panic!("{address} {target}, {} bytes: no answer", body.len()));
        assert!(answer.unwrap().is_the_shops(), "{address} {target}");
    }
    assert_eq!(house.shop.seen_of("POST ").len(), 5);
    drop(strangers);
}

#[tokio::test]
async fn what_a_room_that_was_off_let_past_is_decided_anew_when_its_body_is_here() {
    let house = House::open(ONE, "").await;
    for mode in ["hold", "closed"] {
        house.gate.set("{\"mode\": \"off\"}").await;
        let slow = Slow::send(&house, &order(&house.guest(), SCRIPT)).await;
        house.gate.set(&format!("{{\"mode\": \"{mode}\"}}")).await;
        let answer = slow.end().await;
        assert_eq!((answer.status(), answer.word()), (503, "exhausted"), "{mode}");
    }
    house.gate.set("{\"mode\": \"off\"}").await;
    let slow = Slow::send(&house, &order(&house.guest(), SCRIPT)).await;
    assert!(slow.end().await.is_the_shops());
    assert_eq!(house.shop.seen_of("/order").len(), 1);
}
