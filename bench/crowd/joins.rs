//! A stampede: newcomers as fast as this machine can send them, each asking for a page and given a place and the waiting page;
//! then those at the front are called at one instant.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use crate::house::{Gate, ROOM, Redis};
use crate::wire::Wire;

/// Connections over which they come: enough that the gate always has a request to serve, though each waits for the next
/// entry.
const WIRES: usize = 500;

/// A visitor who joined.
pub struct Visitor {
    pub ticket: String,
    /// When the request was sent, and when the answer was there, since the first of all.
    sent: Duration,
    answered: Duration,
    /// Present visitors before them.
    pub ahead: u64,
}

/// The cost of a stampede.
pub struct Stampede {
    pub took: Duration,
    pub gate: Duration,
    pub store: Duration,
    pub refused: usize,
    /// Pairs that stand against their order, though one was answered before the other was sent.
    pub out_of_order: usize,
    /// Places that no visitor has, or that two have.
    pub misplaced: usize,
    /// In the order of their places.
    pub visitors: Vec<Visitor>,
}

/// Joins this many visitors; then each asks for its position.
pub async fn stampede(gate: &Gate, store: &Redis, joins: usize) -> Stampede {
    let (before, store_before) = (gate.process.cpu(), store.cpu());
    let began = Instant::now();
    let next = Arc::new(AtomicUsize::new(0));
    let mut wires = JoinSet::new();
    for _ in 0..WIRES {
        wires.spawn(join_all(gate.address, Arc::clone(&next), joins, began));
    }
    let mut visitors: Vec<Visitor> = wires.join_all().await.into_iter().flatten().collect();
    let took = began.elapsed();
    let (gate_cpu, store_cpu) = (
        gate.process.cpu().saturating_sub(before),
        store.cpu().saturating_sub(store_before),
    );
    let refused = joins - visitors.len();
    visitors = placed(gate, visitors).await;
    visitors.sort_by_key(|visitor| visitor.ahead);
    let misplaced = (0..)
        .zip(&visitors)
        .filter(|(at, visitor)| visitor.ahead != *at)
        .count();
    Stampede {
        took,
        gate: gate_cpu,
        store: store_cpu,
        refused,
        out_of_order: out_of_order(&visitors),
        misplaced,
        visitors,
    }
}

/// One connection's share of the newcomers; those without a place are left out.
async fn join_all(to: std::net::SocketAddr, next: Arc<AtomicUsize>, joins: usize, began: Instant) -> Vec<Visitor> {
    let mut wire = Wire::open(to, None).await.expect("a connection");
    let mut joined = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= joins {
            return joined;
        }
        let request = navigation("/event", index, "");
        let sent = began.elapsed();
        let Ok(answer) = wire.ask(request.as_bytes()).await else {
            wire = Wire::open(to, None).await.expect("a connection");
            continue;
        };
        let answered = began.elapsed();
        if let Some(ticket) = answer.cookie("ropeline-ticket-").filter(|_| answer.word() == "waiting") {
            joined.push(Visitor {
                ticket: ticket.to_owned(),
                sent,
                answered,
                ahead: u64::MAX,
            });
        }
    }
}

/// Where each of them stands.
async fn placed(gate: &Gate, visitors: Vec<Visitor>) -> Vec<Visitor> {
    let mut asking = JoinSet::new();
    let mut shares: Vec<Vec<Visitor>> = (0..WIRES).map(|_| Vec::new()).collect();
    for (index, visitor) in visitors.into_iter().enumerate() {
        shares[index % WIRES].push(visitor);
    }
    for mut share in shares {
        let to = gate.address;
        asking.spawn(async move {
            let mut wire = Wire::open(to, None).await.expect("a connection");
            for visitor in &mut share {
                let request = format!(
                    "GET /.ropeline/rooms/{ROOM}/status HTTP/1.1\r\nHost: shop.test\r\nCookie: {}\r\n\r\n",
                    visitor.ticket
                );
                let answer = wire.ask(request.as_bytes()).await.expect("an answer");
                visitor.ahead = answer.json()["ahead"].as_u64().unwrap_or(u64::MAX);
            }
            share
        });
    }
    asking.join_all().await.into_iter().flatten().collect()
}

