//! Bodies that are too long, broken, or never read.

use std::time::Duration;

use crate::gate::Gate;
use crate::shop::{OK, Shop};

const CHUNKED: &str = "Host: a\r\nTransfer-Encoding: chunked\r\n";

#[test]
fn announced_body_over_the_limit_is_413_and_reaches_nobody() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.server.body_bytes = 10);
    let mut client = gate.client();
    let answer = client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n12345678901");
    assert_eq!((answer.status, answer.body.as_str()), (413, "Client BodyTooLarge"));
    assert_eq!(shop.connections(), 0);
    assert_eq!(
        client
            .ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1234567890")
            .status,
        200
    );
}

#[test]
fn chunked_body_is_cut_where_it_passes_the_limit() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.server.body_bytes = 10;
        setup.upstream.request_buffer = 0;
    });
    let mut client = gate.client();
    client.send(&format!("POST / HTTP/1.1\r\n{CHUNKED}\r\n6\r\n123456\r\n"));
    shop.until(|seen| seen.contains("123456"));
    client.send("5\r\nabcde\r\n0\r\n\r\n");
    assert_eq!(client.answer().status, 413);
    assert_eq!(client.rest(), "");
    shop.until_closed(1);
    assert!(
        !shop.seen().contains("abcde") && !shop.seen().contains("0\r\n\r\n"),
        "{}",
        shop.seen()
    );
}

#[test]
fn broken_chunks_are_400_and_cut_at_the_shop() {
    for broken in [
        "zz\r\n",
        "2\r\nabX\n",
        "fffffffffffffffff\r\n",
        "2\nab\n",
        "2;x=y\r\nab\r\n",
        "0\r\n bad\r\n\r\n",
    ] {
        let shop = Shop::answering(OK);
        let gate = Gate::streaming(&shop);
        let mut client = gate.client();
        client.send(&format!("POST / HTTP/1.1\r\n{CHUNKED}\r\n1\r\na\r\n"));
        shop.until(|seen| seen.contains("\r\na\r\n"));
        client.send(broken);
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (400, "Client BodyBroken"),
            "{broken:?}"
        );
        assert_eq!(client.rest(), "");
        shop.until_closed(1);
        assert!(!shop.seen().ends_with("0\r\n\r\n"), "{}", shop.seen());
    }
}

#[test]
fn small_unread_body_is_drained_and_the_connection_kept() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    let length = smuggled.len();
    client.send(&format!(
        "POST /own HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"
    ));
    client.send(smuggled);
    assert_eq!(client.answer().body, "own");
    let request = format!("POST /own HTTP/1.1\r\n{CHUNKED}\r\n{length:x}\r\n{smuggled}\r\n0\r\n\r\n");
    assert_eq!(client.ask(&request).body, "own");
    assert_eq!(client.ask("GET /own HTTP/1.1\r\nHost: a\r\n\r\n").body, "own");
    assert_eq!(shop.connections(), 0);
}

#[test]
fn large_unread_body_is_answered_and_the_connection_closed() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.server.drain_bytes = 1000);
    // More than the kernels hold: without a lingering close the client could not even send it all.
    let body = "x".repeat(800_000);
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let requests = [
        format!(
            "POST /own HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
        format!("POST /own HTTP/1.1\r\n{CHUNKED}\r\n{chunks}"),
    ];
    for request in requests {
        let mut client = gate.client();
        socket2::SockRef::from(&client.stream)
            .set_send_buffer_size(8192)
            .unwrap();
        let answer = client.ask(&request);
        assert_eq!(
            (answer.body.as_str(), answer.header("connection").as_deref()),
            ("own", Some("close"))
        );
        assert_eq!(client.rest(), "");
    }
}

#[test]
fn unread_body_that_does_not_come_is_not_waited_for() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.server.drain = Duration::from_millis(10));
    let mut client = gate.client();
    client.send("POST /own HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123");
    let answer = client.answer();
    assert_eq!(
        (answer.body.as_str(), answer.header("connection").as_deref()),
        ("own", Some("close"))
    );
    assert_eq!(client.rest(), "");
}

#[test]
fn service_may_read_a_body_itself() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("POST /own/read HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("hello");
    assert_eq!(client.answer().body, "hello");
    assert_eq!(client.ask("GET /own HTTP/1.1\r\nHost: a\r\n\r\n").body, "own");
}
