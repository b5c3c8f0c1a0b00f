//! `WebSockets` to a shop that speaks HTTP/2.

use std::io::Write as _;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use bytes::Bytes;
use h2::server::Builder;
use http::{Method, Response};
use ropeline::proxy::ConnectionBound;

use super::frames::{CANCEL, DATA, END_HEADERS, Framed, HEADERS, OK, RST_STREAM};
use super::shared::reason;
use super::{Asked, GET, Shop, gate, gate_by_alpn, gate_with, hi, secured, until_idle};
use crate::client::{Client, header};
use crate::gate::Gate;
use crate::shop::PATIENCE;
use crate::upgrades::ASK;

/// Answers in capitals until the other end is done, then says so.
async fn shout(mut asked: Asked) -> Option<()> {
    if asked.request.method() != Method::CONNECT {
        return hi(asked).await;
    }
    asked.record.note(super::Seen {
        head: asked.head(),
        body: String::new(),
        trailers: None,
    });
    if asked.path() == "/refused" {
        return asked.say(Response::builder().status(403).body(()).unwrap(), "no");
    }
    let mut out = asked.reply.send_response(Response::new(()), false).ok()?;
    let body = asked.request.body_mut();
    while let Some(data) = body.data().await {
        let data = data.ok()?;
        body.flow_control().release_capacity(data.len()).ok()?;
        out.send_data(Bytes::from(data.to_ascii_uppercase()), false).ok()?;
    }
    out.send_data(Bytes::from_static(b"DONE"), true).ok()
}

fn shop() -> Shop {
    let mut builder = Builder::new();
    builder.enable_connect_protocol();
    Shop::with(None, builder, |asked| Box::pin(shout(asked)))
}

#[test]
fn tunnel_opens_on_a_stream_both_ways_and_half_closes() {
    let shop = shop();
    let gate = gate(shop.address);
    let mut client = gate.client();
    client.send(ASK);
    let head = client.head().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    assert_eq!(header(&head, "upgrade").unwrap(), "websocket");
    assert_eq!(
        header(&head, "sec-websocket-accept").unwrap(),
        "s3pplmbitxaq9kygzzhzrbk+xoo="
    );
    client.send("ping");
    assert_eq!(client.take(4), "PING");
    assert_eq!((gate.guards(), gate.stats.tunnels_open.load(Relaxed)), (1, 1));
    assert_eq!(gate.client().ask(GET).body, "hi");
    client.finish();
    assert_eq!(client.rest(), "DONE");
    gate.until("no tunnel, and nothing in flight", |gate| {
        gate.stats.tunnels_open.load(Relaxed) == 0 && gate.origins.standing()[0].in_flight == 0
    });
    assert_eq!(shop.connections(), 1);
    shop.seen(1, |seen| {
        let head = &seen[0].head;
        assert_eq!((head.method.as_str(), head.uri.path()), ("CONNECT", "/ws"));
        assert_eq!(
            head.extensions.get::<h2::ext::Protocol>().unwrap().as_str(),
            "websocket"
        );
        assert_eq!(head.headers["sec-websocket-version"], "13");
        for gone in ["sec-websocket-key", "upgrade", "connection", "host"] {
            assert!(!head.headers.contains_key(gone), "{gone}");
        }
    });
}

#[test]
fn tunnel_that_the_shop_refuses_is_refused_to_the_visitor() {
    let shop = shop();
    let answer = gate(shop.address).client().ask(&ASK.replace("/ws", "/refused"));
    assert_eq!((answer.status, answer.body.as_str()), (403, "no"));
    assert_eq!(answer.header("connection").unwrap(), "close");
}

#[test]
fn shop_that_takes_no_tunnels_is_told_so() {
    let shop = Shop::new();
    let gate = gate(shop.address);
    let answer = gate.client().ask(ASK);
    assert_eq!((answer.status, answer.body.as_str()), (502, "Upstream NoTunnel"));
    let server = &gate.origins.standing()[0];
    assert_eq!((server.failures, server.healthy), (0, true));
    assert!(server.reason.as_deref().unwrap().contains("WebSocket"), "{server:?}");
    assert_eq!(gate.client().ask(GET).body, "hi");
}

