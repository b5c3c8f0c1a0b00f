//! A gate's messages about a failing store: for how long, and the present reason, in every phase of the gate.

use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::until;

fn standing(gate: &Gate) -> Value {
    gate.asks_admin("/api/v1/gates").json()["gate"].clone()
}

/// Waits until the gate is in this condition, and the store fails it for a reason with these words in it.
fn fails(gate: &Gate, condition: &str, words: &str) {
    until(words, || {
        let now = standing(gate);
        let reason = now["reason"].as_str().unwrap_or_default();
        (now["condition"] == condition && !now["cut_off_secs"].is_null() && reason.contains(words)).then_some(())
    });
}

#[test]
fn a_store_that_fails_is_told_with_its_present_reason_in_healing_too() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let (one, other) = (site.start(), site.start());
    until("both on the roster", || {
        let gates = one.asks_admin("/api/v1/gates").json();
        (gates["gates"].as_array().unwrap().len() == 2).then_some(())
    });
    assert!(standing(&one)["reason"].is_null());
    store.kill();
    fails(&one, "live", "refused");

    // The other is gone with the store, so it is waited for: fifteen seconds that stand still as the store goes again.
    drop(other);
    store.restart();
    until("healing", || {
        let now = standing(&one);
        (now["condition"] == "healing" && now["reason"].is_null()).then_some(())
    });
    store.kill();
    fails(&one, "healing", "refused");
    let told = site.run(&["gates", "--admin", &one.admin.to_string()]);
    assert!(
        told.out.contains("Reason: ") && told.out.contains("more, once the store answers"),
        "{told:?}"
    );

    // Back, but it requires a password that the gate does not have, in the middle of its work.
    store.restart();
    until("an answer", || standing(&one)["reason"].is_null().then_some(()));
    let mut admin = store.connect();
    let mut set = redis::cmd("CONFIG");
    set.arg("SET")
        .arg("requirepass")
        .arg("changed")
        .exec(&mut admin)
        .unwrap();
    let mut kill = redis::cmd("CLIENT");
    kill.arg("KILL").arg("TYPE").arg("normal").exec(&mut admin).unwrap();
    fails(&one, "healing", "asks for a password");
    until("the new reason in the log", || {
        let said = one.program.err();
        let mut lines = said.lines().filter(|line| line.contains("takes nothing"));
        lines.any(|line| line.contains("asks for a password")).then_some(())
    });
    assert!(
        !one.asks_admin("/readyz").body.contains("password"),
        "whoever may ask for its health need not know why"
    );
}

#[test]
fn one_gate_that_stays_keeps_the_line_while_others_are_restarted_without_it() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let (kept, other) = (site.start(), site.start());
    for gate in [&kept, &other] {
        until("calls", || {
            let now = standing(gate);
            (now["condition"] == "live" && now["healing_secs"].is_null()).then_some(())
        });
    }
    let _inside = kept.insider();
    let mut waiting = kept.waits(1);
    store.kill();
    fails(&kept, "live", "refused");

    // As docs/guides/runbook.md says it, under Kill switch.
    assert_eq!(other.stop().code, Some(0));
    site.edit("total_active_users = 1", "total_active_users = 1\nmode = \"off\"");
    let restarted = site.start();
    assert!(
        restarted.visitor().goes_to("/").is_the_shops(),
        "a gate without a log goes by its configuration"
    );

    store.restart();
    let mode = |gate: &Gate| gate.asks_admin("/api/v1/rooms").json()["rooms"][0]["mode"].clone();
    for gate in [&kept, &restarted] {
        until("the configured mode on every gate", || {
            (standing(gate)["condition"] == "live" && mode(gate) == "off").then_some(())
        });
    }
    let set = [
        "rooms",
        "set",
        "shop",
        "--mode",
        "auto",
        "--admin",
        &restarted.admin.to_string(),
    ];
    assert_eq!(site.run(&set).code, Some(0));
    until("the line", || (mode(&kept) == "auto").then_some(()));
    waiting.at = restarted.address;
    assert_eq!(
        (waiting.goes_to("/").word(), waiting.position()),
        ("waiting", Some(1)),
        "the place is kept"
    );
}
