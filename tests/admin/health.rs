//! Health and readiness.

use std::sync::atomic::Ordering;

use ropeline::room::Standing;
use serde_json::json;

use crate::support::Gate;

#[test]
fn readiness_follows_the_process_and_says_why_not() {
    let gate = Gate::start();
    let starting = gate.get("/readyz");
    assert_eq!((starting.status, &starting.json()["ok"]), (503, &json!(false)));
    assert!(starting.text.contains("starting"), "{}", starting.text);
    gate.readiness.serving();
    assert_eq!(gate.get("/readyz").ok()["reasons"], json!([]));
    gate.readiness.draining();
    let draining = gate.get("/readyz");
    assert_eq!(draining.status, 503);
    assert!(draining.text.contains("draining"), "{}", draining.text);
    assert_eq!(gate.get("/livez").status, 200, "a draining gate needs no restart");
}

#[test]
fn a_gate_whose_replica_has_ended_is_neither_ready_nor_alive_and_says_why() {
    let (gate, fault) = Gate::with_a_log_that_breaks();
    gate.readiness.serving();
    let visitor = gate.join("main", "");
    for target in ["/livez", "/healthz", "/readyz"] {
        assert_eq!(gate.get(target).status, 200, "{target}");
    }
    fault.store(true, Ordering::Relaxed);
    gate.wait(gate.replica.falls());
    for target in ["/livez", "/healthz", "/readyz"] {
        let failed = gate.get(target);
        assert_eq!(failed.status, 503, "{target}");
        assert!(failed.text.contains("failed: the replica has ended"), "{}", failed.text);
    }
    let metrics = gate.get("/metrics").text;
    for line in [
        "ropeline_ready 0",
        "ropeline_condition{condition=\"failed\"} 1",
        "ropeline_condition{condition=\"live\"} 0",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
    let standing = gate.standing(&visitor);
    assert!(
        !matches!(standing, Standing::Unknown | Standing::Ended),
        "the last view stands: {standing:?}"
    );
}
