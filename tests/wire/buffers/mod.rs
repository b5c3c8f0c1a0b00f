//! Request bodies that are received before the shop is asked, and the bound on those that are longer and streamed.

mod http2;
mod memory;
mod streaming;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use crate::client::{Client, header};
use crate::gate::{Gate, Setup};
use crate::shop::{OK, Shop};
use crate::tls::Shown;

const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n";
const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(3600);

/// A POST that announces this length and sends the given part.
fn post(length: usize, body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn buffering(bytes: usize) -> impl FnOnce(&mut Setup) {
    move |setup| setup.upstream.request_buffer = bytes
}

/// Waits until bodies take memory.
fn until_held(gate: &Gate, kib: u64) {
    gate.until("that is held", |gate| {
        gate.origins.stats().buffered_kib.load(Relaxed) == kib
    });
}

fn is_silent(client: &Client) -> bool {
    client.stream.set_nonblocking(true).unwrap();
    let read = client.stream.peek(&mut [0]);
    client.stream.set_nonblocking(false).unwrap();
    read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn slow_body_takes_no_connection_and_is_sent_whole() {
    let chunks = ["3\r\nabc\r\n", "2\r\nde\r\n0\r\n\r\n"];
    for (head, [first, rest]) in [
        (post(5, ""), ["abc", "de"]),
        (format!("{CHUNKED}\r\n"), chunks),
        (format!("{CHUNKED}Trailer: X-Sum\r\n\r\n"), chunks),
        // The trailer is not announced, or is none that passes.
        (
            format!("{CHUNKED}\r\n"),
            [chunks[0], "2\r\nde\r\n0\r\nX-Sum: 7\r\n\r\n"],
        ),
        (
            format!("{CHUNKED}Trailer: Cookie\r\n\r\n"),
            [chunks[0], "2\r\nde\r\n0\r\nCookie: 7\r\n\r\n"],
        ),
    ] {
        for secured in [false, true] {
            let shop = Shop::answering(OK);
            let shown = secured.then(|| Shown::new(&[&["a.example"]]));
            let gate = shown
                .as_ref()
                .map_or_else(|| Gate::new(&shop), |shown| shown.gate(&shop));
            let mut client = shown
                .as_ref()
                .map_or_else(|| gate.client(), |shown| shown.client(&gate));
            client.send(&head);
            client.send(first);
            until_held(&gate, 1);
            assert_eq!(shop.connections(), 0);
            client.send(rest);
            assert_eq!(client.answer().status, 200);
            let seen = shop.seen();
            assert!(seen.ends_with("\r\n\r\nabcde"), "{seen}");
            assert_eq!(header(&seen, "content-length").unwrap(), "5");
            let gone = [header(&seen, "transfer-encoding"), header(&seen, "trailer")];
            assert_eq!(gone, [None, None], "{seen}");
            assert_eq!(client.ask(&post(1, "x")).status, 200, "the connection goes on");
            assert_eq!(
                (shop.connections(), gate.origins.stats().buffered_kib.load(Relaxed)),
                (1, 0)
            );
        }
    }
}

#[test]
fn body_with_trailers_is_sent_in_chunks() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let request = format!("{CHUNKED}Trailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\nCookie: c=6\r\n\r\n");
    assert_eq!(gate.client().ask(&request).status, 200);
    let seen = shop.seen();
    assert!(seen.ends_with("\r\n\r\n3\r\nabc\r\n0\r\nx-sum: 7\r\n\r\n"), "{seen}");
    assert_eq!(header(&seen, "content-length"), None);
}

#[test]
fn empty_body_has_a_length() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    for _ in 0..2 {
        assert_eq!(client.ask(&format!("{CHUNKED}\r\n0\r\n\r\n")).status, 200);
    }
    assert_eq!(header(&shop.seen(), "content-length").unwrap(), "0");
    assert_eq!(shop.connections(), 1);
}

#[test]
fn body_that_waits_for_continue_is_asked_for_by_the_gate() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(shop.connections(), 0);
    client.send("ok");
    assert_eq!(client.answer().status, 200);
    assert_eq!(header(&shop.seen(), "expect"), None);
}

#[test]
fn body_goes_on_from_the_first_byte_above_the_buffer() {
    for (head, [within, above, end]) in [
        (post(10, ""), ["12345678", "9", "0"]),
        (
            format!("{CHUNKED}\r\n"),
            ["8\r\n12345678\r\n", "1\r\n9\r\n", "1\r\n0\r\n0\r\n\r\n"],
        ),
    ] {
        let shop = Shop::answering(OK);
        let gate = Gate::with(shop.address, buffering(8));
        let mut client = gate.client();
        client.send(&head);
        client.send(within);
        until_held(&gate, 1);
        assert_eq!(shop.connections(), 0);
        client.send(above);
        shop.until(|seen| seen.contains("12345678"));
        assert_eq!(gate.origins.stats().streaming.load(Relaxed), 1);
        client.send(end);
        assert_eq!(client.answer().status, 200);
        gate.until("nothing is held", |gate| {
            gate.origins.stats().streaming.load(Relaxed) == 0 && gate.origins.stats().buffered_kib.load(Relaxed) == 0
        });
    }
}

#[test]
fn expectation_of_a_longer_body_was_met_by_the_gate() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 1;
        setup.upstream.continue_wait = LONG;
    });
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok");
    assert_eq!(client.answer().status, 200);
    assert_eq!(header(&shop.seen(), "expect"), None);
}

#[test]
fn body_that_fails_reaches_nobody() {
    for (rest, status) in [("zz\r\n", 400), ("9\r\n123456789\r\n", 413), ("", 408)] {
        let shop = Shop::answering(OK);
        let gate = Gate::with(shop.address, |setup| {
            setup.server.body_bytes = 10;
            setup.server.body_idle = if status == 408 { SHORT } else { LONG };
        });
        let mut client = gate.client();
        client.send(&format!("{CHUNKED}\r\n3\r\nabc\r\n{rest}"));
        assert_eq!(client.answer().status, status);
        assert_eq!(client.rest(), "");
        assert_eq!(
            (shop.connections(), gate.origins.stats().buffered_kib.load(Relaxed)),
            (0, 0)
        );
    }
}

#[test]
fn body_whose_client_has_gone_is_forgotten() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(&post(5, "abc"));
    until_held(&gate, 1);
    drop(client);
    until_held(&gate, 0);
    assert_eq!(shop.connections(), 0);
}

#[test]
fn total_time_begins_when_the_body_is_here() {
    const TOTAL: Duration = Duration::from_millis(300);
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.upstream.total = Some(TOTAL));
    let mut client = gate.client();
    let begun = ropeline::time::uptime();
    client.send(&post(5, "abc"));
    gate.until("its time would be over", |_| {
        ropeline::time::uptime().saturating_sub(begun) > TOTAL
    });
    client.send("de");
    assert_eq!(client.answer().status, 200);
}

#[test]
fn connection_whose_shop_left_a_body_unread_is_not_used_again() {
    let (done, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let shop = Shop::new(move |line| {
        line.head();
        line.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
        let _ = wait.lock().unwrap().recv();
    });
    // More than the kernel's buffers take.
    let gate = Gate::with(shop.address, buffering(MUCH));
    let mut client = gate.client();
    assert_eq!(client.ask(&post(MUCH, &"x".repeat(MUCH))).status, 413);
    assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 413);
    assert_eq!(shop.connections(), 2);
    drop(done);
}

const MUCH: usize = 16 << 20;
