//! Bodies longer than the buffer: a limited number are streamed at once, the others wait.

use std::slice::from_ref;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ropeline::proxy::{ConnectionBound, UpstreamServers, UpstreamSettings};

use super::{LONG, SHORT, post, until_held};
use crate::client::Client;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

fn one_at_a_time(upstream: &mut UpstreamSettings, wait: Duration) {
    upstream.request_buffer = 4;
    upstream.streaming = ConnectionBound {
        connections: 1,
        waiting: 1,
        wait,
    };
}

fn gate(shop: &Shop, wait: Duration) -> Gate {
    Gate::with(shop.address, |setup| one_at_a_time(&mut setup.upstream, wait))
}

/// A body of which more than the buffer is here, and the last byte is not.
fn uploader(gate: &Gate, mark: &str) -> Client {
    let mut client = gate.client();
    client.send(&post(mark.len() + 1, mark));
    client
}

/// One that is streamed.
fn streaming(gate: &Gate, shop: &Shop) -> Client {
    let client = uploader(gate, "first");
    shop.until(|seen| seen.contains("first"));
    client
}

#[test]
fn longer_bodies_wait_for_their_turn_unread() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, LONG);
    let mut first = streaming(&gate, &shop);
    let mut second = uploader(&gate, "second");
    until_held(&gate, 1);
    let third = uploader(&gate, "third").answer();
    assert_eq!((third.status, third.body.as_str()), (503, "Ours Exhausted"));
    assert_eq!(
        gate.client().ask(&post(3, "abc")).status,
        200,
        "a shorter one passes them"
    );
    assert!(!shop.seen().contains("second"));
    first.send(".");
    assert_eq!(first.answer().status, 200);
    shop.until(|seen| seen.contains("second"));
    second.send(".");
    assert_eq!(second.answer().status, 200);
}

#[test]
fn client_with_half_of_the_places_waits_for_its_own_and_another_does_not() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        one_at_a_time(&mut setup.upstream, LONG);
        setup.upstream.streaming.connections = 2;
    });
    let mut first = streaming(&gate, &shop);
    let mut second = uploader(&gate, "second");
    until_held(&gate, 1);
    let mut other = gate.client_from("127.0.0.9");
    other.send(&post(6, "other"));
    shop.until(|seen| seen.contains("other"));
    assert!(!shop.seen().contains("second"));
    first.send(".");
    assert_eq!(first.answer().status, 200);
    shop.until(|seen| seen.contains("second"));
    second.send(".");
    other.send(".");
    assert_eq!((second.answer().status, other.answer().status), (200, 200));
}

#[test]
fn wait_to_be_streamed_has_an_end() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, SHORT);
    let first = streaming(&gate, &shop);
    assert_eq!(uploader(&gate, "second").answer().status, 503);
    drop(first);
    gate.until("its place is free", |gate| {
        gate.origins.stats().streaming.load(Relaxed) == 0
    });
    assert_eq!(uploader(&gate, "third").ask(".").status, 200);
}

#[test]
fn bodies_of_grpc_and_without_a_buffer_are_streamed_under_the_same_bound() {
    for is_grpc in [false, true] {
        let shop = Shop::answering(OK);
        let gate = Gate::with(shop.address, |setup| {
            one_at_a_time(&mut setup.upstream, SHORT);
            setup.upstream.request_buffer = if is_grpc { 64 } else { 0 };
        });
        let kind = if is_grpc {
            "application/grpc+proto"
        } else {
            "text/plain"
        };
        let head = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: {kind}\r\nContent-Length: 2\r\n\r\n");
        let mut first = gate.client();
        first.send(&format!("{head}y"));
        shop.until(|seen| seen.ends_with('y'));
        assert_eq!(gate.client().ask(&format!("{head}yz")).status, 503);
        first.send("z");
        assert_eq!(first.answer().status, 200);
        assert_eq!(gate.client().ask(&format!("{head}yz")).status, 200);
    }
}

#[test]
fn place_is_free_when_the_body_has_ended_whatever_the_answer_does() {
    let shop = Shop::new(|line| {
        if line.request().is_some_and(|request| request.contains("first")) {
            line.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhi");
            line.drain();
        } else {
            line.send(OK);
        }
    });
    let gate = gate(&shop, LONG);
    let mut first = streaming(&gate, &shop);
    first.send(".");
    assert!(first.head().starts_with("HTTP/1.1 200"));
    assert_eq!(uploader(&gate, "second").ask(".").status, 200);
}

#[test]
fn bodies_under_way_count_under_the_bound_of_a_reload() {
    let shop = Shop::answering(OK);
    let before = gate(&shop, LONG);
    let mut first = streaming(&before, &shop);
    let mut settings = UpstreamSettings::new(shop.address.ip().to_string(), shop.address.port());
    one_at_a_time(&mut settings, SHORT);
    let origins = UpstreamServers::prepare(settings.clone()).unwrap();
    UpstreamServers::replace(from_ref(&before.origins), from_ref(&origins));
    let after = Gate::with(shop.address, |setup| {
        setup.upstream = settings;
        setup.origins = Some(origins);
    });
    assert_eq!(uploader(&after, "second").answer().status, 503);
    first.send(".");
    assert_eq!(first.answer().status, 200);
    assert_eq!(uploader(&after, "third").ask(".").status, 200);
}
