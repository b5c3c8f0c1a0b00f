//! Clients that mean harm: bounded in memory and time, and others are served.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::raw::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RST_STREAM, Raw, SETTINGS, WINDOW, WINDOW_UPDATE,
    fields_of, framed, head,
};
use super::{SOON, gate, gate_with};
use crate::gate::Gate;
use crate::shop::{OK, Shop};

const CANCEL: [u8; 4] = [0, 0, 0, 8];
/// More than a window may be (RFC 9113, section 6.9.1).
const OVERFLOWING: [u8; 4] = [0x7f, 0xff, 0xff, 0xff];

/// Another visitor has an answer.
fn serves(gate: &Gate) {
    let answer = gate.client().ask("GET /own HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, "own"));
}

/// Sends until the gate takes nothing more, at most so often; whether it ended the connection.
fn is_ended_by(raw: &mut Raw, most: u32, mut send: impl FnMut(&mut Raw, u32) -> bool) -> bool {
    (0..most).any(|index| !send(raw, index)) || raw.is_ended()
}

fn holding() -> Shop {
    Shop::new(|line| {
        line.request();
        line.drain();
    })
}

#[test]
fn rapid_reset_ends_the_connection_and_the_shop_sees_few() {
    let shop = holding();
    let gate = gate(&shop);
    let mut raw = Raw::new(&gate, &[]);
    let is_ended = is_ended_by(&mut raw, 20_000, |raw, index| {
        let stream = 2 * index + 1;
        raw.get(stream, "/") && raw.frame(RST_STREAM, 0, stream, &CANCEL)
    });
    assert!(is_ended);
    gate.until("no connection to the shop", |gate| {
        gate.origins.stats().open.load(Relaxed) == 0
    });
    assert!(
        shop.connections() <= 400,
        "{} requests reached the shop",
        shop.connections()
    );
    serves(&gate);
}

#[test]
fn requests_called_off_one_after_the_other_end_the_connection_too() {
    let shop = holding();
    let gate = gate(&shop);
    let mut raw = Raw::new(&gate, &[]);
    let requests = || gate.stats.requests.load(Relaxed);
    // Each is seen before it is called off, so none is one that h2 counts as never looked at.
    let is_ended = is_ended_by(&mut raw, 2_000, |raw, index| {
        let (stream, before) = (2 * index + 1, requests());
        if !raw.get(stream, "/") {
            return false;
        }
        gate.until("seen, or over", |gate| {
            requests() > before || gate.stats.open.load(Relaxed) == 0
        });
        raw.frame(RST_STREAM, 0, stream, &CANCEL)
    });
    assert!(is_ended);
    assert!(requests() < 1_000, "{} requests", requests());
    serves(&gate);
}

#[test]
fn streams_that_we_are_made_to_reset_end_the_connection() {
    let shop = holding();
    let gate = gate(&shop);
    let mut raw = Raw::new(&gate, &[]);
    // Fewer than a client may call off.
    let is_ended = is_ended_by(&mut raw, 150, |raw, index| {
        let stream = 2 * index + 1;
        raw.get(stream, "/") && raw.frame(WINDOW_UPDATE, 0, stream, &OVERFLOWING)
    });
    assert!(is_ended);
    gate.until("no connection to the shop", |gate| {
        gate.origins.stats().open.load(Relaxed) == 0
    });
    serves(&gate);
}

#[test]
fn who_is_told_to_go_and_does_not_is_cut() {
    let shop = holding();
    let gate = gate_with(&shop, |setup| {
        setup.server.first_byte = SOON;
        setup.server.write = SOON;
    });
    let mut raw = Raw::new(&gate, &[]);
    assert!(raw.is_ended());
    gate.until("it counted", |gate| gate.stats.timed_out.load(Relaxed) == 1);
}

#[test]
fn a_head_without_end_is_refused() {
    let shop = holding();
    let gate = gate(&shop);
    let mut raw = Raw::new(&gate, &[]);
    raw.frame(HEADERS, END_STREAM, 1, &head("GET", "/", &[]));
    let filler = fields_of(&[("x-filler", "y".repeat(120).as_str()); 100]);
    let is_ended = is_ended_by(&mut raw, 10_000, |raw, _| raw.frame(CONTINUATION, 0, 1, &filler));
    assert!(is_ended);
    assert_eq!(shop.seen(), "");
    serves(&gate);
}

#[test]
fn empty_continuations_are_refused() {
    let shop = holding();
    let gate = gate(&shop);
    let mut raw = Raw::new(&gate, &[]);
    raw.frame(HEADERS, END_STREAM, 1, &head("GET", "/", &[]));
    let nothing = framed(CONTINUATION, 0, 1, &[]).repeat(1000);
    let is_ended = is_ended_by(&mut raw, 1_000, |raw, _| raw.bytes(&nothing));
    assert!(is_ended);
    serves(&gate);
}

#[test]
fn a_small_block_that_unpacks_to_a_large_head_is_refused() {
    let shop = holding();
    let gate = gate(&shop);
    let mut raw = Raw::new(&gate, &[]);
    // One field enters the table, and is then named again in one byte each: 4,000 times 120 bytes.
    let mut block = head("GET", "/", &[]);
    block.push(0x40);
    block.extend_from_slice(&fields_of(&[("x-filler", "y".repeat(120).as_str())])[1..]);
    block.extend_from_slice(&[0xbe; 4_000]);
    raw.frame(HEADERS, END_STREAM | END_HEADERS, 1, &block);
    // A little too large is 431; this is far from that.
    assert!(raw.is_ended());
    assert_eq!(shop.seen(), "");
    serves(&gate);
}

#[test]
fn pings_and_settings_without_end_wait_for_their_answers_to_be_read() {
    let shop = holding();
    for (kind, payload) in [(PING, &[7; 8][..]), (SETTINGS, &[][..])] {
        let gate = gate_with(&shop, |setup| setup.server.write = SOON);
        let mut raw = Raw::new(&gate, &[]);
        let many = framed(kind, 0, 0, payload).repeat(1_000);
        // The test reads nothing: the gate's frames fill the way back, and it stops reading too.
        let is_ended = is_ended_by(&mut raw, 1_000_000, |raw, _| raw.bytes(&many));
        assert!(is_ended, "{kind}");
        gate.until("it counted", |gate| gate.stats.timed_out.load(Relaxed) == 1);
        serves(&gate);
    }
}

#[test]
fn empty_pieces_of_a_body_without_end_are_refused() {
    let shop = holding();
    let gate = gate(&shop);
    let mut raw = Raw::new(&gate, &[]);
    raw.frame(HEADERS, END_HEADERS, 1, &head("POST", "/", &[]));
    let nothing = framed(DATA, 0, 1, &[]).repeat(1_000);
    let is_ended = is_ended_by(&mut raw, 10_000, |raw, _| raw.bytes(&nothing));
    assert!(is_ended);
    serves(&gate);
}

#[test]
fn a_stream_that_takes_nothing_ends_and_the_others_go_on() {
    let shop = Shop::new(|line| {
        line.request();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n");
        line.send(&"x".repeat(3_000_000));
    });
    let gate = gate_with(&shop, |setup| {
        setup.server.write = SOON;
        setup.server.keep_alive = Duration::from_secs(60);
    });
    let mut raw = Raw::new(&gate, &[(WINDOW, 0)]);
    raw.get(1, "/");
    assert!(raw.until(RST_STREAM, 1).is_some());
    gate.until("the shop is let go", |gate| {
        gate.origins.stats().open.load(Relaxed) == 0 && gate.guards() == 0
    });
    // The window of the next is opened: 1,000 bytes.
    raw.get(3, "/own");
    raw.frame(WINDOW_UPDATE, 0, 3, &[0, 0, 3, 232]);
    assert_eq!(raw.until(DATA, 3).unwrap().payload, b"own");
}

#[test]
fn a_body_that_stops_coming_ends_its_stream_only() {
    let shop = holding();
    let gate = gate_with(&shop, |setup| {
        setup.server.body_idle = SOON;
        setup.upstream.request_buffer = 0;
    });
    let mut raw = Raw::new(&gate, &[]);
    raw.frame(HEADERS, END_HEADERS, 1, &head("POST", "/", &[]));
    raw.frame(DATA, 0, 1, b"half");
    assert!(raw.until(HEADERS, 1).is_some(), "an answer that says so");
    raw.get(3, "/own");
    assert_eq!(raw.until(DATA, 3).unwrap().payload, b"own");
    assert!(shop.seen().contains("half"));
}

#[test]
fn illegal_fields_are_refused() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    let illegal: [&[(&str, &str)]; 12] = [
        &[("Upper", "a")],
        &[("connection", "close")],
        &[("transfer-encoding", "chunked")],
        &[("upgrade", "h2c")],
        &[("keep-alive", "5")],
        &[("te", "gzip")],
        &[("x-a", "b\r\nx-c: d")],
        &[("x-a", "b\0")],
        &[("x a", "b")],
        &[("", "b")],
        &[(":path", "/again")],
        &[("x-a", "b"), (":late", "c")],
    ];
    for fields in illegal {
        let mut raw = Raw::new(&gate, &[]);
        raw.frame(HEADERS, END_STREAM | END_HEADERS, 1, &head("GET", "/", fields));
        let reset = raw.until(RST_STREAM, 1);
        assert!(reset.is_some() || raw.next().is_none(), "{fields:?}");
    }
    for target in ["", "a", "/a b", "*a", "*", "?a"] {
        let mut raw = Raw::new(&gate, &[]);
        raw.get(1, target);
        assert!(raw.is_refused(1), "{target}");
    }
    assert_eq!(shop.seen(), "");
}

#[test]
fn a_length_that_the_body_does_not_keep_never_reaches_the_shop_whole() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    for (announced, sent) in [("5", &b"toolong"[..]), ("50", b"short")] {
        let mut raw = Raw::new(&gate, &[]);
        let fields = [("content-length", announced)];
        raw.frame(HEADERS, END_HEADERS, 1, &head("POST", "/", &fields));
        raw.frame(DATA, END_STREAM, 1, sent);
        assert!(raw.until(RST_STREAM, 1).is_some(), "{announced}");
    }
    for second in ["5", "05"] {
        let mut two = Raw::new(&gate, &[]);
        let fields = [("content-length", "5"), ("content-length", second)];
        two.frame(HEADERS, END_HEADERS, 1, &head("POST", "/", &fields));
        two.frame(DATA, END_STREAM, 1, b"hello");
        assert!(two.is_refused(1), "{second}");
    }
    assert!(!shop.seen().contains("hello"));
    assert!(!shop.seen().contains("toolong") && !shop.seen().contains("toolo"));
}