/// In the order of places: how many were answered before a visitor was sent who stands before them.
fn out_of_order(visitors: &[Visitor]) -> usize {
    let mut latest = Duration::ZERO;
    let against = |visitor: &&Visitor| {
        let against = visitor.answered < latest;
        latest = latest.max(visitor.sent);
        against
    };
    visitors.iter().filter(against).count()
}

/// The results of calling many at once.
pub struct Called {
    /// From the operator's word until the last had heard of it, and until the last was inside.
    pub heard: Duration,
    pub inside: Duration,
    /// How long the same requests take to the shop without any load.
    pub alone: Duration,
    pub failed: usize,
}

/// The first of them wait on event streams, are called together, and go in.
pub async fn call_together(gate: &Gate, visitors: &[Visitor], called: usize) -> Called {
    let mut listening = JoinSet::new();
    let gates = Arc::new(tokio::sync::Semaphore::new(WIRES));
    for (index, visitor) in visitors.iter().take(called).enumerate() {
        let (to, ticket, doors) = (gate.address, visitor.ticket.clone(), Arc::clone(&gates));
        let mut wire = Wire::open(to, None).await.expect("a connection");
        let request = format!(
            "GET /.ropeline/rooms/{ROOM}/events HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: {}\r\nCookie: {ticket}\r\n\r\n",
            address(index)
        );
        let answer = {
            use tokio::io::AsyncWriteExt as _;
            wire.stream.write_all(request.as_bytes()).await.expect("it is sent");
            wire.head().await.expect("a head")
        };
        assert_eq!(answer.word(), "stream", "{}", answer.head);
        listening.spawn(async move {
            loop {
                let heard = wire.next().await.ok()?;
                if memchr::memmem::find(&heard, b"event: called").is_some() {
                    break;
                }
            }
            let heard = Instant::now();
            let _door = doors.acquire().await.ok()?;
            let answer = wire_in(to, &navigation("/event", index, &ticket)).await?;
            let inside = answer.status == 200 && answer.field("x-shop").is_some();
            inside.then(|| (heard, Instant::now()))
        });
    }
    let alone = alone(gate, called).await;
    let began = Instant::now();
    let opened = json!({ "mode": "auto", "reason": "the trial begins" }).to_string();
    let told = gate.tells("PATCH", &format!("/api/v1/rooms/{ROOM}"), &opened).await;
    assert!(told["error"].is_null(), "{told}");
    let came: Vec<Option<(Instant, Instant)>> = listening.join_all().await;
    let last = |of: fn(&(Instant, Instant)) -> Instant| came.iter().flatten().map(of).max().unwrap_or(began) - began;
    Called {
        heard: last(|came| came.0),
        inside: last(|came| came.1),
        alone,
        failed: came.iter().filter(|came| came.is_none()).count(),
    }
}

/// A browser comes back over a connection of its own, since the stream has its other one.
async fn wire_in(to: std::net::SocketAddr, request: &str) -> Option<crate::wire::Answer> {
    let mut wire = Wire::open(to, None).await.ok()?;
    wire.ask(request.as_bytes()).await.ok()
}

/// As many requests outside the room, as the others will come: what gate and shop take in any case.
async fn alone(gate: &Gate, count: usize) -> Duration {
    let doors = Arc::new(tokio::sync::Semaphore::new(WIRES));
    let began = Instant::now();
    let mut going = JoinSet::new();
    for index in 0..count {
        let (to, doors) = (gate.address, Arc::clone(&doors));
        going.spawn(async move {
            let _door = doors.acquire().await.ok()?;
            wire_in(to, &navigation("/free/a", index, "")).await
        });
    }
    assert!(going.join_all().await.iter().all(Option::is_some), "the shop answers");
    began.elapsed()
}

/// A browser's request for a page.
pub fn navigation(path: &str, index: usize, ticket: &str) -> String {
    let cookie = if ticket.is_empty() {
        String::new()
    } else {
        format!("Cookie: {ticket}\r\n")
    };
    format!(
        "GET {path} HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: {}\r\nSec-Fetch-Mode: navigate\r\n\
         Sec-Fetch-Dest: document\r\nAccept: text/html\r\nAccept-Language: en\r\n{cookie}\r\n",
        address(index)
    )
}

/// One for each visitor.
fn address(index: usize) -> std::net::Ipv4Addr {
    let index = u32::try_from(index).expect("an address for each");
    std::net::Ipv4Addr::from(u32::from_be_bytes([11, 0, 0, 0]) + index)
}
