//! Connections that are opened for waiting requests: how many at once, and which server is at fault when an opening fails.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use super::frames::{Framed, Line};
use super::shared::ask_at_once;
use super::{POST, gate, gate_with};
use crate::gate::Gate;
use crate::shop::Shop;

fn until_under_way(gate: &Gate, count: u32) {
    gate.until("they are under way", |gate| {
        gate.origins.standing()[0].in_flight == count
    });
}

#[test]
fn connection_that_fails_counts_once_for_all_that_wait_for_it() {
    let waiting = Arc::new(Barrier::new(2));
    let all = Arc::clone(&waiting);
    let shop = Shop::new(move |_| {
        all.wait();
    });
    let gate = gate(shop.address);
    let clients = ask_at_once(&gate, POST, 5);
    until_under_way(&gate, 5);
    waiting.wait();
    for mut client in clients {
        assert_eq!(client.answer().status, 502);
    }
    let server = &gate.origins.standing()[0];
    assert_eq!((server.failures, server.healthy), (1, true), "{server:?}");
    assert_eq!(shop.connections(), 1);
}

#[test]
fn as_many_connections_are_opened_at_once_as_those_who_wait_need() {
    let (first, all) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(9)));
    let release = Arc::clone(&first);
    let shop = Framed::unsettled(move |line: &mut Line| {
        if line.index > 0 {
            all.wait();
        }
        line.settings(&[(3, 1)]);
        if line.index == 0 {
            let stream = line.request().unwrap();
            release.wait();
            line.hi(stream);
        }
        line.serve();
    });
    let gate = gate(shop.address);
    let mut clients = ask_at_once(&gate, POST, 1);
    gate.until("one connection is there", |gate| {
        gate.origins.standing()[0].protocol == Some("HTTP/2")
    });
    clients.append(&mut ask_at_once(&gate, POST, 9));
    for mut client in clients.drain(1..) {
        assert_eq!(client.answer().body, "hi");
    }
    first.wait();
    assert_eq!(clients[0].answer().body, "hi");
    assert_eq!((shop.connections(), gate.origins.standing()[0].failures), (10, 0));
}

#[test]
fn request_whose_time_is_over_says_nothing_of_a_shop_that_is_slow_to_settle() {
    let shop = Shop::new(|line| {
        line.drain();
    });
    let gate = gate_with(shop.address, |upstream| {
        upstream.total = Some(Duration::from_millis(50));
    });
    let answer = gate.client().ask(POST);
    assert_eq!((answer.status, answer.body.as_str()), (504, "Upstream TotalTimeout"));
    let server = &gate.origins.standing()[0];
    assert_eq!((server.failures, server.reason.as_deref()), (0, None));
}
