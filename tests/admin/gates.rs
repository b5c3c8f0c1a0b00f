//! The gates that share the rooms, here one, and an operator's word about their log; by HTTP and by the real binary.

use std::process::{Command, Output};

use ropeline::admin::api;
use ropeline::replica::Condition;
use ropeline::room::{NEWEST, Position, State, VERSION};
use serde_json::json;

use crate::support::Gate;

fn run(gate: &Gate, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropeline"));
    command.env_remove("ROPELINE_ADMIN").env_remove("ROPELINE_ADMIN_TOKEN");
    let admin = format!("http://{}", gate.address);
    command
        .args(arguments)
        .args(["--admin", &admin])
        .output()
        .expect("runs")
}

fn done(gate: &Gate, arguments: &[&str]) -> String {
    let output = run(gate, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The command's message when the request failed.
fn refused(gate: &Gate, arguments: &[&str]) -> String {
    let output = run(gate, arguments);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

fn gates(gate: &Gate) -> api::Gates {
    serde_json::from_value(gate.get("/api/v1/gates").ok()).expect("the API's shape")
}

fn spelled(at: Position) -> String {
    format!("{}-{}", at.epoch, at.sequence)
}

#[test]
fn a_gate_with_a_log_of_its_own_shows_itself() {
    let gate = Gate::start();
    let shown = gates(&gate);
    assert_eq!((shown.gate.condition.as_str(), shown.gate.cut_off_secs), ("live", None));
    let [only] = &shown.gates[..] else { panic!("{shown:?}") };
    assert_eq!((only.this, only.knows, only.id.len()), (true, VERSION, 16));
    assert_eq!(
        (shown.log.machine_version, shown.log.knows, shown.log.rooted),
        (VERSION, VERSION, true)
    );
    assert_eq!(
        (only.agrees, shown.log.checkpoint),
        (None, None),
        "nobody else could differ"
    );
    let table = done(&gate, &["gates"]);
    let row = table.lines().nth(1).expect("a row");
    assert!(row.starts_with(&only.id) && row.ends_with("this gate"), "{table}");
    assert!(
        table.contains(&format!("machine version {VERSION} in force")),
        "{table}"
    );
    let text: serde_json::Value = serde_json::from_str(&done(&gate, &["gates", "--format", "json"])).expect("JSON");
    assert_eq!(text["gates"][0]["id"], only.id);
    let metrics = gate.get("/metrics").text;
    for line in [
        "ropeline_roster_gates 1",
        "ropeline_state_differing_gates 0",
        "ropeline_state_alarm 0",
        "ropeline_condition{condition=\"live\"} 1",
        "ropeline_condition{condition=\"frozen\"} 0",
        &format!("ropeline_machine_version {VERSION}"),
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in\n{metrics}");
    }
}

#[test]
fn an_operators_word_that_does_not_fit_changes_nothing_and_says_why() {
    let gate = Gate::start();
    let at = gates(&gate).log.position;
    for (target, body, status, part) in [
        ("/api/v1/heal", json!({}), 409, "no gate is waited for"),
        (
            "/api/v1/skip",
            json!({ "position": at }),
            409,
            "this gate is not frozen",
        ),
        ("/api/v1/skip", json!({ "position": "17" }), 422, "EPOCH-SEQUENCE"),
        ("/api/v1/skip", json!({ "position": 17 }), 400, "the body"),
        (
            "/api/v1/skip",
            json!({ "position": at, "all": true }),
            400,
            "unknown field",
        ),
        (
            "/api/v1/raise",
            json!({ "machine_version": VERSION }),
            409,
            "never goes down",
        ),
        (
            "/api/v1/raise",
            json!({ "machine_version": NEWEST + 1 }),
            422,
            "knows up to",
        ),
    ] {
        let detail = gate.post(target, &body.to_string()).refused(status);
        assert!(detail.contains(part), "{target} {body}: {detail}");
    }
    let host = ("host", "localhost");
    for target in ["/api/v1/heal", "/api/v1/skip", "/api/v1/raise"] {
        assert_eq!(
            gate.ask("POST", target, &[host], "{}").status,
            415,
            "{target}: as a form could send it"
        );
        assert_eq!(gate.get(target).status, 405, "{target}");
    }
    assert!(refused(&gate, &["gates", "--end-wait"]).contains("no gate is waited for"));
    assert!(refused(&gate, &["skip", &at]).contains("this gate is not frozen"));
    assert!(!gate.get("/metrics").text.contains("ropeline_admin_changes_total 1"));
}

#[test]
fn a_gate_that_has_not_read_its_log_does_not_claim_that_nobody_is_waited_for() {
    // No server listens there.
    let gate = Gate::sharing("redis://127.0.0.1:1", State::apply);
    assert_eq!(gates(&gate).gate.condition, "starting");
    let detail = gate.post("/api/v1/heal", "{}").refused(409);
    assert!(detail.starts_with("not yet"), "{detail}");
}

#[test]
fn a_poison_entry_freezes_the_gate_until_an_operator_has_it_passed_over() {
    let gate = Gate::poisoned_by_the_word_poison();
    gate.readiness.serving();
    let waiting = (gate.join("main", ""), gate.join("main", "")).1;
    assert_eq!(gate.patch("main", r#"{"message": "poison"}"#).status, 503);
    gate.until("frozen", || {
        matches!(gate.replica.condition(), Condition::Frozen { .. })
    });
    let Condition::Frozen { at } = gate.replica.condition() else {
        panic!("{:?}", gate.replica.condition())
    };
    let at = spelled(at);

    let ready = gate.get("/readyz");
    assert!(
        ready.status == 503 && ready.text.contains(&format!("frozen: the entry {at}")),
        "{}",
        ready.text
    );
    assert_eq!(gate.get("/livez").status, 200, "a restart would not help");
    assert_eq!(gates(&gate).gate.frozen_at.as_deref(), Some(at.as_str()));
    assert!(
        gate.get("/metrics")
            .text
            .contains("ropeline_condition{condition=\"frozen\"} 1")
    );
    let table = done(&gate, &["gates"]);
    assert!(table.contains(&format!("ropeline skip {at}")), "{table}");
    assert!(done(&gate, &["rooms"]).contains("frozen before the entry"));

    assert!(refused(&gate, &["skip", "1-1"]).contains(&format!("this gate is frozen at {at}")));
    done(&gate, &["skip", &at]);
    gate.until("the gate goes on", || gate.replica.condition() == Condition::Live);
    assert_eq!(gate.get("/readyz").status, 200);
    let standing = gate.standing(&waiting);
    assert!(matches!(standing, ropeline::room::Standing::Waiting(_)), "{standing:?}");
    gate.patch("main", r#"{"message": "no poison"}"#).ok();
    let room = gate.get("/api/v1/rooms/main").ok();
    assert_eq!(room["message"], "no poison");
}
