//! `ropeline top` against a running gate: once as plain text, and live in a pseudo terminal.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::gate::{Gate, Site};

fn admin(gate: &Gate) -> String {
    format!("http://{}", gate.admin)
}

/// The table of `rooms` in a terminal of 80 columns: the last columns give way, the figures stay.
#[test]
fn a_narrow_terminal_has_a_table_that_fits() {
    let site = Site::new("", "");
    site.edit("name = \"shop\"", "name = \"a-name-that-is-as-long-as-it-may\"");
    let gate = site.start();
    gate.lives();
    let shown = |columns: u16| {
        let command = format!(
            "stty cols {columns}; {} rooms --admin {}",
            env!("CARGO_BIN_EXE_ropeline"),
            admin(&gate)
        );
        let mut script = Command::new("script");
        script
            .args(["-qefc", &command, "/dev/null"])
            .env("TERM", "xterm")
            .stdin(Stdio::null());
        let ran = script.output().expect("script, of util-linux");
        String::from_utf8(ran.stdout).unwrap().replace('\r', "")
    };
    let narrow = shown(80);
    assert!(
        narrow.starts_with("ROOM ") && narrow.contains("CAPACITY") && !narrow.contains("FROM"),
        "{narrow}"
    );
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    assert!(shown(200).contains("LAST CALL  FROM"), "{}", shown(200));
}

#[test]
fn every_line_the_shop_and_the_changes_are_shown_once_as_text() {
    let site = Site::new("", "");
    let gate = site.start();
    let _inside = gate.insider();
    let _waiting = gate.waits(1);
    let call = [
        "rooms",
        "--admin",
        &admin(&gate),
        "call",
        "shop",
        "1",
        "--beyond-capacity",
        "--reason",
        "a friend",
    ];
    let called = site.run(&call);
    assert!(called.out.starts_with("1 of 1 called"), "{called:?}");
    let shown = site.run(&["top", "--admin", &admin(&gate), "--once"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in [
        "ropeline: gate live",
        "> shop",
        "waiting",
        "operator: called 1 of 1 beyond the capacity (a friend)",
        "SERVER",
        "GATE",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    assert!(!shown.out.contains('\u{1b}'), "no word to a terminal: {}", shown.out);
    let told = site.run(&["top", "--admin", &admin(&gate), "--room", "shop", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    let of_api = gate.asks_admin("/api/v1/rooms/shop/changes").json();
    assert_eq!(told["changes"], of_api["changes"]);
    assert_eq!(
        (&told["room"], &told["rooms"][0]["name"]),
        (&"shop".into(), &"shop".into())
    );
    assert_eq!(told["gates"]["gate"]["condition"], "live");
    assert!(
        told["history"].is_object() && told["lines"].is_array() && told["upstreams"].is_array(),
        "{told}"
    );
    let nowhere = site.run(&["top", "--admin", &admin(&gate), "--once", "--room", "none"]);
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(nowhere.err.contains("no room \"none\""), "{nowhere:?}");
}

/// `script` gives the command a terminal, whose content is in its output.
#[test]
fn a_terminal_is_redrawn_until_q_and_put_back() {
    let site = Site::new("", "");
    let gate = site.start();
    let command = format!(
        "timeout --foreground 60 {} top --admin {}",
        env!("CARGO_BIN_EXE_ropeline"),
        admin(&gate)
    );
    let mut script = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script, of util-linux");
    let mut output = script.stdout.take().expect("a pipe");
    let mut shown = Vec::new();
    let mut part = [0; 4_096];
    while !String::from_utf8_lossy(&shown).contains("> shop") {
        let count = output.read(&mut part).expect("read");
        assert!(count > 0, "ended: {}", String::from_utf8_lossy(&shown));
        shown.extend_from_slice(&part[..count]);
    }
    script.stdin.take().expect("a pipe").write_all(b"jq").expect("pressed");
    output.read_to_end(&mut shown).expect("read");
    assert!(script.wait().expect("ended").success());
    let shown = String::from_utf8_lossy(&shown);
    assert!(
        shown.contains("\u{1b}[?1049h") && shown.contains("\u{1b}[?1049l"),
        "the other screen, and back: {shown}"
    );
    assert!(shown.contains("\u{1b}[?25h"), "the cursor is shown again: {shown}");
}
