//! Health and readiness.

use std::sync::atomic::Ordering;

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
    gate.readiness.failed("a core has ended");
    for target in ["/livez", "/healthz", "/readyz"] {
        let failed = gate.get(target);
        assert_eq!(failed.status, 503, "{target}");
        assert!(failed.text.contains("a core has ended"), "{}", failed.text);
    }
}

#[test]
fn a_full_disk_degrades_the_gate_and_refuses_changes_until_there_is_room() {
    let gate = Gate::start();
    gate.readiness.serving();
    gate.full.store(true, Ordering::Relaxed);
    gate.until("cut off", || gate.replica.cut_off().is_some());
    let ready = gate.get("/readyz").ok();
    assert!(
        ready["degraded"][0].as_str().is_some_and(|why| why.contains("cut off")),
        "{ready}"
    );
    assert_eq!(
        ready["reasons"],
        json!([]),
        "those inside go on, so the gate stays ready"
    );
    let detail = gate.patch("main", r#"{"capacity": 9}"#).refused(503);
    assert!(detail.contains("it may still"), "{detail}");
    assert_eq!(
        gate.get("/api/v1/rooms/main").ok()["total_active_users"],
        1,
        "nothing is shown that is not in the log"
    );
    let metrics = gate.get("/metrics").text;
    assert!(!metrics.contains("\nanteroom_cut_off_seconds 0.0\n"), "{metrics}");
    assert!(!metrics.contains("\nanteroom_store_failures_total 0\n"), "{metrics}");

    gate.full.store(false, Ordering::Relaxed);
    gate.until("back", || gate.replica.cut_off().is_none());
    assert_eq!(gate.get("/readyz").ok()["degraded"], json!([]));
    assert_eq!(gate.patch("main", r#"{"rate": 60}"#).ok()["new_users_per_minute"], 60);
}
