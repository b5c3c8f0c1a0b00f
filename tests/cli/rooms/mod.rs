//! `ropeline rooms` and `ropeline healthcheck` against a running gate; more of the former is in `tests/admin`.

pub mod added;
mod added_twice;
mod draw;
mod proofs;
mod schedule;
mod top;

use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::program::Ended;

fn rooms(site: &Site, gate: &Gate, args: &[&str]) -> Ended {
    let admin = format!("http://{}", gate.admin);
    site.run(&[&["rooms", "--admin", &admin][..], args].concat())
}

/// The fields of the one room.
fn room(site: &Site, gate: &Gate) -> Value {
    let ended = rooms(site, gate, &["--format", "json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let all: Value = serde_json::from_str(&ended.out).unwrap();
    all["rooms"][0].clone()
}

#[test]
fn rooms_are_shown_and_a_change_is_kept_over_a_restart() {
    let site = Site::new("", "");
    let gate = site.start();
    let _inside = gate.insider();
    let mut waiting = gate.waits(1);

    let table = rooms(&site, &gate, &[]);
    assert!(table.code == Some(0) && table.out.contains("shop"), "{table:?}");
    let before = room(&site, &gate);
    assert_eq!(
        (&before["name"], &before["waiting"]),
        (&"shop".into(), &1.into()),
        "{before}"
    );

    let set = rooms(
        &site,
        &gate,
        &[
            "set",
            "shop",
            "--message",
            "Doors at eight",
            "--mode",
            "hold",
            "--capacity",
            "7",
        ],
    );
    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(waiting.status()["message"], "Doors at eight");
    assert_eq!(
        waiting.goes_to("/").word(),
        "waiting",
        "with the room on hold, free slots call nobody"
    );
    assert_eq!(gate.stop().code, Some(0));

    let gate = site.start();
    let kept = room(&site, &gate);
    assert_eq!(
        (&kept["mode"], &kept["capacity"]),
        (&"hold".into(), &7.into()),
        "{kept}"
    );
    waiting.at = gate.address;
    assert_eq!(waiting.status()["message"], "Doors at eight");
    assert!(waiting.goes_to("/").body.contains("Doors at eight"));

    let back = rooms(&site, &gate, &["set", "shop", "--configured"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert_eq!(room(&site, &gate)["capacity"], 1);
}

#[test]
fn what_cannot_be_set_is_refused_by_the_name_of_the_option() {
    let site = Site::new("", "");
    let gate = site.start();
    gate.lives();
    let before = room(&site, &gate);
    let long = "x".repeat(1_001);
    for (args, code, told) in [
        (
            &["--capacity", "0"][..],
            2,
            "nobody would be called: use --mode hold instead",
        ),
        (
            &["--capacity", "many"],
            2,
            "'--capacity <N|default>': a whole number up to 10000000, default",
        ),
        (&["--rate", "1.5"], 2, "a whole number up to 10000000, none, or default"),
        (&["--opens-at", "soon"], 1, "--opens-at: \"soon\" is no date"),
        (
            &["--message", &long],
            1,
            "--message must be at most 1000 bytes, not 1001",
        ),
        (
            &["--mode", "hold", "--reason", "\u{7}"],
            1,
            "--reason must be on one line",
        ),
    ] {
        let ended = rooms(&site, &gate, &[&["set", "shop"], args].concat());
        assert!(
            ended.code == Some(code) && ended.err.contains(told),
            "{args:?}: {ended:?}"
        );
    }
    let reset = rooms(
        &site,
        &gate,
        &["reset", "shop", "--confirm", "other", "--reason", "why"],
    );
    assert!(
        reset.code == Some(1) && reset.err.contains("--confirm must be the room's name"),
        "{reset:?}"
    );
    assert_eq!(room(&site, &gate), before);
}

#[test]
fn a_value_as_in_the_file_is_no_override_and_follows_the_file() {
    let site = Site::new("message = \"Back at 14:00\"", "");
    let gate = site.start();
    gate.lives();
    let set = |args: &[&str]| {
        let ended = rooms(&site, &gate, &[&["set", "shop"], args].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        (room(&site, &gate)["overridden"].clone(), ended.out)
    };
    let (overridden, out) = set(&["--capacity", "7", "--rate", "30"]);
    assert_eq!(
        overridden,
        serde_json::json!(["total_active_users", "new_users_per_minute"])
    );
    assert!(out.contains("set by an operator"), "{out}");
    let as_in_the_file = [
        "--capacity",
        "1",
        "--rate",
        "none",
        "--mode",
        "auto",
        "--message",
        "Back at 14:00",
    ];
    let (overridden, out) = set(&as_in_the_file);
    assert_eq!(overridden, serde_json::json!([]));
    assert!(!out.contains("set by an operator"), "{out}");
    site.edit("total_active_users = 1", "total_active_users = 3");
    assert_eq!(site.run(&["reload", "--admin", &gate.admin.to_string()]).code, Some(0));
    assert_eq!(room(&site, &gate)["total_active_users"], 3);
}

#[test]
fn the_health_check_tells_a_ready_gate_from_none() {
    let site = Site::new("", "");
    let gate = site.start();
    let admin = gate.admin.to_string();
    let ready = site.run(&["healthcheck", "--admin", &admin]);
    assert_eq!((ready.code, ready.err.as_str()), (Some(0), ""), "{ready:?}");
    let as_elsewhere = site.run(&["healthcheck", "--admin", &format!("http://{admin}"), "--format", "json"]);
    assert!(
        as_elsewhere.code == Some(0) && as_elsewhere.out.contains("\"ok\": true"),
        "{as_elsewhere:?}"
    );
    let visitors = site.run(&["healthcheck", "--admin", &gate.address.to_string()]);
    assert!(
        visitors.code == Some(1) && visitors.err.contains("is no gate's admin listener"),
        "{visitors:?}"
    );
    assert_eq!(gate.stop().code, Some(0));
    let gone = site.run(&["healthcheck", "--admin", &admin]);
    assert!(
        gone.code == Some(1) && gone.err.contains("nothing answers at"),
        "{gone:?}"
    );
}

#[test]
fn a_call_that_lets_fewer_in_says_why() {
    let site = Site::new("", "");
    let gate = site.start();
    let _inside = gate.insider();
    let _waiting = gate.waits(1);
    let full = rooms(&site, &gate, &["call", "shop", "1"]);
    let said = "0 of 1 called: no slot is free; --beyond-capacity calls above the capacity\n";
    assert!(full.out.starts_with(said), "{full:?}");
    let beyond = rooms(&site, &gate, &["call", "shop", "5", "--beyond-capacity"]);
    assert!(
        beyond.out.starts_with("1 of 5 called: nobody else is there\n"),
        "{beyond:?}"
    );
}
