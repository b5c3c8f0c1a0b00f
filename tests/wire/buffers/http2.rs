//! The same over HTTP/2, where many bodies share a connection.

use bytes::Bytes;
use h2::SendStream;
use h2::client::ResponseFuture;
use http::Request;
use ropeline::proxy::ConnectionBound;

use super::{LONG, until_held};
use crate::client::header;
use crate::gate::Gate;
use crate::http2::{Client, get, read};
use crate::shop::{OK, Shop};

fn gate(shop: &Shop, buffer: usize) -> Gate {
    Gate::with(shop.address, |setup| {
        setup.server.h2c = true;
        setup.upstream.request_buffer = buffer;
        setup.upstream.streaming = ConnectionBound {
            connections: 1,
            waiting: 100,
            wait: LONG,
        };
    })
}

/// Sends the first bytes of a body.
async fn begin(client: &mut Client, body: &'static str) -> (ResponseFuture, SendStream<Bytes>) {
    let request = Request::post("http://shop.example/").body(()).unwrap();
    let (answer, mut stream) = client.open(request).await;
    stream.send_data(Bytes::from_static(body.as_bytes()), false).unwrap();
    (answer, stream)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_bodies_of_one_connection_take_no_connection_of_the_shop() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, 64);
    let mut client = Client::new(&gate).await;
    let mut slow = Vec::new();
    for _ in 0..98 {
        slow.push(begin(&mut client, "ab").await);
    }
    until_held(&gate, 98);
    assert_eq!(shop.connections(), 0);
    assert_eq!(client.ask(get("/")).await.0, 200);
    let (answer, mut body) = slow.pop().unwrap();
    body.send_data(Bytes::from_static(b"c"), true).unwrap();
    assert_eq!(read(answer).await.0, 200);
    let seen = shop.seen();
    assert!(seen.ends_with("\r\n\r\nabc"), "{seen}");
    assert_eq!(
        header(&seen[seen.find("POST").unwrap()..], "content-length").unwrap(),
        "3"
    );
    assert_eq!(shop.connections(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_wait_to_be_streamed_hold_up_no_other_of_their_connection() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop, 4);
    let mut client = Client::new(&gate).await;
    let (first, mut body) = begin(&mut client, "first").await;
    shop.until(|seen| seen.contains("first"));
    let mut waiting = Vec::new();
    for _ in 0..10 {
        let (answer, mut body) = begin(&mut client, "later").await;
        // Its whole window, which is never read.
        body.send_data(Bytes::from(vec![b'x'; 64 * 1024 - 5]), true).unwrap();
        waiting.push(answer);
    }
    until_held(&gate, 10);
    let (answer, mut short) = begin(&mut client, "ab").await;
    short.send_data(Bytes::from_static(b"c"), true).unwrap();
    assert_eq!(read(answer).await.0, 200);
    assert!(!shop.seen().contains("later"));
    body.send_data(Bytes::new(), true).unwrap();
    assert_eq!(read(first).await.0, 200);
    for answer in waiting {
        assert_eq!(read(answer).await.0, 200);
    }
}
