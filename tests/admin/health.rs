//! Health and readiness.

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
