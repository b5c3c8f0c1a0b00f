//! A ticket of an unknown log: what it stops and for how long, and an operator who ends that.

use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::program::Ended;
use crate::until;
use crate::visitor::Visitor;

/// Half of it is longer than any test waits.
const LONG: &str = "grace = \"10 min\"\nlate_window = \"20 min\"";

const KEYS: &str = "[tokens]\nkeys = [{ id = \"test\", secret = \"a secret of the tests, long enough for any key ring\" }]\n\
    [[room]]\nname = \"other\"\nroutes = [\"/other/*\"]\ntotal_active_users = 1";

/// A gate on a new folder, and two who waited at one whose folder is gone.
fn forgotten() -> (Site, Gate, [Visitor; 2]) {
    let site = Site::new(LONG, KEYS);
    site.edit(
        "name = \"shop\"",
        "name = \"shop\"\nroutes = [\"/*\"]\nexcept = [\"/other/*\"]",
    );
    let gate = site.start();
    gate.insider();
    let mut old = [gate.waits(1), gate.waits(2)];
    assert_eq!(gate.stop().code, Some(0));
    std::fs::remove_dir_all(site.path("data")).unwrap();
    let gate = site.start();
    for visitor in &mut old {
        visitor.at = gate.address;
    }
    (site, gate, old)
}

fn rooms(site: &Site, gate: &Gate, args: &[&str]) -> Ended {
    let admin = format!("http://{}", gate.admin);
    site.run(&[&["rooms", "--admin", &admin][..], args].concat())
}

/// A room as the operator's side shows it.
fn room(gate: &Gate, name: &str) -> Value {
    gate.asks_admin(&format!("/api/v1/rooms/{name}")).json()
}

fn waits_in_place(visitor: &mut Visitor) {
    until("the place", || (visitor.goes_to("/").word() == "waiting").then_some(()));
}

#[test]
fn an_old_ticket_stops_its_own_room_only_and_an_operator_is_heard_meanwhile() {
    let (site, gate, [mut old, _]) = forgotten();
    waits_in_place(&mut old);
    let left = room(&gate, "shop")["healing_secs"].as_u64().expect("it heals");
    assert!((1..=300).contains(&left), "half of grace at most: {left}");
    assert!(room(&gate, "other").get("healing_secs").is_none());
    assert_eq!(gate.figure("ropeline_room_healing_seconds{room=\"other\"}"), 0);
    assert!(gate.figure("ropeline_room_healing_seconds{room=\"shop\"}") > 0);
    assert!(
        gate.visitor().goes_to("/other/page").is_the_shops(),
        "the other room calls"
    );
    let mut newcomer = gate.visitor();
    assert_eq!(newcomer.goes_to("/").word(), "waiting", "though a slot is free");
    assert_eq!(newcomer.status()["why"], "healing");

    let called = rooms(&site, &gate, &["call", "shop", "1"]);
    assert!(
        called.code == Some(0) && called.out.starts_with("1 of 1 called"),
        "{called:?}"
    );
    until("the call", || old.goes_to("/").is_the_shops().then_some(()));
    assert_eq!(newcomer.goes_to("/").word(), "waiting");
}

#[test]
fn an_operator_ends_what_old_tickets_stopped_and_nothing_stops_the_room_again() {
    let (site, gate, [mut old, mut second]) = forgotten();
    waits_in_place(&mut second);
    let mut newcomer = gate.visitor();
    assert_eq!(newcomer.goes_to("/").word(), "waiting");
    let shown = rooms(&site, &gate, &[]);
    assert!(shown.out.contains("ropeline rooms end-healing shop"), "{shown:?}");
    let ended = rooms(&site, &gate, &["end-healing", "shop", "--reason", "an old cookie"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(room(&gate, "shop").get("healing_secs").is_none());
    until("the turn", || second.goes_to("/").is_the_shops().then_some(()));
    assert_eq!(second.leaves().status, 200);
    until("the next turn", || newcomer.goes_to("/").is_the_shops().then_some(()));
    // The visitor in front comes after all: next, and calls do not stop.
    waits_in_place(&mut old);
    assert!(room(&gate, "shop").get("healing_secs").is_none());
    assert_eq!(newcomer.leaves().status, 200);
    until("the last turn", || old.goes_to("/").is_the_shops().then_some(()));
    let again = rooms(&site, &gate, &["end-healing", "shop"]);
    assert!(again.code == Some(1) && again.err.contains("not healing"), "{again:?}");
    let changes = rooms(&site, &gate, &["changes", "shop"]);
    assert!(changes.out.contains("healing ended (an old cookie)"), "{changes:?}");
}

/// Two gates share a store that forgets everything, a moment after four joined. Only the last one asks.
#[test]
fn who_joined_a_moment_before_the_store_was_lost_is_called_before_the_one_who_asks_first() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    site.set_store("archive = \"archive\"");
    let gates = [site.start(), site.start()];
    gates.iter().for_each(Gate::lives);
    let mut inside = gates[0].insider();
    let mut line: Vec<Visitor> = (0..4).map(|i| gates[i % 2].visitor()).collect();
    for visitor in &mut line {
        assert_eq!(visitor.goes_to("/").word(), "waiting");
    }
    let log = |gate: &Gate| {
        let position = gate.asks_admin("/api/v1/gates").json()["log"]["position"].clone();
        let position = position.as_str().expect("a position").to_owned();
        position.split('-').next().unwrap().to_owned()
    };
    let before = log(&gates[0]);
    store.restart();
    until("a new log", || {
        gates.iter().all(|gate| log(gate) != before).then_some(())
    });
    gates.iter().for_each(Gate::lives);
    assert_eq!(room(&gates[0], "shop")["waiting"], 4);
    assert_eq!(line[3].position(), Some(4));
    assert_eq!(inside.leaves().status, 200);
    until("the call", || (room(&gates[0], "shop")["called"] == 1).then_some(()));
    until("the others' turn", || (line[3].position() == Some(3)).then_some(()));
    assert!(line[0].goes_to("/").is_the_shops(), "the first has the turn");
    for gate in gates {
        assert_eq!(gate.stop().code, Some(0));
    }
    let report = site.run(&["report", "archive", "--strict"]);
    assert!(
        report.code == Some(0) && report.out.contains("whole and fair"),
        "{report:?}"
    );
}
