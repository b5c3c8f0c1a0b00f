//! How long a newcomer waits for the page with the place: a real gate, idle, asked over HTTP.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::gate::{Gate, ask};

const JOINS: usize = 1_000;

/// Rounds of as many joins; the quietest counts, for a gate that shares the machine is not idle.
const ROUNDS: usize = 5;

/// Between two joins: the gate is idle again.
const PAUSE: Duration = Duration::from_millis(5);

/// How long half of the joins take at most, and all but one of a hundred.
pub async fn of_joins(gate: &str, store: &str) -> (Duration, Duration) {
    let (gate, store) = (gate.to_owned(), store.to_owned());
    tokio::task::spawn_blocking(move || measure(&gate, &store))
        .await
        .expect("the measurement")
}

fn measure(program: &str, store: &str) -> (Duration, Duration) {
    let gate = Gate::start(program, store, "latency", "shop");
    let mut index = 0;
    // Until the log is begun newcomers get no place.
    while !join(gate.address, index).is_ok_and(|answer| has_place(&answer)) {
        index += 1;
        assert!(index < 3_000, "the gate never gave a place");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let rounds = (0..ROUNDS).map(|count| round(gate.address, index + 1 + count * JOINS));
    rounds.min_by_key(|(_, most)| *most).expect("some rounds")
}

fn round(address: SocketAddr, first: usize) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (first..first + JOINS)
        .map(|index| {
            std::thread::park_timeout(PAUSE);
            let began = Instant::now();
            let answer = join(address, index).expect("an answer");
            let took = began.elapsed();
            assert!(has_place(&answer), "no place: {answer}");
            took
        })
        .collect();
    times.sort_unstable();
    (times[JOINS / 2], times[JOINS * 99 / 100])
}

/// The waiting page with a ticket.
fn has_place(answer: &str) -> bool {
    let head = answer.split("\r\n\r\n").next().unwrap_or_default().to_ascii_lowercase();
    head.contains("ropeline-status: waiting") && head.contains("set-cookie")
}

/// A new visitor asks for a page, on a new connection and from a new address.
fn join(address: SocketAddr, index: usize) -> io::Result<String> {
    let (high, low) = (index / 250, index % 250);
    let request = format!(
        "GET /event HTTP/1.1\r\nHost: shop.test\r\nX-Forwarded-For: 10.{}.{low}.{}\r\nSec-Fetch-Mode: navigate\r\n\
         Sec-Fetch-Dest: document\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
        high % 250,
        high / 250 + 1
    );
    ask(address, &request)
}
