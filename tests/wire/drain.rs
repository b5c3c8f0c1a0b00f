//! The end of a server: connections that may finish, that are informed, and that are cut.

use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ropeline::proxy::ConnectionBound;

use crate::gate::Gate;
use crate::shop::{OK, Shop};

const LONG: Duration = Duration::from_secs(60);

#[test]
fn idle_and_silent_connections_close_at_once() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let (mut idle, mut silent) = (gate.client(), gate.client());
    assert_eq!(idle.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
    gate.until("both open", |gate| gate.stats.open.load(Relaxed) == 2);
    let reading = thread::spawn(move || (idle.rest(), silent.rest()));
    assert_eq!(gate.drain(LONG).cut, 0);
    assert_eq!(reading.join().unwrap(), (String::new(), String::new()));
}

#[test]
fn answer_under_way_finishes_and_says_close() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let shop = Shop::new(move |line| {
        line.head();
        wait.lock().unwrap().recv().unwrap();
        line.send(OK);
    });
    let gate = Gate::new(&shop);
    let (address, closing) = (gate.address, gate.closing());
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    shop.until(|seen| seen.contains("\r\n\r\n"));
    let draining = thread::spawn(move || gate.drain(LONG));
    while !closing.is_cancelled() {
        thread::yield_now();
    }
    // The shop takes its time: long enough for a server that does not wait to be gone.
    thread::park_timeout(Duration::from_millis(200));
    go.send(()).unwrap();
    let answer = client.answer();
    assert_eq!(
        (answer.body.as_str(), answer.header("connection").as_deref()),
        ("hi", Some("close"))
    );
    assert_eq!(client.rest(), "");
    drop(client);
    assert_eq!(draining.join().unwrap().cut, 0);
    assert!(TcpStream::connect(address).is_err(), "still listening");
}

#[test]
fn a_head_that_is_half_here_is_answered_and_told_to_close() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let closing = gate.closing();
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nHo");
    // On one core, the connection whose bytes came first has been served first.
    assert_eq!(gate.client().ask("GET /own HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
    let draining = thread::spawn(move || gate.drain(LONG));
    while !closing.is_cancelled() {
        thread::yield_now();
    }
    // Long enough for a server that takes it for an idle connection to have closed it.
    thread::park_timeout(Duration::from_millis(200));
    client.send("st: a\r\n\r\n");
    let answer = client.answer();
    assert_eq!(
        (answer.status, answer.header("connection").as_deref()),
        (200, Some("close"))
    );
    assert_eq!(client.rest(), "");
    drop(client);
    assert_eq!(draining.join().unwrap().cut, 0);
}

#[test]
fn no_core_ends_its_drain_before_all_are_empty() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let shop = Shop::new(move |line| {
        while let Some(asked) = line.request() {
            if asked.starts_with("GET /held ") {
                wait.lock().unwrap().recv().unwrap();
            }
            line.send(OK);
        }
    });
    // One connection to the shop for both cores; it belongs to the core that makes it.
    let gate = Gate::with(shop.address, |setup| {
        setup.cores = 2;
        setup.upstream.bound = Some(ConnectionBound {
            connections: 1,
            waiting: 1,
            wait: LONG,
        });
        setup.upstream.idle = LONG;
    });
    let closing = gate.closing();
    let mut first = gate.client();
    assert_eq!(first.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").body, "hi");
    // The first is still there: this one goes to the other core.
    let mut second = gate.client();
    second.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
    shop.until(|seen| seen.contains("GET /held "));
    drop(first);
    gate.until("one is left", |gate| gate.stats.open.load(Relaxed) == 1);
    let draining = thread::spawn(move || gate.drain(LONG));
    while !closing.is_cancelled() {
        thread::yield_now();
    }
    // Long enough for a core that looks at itself alone to be gone.
    thread::park_timeout(Duration::from_millis(200));
    go.send(()).unwrap();
    assert_eq!(second.answer().body, "hi");
    drop(second);
    assert_eq!((draining.join().unwrap().cut, shop.connections()), (0, 1));
}

#[test]
fn a_request_that_lies_in_the_socket_of_a_new_connection_is_answered() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let (closing, release) = (gate.closing(), gate.cancel.clone());
    let mut stuck = gate.client();
    stuck.send("GET /own/stuck HTTP/1.1\r\nHost: a\r\n\r\n");
    gate.until("it stands still", |gate| gate.stats.requests.load(Relaxed) == 1);
    // The core has not seen this one, nor the reactor its bytes, when the drain begins.
    let mut late = gate.client();
    late.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    gate.until("it is accepted", |gate| gate.stats.accepted.load(Relaxed) == 2);
    let draining = thread::spawn(move || gate.drain(LONG));
    while !closing.is_cancelled() {
        thread::yield_now();
    }
    release.cancel();
    let answer = late.answer();
    assert_eq!(
        (answer.body.as_str(), answer.header("connection").as_deref()),
        ("hi", Some("close"))
    );
    drop((stuck, late));
    assert_eq!(draining.join().unwrap().cut, 0);
}

#[test]
fn a_connection_that_is_only_read_from_any_more_is_not_cut() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("nothing of HTTP\r\n\r\n");
    assert!(client.rest().starts_with("HTTP/1.1 400 "));
    assert_eq!(gate.drain(Duration::from_millis(1)).cut, 0);
}

#[test]
fn streams_are_told_and_end_by_themselves() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET /own/stream HTTP/1.1\r\nHost: a\r\n\r\n");
    client.through("hello");
    let reading = thread::spawn(move || client.rest());
    assert_eq!(gate.drain(LONG).cut, 0);
    assert!(reading.join().unwrap().contains("bye"));
}

#[test]
fn what_does_not_finish_in_time_is_cut_and_counted() {
    let shop = Shop::new(|line| {
        line.head();
        line.drain();
    });
    let gate = Gate::new(&shop);
    let (mut first, mut second) = (gate.client(), gate.client());
    for client in [&mut first, &mut second] {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    shop.until(|seen| seen.matches("\r\n\r\n").count() == 2);
    let cut = gate.drain(Duration::from_millis(50)).cut;
    assert_eq!((cut, first.rest(), second.rest()), (2, String::new(), String::new()));
    shop.until_closed(2);
}

#[test]
fn tunnels_count_as_under_way() {
    let shop = Shop::new(|line| {
        line.head();
        line.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
        line.drain();
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    client.head();
    assert_eq!(gate.drain(Duration::from_millis(50)).cut, 1);
    assert_eq!(client.rest(), "");
}
