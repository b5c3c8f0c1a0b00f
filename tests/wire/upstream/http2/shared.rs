//! Connections that requests share: how many, how long, and that nobody's request is another's trouble.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use h2::server::Builder;
use http::Response;
use ropeline::proxy::ConnectionBound;
use tokio::sync::Barrier;

use super::frames::fields_of;
use super::frames::{
    ACK, CANCEL, DATA, END_HEADERS, END_STREAM, Framed, HEADERS, Line, NO_ERROR, OK, PING, RST_STREAM,
};
use super::{GET, POST, Shop, gate, gate_with, until_idle};
use crate::client::Client;
use crate::gate::Gate;
use crate::shop::PATIENCE;

const SHORT: Duration = Duration::from_millis(50);

/// Answers when so many requests are under way.
fn together(count: usize, builder: Builder) -> Shop {
    let all = Arc::new(Barrier::new(count));
    Shop::with(None, builder, move |mut asked| {
        let all = Arc::clone(&all);
        Box::pin(async move {
            asked.read().await?;
            all.wait().await;
            asked.say(Response::new(()), "hi")
        })
    })
}

pub(super) fn ask_at_once(gate: &Gate, request: &str, count: usize) -> Vec<Client> {
    let ask = |_| {
        let mut client = gate.client();
        client.send(request);
        client
    };
    (0..count).map(ask).collect()
}

pub(super) fn reason(frame: Option<super::frames::Frame>) -> u32 {
    u32::from_be_bytes(frame.unwrap().payload.try_into().unwrap())
}

#[test]
fn requests_share_a_connection_from_the_first_on() {
    let shop = together(30, Builder::new());
    let gate = gate(shop.address);
    for mut client in ask_at_once(&gate, GET, 30) {
        assert_eq!(client.answer().body, "hi");
    }
    assert_eq!(shop.connections(), 1);
    until_idle(&gate);
}

#[test]
fn a_connection_takes_as_many_requests_as_the_shop_says() {
    let mut builder = Builder::new();
    builder.max_concurrent_streams(2);
    let shop = together(5, builder);
    let gate = gate(shop.address);
    for mut client in ask_at_once(&gate, GET, 5) {
        assert_eq!(client.answer().body, "hi");
    }
    assert_eq!(shop.connections(), 3);
}

#[test]
fn a_connection_takes_a_hundred_requests_at_most() {
    let shop = together(101, Builder::new());
    let gate = gate(shop.address);
    for mut client in ask_at_once(&gate, GET, 101) {
        assert_eq!(client.answer().body, "hi");
    }
    assert_eq!(shop.connections(), 2);
}

#[test]
fn server_that_takes_none_is_told_so() {
    let shop = Framed::with(&[(3, 0)], Line::drain);
    let gate = gate(shop.address);
    assert_eq!(gate.client().ask(POST).status, 502);
    let reason = gate.origins.standing()[0].reason.clone();
    assert_eq!(reason.as_deref(), Some("it takes no requests over HTTP/2"));
}

fn bounded(shop: std::net::SocketAddr, connections: u32) -> Gate {
    gate_with(shop, |upstream| {
        upstream.request_buffer = 0;
        upstream.bound = Some(ConnectionBound {
            connections,
            waiting: 10,
            wait: PATIENCE,
        });
    })
}

#[test]
fn bound_counts_requests_under_way() {
    let release = Arc::new(Barrier::new(3));
    let most = Arc::new(AtomicUsize::new(0));
    let (held, now) = (Arc::clone(&release), Arc::clone(&most));
    let shop = Shop::with(None, Builder::new(), move |mut asked| {
        let (held, now) = (Arc::clone(&held), Arc::clone(&now));
        Box::pin(async move {
            let under_way = now.fetch_add(1, Ordering::SeqCst) + 1;
            assert!(under_way <= 2, "{under_way}");
            asked.read().await?;
            held.wait().await;
            now.fetch_sub(1, Ordering::SeqCst);
            asked.say(Response::new(()), "hi")
        })
    });
    let gate = bounded(shop.address, 2);
    let clients = ask_at_once(&gate, GET, 4);
    let waiting = |count| gate.until("they wait", |gate| gate.origins.standing()[0].waiting == count);
    waiting(2);
    shop.seen(2, |seen| assert_eq!(seen.len(), 2));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(release.wait());
    shop.seen(4, |_| {});
    runtime.block_on(release.wait());
    for mut client in clients {
        assert_eq!(client.answer().body, "hi");
    }
    waiting(0);
}

#[test]
fn visitor_who_goes_takes_the_request_back() {
    for gone in [GET, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe"] {
        let (told, came) = mpsc::channel();
        let told = Mutex::new(told);
        let shop = Framed::new(move |line| {
            let called_off = line.request().unwrap();
            told.lock().unwrap().send(()).unwrap();
            let reset = line.until(RST_STREAM).unwrap();
            assert_eq!((reset.stream, reason(Some(reset))), (called_off, CANCEL));
            line.serve();
        });
        let gate = bounded(shop.address, 1);
        let mut client = gate.client();
        client.send(gone);
        came.recv().unwrap();
        drop(client);
        assert_eq!(gate.client().ask(GET).body, "hi");
        assert_eq!(shop.connections(), 1);
        until_idle(&gate);
    }
}

