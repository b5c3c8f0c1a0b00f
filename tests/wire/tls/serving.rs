//! TLS carries the same as plain connections: forwarded, guarded, tunnelled.

use std::io::Write as _;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::{GET, Shown};
use crate::client::header;
use crate::shop::{Line, OK, Shop};

const ASK: &str = "GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

#[test]
fn the_shop_is_told_that_the_visitor_came_over_tls() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let mut client = shown.client(&gate);
    for _ in 0..3 {
        let answer = client.ask(GET);
        assert_eq!((answer.status, answer.body.as_str()), (200, "hi"));
    }
    let seen = shop.seen().to_ascii_lowercase();
    assert_eq!(header(&seen, "x-forwarded-proto").unwrap(), "https");
    assert_eq!(
        header(&seen, "x-forwarded-port").unwrap(),
        gate.address.port().to_string()
    );
    assert_eq!((gate.stats.accepted.load(Relaxed), shown.tls.done()), (1, 1));
}

/// A proxy may send its header and a client's first flight together.
#[test]
fn a_proxy_header_stands_before_the_handshake() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate_with(shop.address, |setup| {
        setup.server.announced = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let host = "a.example".try_into().unwrap();
    let mut tls = rustls::ClientConnection::new(shown.authority.short_client(), host).unwrap();
    let mut flight = b"PROXY TCP4 198.51.100.7 192.0.2.1 4711 443\r\n".to_vec();
    tls.write_tls(&mut flight).unwrap();
    let mut client = gate.client();
    client.stream.write_all(&flight).unwrap();
    client.tls = Some(tls);
    assert_eq!(client.ask(GET).status, 200);
    let seen = shop.seen().to_ascii_lowercase();
    assert_eq!(header(&seen, "x-forwarded-for").unwrap(), "198.51.100.7");
    assert_eq!(header(&seen, "x-forwarded-port").unwrap(), "443");
}

#[test]
fn bodies_larger_than_any_buffer_come_through_whole_both_ways() {
    let shop = Shop::new(|line| {
        while let Some(request) = line.request() {
            let body = request.split_once("\r\n\r\n").unwrap().1.to_owned();
            line.send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ));
        }
    });
    let shown = Shown::new(&[&["a.example"]]);
    let gate = shown.gate(&shop);
    let mut client = shown.client(&gate);
    for length in [1, 16_384, 16_385, 3_000_000] {
        let body: String = (b'a'..=b'z').cycle().take(length).map(char::from).collect();
        client.send(&format!(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        assert!(client.answer().body == body, "{length}");
    }
}

#[test]
fn the_guard_reads_what_was_decrypted() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let mut client = shown.client(&gate);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    assert_eq!(client.answer().status, 400);
    assert!(client.ends_cleanly());
    assert_eq!(shop.connections(), 0);
}

/// Answers in capitals until the other end is done, then says so.
fn shout(line: &mut Line) {
    line.head();
    line.send(SWITCH);
    while let Some(bytes) = line.take(4) {
        line.send(&bytes.to_ascii_uppercase());
    }
    line.send("DONE");
}

#[test]
fn a_socket_s_tunnel_goes_both_ways_and_half_closes() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::new(shout));
    let gate = shown.gate(&shop);
    let mut client = shown.client(&gate);
    client.send(ASK);
    assert!(client.head().starts_with("HTTP/1.1 101 "));
    for _ in 0..3 {
        client.send("ping");
        assert_eq!(client.take(4), "PING");
    }
    client.finish();
    assert_eq!(client.take(4), "DONE");
    assert!(client.ends_cleanly());
    gate.until("nothing left", |gate| {
        gate.stats.tunnels_open.load(Relaxed) == 0 && gate.stats.open.load(Relaxed) == 0
    });
}

#[test]
fn a_reader_that_takes_nothing_is_closed_on_and_the_shop_let_go() {
    let shop = Shop::new(|line| {
        line.head();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
        line.send(&"x".repeat(100_000_000));
    });
    let shown = Shown::new(&[&["a.example"]]);
    let gate = shown.gate_with(shop.address, |setup| {
        setup.server.write = std::time::Duration::from_millis(200);
    });
    let mut client = shown.client(&gate);
    client.send(GET);
    shop.until_closed(1);
    gate.until("closed", |gate| gate.stats.open.load(Relaxed) == 0);
    gate.until("it counted", |gate| gate.stats.timed_out.load(Relaxed) == 1);
}

#[test]
fn many_at_once_are_served() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(shown.client(&gate).ask(GET).status, 200);
                }
            });
        }
    });
    assert_eq!((shown.tls.done(), shown.tls.failed()), (80, 0));
}
