//! HTTP/2 towards clients: requests that reach the shop, tunnels, drain, and malicious clients.

mod bounds;
mod hostile;
mod people;
pub mod raw;

use std::time::Duration;

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{Request, StatusCode};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::gate::{Gate, Setup};
use crate::shop::{PATIENCE, Shop};

/// A gate that takes HTTP/2 in the clear.
fn gate(shop: &Shop) -> Gate {
    gate_with(shop, |_| {})
}

fn gate_with(shop: &Shop, change: impl FnOnce(&mut Setup)) -> Gate {
    Gate::with(shop.address, |setup| {
        setup.server.h2c = true;
        change(setup);
    })
}

/// A client of the book, its connection driven by a task.
pub struct Client {
    sender: SendRequest<Bytes>,
    connection: tokio::task::JoinHandle<Result<(), h2::Error>>,
}

impl Client {
    pub async fn new(gate: &Gate) -> Self {
        Self::with(gate, &Builder::new()).await
    }

    async fn with(gate: &Gate, builder: &Builder) -> Self {
        let stream = TcpStream::connect(gate.address).await.unwrap();
        let (sender, connection) = builder.handshake(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        Self { sender, connection }
    }

    /// Sends a head, and the body later.
    pub async fn open(&mut self, request: Request<()>) -> (ResponseFuture, SendStream<Bytes>) {
        let mut sender = self.sender.clone().ready().await.unwrap();
        sender.send_request(request, false).unwrap()
    }

    /// Sends a request without a body.
    async fn send(&mut self, request: Request<()>) -> ResponseFuture {
        let mut sender = self.sender.clone().ready().await.unwrap();
        sender.send_request(request, true).unwrap().0
    }

    pub async fn ask(&mut self, request: Request<()>) -> (StatusCode, String) {
        let answer = self.send(request).await;
        read(answer).await
    }

    /// Until the gate has closed the connection: the client itself keeps it.
    async fn closed(self) -> Result<(), h2::Error> {
        let ended = soon(self.connection).await.unwrap();
        drop(self.sender);
        ended
    }
}

pub async fn read(answer: ResponseFuture) -> (StatusCode, String) {
    let answer = soon(answer).await.unwrap();
    let status = answer.status();
    (status, text(answer.into_body()).await.unwrap())
}

async fn text(mut body: RecvStream) -> Result<String, h2::Error> {
    let mut whole = Vec::new();
    while let Some(data) = soon(body.data()).await {
        let data = data?;
        body.flow_control().release_capacity(data.len())?;
        whole.extend_from_slice(&data);
    }
    Ok(String::from_utf8(whole).unwrap())
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it never came to be")
}

pub fn get(target: &str) -> Request<()> {
    Request::get(format!("http://shop.example{target}")).body(()).unwrap()
}

/// Long enough for what a test wants to see end, short enough to be waited for.
const SOON: Duration = Duration::from_millis(150);