#[test]
fn visitor_who_goes_in_the_middle_of_an_answer_takes_the_request_back() {
    let shop = Framed::new(|line| {
        let stream = line.request().unwrap();
        line.frame(HEADERS, END_HEADERS, stream, OK);
        line.frame(DATA, 0, stream, b"half");
        assert_eq!(reason(line.until(RST_STREAM)), CANCEL);
        line.serve();
    });
    let gate = bounded(shop.address, 1);
    let mut client = gate.client();
    client.send(GET);
    client.through("half");
    drop(client);
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!(shop.connections(), 1);
}

#[test]
fn answer_that_comes_early_ends_the_upload() {
    for shop_resets in [true, false] {
        let shop = Framed::new(move |line| {
            let stream = line.request().unwrap();
            // 413
            line.frame(
                HEADERS,
                END_HEADERS | END_STREAM,
                stream,
                &fields_of(&[(":status", "413")]),
            );
            if shop_resets {
                line.reset(stream, NO_ERROR);
            } else {
                assert_eq!(reason(line.until(RST_STREAM)), CANCEL);
            }
            line.serve();
        });
        let gate = bounded(shop.address, 1);
        let mut client = gate.client();
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\nhe");
        assert!(client.head().starts_with("HTTP/1.1 413 "));
        assert_eq!(gate.client().ask(GET).body, "hi");
        assert_eq!(shop.connections(), 1);
    }
}

#[test]
fn shop_that_takes_nothing_of_an_upload_is_given_up() {
    // No window at all, for bodies.
    let shop = Framed::with(&[(4, 0)], |line| {
        let stalled = line.request().unwrap();
        let reset = line.until(RST_STREAM).unwrap();
        assert_eq!(reset.stream, stalled);
        line.serve();
    });
    let gate = gate_with(shop.address, |upstream| {
        upstream.write = SHORT;
        upstream.request_buffer = 0;
    });
    let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nhello\r\n";
    let mut client = gate.client();
    client.send(chunked);
    assert!(client.head().starts_with("HTTP/1.1 502 "));
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!(shop.connections(), 1);
}

#[test]
fn visitors_who_read_nothing_hold_up_nobody() {
    let shop = Shop::with(None, Builder::new(), |mut asked| {
        Box::pin(async move {
            asked.read().await?;
            let length = if asked.path() == "/a" { 200_000 } else { 20_000_000 };
            asked.say(Response::new(()), &"x".repeat(length))
        })
    });
    let gate = gate(shop.address);
    let idle: Vec<Client> = (0..30)
        .map(|_| {
            let mut client = gate.client();
            client.send("GET /much HTTP/1.1\r\nHost: a\r\n\r\n");
            client
        })
        .collect();
    shop.seen(30, |_| {});
    for _ in 0..3 {
        assert_eq!(gate.client().ask(GET).body.len(), 200_000);
    }
    assert_eq!(shop.connections(), 1);
    drop(idle);
    until_idle(&gate);
}

#[test]
fn connection_that_stands_idle_is_closed() {
    let shop = Framed::new(|line| {
        line.serve();
    });
    let gate = gate_with(shop.address, |upstream| upstream.idle = SHORT);
    assert_eq!(gate.client().ask(GET).body, "hi");
    shop.until_closed(1);
    assert_eq!(gate.client().ask(GET).body, "hi");
}

#[test]
fn connection_that_gives_no_sign_of_life_is_given_up() {
    let shop = Framed::new(|line| {
        if line.index > 0 {
            return line.serve();
        }
        line.request();
        // Its pings stay unanswered.
        loop {
            let Some(frame) = line.next() else { return };
            assert!(frame.kind != PING || frame.flags & ACK == 0);
        }
    });
    let gate = gate_with(shop.address, |upstream| upstream.ping = SHORT);
    assert_eq!(gate.client().ask(POST).status, 502);
    assert_eq!(gate.client().ask(GET).body, "hi");
}

#[test]
fn nothing_new_is_trusted_to_a_connection_where_an_answer_was_late() {
    let shop = Framed::new(|line| {
        if line.index > 0 {
            return line.serve();
        }
        line.request();
        assert_eq!(reason(line.until(RST_STREAM)), CANCEL);
        assert!(line.request().is_none());
    });
    let gate = gate_with(shop.address, |upstream| upstream.response = SHORT);
    assert_eq!(gate.client().ask(POST).status, 504);
    assert_eq!(gate.client().ask(GET).body, "hi");
    shop.until_closed(1);
}

#[test]
fn connection_is_trusted_on_where_the_visitor_was_late() {
    let shop = Framed::new(Line::serve_whole);
    let gate = gate_with(shop.address, |upstream| {
        upstream.total = Some(20 * SHORT);
        upstream.request_buffer = 0;
    });
    gate.until("there is a connection", |gate| gate.client().ask(GET).status == 200);
    let opened = shop.connections();
    let mut slow = gate.client();
    slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nslow");
    assert_eq!(slow.answer().status, 504);
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!(shop.connections(), opened);
}

#[test]
fn draining_gate_lets_answers_finish_and_closes() {
    let shop = Framed::new(|line| {
        let stream = line.request().unwrap();
        line.frame(HEADERS, END_HEADERS, stream, OK);
        line.frame(DATA, 0, stream, b"half");
        // The visitor has the first half now.
        line.until(PING);
        line.frame(DATA, END_STREAM, stream, b"whole");
        line.drain();
    });
    let gate = gate_with(shop.address, |upstream| upstream.ping = SHORT);
    let mut client = gate.client();
    client.send(GET);
    client.through("half");
    let (address, drained) = (gate.address, std::thread::spawn(move || gate.drain(PATIENCE)));
    assert!(client.rest().contains("whole"));
    drained.join().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err());
    shop.until_closed(1);
}
