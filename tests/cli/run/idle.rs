//! A gate's requests to a shared store without visitors.

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::until;

/// The last entry that the gate has read.
fn read_up_to(gate: &Gate) -> u64 {
    let log = gate.asks_admin("/api/v1/gates").json()["log"].clone();
    let position = log["position"].as_str().expect("a position").to_owned();
    position
        .rsplit('-')
        .next()
        .and_then(|sequence| sequence.parse().ok())
        .expect("a sequence")
}

/// Commands that the server has carried out, those within scripts among them.
fn commands(store: &Server) -> u64 {
    let count = store.info("stats", "total_commands_processed");
    count.and_then(|count| count.parse().ok()).expect("a count")
}

/// Waits until the gate has read so many entries more, and says how many came.
fn entries(gate: &Gate, more: u64) -> u64 {
    let from = read_up_to(gate);
    until("entries", || Some(read_up_to(gate)).filter(|at| *at >= from + more)) - from
}

/// An entry takes seven commands; reading every half second took four each time, and snapshots some twenty every ten seconds.
#[test]
fn a_gate_with_empty_rooms_reads_its_store_when_it_speaks_and_a_visitor_is_answered_as_ever() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let (gate, other) = (site.start(), site.start());
    gate.lives();
    other.lives();
    // Out of what a start brings.
    entries(&gate, 4);
    let before = commands(&store);
    let came = entries(&gate, 6);
    let took = commands(&store) - before;
    // Two snapshots may fall into that time.
    assert!(took <= 10 * (came + 4), "{took} commands for {came} entries");

    let mut inside = gate.insider();
    // The other one has read nothing of it yet, and its answer comes from the log.
    let mut second = other.visitor();
    assert_eq!(second.goes_to("/").word(), "waiting");
    assert_eq!(inside.leaves().status, 200);
    until("the turn", || second.goes_to("/").is_the_shops().then_some(()));
}
