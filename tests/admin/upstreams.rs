//! The shop's servers over the API and from a shell: how each stands.

use std::process::Command;

use serde_json::json;

use crate::support::Gate;

#[test]
fn servers_are_listed_and_take_no_change() {
    let gate = Gate::start();
    let listed = gate.get("/api/v1/upstreams").ok();
    let server = &listed["upstreams"][0];
    assert_eq!(
        (&server["origin"], &server["weight"], &server["healthy"]),
        (&json!("127.0.0.1:3000"), &json!(1), &json!(true))
    );
    gate.post("/api/v1/upstreams", r#"{"weight": 5}"#).refused(405);
}

#[test]
fn the_shell_shows_the_servers() {
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
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let table = run(&[]);
    let row = table.lines().nth(1).expect("a row");
    assert!(
        row.split_whitespace().take(3).eq(["127.0.0.1:3000", "in", "1"]),
        "{table}"
    );
    let text: serde_json::Value = serde_json::from_str(&run(&["--format", "json"])).expect("JSON");
    assert_eq!(text["upstreams"][0]["origin"], "127.0.0.1:3000");
}
