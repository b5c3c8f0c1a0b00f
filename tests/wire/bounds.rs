//! One address's share of the connections.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::client::Client;
use crate::gate::{Gate, Setup};
use crate::shop::{OK, Shop};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn two_for_each(setup: &mut Setup) {
    setup.server.connections_per_client = 2;
}

#[test]
fn connections_of_one_address_beyond_its_bound_are_closed_until_one_ends() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, two_for_each);
    let (mut first, mut second) = (gate.client(), gate.client());
    assert_eq!((first.ask(GET).status, second.ask(GET).status), (200, 200));
    assert_eq!(gate.client().rest(), "");
    assert_eq!(
        (gate.stats.accepted.load(Relaxed), gate.stats.refused.load(Relaxed)),
        (2, 1)
    );
    let mut other = gate.client_from("127.0.0.2");
    assert_eq!(other.ask(GET).status, 200, "another address");
    drop(first);
    gate.until("room", |gate| gate.stats.open.load(Relaxed) == 2);
    assert_eq!(gate.client().ask(GET).status, 200);
}

#[test]
fn connections_of_a_trusted_proxy_are_not_counted_as_one_address() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        two_for_each(setup);
        setup.server.trusted = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let mut clients: Vec<_> = (0..4).map(|_| gate.client()).collect();
    for client in &mut clients {
        assert_eq!(client.ask(GET).status, 200);
    }
}

#[test]
fn who_is_refused_and_stays_is_counted() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, two_for_each);
    // They are read from for some time, then closed: an attempt that took that long says nothing.
    gate.until("they are counted", |gate| {
        let mut rude = [gate.client(), gate.client()];
        for client in &mut rude {
            client.send("nothing of HTTP\r\n\r\n");
            assert!(client.rest().starts_with("HTTP/1.1 400 "));
        }
        thread::park_timeout(Duration::from_millis(50));
        let are_counted = gate.stats.open.load(Relaxed) == 2;
        drop(rude);
        gate.until("they are gone", |gate| gate.stats.open.load(Relaxed) == 0);
        are_counted
    });
}

#[test]
fn a_client_that_reads_nothing_of_an_answer_is_sent_little_of_it() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.server.write = Duration::from_millis(150);
    });
    let mut client = Client::narrow(gate.address);
    client.send("GET /own/endless HTTP/1.1\r\nHost: a\r\n\r\n");
    gate.until("it is closed", |gate| gate.stats.timed_out.load(Relaxed) == 1);
    let given = gate.given.load(Relaxed);
    assert!(given < 400 * 1024, "{given} bytes");
}
