//! Three gates with one store, and certificates that live for seconds.

use crate::authority::Options;
use crate::harness::redis::{Server, until};
use crate::site::{HOST, Site, addresses};
use crate::visitor::Load;

/// Real time passes: each certificate lives for 40 s, and its order begins after two thirds of that. The rest is for a busy machine.
#[test]
fn three_renewals_under_load_cost_one_order_each_and_no_handshake() {
    let short = Options {
        secs: 40,
        ..Options::default()
    };
    let site = Site::new(short, "retry = \"1s\"\n");
    let store = Server::start(&crate::harness::redis::Options::default());
    let gates = [site.shares(&store), site.shares(&store), site.shares(&store)];
    site.leads_to(&gates.each_ref());
    for gate in &gates {
        site.serves(gate, HOST);
    }
    let start = |gate| Load::start(addresses(gate).tls, HOST, site.client.clone());
    let mut loads = gates.each_ref().map(start);
    for renewals in 1..=3 {
        until("every gate's next certificate", || {
            loads.iter_mut().all(|load| load.look() > renewals)
        });
        assert_eq!(site.pebble.front.orders(), 1 + renewals);
    }
    let shown = loads[0].certificates.clone();
    assert!(loads.iter().all(|load| load.certificates == shown));
    for load in loads {
        assert!(load.end() > 100);
    }
    assert_eq!(site.pebble.front.accounts(), 1);
    assert_eq!(site.shop.asked("/.well-known/"), Vec::<String>::new());
}
