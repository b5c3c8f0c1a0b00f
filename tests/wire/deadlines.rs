//! Every wait for a client has an end, and a listener no more connections than allowed.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::client::Client;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const SHORT: Duration = Duration::from_millis(50);

/// Sends a byte now and then until the other end closes; panics if it never does.
fn trickle(client: &mut Client) {
    use std::io::Write;
    for _ in 0..400 {
        thread::park_timeout(SHORT);
        if client.stream.write_all(b"x").is_err() {
            return;
        }
    }
    panic!("still open");
}

#[test]
fn silent_connection_is_closed() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.server.first_byte = SHORT);
    assert_eq!(gate.client().rest(), "");
    gate.until("counted", |gate| gate.stats.timed_out.load(Relaxed) == 1);
}

#[test]
fn half_a_head_is_closed_on() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.server.head = SHORT);
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nHost:");
    assert_eq!(client.rest(), "");
}

#[test]
fn trickled_head_is_closed_on() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.server.head = 4 * SHORT);
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nX: ");
    trickle(&mut client);
}

#[test]
fn half_a_second_head_is_closed_on() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.server.head = SHORT);
    let mut client = gate.client();
    assert_eq!(client.ask(GET).status, 200);
    client.send("GET / HTTP/1.1\r\nHost:");
    assert_eq!(client.rest(), "");
}

#[test]
fn idle_connection_is_closed() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.server.keep_alive = SHORT);
    let mut client = gate.client();
    assert_eq!(client.ask(GET).status, 200);
    assert_eq!(client.rest(), "");
}

#[test]
fn answer_under_way_outlives_every_wait_for_a_request() {
    let shop = Shop::new(|line| {
        line.head();
        thread::park_timeout(30 * SHORT);
        line.send(OK);
    });
    let gate = Gate::with(shop.address, |setup| {
        (setup.server.first_byte, setup.server.head, setup.server.keep_alive) = (10 * SHORT, 10 * SHORT, 10 * SHORT);
    });
    assert_eq!(gate.client().ask(GET).status, 200);
}

#[test]
fn body_that_stops_is_408_and_cut_at_the_shop() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.server.body_idle = SHORT;
        setup.upstream.request_buffer = 0;
    });
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123");
    let answer = client.answer();
    assert_eq!((answer.status, answer.body.as_str()), (408, "Client BodyTimeout"));
    assert_eq!(client.rest(), "");
    shop.until_closed(1);
}

#[test]
fn body_that_trickles_is_cut() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        (setup.server.body_idle, setup.server.body_rate) = (4 * SHORT, 1_000_000);
        setup.upstream.request_buffer = 0;
    });
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    trickle(&mut client);
    shop.until_closed(1);
}

#[test]
fn reader_that_takes_nothing_is_closed_on_and_the_shop_let_go() {
    let shop = Shop::new(|line| {
        line.head();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
        line.send(&"x".repeat(100_000_000));
    });
    let gate = Gate::with(shop.address, |setup| setup.server.write = 4 * SHORT);
    let mut client = gate.client();
    client.send(GET);
    shop.until_closed(1);
    gate.until("closed", |gate| gate.stats.open.load(Relaxed) == 0);
    gate.until("it counted", |gate| gate.stats.timed_out.load(Relaxed) == 1);
}

#[test]
fn shop_that_takes_nothing_is_given_up() {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let shop = Shop::new(move |line| {
        line.head();
        let _ = wait.lock().unwrap().recv();
    });
    let gate = Gate::with(shop.address, |setup| setup.upstream.write = 4 * SHORT);
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
    let mut pouring = client.stream.try_clone().unwrap();
    let pour = thread::spawn(move || std::io::Write::write_all(&mut pouring, &vec![b'x'; 100_000_000]));
    assert_eq!(client.answer().status, 502);
    drop(client);
    let _ = pour.join();
    drop(done);
}

#[test]
fn connections_beyond_the_bound_are_closed_until_one_ends() {
    for listener in [false, true] {
        let shop = Shop::answering(OK);
        let gate = Gate::with(shop.address, |setup| {
            let bound = if listener {
                &mut setup.server.connections_per_listener
            } else {
                &mut setup.server.connections
            };
            *bound = 2;
        });
        let (mut first, mut second) = (gate.client(), gate.client());
        assert_eq!((first.ask(GET).status, second.ask(GET).status), (200, 200));
        assert_eq!(gate.client().rest(), "");
        assert_eq!(
            (gate.stats.accepted.load(Relaxed), gate.stats.refused.load(Relaxed)),
            (2, 1)
        );
        drop(first);
        gate.until("room", |gate| gate.stats.open.load(Relaxed) == 1);
        assert_eq!(gate.client().ask(GET).status, 200);
    }
}
