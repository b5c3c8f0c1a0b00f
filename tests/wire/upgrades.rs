//! Upgrades, such as to a `WebSocket`: asked for well, granted, tunnelled, and ended.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::client::header;
use crate::gate::Gate;
use crate::shop::{Line, OK, Shop};

pub const ASK: &str = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
pub const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                      Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

fn switching(rest: impl Fn(&mut Line) + Send + Sync + 'static) -> Shop {
    Shop::new(move |line| {
        line.head();
        line.send(SWITCH);
        rest(line);
    })
}

/// Answers in capitals until the other end is done, then says so.
fn shout(line: &mut Line) {
    while let Some(bytes) = line.take(4) {
        line.send(&bytes.to_ascii_uppercase());
    }
    line.send("DONE");
}

#[test]
fn tunnel_opens_both_ways_and_half_closes() {
    let shop = switching(shout);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(ASK);
    let head = client.head().to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    assert_eq!(header(&head, "upgrade").unwrap(), "websocket");
    assert_eq!(header(&head, "connection").unwrap(), "upgrade");
    assert_eq!(header(&head, "sec-websocket-accept").unwrap().len(), 28);
    let seen = shop.seen().to_ascii_lowercase();
    assert_eq!(header(&seen, "connection").unwrap(), "upgrade");
    assert_eq!(header(&seen, "sec-websocket-key").unwrap(), "dghlihnhbxbszsbub25jzq==");
    client.send("ping");
    assert_eq!(client.take(4), "PING");
    assert_eq!((gate.guards(), gate.stats.tunnels_open.load(Relaxed)), (1, 1));
    client.finish();
    assert_eq!(client.rest(), "DONE");
    gate.until("no tunnel, guard or connection", |gate| {
        gate.guards() == 0 && gate.stats.tunnels_open.load(Relaxed) == 0 && gate.stats.open.load(Relaxed) == 0
    });
}

#[test]
fn shop_s_close_ends_the_tunnel_after_its_last_bytes() {
    let shop = switching(|line| line.send("bye!"));
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(ASK);
    client.head();
    assert_eq!(client.take(4), "bye!");
    client.finish();
    assert_eq!(client.rest(), "");
}

#[test]
fn other_protocols_are_tunnelled_too() {
    let shop = Shop::new(|line| {
        line.head();
        line.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
        shout(line);
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("POST /attach HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    client.head();
    client.send("ping");
    assert_eq!(client.take(4), "PING");
}

#[test]
fn bytes_sent_ahead_reach_the_shop_after_its_101_only() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let shop = Shop::new(move |line| {
        line.head();
        wait.lock().unwrap().recv().unwrap();
        line.send(SWITCH);
        shout(line);
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(&format!("{ASK}ahead..."));
    assert!(!shop.until(|seen| seen.contains("\r\n\r\n")).contains("ahead"));
    go.send(()).unwrap();
    client.head();
    assert_eq!(client.take(8), "AHEAD...");
}

#[test]
fn bytes_behind_an_upgrade_that_was_not_granted_reach_nobody() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(&format!("{ASK}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"));
    let answer = client.answer();
    assert_eq!(
        (answer.status, answer.header("connection").as_deref()),
        (200, Some("close"))
    );
    assert_eq!(client.rest(), "");
    assert!(!shop.seen().contains("smuggled"), "{}", shop.seen());
}

/// No client waits for another protocol that is never granted.
#[test]
fn an_upgrade_that_the_gate_answers_by_itself_ends_the_connection() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET /own HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n");
    assert_eq!(client.answer().header("connection").as_deref(), Some("close"));
    assert_eq!(client.rest(), "");
}

#[test]
fn upgrades_that_are_not_well_formed_are_forwarded_without() {
    let cases = [
        ASK.replace("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8"),
        ASK.replace("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""),
        ASK.replace("keep-alive, Upgrade", "keep-alive"),
        ASK.replace("GET", "PUT"),
        ASK.replace("HTTP/1.1", "HTTP/1.0"),
        ASK.replace("websocket", "h2c"),
        ASK.replace("websocket", "websocket, h2c"),
        ASK.replace("websocket", "TLS/1.2"),
        ASK.replace("websocket", "HTTP/2.0"),
        ASK.replace("Upgrade: websocket", "Upgrade: websocket\r\nUpgrade: h2c"),
        ASK.replace("GET", "POST")
            .replace("\r\n\r\n", "\r\nContent-Length: 2\r\n\r\nok"),
    ];
    for request in cases {
        let shop = Shop::answering(OK);
        let gate = Gate::new(&shop);
        assert_eq!(gate.client().ask(&request).status, 200, "{request}");
        assert!(!shop.seen().to_ascii_lowercase().contains("\nupgrade:"), "{request}");
    }
}

#[test]
fn switch_nobody_asked_for_is_502() {
    let shop = switching(shout);
    let gate = Gate::new(&shop);
    let answer = gate.client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (502, "Upstream UnaskedSwitch"));
    shop.until_closed(1);
}

#[test]
fn switch_to_another_protocol_than_asked_for_is_502() {
    let shop = Shop::new(|line| {
        line.head();
        line.send(&SWITCH.replace("websocket", "h2c"));
        line.drain();
    });
    let gate = Gate::new(&shop);
    assert_eq!(gate.client().ask(ASK).status, 502);
    shop.until_closed(1);
}

#[test]
fn silent_tunnel_is_closed() {
    let shop = switching(shout);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.tunnel_idle = Duration::from_millis(50);
    });
    let mut client = gate.client();
    client.send(ASK);
    client.head();
    assert_eq!(client.rest(), "");
    shop.until_closed(1);
}

#[test]
fn tunnel_is_closed_when_the_gate_says_so() {
    let shop = switching(shout);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(ASK);
    client.head();
    client.send("ping");
    assert_eq!(client.take(4), "PING");
    gate.cancel.cancel();
    assert_eq!(client.rest(), "");
    shop.until_closed(1);
    gate.until("no guards", |gate| gate.guards() == 0);
}

#[test]
fn client_gone_closes_the_tunnel() {
    let shop = switching(shout);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(ASK);
    client.head();
    socket2::SockRef::from(&client.stream)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(client);
    shop.until_closed(1);
}
