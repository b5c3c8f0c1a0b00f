//! The memory of bodies: it grows with the received bytes, under a bound for all and a share for each client.

use std::sync::atomic::Ordering::Relaxed;

use super::{CHUNKED, LONG, SHORT, is_silent, post, until_held};
use crate::client::Client;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

/// Eight clients' shares, each of the most that one body may take.
fn gate(shop: &Shop) -> Gate {
    Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 4096;
        setup.upstream.buffer_memory = 32 * 1024;
        setup.server.body_idle = LONG;
    })
}

/// A body of which 3 KiB are held.
fn holder(gate: &Gate, own: &str) -> Client {
    let mut client = gate.client_from(own);
    client.send(&post(3000, &"x".repeat(2999)));
    client
}

#[test]
fn announced_bytes_take_nothing() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut clients: Vec<Client> = Vec::new();
    for count in 1..=4 {
        let mut client = gate.client();
        client.send(&post(4000, "x"));
        until_held(&gate, count);
        clients.push(client);
    }
    clients[0].send(&"x".repeat(3999));
    assert_eq!(clients[0].answer().status, 200);
    until_held(&gate, 3);
}

#[test]
fn body_without_memory_waits_unread_for_those_of_its_client() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    let mut first = holder(&gate, "127.0.0.1");
    until_held(&gate, 3);
    let overdraws = holder(&gate, "127.0.0.1");
    until_held(&gate, 6);
    let mut late = holder(&gate, "127.0.0.1");
    late.send("x");
    assert_eq!(gate.client_from("127.0.0.2").ask(&post(1, "x")).status, 200);
    assert!(is_silent(&late));
    first.send("x");
    assert_eq!((first.answer().status, late.answer().status), (200, 200));
    drop(overdraws);
    until_held(&gate, 0);
}

/// Two that hold half of what their client may have, and need all of it.
#[test]
fn bodies_of_one_client_that_hold_a_part_do_not_wait_for_each_other() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 8 * 1024;
        setup.upstream.buffer_memory = 64 * 1024;
        setup.server.body_idle = LONG;
    });
    let [mut first, mut second] = [4, 8].map(|held| {
        let mut client = gate.client();
        client.send(&post(8000, &"x".repeat(4000)));
        until_held(&gate, held);
        client
    });
    first.send(&"x".repeat(3000));
    second.send(&"x".repeat(3000));
    gate.until("one of them holds all of it", |gate| {
        gate.origins.stats().buffered_kib.load(Relaxed) > 8
    });
    first.send(&"x".repeat(1000));
    second.send(&"x".repeat(1000));
    assert_eq!((first.answer().status, second.answer().status), (200, 200));
    until_held(&gate, 0);
}

/// They hold all the memory, and each needs more of it.
#[test]
fn bodies_of_many_clients_that_hold_a_part_do_not_wait_for_each_other() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 16 * 1024;
        setup.upstream.buffer_memory = 128 * 1024;
        setup.server.body_idle = LONG;
    });
    let mut clients: Vec<Client> = (1..=16).map(|at| gate.client_from(&format!("127.0.0.{at}"))).collect();
    let mut each_sends = |text: &str| {
        for client in &mut clients {
            client.send(text);
        }
    };
    each_sends(&post(16_000, &"x".repeat(3000)));
    until_held(&gate, 3 * 16);
    each_sends(&"x".repeat(3000));
    until_held(&gate, 6 * 16);
    each_sends(&"x".repeat(6000));
    until_held(&gate, 12 * 16);
    each_sends(&"x".repeat(4000));
    assert!(clients.iter_mut().all(|client| client.answer().status == 200));
    until_held(&gate, 0);
}

/// The first 4 KiB of each are not counted, so a small one waits for none of them; and one body may have more.
#[test]
fn all_bodies_together_have_a_bound() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 8 * 1024;
        setup.upstream.buffer_memory = 64 * 1024;
        setup.server.body_idle = LONG;
    });
    let much = "x".repeat(8000);
    let mut clients: Vec<Client> = Vec::new();
    for count in 1..=17 {
        let mut client = gate.client_from(&format!("127.0.0.{count}"));
        client.send(&post(8001, &much));
        until_held(&gate, 8 * count);
        clients.push(client);
    }
    let mut late = gate.client_from("127.0.0.18");
    late.send(&post(8000, &much));
    assert_eq!(gate.client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
    let chunked = format!("{CHUNKED}\r\n1\r\nx\r\n0\r\n\r\n");
    for small in [post(1, "x"), post(4096, &much[..4096]), chunked] {
        assert_eq!(gate.client_from("127.0.0.19").ask(&small).status, 200);
    }
    assert!(is_silent(&late));
    clients[0].send("x");
    assert_eq!((clients[0].answer().status, late.answer().status), (200, 200));
    until_held(&gate, 8 * 16);
}

#[test]
fn wait_for_memory_has_an_end() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 2048;
        setup.upstream.buffer_memory = 16 * 1024;
        (setup.server.body_idle, setup.server.body_rate) = (8 * SHORT, 0);
    });
    let mut holders: Vec<Client> = Vec::new();
    for held in 1..=2 {
        let mut holder = gate.client();
        holder.send(&post(2000, &"x".repeat(1100)));
        until_held(&gate, 2 * held);
        holders.push(holder);
    }
    let mut late = gate.client();
    late.send(&post(1100, &"x".repeat(1100)));
    gate.until("it waited long enough", |_| {
        for holder in &mut holders {
            holder.send("x");
        }
        !is_silent(&late)
    });
    let answer = late.answer();
    assert_eq!((answer.status, answer.body.as_str()), (503, "Ours Exhausted"));
    assert!(holders.iter().all(is_silent), "they are still being received");
}
