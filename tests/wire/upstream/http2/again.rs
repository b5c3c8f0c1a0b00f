//! Retries: all requests that the shop has not processed by its own word, and of the others those that are safe to repeat.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use super::frames::{DATA, END_STREAM, Framed, INTERNAL_ERROR, Line, NO_ERROR, REFUSED_STREAM, WINDOW_UPDATE};
use super::shared::ask_at_once;
use super::{GET, POST, gate, gate_with, until_idle};
use crate::gate::Gate;
use crate::shop::PATIENCE;

fn failures(gate: &Gate) -> u64 {
    gate.origins.standing()[0].failures
}

/// The body that comes on a stream.
fn body(line: &mut Line) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let Some(frame) = line.until(DATA) else { return whole };
        whole.extend(frame.payload);
        if frame.flags & END_STREAM != 0 {
            return whole;
        }
    }
}

#[test]
fn refused_request_is_sent_again_with_its_body() {
    let shop = Framed::new(|line| {
        let refused = line.request().unwrap();
        assert_eq!(body(line), b"hello");
        line.reset(refused, REFUSED_STREAM);
        let again = line.request().unwrap();
        assert_eq!(body(line), b"hello");
        line.hi(again);
        line.serve();
    });
    let gate = gate(shop.address);
    assert_eq!(gate.client().ask(POST).body, "hi");
    assert_eq!((shop.connections(), failures(&gate)), (1, 1));
}

#[test]
fn server_that_refuses_all_is_asked_three_times() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let shop = Framed::new(move |line| {
        while let Some(stream) = line.request() {
            count.fetch_add(1, Ordering::SeqCst);
            line.reset(stream, REFUSED_STREAM);
        }
    });
    let gate = gate(shop.address);
    assert_eq!(gate.client().ask(POST).status, 502);
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    let none = gate_with(shop.address, |upstream| upstream.retry_budget = 0);
    assert_eq!(none.client().ask(POST).status, 502);
    assert_eq!(asked.load(Ordering::SeqCst), 4, "without a budget it is left alone");
}

#[test]
fn body_that_is_too_long_to_be_kept_is_not_sent_again() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let shop = Framed::new(move |line| {
        let stream = line.request().unwrap();
        count.fetch_add(1, Ordering::SeqCst);
        for window in [0, stream] {
            line.frame(WINDOW_UPDATE, 0, window, &1_000_000_u32.to_be_bytes());
        }
        let mut read = 0;
        while read < 100_000 {
            read += line.until(DATA).unwrap().payload.len();
        }
        line.reset(stream, REFUSED_STREAM);
        if line.request().is_some() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let gate = gate(shop.address);
    let body = "x".repeat(150_000);
    let answer = gate.client().ask(&format!(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 150000\r\n\r\n{body}"
    ));
    assert_eq!((answer.status, asked.load(Ordering::SeqCst)), (502, 1));
}

#[test]
fn request_behind_a_connection_s_last_is_sent_again_on_another() {
    let shop = Framed::new(|line| {
        if line.index > 0 {
            return line.serve();
        }
        let first = line.request().unwrap();
        line.hi(first);
        line.request();
        line.go_away(first, NO_ERROR);
        line.drain();
    });
    let gate = gate(shop.address);
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!(gate.client().ask(POST).body, "hi");
    assert_eq!((shop.connections(), failures(&gate)), (2, 0));
}

#[test]
fn requests_before_a_connection_s_end_finish_on_it_and_others_begin_on_another() {
    let both = Arc::new(Barrier::new(2));
    let shop = Framed::new(move |line| {
        if line.index == 0 {
            let first = line.request().unwrap();
            line.hi(first);
        }
        let stream = line.request().unwrap();
        if line.index == 0 {
            line.go_away(stream, NO_ERROR);
            both.wait();
            line.hi(stream);
            line.drain();
        } else {
            line.hi(stream);
            both.wait();
            line.serve();
        }
    });
    let gate = gate(shop.address);
    assert_eq!(gate.client().ask(GET).body, "hi");
    until_idle(&gate);
    let mut first = gate.client();
    first.send(POST);
    gate.until("it is under way", |gate| gate.origins.standing()[0].in_flight == 1);
    // Until the end is here, requests are sent that are not looked at, and again then.
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!(first.answer().body, "hi");
    shop.until_closed(1);
    assert_eq!((shop.connections(), failures(&gate)), (2, 0));
}

#[test]
fn server_that_ends_every_connection_is_given_up() {
    for (reason, blamed) in [(INTERNAL_ERROR, 3), (NO_ERROR, 0)] {
        let shop = Framed::new(move |line| {
            line.request();
            line.go_away(0, reason);
            line.drain();
        });
        let gate = gate(shop.address);
        assert_eq!(gate.client().ask(POST).status, 502);
        assert_eq!((shop.connections(), failures(&gate)), (3, blamed));
    }
}

#[test]
fn request_is_sent_three_times_where_more_connections_die() {
    let (all, asked) = (Arc::new(Barrier::new(5)), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&asked);
    let shop = Framed::with(&[(3, 1)], move |line| {
        let first = line.request().unwrap();
        all.wait();
        line.hi(first);
        if line.request().is_some() {
            count.fetch_add(1, Ordering::SeqCst);
            line.go_away(first, NO_ERROR);
            line.drain();
        }
    });
    let gate = gate_with(shop.address, |upstream| upstream.idle = PATIENCE);
    for mut client in ask_at_once(&gate, GET, 5) {
        assert_eq!(client.answer().body, "hi");
    }
    until_idle(&gate);
    assert_eq!(gate.client().ask(POST).status, 502);
    assert_eq!(
        (asked.load(Ordering::SeqCst), shop.connections(), failures(&gate)),
        (3, 5, 0)
    );
}

#[test]
fn connection_that_breaks_costs_only_what_may_have_been_looked_at() {
    let shop = || {
        Framed::new(|line| {
            if line.index > 0 {
                return line.serve();
            }
            let first = line.request().unwrap();
            line.hi(first);
            line.request();
        })
    };
    let status = |request| {
        let shop = shop();
        let gate = gate(shop.address);
        assert_eq!(gate.client().ask(GET).body, "hi");
        (
            gate.client().ask(request).status,
            failures(&gate),
            gate.client().ask(GET).status,
        )
    };
    assert_eq!(status(GET), (200, 0, 200));
    assert_eq!(status(POST), (502, 0, 200));
    let no_body = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(status(no_body), (502, 0, 200));
}

#[test]
fn stream_that_fails_is_that_request_s_failure() {
    let shop = Framed::new(|line| {
        for _ in 0..2 {
            let stream = line.request().unwrap();
            line.reset(stream, INTERNAL_ERROR);
        }
        line.serve();
    });
    let gate = gate(shop.address);
    assert_eq!(gate.client().ask(POST).status, 502);
    assert_eq!(gate.client().ask(GET).status, 502, "there is no other server");
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!((shop.connections(), failures(&gate)), (1, 2));
}
