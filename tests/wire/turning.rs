//! Whether every core still runs: the report for a watchdog.

use std::time::Duration;

use tokio::time::timeout;

use crate::gate::Gate;
use crate::shop::{OK, PATIENCE, Shop};

fn turns_within(gate: &Gate, patience: Duration) -> bool {
    let turns = gate.server.as_ref().unwrap().turns();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async { timeout(patience, turns).await.is_ok() })
}

#[test]
fn a_core_that_stands_still_does_not_turn() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    assert!(turns_within(&gate, PATIENCE));
    // A test that fails ends all the same.
    let _end = gate.cancel.clone().drop_guard();
    let mut client = gate.client();
    client.send("GET /own/stuck HTTP/1.1\r\nHost: a\r\n\r\n");
    gate.until("it stands still", |gate| !turns_within(gate, Duration::from_millis(50)));
    gate.cancel.cancel();
    assert!(turns_within(&gate, PATIENCE));
}
