//! One client's share of a gate over HTTP/2, and for how long.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::client::Builder;
use http::{Request, StatusCode};

use super::people::{accept, tunnel_to};
use super::raw::{RST_STREAM, Raw, SETTINGS, WINDOW, WINDOW_UPDATE};
use super::{Client, SOON, gate, gate_with, get, read, soon};
use crate::gate::Gate;
use crate::shop::{Line, OK, Shop};

#[tokio::test]
async fn requests_beside_the_first_count_as_connections_do() {
    let shop = Shop::answering(OK);
    let gate = gate_with(&shop, |setup| setup.server.connections_per_client = 3);
    let mut client = Client::new(&gate).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(soon(client.send(get("/own/stream")).await).await.unwrap());
    }
    let refused = soon(client.send(get("/own")).await).await.unwrap_err();
    assert_eq!(refused.reason(), Some(Reason::REFUSED_STREAM));
    assert_eq!(gate.client().rest(), "", "nor another connection");
    open.pop();
    // The gate hears of it with the next frames.
    let answer = loop {
        match soon(client.send(get("/own")).await).await {
            Ok(answer) => break answer,
            Err(refused) => assert_eq!(refused.reason(), Some(Reason::REFUSED_STREAM)),
        }
    };
    assert_eq!(answer.status(), StatusCode::OK);
    let mut other = gate.client_from("127.0.0.2");
    assert_eq!(other.ask("GET /own HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
}

#[tokio::test]
async fn requests_that_a_proxy_brings_are_not_counted_as_one_client_s() {
    let shop = Shop::answering(OK);
    let gate = gate_with(&shop, |setup| {
        setup.server.connections_per_client = 1;
        setup.server.trusted = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let mut client = Client::new(&gate).await;
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(soon(client.send(get("/own/stream")).await).await.unwrap());
    }
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
}

#[test]
fn no_more_than_a_hundred_requests_are_taken_at_once() {
    let shop = Shop::new(|line| {
        line.request();
        line.drain();
    });
    let gate = gate(&shop);
    let mut raw = Raw::new(&gate, &[]);
    for index in 0..101 {
        raw.get(2 * index + 1, "/");
    }
    let refused = raw.until(RST_STREAM, 201).unwrap();
    assert_eq!(refused.payload, [0, 0, 0, 7], "it may be sent again");
    gate.until("a hundred", |gate| gate.stats.requests.load(Relaxed) == 100);
}

#[test]
fn what_may_be_sent_ahead_is_said_at_once() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    let said = Raw::new(&gate, &[]).until(SETTINGS, 0).unwrap().payload;
    let window = said.chunks(6).find(|setting| setting[..2] == WINDOW.to_be_bytes());
    assert_eq!(window.unwrap()[2..], (64_u32 * 1024).to_be_bytes());
    let more = Raw::new(&gate, &[]).until(WINDOW_UPDATE, 0).unwrap().payload;
    assert_eq!(more, (1024_u32 * 1024 - 65_535).to_be_bytes());
}

#[tokio::test]
async fn heads_and_bodies_have_the_bounds_of_http11() {
    let shop = Shop::answering(OK);
    let gate = gate_with(&shop, |setup| setup.server.body_bytes = 10);
    let mut client = Client::new(&gate).await;
    let fields = |count: usize, length: usize| {
        let mut request = get("/");
        for index in 0..count {
            let name = http::HeaderName::from_bytes(format!("x-{index}").as_bytes()).unwrap();
            request.headers_mut().insert(name, "y".repeat(length).parse().unwrap());
        }
        request
    };
    let too_large = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    assert_eq!(client.ask(fields(40, 1_000)).await.0, too_large);
    assert_eq!(client.ask(fields(101, 1)).await.0, too_large);
    let mut looping = get("/");
    for _ in 0..5 {
        looping.headers_mut().append("via", "1.1 ropeline".parse().unwrap());
    }
    assert_eq!(client.ask(looping).await.0, StatusCode::LOOP_DETECTED);
    let announced = Request::post("http://shop.example/").header("content-length", "11");
    let (answer, _body) = client.open(announced.body(()).unwrap()).await;
    assert_eq!(read(answer).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(shop.seen(), "");
    assert_eq!(client.ask(fields(90, 1)).await.0, StatusCode::OK);
}

/// The window is open by one byte: h2 takes a whole piece for that, and keeps it.
#[test]
fn an_answer_whose_end_is_not_taken_ends_too() {
    let with_length = format!("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{}", "x".repeat(5_000));
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n{}\r\n0\r\n\r\n",
        "x".repeat(5_000)
    );
    for answer in [with_length, chunked] {
        let shop = Shop::new(move |line| {
            line.request();
            line.send(&answer);
        });
        let gate = gate_with(&shop, |setup| setup.server.write = SOON);
        let mut raw = Raw::new(&gate, &[(WINDOW, 1)]);
        raw.get(1, "/");
        assert!(raw.until(RST_STREAM, 1).is_some());
        raw.get(3, "/own");
        assert!(!raw.is_refused(3), "the connection goes on");
    }
}

/// A shop that switches to a WebSocket, and then does something of its own.
fn switching(then: impl Fn(&mut Line) + Send + Sync + 'static) -> Shop {
    Shop::new(move |line| {
        let head = line.head().unwrap();
        let named = |line: &str| line.strip_prefix("sec-websocket-key: ").map(accept);
        line.send(&format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Accept: {}\r\n\r\n",
            head.lines().find_map(named).unwrap()
        ));
        then(line);
        line.drain();
    })
}

