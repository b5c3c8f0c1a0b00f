//! The shop's servers over the API and from a shell: how they stand, and an operator's word on their weights.

use std::process::Command;

use serde_json::json;

use crate::support::Gate;

const SERVER: &str = "/api/v1/upstreams/127.0.0.1:3000";

#[test]
fn a_weight_is_set_shown_and_taken_back() {
    let gate = Gate::start();
    let server = |answer: serde_json::Value| answer["upstreams"][0].clone();
    let shown = server(gate.get("/api/v1/upstreams").ok());
    assert_eq!((&shown["weight"], shown.get("configured_weight")), (&json!(1), None));
    let shown = server(gate.post(SERVER, r#"{"weight": 5}"#).ok());
    assert_eq!((&shown["weight"], &shown["configured_weight"]), (&json!(5), &json!(1)));
    assert_eq!(server(gate.get("/api/v1/upstreams").ok()), shown);
    let shown = server(gate.post(SERVER, r#"{"weight": null}"#).ok());
    assert_eq!((&shown["weight"], shown.get("configured_weight")), (&json!(1), None));
    assert!(gate.get("/metrics").text.contains("ropeline_admin_changes_total 2"));
}

#[test]
fn a_weight_that_does_not_fit_changes_nothing_and_says_why() {
    let gate = Gate::start();
    let before = gate.get("/api/v1/upstreams").ok();
    for (target, body, status, part) in [
        (
            SERVER,
            r#"{"weight": 0}"#,
            409,
            "no server of the shop would have a weight",
        ),
        (SERVER, r#"{"weight": 1001}"#, 422, "from 0 to 1000"),
        (SERVER, r#"{"weight": -1}"#, 400, "the body"),
        (SERVER, "{}", 400, "missing field"),
        (SERVER, r#"{"weight": 1, "all": true}"#, 400, "unknown field"),
        (
            "/api/v1/upstreams/127.0.0.1",
            r#"{"weight": 1}"#,
            404,
            "there are: 127.0.0.1:3000",
        ),
        ("/api/v1/upstreams/%ff", r#"{"weight": 1}"#, 404, "no such server"),
    ] {
        let detail = gate.post(target, body).refused(status);
        assert!(detail.contains(part), "{target} {body}: {detail}");
    }
    let host = ("host", "localhost");
    let form = gate.ask("POST", SERVER, &[host], r#"{"weight": 7}"#);
    assert_eq!(
        (form.status, gate.get(SERVER).status),
        (415, 405),
        "as a form could send it"
    );
    assert_eq!(gate.get("/api/v1/upstreams").ok(), before);
}

#[test]
fn the_shell_shows_the_servers_and_weighs_them() {
    let gate = Gate::start();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ropeline"));
        command.env_remove("ROPELINE_ADMIN").env_remove("ROPELINE_ADMIN_TOKEN");
        let admin = format!("http://{}", gate.address);
        let output = command
            .arg("upstreams")
            .args(arguments)
            .args(["--admin", &admin])
            .output();
        let output = output.expect("runs");
        let text = if output.status.success() {
            output.stdout
        } else {
            output.stderr
        };
        (output.status.code(), String::from_utf8(text).expect("text"))
    };
    let (code, table) = run(&["set", "127.0.0.1:3000", "--weight", "7"]);
    assert!(code == Some(0) && table.contains("7 (configured 1)"), "{table}");
    let (code, table) = run(&["set", "127.0.0.1:3000", "--weight", "default"]);
    let row = table.lines().nth(1).expect("a row");
    assert!(
        code == Some(0) && row.split_whitespace().take(3).eq(["127.0.0.1:3000", "in", "1"]),
        "{table}"
    );
    let (code, why) = run(&["set", "127.0.0.1:3000", "--weight", "0"]);
    assert!(
        code == Some(1) && why.contains("give another one a weight first"),
        "{why}"
    );
    assert_eq!(run(&["set", "127.0.0.1:3000", "--weight", "none"]).0, Some(2));
    let (code, text) = run(&["--json"]);
    let text: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (code, &text["upstreams"][0]["origin"]),
        (Some(0), &json!("127.0.0.1:3000"))
    );
}
