//! Either end leaves in the middle, and the other is informed.

use crate::gate::Gate;
use crate::shop::{OK, Shop};

#[test]
fn client_gone_mid_body_cancels_at_the_shop() {
    for framing in [
        "Content-Length: 100\r\n\r\nsome",
        "Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n",
    ] {
        let shop = Shop::answering(OK);
        let gate = Gate::streaming(&shop);
        let mut client = gate.client();
        client.send(&format!("POST / HTTP/1.1\r\nHost: a\r\n{framing}"));
        shop.until(|seen| seen.contains("some"));
        drop(client);
        shop.until_closed(1);
        assert!(!shop.seen().ends_with("0\r\n\r\n"), "{}", shop.seen());
    }
}

#[test]
fn client_gone_before_the_answer_cancels_at_the_shop() {
    let shop = Shop::new(|line| {
        line.head().unwrap();
        line.drain();
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    shop.until(|seen| seen.contains("\r\n\r\n"));
    drop(client);
    shop.until_closed(1);
}

#[test]
fn client_gone_mid_answer_cancels_at_the_shop_and_drops_the_guards() {
    let shop = Shop::new(|line| {
        line.head().unwrap();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
        line.drain();
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.head();
    assert_eq!(gate.guards(), 1);
    drop(client);
    shop.until_closed(1);
    gate.until("no guards", |gate| gate.guards() == 0);
}

#[test]
fn shop_gone_mid_answer_cuts_the_client_visibly() {
    for (framing, part) in [
        ("Content-Length: 100", "some"),
        ("Transfer-Encoding: chunked", "4\r\nsome\r\n"),
    ] {
        let shop = Shop::new(move |line| {
            line.head().unwrap();
            line.send(&format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n{part}"));
        });
        let gate = Gate::new(&shop);
        let mut client = gate.client();
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        client.head();
        assert!(part.starts_with(&client.rest()), "more than the shop sent");
        gate.until("no guards", |gate| gate.guards() == 0);
    }
}

#[test]
fn broken_chunks_of_the_shop_cut_the_client_visibly() {
    let shop = Shop::answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\nzz\r\n\r\n0\r\n\r\n");
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.head();
    assert!(!client.rest().contains("0\r\n\r\n"));
}

#[test]
fn next_visitor_is_unaffected() {
    let shop = Shop::new(|line| {
        line.head().unwrap();
        match line.index {
            0 => line.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"),
            _ => line.send(OK),
        }
    });
    let gate = Gate::new(&shop);
    let mut first = gate.client();
    first.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    first.rest();
    assert_eq!(gate.client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").body, "hi");
}
