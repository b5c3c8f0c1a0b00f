//! Requests that go on though their client has hung up.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ropeline::proxy::Drained;

use crate::gate::Gate;
use crate::http2::raw::{DATA, END_HEADERS, HEADERS, RST_STREAM, Raw, head};
use crate::shop::{OK, Shop};

const LONG: Duration = Duration::from_secs(60);

/// A shop that answers when it is let.
fn waiting() -> (Shop, mpsc::Sender<()>) {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let shop = Shop::new(move |line| {
        while line.request().is_some() {
            if wait.lock().unwrap().recv().is_ok() {
                line.send(OK);
            }
        }
    });
    (shop, go)
}

/// A client that hangs up when the shop has its request.
fn hangs_up(gate: &Gate, shop: &Shop, target: &str) {
    let mut client = gate.client();
    client.send(&format!(
        "POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\npay"
    ));
    shop.until(|seen| seen.ends_with("pay"));
}

#[test]
fn the_answer_is_read_to_its_end_and_the_connection_used_again() {
    let (shop, go) = waiting();
    let gate = Gate::new(&shop);
    hangs_up(&gate, &shop, "/detached");
    go.send(()).unwrap();
    gate.until("answered", |gate| gate.stats.open.load(Relaxed) == 0);
    go.send(()).unwrap();
    assert_eq!(gate.client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").body, "hi");
    assert_eq!(shop.connections(), 1);
}

/// A drain that has begun.
fn draining(gate: Gate, patience: Duration) -> JoinHandle<Drained> {
    let closing = gate.closing();
    let draining = thread::spawn(move || gate.drain(patience));
    while !closing.is_cancelled() {
        thread::yield_now();
    }
    draining
}

#[test]
fn a_drain_waits_for_it_and_counts_what_it_cuts() {
    let (shop, go) = waiting();
    let gate = Gate::new(&shop);
    hangs_up(&gate, &shop, "/detached");
    let draining_long = draining(gate, LONG);
    // Long enough for a server that does not wait to be gone.
    thread::park_timeout(Duration::from_millis(200));
    assert!(!draining_long.is_finished());
    go.send(()).unwrap();
    assert_eq!(draining_long.join().unwrap().cut, 0);

    let (shop, _go) = waiting();
    let gate = Gate::new(&shop);
    hangs_up(&gate, &shop, "/detached");
    assert_eq!(draining(gate, Duration::from_millis(200)).join().unwrap().cut, 1);
}

#[test]
fn any_other_request_is_called_off() {
    let (shop, _go) = waiting();
    let gate = Gate::new(&shop);
    hangs_up(&gate, &shop, "/other");
    gate.until("called off", |gate| gate.origins.stats().open.load(Relaxed) == 0);
}

/// A stream that is reset, with or without an error, leaves half a body.
#[test]
fn half_a_body_is_never_a_whole_one() {
    const NO_ERROR: [u8; 4] = [0; 4];
    const CANCEL: [u8; 4] = [0, 0, 0, 8];
    for (buffer, length) in [(0, None), (0, Some("50")), (1 << 16, None), (1 << 16, Some("50"))] {
        for code in [NO_ERROR, CANCEL] {
            let shop = Shop::answering(OK);
            let gate = Gate::with(shop.address, |setup| {
                setup.server.h2c = true;
                setup.upstream.request_buffer = buffer;
            });
            let mut raw = Raw::new(&gate, &[]);
            let fields: Vec<_> = length.map(|length| ("content-length", length)).into_iter().collect();
            raw.frame(HEADERS, END_HEADERS, 1, &head("POST", "/detached", &fields));
            raw.frame(DATA, 0, 1, b"half a body");
            if buffer == 0 {
                shop.until(|seen| seen.contains("half a body"));
            }
            raw.frame(RST_STREAM, 0, 1, &code);
            drop(raw);
            gate.until("given up", |gate| {
                gate.stats.open.load(Relaxed) == 0 && gate.origins.stats().open.load(Relaxed) == 0
            });
            let seen = shop.seen();
            let is_whole = seen.ends_with("0\r\n\r\n") || seen.to_ascii_lowercase().contains("content-length: 11");
            assert!(!is_whole, "{buffer} {length:?} {code:?}: {seen}");
            assert!(buffer == 0 || seen.is_empty(), "{seen}");
        }
    }
}
