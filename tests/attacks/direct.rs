//! To the gate itself.

use std::net::SocketAddr;

use bytes::Bytes;
use tokio::net::TcpSocket;
use tokio::time::timeout;

use super::case::{Body, Case};
use super::gate::Gate;
use super::http::{Message, PATIENCE};
use super::site::{Way, http1, stranger, wire};

/// Over HTTP/1.1.
pub struct Http1(SocketAddr);

impl Way for Http1 {
    const NAME: &str = "http1";

    fn tables(shop: SocketAddr) -> String {
        format!("[upstream]\nurl = \"http://{shop}\"")
    }

    async fn open(gate: &Gate, _: SocketAddr) -> Self {
        Self(gate.address)
    }

    async fn send(&self, case: &Case, fields: &[(String, String)]) -> Message {
        let host = [("Host".to_owned(), "shop.test".to_owned())];
        let request = http1(
            &format!("{} {}", case.method, case.target),
            &[&host, fields].concat(),
            case.body,
        );
        wire(self.0).await.ask(request.as_bytes()).await.unwrap()
    }
}

/// Over HTTP/2 in the clear.
pub struct Http2(SocketAddr);

impl Way for Http2 {
    const NAME: &str = "http2";

    fn tables(shop: SocketAddr) -> String {
        Http1::tables(shop)
    }

    async fn open(gate: &Gate, _: SocketAddr) -> Self {
        Self(gate.address)
    }

    async fn send(&self, case: &Case, fields: &[(String, String)]) -> Message {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((stranger(), 0).into()).unwrap();
        let stream = socket.connect(self.0).await.unwrap();
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        let driven = tokio::spawn(connection);
        let mut request = http::Request::builder()
            .method(case.method)
            .uri(format!("http://shop.test{}", case.target));
        for (name, value) in fields {
            request = request.header(name.to_lowercase(), value);
        }
        if let Body::Told(body) = case.body {
            request = request.header("content-length", body.len());
        }
        let mut sender = sender.ready().await.unwrap();
        let whole = case.body == Body::None;
        let (answer, mut body) = sender.send_request(request.body(()).unwrap(), whole).unwrap();
        if !whole {
            let trailers = case.body.trailers();
            let text = Bytes::from_static(case.body.text().as_bytes());
            body.send_data(text, trailers.is_empty()).unwrap();
            if !trailers.is_empty() {
                let fields = trailers
                    .iter()
                    .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
                body.send_trailers(fields.collect()).unwrap();
            }
        }
        let answer = timeout(PATIENCE, answer).await.unwrap().unwrap();
        let mut head = format!("HTTP/2.0 {}\r\n", answer.status());
        for (name, value) in answer.headers() {
            head.extend([name.as_str(), ": ", value.to_str().unwrap(), "\r\n"]);
        }
        driven.abort();
        Message::of(head)
    }
}