/// A tunnel whose client takes a thousand bytes and no more.
async fn narrow_tunnel(gate: &Gate) -> (Client, h2::RecvStream, h2::SendStream<Bytes>) {
    let mut client = Client::with(gate, Builder::new().initial_window_size(1_000)).await;
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
    let (answer, up) = client.open(tunnel_to("websocket")).await;
    let mut down = soon(answer).await.unwrap().into_body();
    let mut came = 0;
    while came < 1_000 {
        came += soon(down.data()).await.unwrap().unwrap().len();
    }
    (client, down, up)
}

#[tokio::test]
async fn a_tunnel_whose_client_takes_nothing_ends() {
    let shop = switching(|line| while line.try_send(&"x".repeat(16_384)) {});
    let gate = gate_with(&shop, |setup| setup.server.write = SOON);
    let (mut client, mut down, _up) = narrow_tunnel(&gate).await;
    assert!(soon(down.data()).await.unwrap().is_err(), "reset");
    gate.until("the shop is let go", |gate| {
        gate.stats.tunnels_open.load(Relaxed) == 0 && gate.origins.stats().open.load(Relaxed) == 0
    });
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_tunnel_ends_with_its_session_though_its_client_takes_nothing() {
    let shop = switching(|line| line.send(&"x".repeat(3_000)));
    let gate = gate_with(&shop, |setup| setup.server.write = SOON);
    let (mut client, mut down, _up) = narrow_tunnel(&gate).await;
    gate.cancel.cancel();
    assert!(soon(down.data()).await.unwrap().is_err(), "reset");
    gate.until("the shop is let go", |gate| {
        gate.stats.tunnels_open.load(Relaxed) == 0 && gate.origins.stats().open.load(Relaxed) == 0
    });
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_tunnel_is_under_way_in_a_drain() {
    let shop = switching(|line| line.send(&"x".repeat(1_000)));
    let gate = gate(&shop);
    let (client, _down, _up) = narrow_tunnel(&gate).await;
    let drained = tokio::task::spawn_blocking(|| gate.drain(Duration::from_millis(50)));
    assert_eq!(soon(drained).await.unwrap().cut, 1);
    drop(client);
}
