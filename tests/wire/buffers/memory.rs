//! The memory that bodies take: it grows with what comes, under a bound for all and a share for each client.

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

/// A body of which 3 KiB are held, which is charged four.
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
    let mut second = holder(&gate, "127.0.0.1");
    second.send("x");
    assert_eq!(gate.client_from("127.0.0.2").ask(&post(1, "x")).status, 200);
    assert!(is_silent(&second));
    first.send("x");
    assert_eq!((first.answer().status, second.answer().status), (200, 200));
    until_held(&gate, 0);
}

/// The first 4 KiB of each are not counted, so a small one waits for none of them.
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
    for count in 1..=16 {
        let mut client = gate.client_from(&format!("127.0.0.{count}"));
        client.send(&post(8001, &much));
        until_held(&gate, 8 * count);
        clients.push(client);
    }
    let mut late = gate.client_from("127.0.0.17");
    late.send(&post(8000, &much));
    assert_eq!(gate.client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
    let chunked = format!("{CHUNKED}\r\n1\r\nx\r\n0\r\n\r\n");
    for small in [post(1, "x"), post(4096, &much[..4096]), chunked] {
        assert_eq!(gate.client_from("127.0.0.18").ask(&small).status, 200);
    }
    assert!(is_silent(&late));
    clients[0].send("x");
    assert_eq!((clients[0].answer().status, late.answer().status), (200, 200));
    until_held(&gate, 8 * 15);
}

#[test]
fn wait_for_memory_has_an_end() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 1024;
        setup.upstream.buffer_memory = 8 * 1024;
        (setup.server.body_idle, setup.server.body_rate) = (8 * SHORT, 0);
    });
    let mut holder = gate.client();
    holder.send(&post(1000, "x"));
    until_held(&gate, 1);
    let mut late = gate.client();
    late.send(&post(1, "x"));
    gate.until("it waited long enough", |_| {
        holder.send("x");
        !is_silent(&late)
    });
    let answer = late.answer();
    assert_eq!((answer.status, answer.body.as_str()), (503, "Ours Exhausted"));
    assert!(is_silent(&holder), "it is still being received");
}