#[test]
fn tunnel_holds_its_place_and_gives_it_back() {
    let shop = shop();
    let gate = gate_with(shop.address, |upstream| {
        upstream.bound = Some(ConnectionBound {
            connections: 1,
            waiting: 0,
            wait: Duration::from_millis(50),
        });
    });
    let mut tunnel = gate.client();
    tunnel.send(ASK);
    assert!(tunnel.head().starts_with("HTTP/1.1 101"));
    assert_eq!(gate.client().ask(GET).status, 503);
    drop(tunnel);
    gate.until("the tunnel is gone", |gate| gate.origins.standing()[0].in_flight == 0);
    assert_eq!(gate.client().ask(GET).body, "hi");
}

#[test]
fn other_upgrades_are_left_out() {
    let shop = shop();
    let answer = gate(shop.address)
        .client()
        .ask("GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, "hi"));
    assert_eq!(answer.header("connection").unwrap(), "close");
}

#[test]
fn within_tls_a_tunnel_has_a_connection_of_its_own() {
    let (config, tls) = secured(&["h2", "http/1.1"]);
    let shop = Shop::with(Some(config), Builder::new(), |asked| Box::pin(hi(asked)));
    let gate = gate_by_alpn(shop.address, tls);
    assert_eq!(gate.client().ask(GET).body, "hi");
    let mut client = gate.client();
    client.send(ASK);
    assert!(client.head().starts_with("HTTP/1.1 101 "));
    client.send("ping");
    assert_eq!(client.take(4), "PING");
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!(shop.connections(), 2);
    assert_eq!(
        gate.origins.standing()[0].protocol,
        Some("HTTP/2"),
        "the tunnel says nothing of it"
    );
}

/// A shop with room for one stream and for five bytes on it, which takes no more; and a word when these are here.
fn deaf() -> (Framed, mpsc::Receiver<()>) {
    let (told, stuck) = mpsc::channel();
    let told = Mutex::new(told);
    let shop = Framed::with(&[(3, 1), (4, 5), (8, 1)], move |line| {
        let tunnel = line.request().unwrap();
        line.frame(HEADERS, END_HEADERS, tunnel, OK);
        line.until(DATA).unwrap();
        let _ = told.lock().unwrap().send(());
        let reset = line.until(RST_STREAM).unwrap();
        assert_eq!((reset.stream, reason(Some(reset))), (tunnel, CANCEL));
        line.serve();
    });
    (shop, stuck)
}

/// This many bytes go into a tunnel to a shop that takes five; it ends as `end` does, and the shop is informed.
fn stuck_tunnel(bytes: usize, write: Option<Duration>, end: impl FnOnce(Client, &Gate)) {
    let (shop, stuck) = deaf();
    let gate = gate_with(shop.address, |upstream| {
        upstream.write = write.unwrap_or(upstream.write);
    });
    let mut client = gate.client();
    client.send(ASK);
    assert!(client.head().starts_with("HTTP/1.1 101 "));
    // It may be cut before all of it is written.
    let _ = client.stream.write_all(&vec![b'x'; bytes]);
    stuck.recv_timeout(PATIENCE).unwrap();
    end(client, &gate);
    until_idle(&gate);
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!(shop.connections(), 1);
}

#[test]
fn tunnel_that_ends_is_reset_at_a_shop_that_takes_nothing() {
    stuck_tunnel(20_000, None, |mut client, gate| {
        gate.cancel.cancel();
        client.rest();
    });
}

#[test]
fn shop_that_takes_nothing_of_a_tunnel_loses_it() {
    let short = Some(Duration::from_millis(50));
    stuck_tunnel(100_000, short, |mut client, _| drop(client.rest()));
    stuck_tunnel(20_000, short, |client, _| drop(client));
}
