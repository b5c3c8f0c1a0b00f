//! What one address may have of the connections.

use std::sync::atomic::Ordering::Relaxed;

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
