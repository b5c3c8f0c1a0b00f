//! The end of a connection: announced where it is a clean one, and only there (RFC 8446, section 6.1).

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use super::handshakes::hello;
use super::{GET, Shown};
use crate::shop::{OK, Shop};

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(60);
/// The first byte of a record of a handshake.
const HANDSHAKE: u8 = 22;

#[test]
fn the_last_answer_comes_whole_and_then_the_end() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let mut client = shown.client(&gate);
    let answer = client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, "hi"));
    assert!(client.ends_cleanly());
}

#[test]
fn a_last_answer_arrives_though_the_client_goes_on_sending() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate_with(shop.address, |setup| setup.server.body_bytes = 10);
    let mut client = shown.client(&gate);
    let body = "x".repeat(500_000);
    client.send(&format!(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n{body}"
    ));
    assert_eq!(client.answer().status, 413);
    assert!(client.ends_cleanly());
}

#[test]
fn an_idle_connection_is_told_its_end() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate_with(shop.address, |setup| setup.server.keep_alive = SHORT);
    let mut client = shown.client(&gate);
    assert_eq!(client.ask(GET).status, 200);
    assert!(client.ends_cleanly());
    gate.until("closed", |gate| gate.stats.open.load(Relaxed) == 0);
    gate.until("it counted", |gate| gate.stats.timed_out.load(Relaxed) == 1);
}

#[test]
fn one_that_says_nothing_after_its_handshake_is_told_its_end() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    // Long enough for the handshake on a busy machine.
    let gate = shown.gate_with(shop.address, |setup| setup.server.first_byte = 40 * SHORT);
    let mut client = shown.client(&gate);
    assert!(client.ends_cleanly());
    assert_eq!((shown.tls.done(), shown.tls.failed()), (1, 0));
}

/// Without a length the end is all that a client has to tell a whole answer from a cut one (RFC 9112, section 8).
#[test]
fn a_cut_answer_has_no_announced_end() {
    for (framing, part) in [
        ("Content-Length: 100", "some"),
        ("Transfer-Encoding: chunked", "4\r\nsome\r\n"),
    ] {
        let shop = Shop::new(move |line| {
            line.head().unwrap();
            line.send(&format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n{part}"));
        });
        let shown = Shown::new(&[&["a.example"]]);
        let gate = shown.gate(&shop);
        let mut client = shown.client(&gate);
        client.send(GET.replace("1.1", "1.0").as_str());
        client.head();
        assert!(!client.ends_cleanly(), "{framing}");
    }
}

#[test]
fn a_client_s_end_is_answered_with_ours() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let mut client = shown.client(&gate);
    assert_eq!(client.ask(GET).status, 200);
    client.finish();
    assert!(client.ends_cleanly());
    gate.until("closed", |gate| gate.stats.open.load(Relaxed) == 0);
}

#[test]
fn a_drain_ends_idle_and_silent_connections_and_lets_an_answer_finish() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let shop = Shop::new(move |line| {
        while let Some(request) = line.request() {
            if request.starts_with("GET /slow") {
                wait.lock().unwrap().recv().unwrap();
            }
            line.send(OK);
        }
    });
    let shown = Shown::new(&[&["a.example"]]);
    let gate = shown.gate(&shop);
    let (mut idle, mut silent, mut slow) = (shown.client(&gate), gate.client(), shown.client(&gate));
    assert_eq!(idle.ask(GET).status, 200);
    slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    shop.until(|seen| seen.contains("GET /slow"));
    gate.until("all open", |gate| gate.stats.open.load(Relaxed) == 3);
    let draining = thread::spawn(move || gate.drain(LONG));
    assert!(idle.ends_cleanly());
    assert_eq!(silent.rest(), "");
    go.send(()).unwrap();
    let answer = slow.answer();
    assert_eq!(
        (answer.body.as_str(), answer.header("connection").as_deref()),
        ("hi", Some("close"))
    );
    assert!(slow.ends_cleanly());
    drop((idle, slow));
    assert_eq!(draining.join().unwrap().cut, 0);
    assert_eq!(shown.tls.failed(), 0);
}

#[test]
fn a_hello_that_lies_in_the_socket_of_a_new_connection_is_answered() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let (closing, release) = (gate.closing(), gate.cancel.clone());
    let mut stuck = shown.client(&gate);
    stuck.send("GET /own/stuck HTTP/1.1\r\nHost: a\r\n\r\n");
    gate.until("it stands still", |gate| gate.stats.requests.load(Relaxed) == 1);
    // The core has not seen this one, nor the reactor its bytes, when the drain begins.
    let mut late = gate.client();
    late.stream.write_all(&hello(&shown)).unwrap();
    gate.until("it is accepted", |gate| gate.stats.accepted.load(Relaxed) == 2);
    let draining = thread::spawn(move || gate.drain(LONG));
    while !closing.is_cancelled() {
        thread::yield_now();
    }
    release.cancel();
    let mut first = [0];
    late.stream.read_exact(&mut first).unwrap();
    assert_eq!(first[0], HANDSHAKE);
    drop((stuck, late));
    assert_eq!(draining.join().unwrap().cut, 0);
}

/// In the clear `drain.rs` has the same.
#[test]
fn who_has_connected_before_the_drain_may_shake_hands_and_ask_after_it() {
    let (shown, shop) = (Shown::new(&[&["a.example"]]), Shop::answering(OK));
    let gate = shown.gate(&shop);
    let (address, early) = (gate.address, gate.client());
    gate.until("open", |gate| gate.stats.open.load(Relaxed) == 1);
    let draining = thread::spawn(move || gate.drain(LONG));
    let closes = |_| TcpStream::connect(address).is_err();
    assert!((0..100_000).any(closes), "it accepts for ever");
    let mut early = early.shake("a.example", &shown.authority.shared_client()).unwrap();
    let answer = early.ask(GET);
    assert_eq!(
        (answer.body.as_str(), answer.header("connection").as_deref()),
        ("hi", Some("close"))
    );
    drop(early);
    assert_eq!(draining.join().unwrap().cut, 0);
}
