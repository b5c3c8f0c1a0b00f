//! A client that does not read its answers: short ones hold neither the shop's connections nor places in the bounds of
//! requests without a session.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use http::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

use crate::gate::Gate;
use crate::guest::{Guest, PAGE};
use crate::house::{Direct, Way};
use crate::http::Pool;
use crate::shop::Shop;

/// A connection of HTTP/2 whose window is shut from the first.
struct Unread {
    sender: SendRequest<Bytes>,
    answers: Vec<RecvStream>,
}

impl Unread {
    async fn open(gate: &Gate, address: &str) -> Self {
        let address: IpAddr = address.parse().unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        let stream = socket.connect(gate.address).await.unwrap();
        let mut builder = h2::client::Builder::new();
        let (sender, connection) = builder.initial_window_size(0).handshake(stream).await.unwrap();
        tokio::spawn(connection);
        Self {
            sender: sender.ready().await.unwrap(),
            answers: Vec::new(),
        }
    }

    /// The status of an answer of which no more than the head is read.
    async fn ask(&mut self, method: &str, target: &str) -> u16 {
        let head = Request::builder()
            .method(method)
            .uri(format!("http://shop.test{target}"));
        let posts = method == "POST";
        let (answer, mut body) = self.sender.send_request(head.body(()).unwrap(), !posts).unwrap();
        if posts {
            body.send_data("paid=1".into(), true).unwrap();
        }
        let (head, body) = answer.await.unwrap().into_parts();
        self.answers.push(body);
        head.status.as_u16()
    }
}

async fn open(upstream: &str, room: &str) -> (Shop, Gate) {
    let shop = Shop::open(&[]).await;
    let gate = before(shop.address, upstream, room).await;
    (shop, gate)
}

async fn before(shop: SocketAddr, upstream: &str, room: &str) -> Gate {
    let way = format!("{}\nwait_timeout = \"1s\"\n{upstream}", Direct::tables(shop));
    let mut gate = Gate::configured("embedded:data", &way, room, "");
    gate.amend("[server]\n", "[server]\nh2c = true\n");
    gate.start();
    gate.ready().await;
    gate
}

#[tokio::test]
async fn unread_answers_leave_the_shops_connections_to_others() {
    let (_shop, gate) = open("max_connections = 4", "mode = \"off\"").await;
    let mut unread = Unread::open(&gate, "127.9.1.1").await;
    for at in 0..12 {
        assert_eq!(unread.ask("GET", "/page").await, 200, "answer {at}");
    }
    let mut guest = Guest::at(&Arc::new(Pool::new(gate.address)), "127.9.2.1", 1);
    let answer = guest.once("GET", "/page", PAGE, "").await.unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert_eq!(answer.text(), "come in");
}

#[tokio::test]
async fn unread_answers_of_what_has_no_session_hold_no_place() {
    let room = "mode = \"closed\"\nexcept = [\"POST /payment/callback\", \"/static/*\"]";
    let (_shop, gate) = open("max_unadmitted_posts = 2\nmax_unadmitted_reads = 2", room).await;
    let mut unread = Unread::open(&gate, "127.9.1.1").await;
    for (method, target) in [("POST", "/payment/callback"), ("GET", "/static/a")] {
        for at in 0..6 {
            assert_eq!(unread.ask(method, target).await, 200, "{method} {at}");
        }
    }
}

/// Before its head has gone out, so nothing of it is sent.
#[tokio::test]
async fn an_answer_that_is_cut_while_it_is_taken_over_is_502() {
    let shop = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let room = "mode = \"closed\"\nexcept = [\"/static/*\"]";
    let gate = before(shop.local_addr().unwrap(), "", room).await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = shop.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 105\r\n\r\ncut")
                .await;
        }
    });
    let mut guest = Guest::at(&Arc::new(Pool::new(gate.address)), "127.9.2.1", 1);
    let answer = guest.once("GET", "/static/a", PAGE, "").await.unwrap();
    assert_eq!(answer.status(), 502, "{}", answer.head);
}
