//! `ropeline rooms`: the same from a shell, by the real binary.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

use ropeline::admin::{Entrance, Options, Token};
use ropeline::room::Standing;
use ropeline::token::Reference;

use crate::support::Gate;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropeline"));
    command.arg("rooms").args(arguments);
    command.env_remove("ROPELINE_ADMIN").env_remove("ROPELINE_ADMIN_TOKEN");
    command
}

fn run(gate: &Gate, arguments: &[&str]) -> Output {
    let admin = format!("http://{}", gate.address);
    command(arguments).args(["--admin", &admin]).output().expect("runs")
}

fn done(gate: &Gate, arguments: &[&str]) -> String {
    let output = run(gate, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The command's message when the request failed.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr.clone()).expect("text")
}

#[test]
fn rooms_are_shown_as_a_table_and_as_json() {
    let gate = Gate::start();
    gate.join("main", "");
    let table = done(&gate, &[]);
    assert!(table.starts_with("ROOM"), "{table}");
    let row = table.lines().find(|line| line.starts_with("main")).expect("a row");
    assert!(row.contains("auto"), "{row}");
    let json: serde_json::Value = serde_json::from_str(&done(&gate, &["--format", "json"])).expect("JSON");
    assert_eq!(json["rooms"][1]["joins"], 1);
}

#[test]
fn a_room_is_set_and_given_back() {
    let gate = Gate::start();
    let flags = [
        "--mode",
        "hold",
        "--capacity",
        "50",
        "--rate",
        "600",
        "--message",
        "Back at 14:00",
    ];
    let table = done(&gate, &[&["set", "main"][..], &flags].concat());
    assert!(
        table.contains("hold") && table.contains("600/min") && table.contains("Back at 14:00"),
        "{table}"
    );
    let room = gate.get("/api/v1/rooms/main").ok();
    assert_eq!(
        (&room["mode"], &room["total_active_users"]),
        (&"hold".into(), &50.into())
    );
    done(&gate, &["set", "main", "--configured", "--rate", "5"]);
    assert_eq!(
        gate.get("/api/v1/rooms/main").ok()["overridden"],
        serde_json::json!(["new_users_per_minute"])
    );
}

#[test]
fn a_visitor_is_found_and_ended() {
    let gate = Gate::start();
    gate.patch("main", r#"{"mode": "hold"}"#).ok();
    let visitor = gate.join("main", "");
    let reference = Reference::of(&visitor).to_string();
    assert!(done(&gate, &["visitor", "main", &reference]).contains("position          1\n"));
    assert!(done(&gate, &["visitor", "main", &reference, "--end"]).contains("state             ended\n"));
    assert_eq!(gate.standing(&visitor), Standing::Ended);
    assert!(done(&gate, &["lines", "main"]).starts_with("LINE"));
}

#[test]
fn what_cannot_be_done_says_what_would_be_right() {
    let gate = Gate::start();
    let nobody = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    let output = command(&["--admin", &format!("http://{nobody}")])
        .output()
        .expect("runs");
    let told = refused(&output);
    assert!(
        told.contains("is the gate running?") && told.contains("--admin"),
        "{told}"
    );
    let told = refused(&run(&gate, &["set", "main", "--opens-at", "soon"]));
    assert!(
        told.contains("--opens-at: \"soon\" is no date") && told.contains("422"),
        "{told}"
    );
    assert!(refused(&run(&gate, &["set", "garden", "--mode", "off"])).contains("events, main"));
    assert!(refused(&run(&gate, &["visitor", "main", "XXXX"])).contains("check character"));
    let output = run(&gate, &["set", "main"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(gate.get("/api/v1/rooms/main").ok()["overridden"], serde_json::json!([]));
}

#[test]
fn a_token_comes_from_a_file_or_the_environment() {
    let entrance = Entrance {
        token: Some(Token::new(b"correct horse battery")),
        ..Entrance::default()
    };
    let gate = Gate::with(Options {
        entrance,
        ..Options::default()
    });
    assert!(refused(&run(&gate, &[])).contains("--token-file"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, "correct horse battery\n").expect("written");
    done(&gate, &["--token-file", file.to_str().expect("text")]);
    let admin = format!("http://{}", gate.address);
    let output = command(&["--admin", &admin])
        .env("ROPELINE_ADMIN_TOKEN", "correct horse battery")
        .output();
    assert!(output.expect("runs").status.success());
    let missing = folder.path().join("missing");
    assert!(refused(&run(&gate, &["--token-file", missing.to_str().expect("text")])).contains("cannot be read"));
}

#[test]
fn watching_shows_changes_until_interrupted() {
    let gate = Gate::start();
    let admin = format!("http://{}", gate.address);
    let mut watching = command(&["--watch", "--admin", &admin])
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut lines = BufReader::new(watching.stdout.take().expect("piped")).lines();
    let mut row = || {
        lines
            .find_map(|line| line.ok().filter(|line| line.starts_with("main")))
            .expect("a row")
    };
    assert!(row().contains("auto"));
    gate.patch("main", r#"{"mode": "hold"}"#).ok();
    while !row().contains("hold") {}
    rustix::process::kill_process(pid(&watching), rustix::process::Signal::INT).expect("sent");
    assert!(watching.wait().expect("ended").success());
}

fn pid(child: &std::process::Child) -> rustix::process::Pid {
    let raw = i32::try_from(child.id()).expect("a process id");
    rustix::process::Pid::from_raw(raw).expect("not 0")
}
