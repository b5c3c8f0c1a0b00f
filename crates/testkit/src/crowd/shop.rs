//! A shop that records every request with its session and its start and end, and answers from a script.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;

use super::http::{Message, Wire};

/// A request as the shop saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub request: Message,
    /// Since the machine started; `to` is just before the answer was sent.
    pub from: Duration,
    pub to: Duration,
}

impl Seen {
    /// The session that the gate says the request belongs to.
    pub fn session(&self) -> Option<&str> {
        self.request.field("ropeline-session")
    }

    /// The request line.
    pub fn line(&self) -> &str {
        self.request.head.lines().next().unwrap_or_default()
    }
}

/// An answer for requests whose target begins with a word.
#[derive(Clone, Copy)]
pub struct Reply {
    pub target: &'static str,
    /// Status line and fields, without `Content-Length`.
    pub head: &'static str,
    pub body: &'static str,
    /// How long it takes to make.
    pub after: Duration,
}

impl Reply {
    pub const fn new(target: &'static str, head: &'static str, body: &'static str) -> Self {
        Self {
            target,
            head,
            body,
            after: Duration::ZERO,
        }
    }
}

/// The shop's default answer.
pub const PLAIN: Reply = Reply::new(
    "",
    "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: text/html\r\n",
    "come in",
);

/// A running shop; ends with the test's runtime.
pub struct Shop {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    begun: Arc<AtomicUsize>,
}

impl Shop {
    /// The first of `replies` that fits is given, [`PLAIN`] if none does.
    pub async fn open(replies: &'static [Reply]) -> Self {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), replies).await
    }

    /// As [`Self::open`], at this address.
    pub async fn at(address: SocketAddr, replies: &'static [Reply]) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let begun = Arc::<AtomicUsize>::default();
        let (record, count) = (Arc::clone(&seen), Arc::clone(&begun));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let record = (Arc::clone(&record), Arc::clone(&count));
                tokio::spawn(serve(Wire::new(stream), replies, record));
            }
        });
        Self { address, seen, begun }
    }

    /// How many requests it has read, answered or not.
    pub fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    /// Everything seen so far, in the order of the answers.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests whose line contains `part`.
    pub fn seen_of(&self, part: &str) -> Vec<Seen> {
        self.seen()
            .into_iter()
            .filter(|seen| seen.line().contains(part))
            .collect()
    }
}

async fn serve(mut wire: Wire, replies: &'static [Reply], (record, begun): (Arc<Mutex<Vec<Seen>>>, Arc<AtomicUsize>)) {
    while let Ok(Some(request)) = wire.request().await {
        begun.fetch_add(1, Ordering::Relaxed);
        let from = ropeline::time::uptime();
        let target = request.head.split(' ').nth(1).unwrap_or_default();
        let reply = replies
            .iter()
            .find(|reply| target.starts_with(reply.target))
            .unwrap_or(&PLAIN);
        if !reply.after.is_zero() {
            tokio::time::sleep(reply.after).await;
        }
        let head_only = request.head.starts_with("HEAD ");
        record.lock().unwrap().push(Seen {
            request,
            from,
            to: ropeline::time::uptime(),
        });
        let body = if head_only { "" } else { reply.body };
        let answer = format!("{}Content-Length: {}\r\n\r\n{body}", reply.head, reply.body.len());
        if wire.send(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}
