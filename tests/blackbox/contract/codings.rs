//! Pages as the browser takes them: `br`, `gzip` or as they are, over HTTP/1.1 and HTTP/2.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use tokio::net::TcpStream;

use crate::gate::Gate;
use crate::guest::{Guest, PAGE};
use crate::house::{Direct, Way};
use crate::http::{Message, Pool};
use crate::shop::Shop;

use super::{OFTEN, eventually};

/// A gate with a full room.
async fn site() -> (Shop, Gate) {
    let shop = Shop::open(&[]).await;
    let mut gate = Gate::configured(
        "embedded:data",
        &Direct::tables(shop.address),
        "total_active_users = 1",
        OFTEN,
    );
    gate.amend("[server]\n", "[server]\nh2c = true\n");
    gate.start();
    gate.ready().await;
    (shop, gate)
}

fn fields(accepted: Option<&str>) -> String {
    accepted.map_or(PAGE.to_owned(), |accepted| {
        format!("{PAGE}Accept-Encoding: {accepted}\r\n")
    })
}

/// The page that an answer holds, whose length is as it says.
fn read(answer: &Message) -> String {
    assert_eq!(answer.field("content-length"), Some(&*answer.body.len().to_string()));
    let vary = answer.field("vary").unwrap_or_default();
    assert!(vary.split(", ").any(|name| name == "Accept-Encoding"), "{vary}");
    let mut text = String::new();
    let mut body = answer.body.as_slice();
    let read = match answer.field("content-encoding") {
        None => body.read_to_string(&mut text),
        Some("gzip") => flate2::bufread::GzDecoder::new(body).read_to_string(&mut text),
        Some("br") => brotli::Decompressor::new(body, 4_096).read_to_string(&mut text),
        Some(other) => panic!("{other}"),
    };
    read.unwrap();
    assert!(text.starts_with("<!doctype html>"), "{text}");
    let ends = ["</script>\n", "</footer>"];
    assert!(ends.iter().any(|end| text.ends_with(end)), "{text}");
    text
}

/// A request of HTTP/1.1 as one of HTTP/2; the answer reads as one of HTTP/1.1.
async fn second(gate: &Gate, request: &str) -> Message {
    let mut lines = request.lines();
    let mut words = lines.next().unwrap().split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let mut head = Request::builder()
        .method(method)
        .uri(format!("http://shop.test{target}"));
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        if !name.eq_ignore_ascii_case("host") {
            head = head.header(name, value);
        }
    }
    let stream = TcpStream::connect(gate.address).await.unwrap();
    let (sender, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut sender: h2::client::SendRequest<Bytes> = sender.ready().await.unwrap();
    let (answer, _) = sender.send_request(head.body(()).unwrap(), true).unwrap();
    let answer = answer.await.unwrap();
    let mut message = Message::of(format!("HTTP/1.1 {}\r\n", answer.status()));
    for (name, value) in answer.headers() {
        message
            .head
            .extend([name.as_str(), ": ", value.to_str().unwrap(), "\r\n"]);
    }
    let mut body = answer.into_body();
    while let Some(part) = body.data().await {
        message.body.extend_from_slice(&part.unwrap());
    }
    connection.abort();
    message
}

#[tokio::test]
async fn a_page_is_sent_in_the_coding_that_the_browser_takes() {
    let (_shop, gate) = site().await;
    let pool = Arc::new(Pool::new(gate.address));
    let _inside = Guest::at(&pool, "10.1.1.1", 1).page("/").await;
    let mut guest = Guest::at(&pool, "10.1.1.2", 2);
    let plain = guest.once("GET", "/seats", &fields(None), "").await.unwrap();
    assert_eq!((plain.word(), plain.field("content-encoding")), ("waiting", None));
    eventually("a compressed page", async || {
        let mut guest = guest.clone();
        let answer = guest.once("GET", "/seats", &fields(Some("br")), "").await.unwrap();
        (answer.field("content-encoding") == Some("br")).then_some(())
    })
    .await;
    let cases = [
        (None, None),
        (Some(""), None),
        (Some("gzip, deflate, br, zstd"), Some("br")),
        (Some("gzip, deflate"), Some("gzip")),
        (Some("br;q=0, gzip;q=0.5"), Some("gzip")),
        (Some("gzip;q=0, br;q=0"), None),
        (Some("*"), Some("br")),
        (Some("*;q=0"), None),
        (Some("identity"), None),
        (Some("identity;q=0, gzip"), Some("gzip")),
        (Some("identity;q=0"), None),
        (Some("deflate, zstd"), None),
        (Some("gzip;q=high"), None),
    ];
    for (accepted, coding) in cases {
        let first = guest.once("GET", "/seats", &fields(accepted), "").await.unwrap();
        let other = second(&gate, &guest.request("GET", "/seats", &fields(accepted), "")).await;
        for answer in [first, other] {
            assert_eq!(answer.word(), "waiting", "{}", answer.head);
            assert_eq!(answer.field("content-encoding"), coding, "{accepted:?}");
            let page = read(&answer);
            assert!(page.contains("/check?reload=bare&to=%2Fseats"), "{page}");
            assert!(coding.is_none() || answer.body.len() < page.len() / 2);
        }
    }
}

#[tokio::test]
async fn other_pages_are_compressed_as_they_are_sent_and_answers_to_programs_are_not() {
    let (_shop, gate) = site().await;
    let pool = Arc::new(Pool::new(gate.address));
    let mut guest = Guest::at(&pool, "10.1.1.3", 3);
    let fields = fields(Some("gzip"));
    let target = "/.ropeline/rooms/shop/check?to=%2Fseats";
    let answer = guest.once("GET", target, &fields, "").await.unwrap();
    assert_eq!(
        (answer.word(), answer.field("content-encoding")),
        ("cookies_refused", Some("gzip")),
        "{}",
        answer.head
    );
    assert!(read(&answer).contains("cookie"));
    let script = guest
        .once("GET", target, "Accept-Encoding: br\r\nAccept: application/json\r\n", "")
        .await
        .unwrap();
    assert_eq!(script.field("content-encoding"), None, "{}", script.head);
}
