//! Gates that share their rooms through a store, as processes: the roster, and operators' commands.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::harness::toxic::{Proxy, Toxic};
use crate::program::Ended;
use crate::until;
use crate::visitor::Visitor;

/// The roster, once it has so many gates.
fn roster(gate: &Gate, size: usize) -> Value {
    until("the roster", || {
        let gates = gate.asks_admin("/api/v1/gates").json();
        (gates["gates"].as_array().unwrap().len() == size).then_some(gates)
    })
}

fn says(site: &Site, gate: &Gate, arguments: &[&str]) -> Ended {
    let admin = gate.admin.to_string();
    site.run(&[arguments, &["--admin", &admin]].concat())
}

#[test]
fn a_visitor_may_meet_another_gate_on_each_request_and_one_that_dies_takes_nothing_with_it() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let gates = [site.start(), site.start()];
    gates.iter().for_each(Gate::lives);
    let ids = |gate: &Gate| -> Vec<Value> {
        let shown = roster(gate, 2);
        shown["gates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|gate| gate["id"].clone())
            .collect()
    };
    assert_eq!(ids(&gates[0]), ids(&gates[1]));
    let turn = std::cell::Cell::new(0);
    let next = |visitor: &mut Visitor| {
        turn.set(turn.get() + 1);
        visitor.at = gates[turn.get() % 2].address;
    };
    let mut inside = gates[0].insider();
    let mut waiting = gates[1].visitor();
    assert_eq!(waiting.goes_to("/").word(), "waiting");
    for _ in 0..6 {
        next(&mut inside);
        assert!(inside.goes_to("/basket").is_the_shops());
        next(&mut waiting);
        assert_eq!((waiting.goes_to("/").word(), waiting.position()), ("waiting", Some(1)));
    }
    let table = says(&site, &gates[0], &["gates"]);
    assert_eq!(table.out.matches("this gate\n").count(), 1, "{table:?}");
    assert_eq!(
        says(&site, &gates[0], &["rooms", "set", "shop", "--message", "Hello"]).code,
        Some(0)
    );
    until("the change on the other gate", || {
        (waiting.status()["message"] == "Hello").then_some(())
    });

    let [one, other] = gates;
    one.kill();
    inside.at = other.address;
    assert!(inside.goes_to("/basket").is_the_shops());
    waiting.at = other.address;
    assert_eq!(inside.leaves().status, 200);
    until("the turn", || waiting.goes_to("/").is_the_shops().then_some(()));
    roster(&other, 1);
    assert_eq!(other.stop().code, Some(0));
}

/// The other gate has not read of it yet when a visitor comes there, and asks the room for a number in vain.
#[test]
fn who_meets_a_gate_that_lags_when_a_room_is_switched_off_goes_straight_in() {
    let store = Server::start(&Options::default());
    let link = Proxy::before(([127, 0, 0, 1], store.port()).into());
    let site = Site::shared(&store.url(), "");
    let gate = site.start();
    site.edit(&store.url(), &format!("redis://{}", link.address));
    let lagging = site.start();
    lagging.lives();
    gate.insider();
    link.set(Toxic::Delay(Duration::from_millis(600)));
    let slow = lagging.visitor().goes_to("/");
    assert_eq!(slow.word(), "waiting", "{slow:?}");
    let off = says(&site, &gate, &["rooms", "set", "shop", "--mode", "off"]);
    assert_eq!(off.code, Some(0), "{off:?}");
    assert!(lagging.visitor().goes_to("/").is_the_shops());
    let mut app = lagging.visitor();
    let join = app.joins_as_app();
    assert_eq!(join.json()["state"], "inside", "{join:?}");
}

/// The furthest gate is dead, and only the operator knows that it will not come back.
#[test]
fn gates_that_died_with_the_store_are_waited_for_until_an_operator_ends_that() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let (one, other) = (site.start(), site.start());
    one.lives();
    roster(&one, 2);
    let mut waiting = {
        one.insider();
        one.waits(1)
    };
    until("the other gate to know", || {
        let rooms = other.asks_admin("/api/v1/rooms").json();
        (rooms["rooms"][0]["waiting"] == 1).then_some(())
    });
    store.kill();
    one.kill();
    store.restart();
    let healing = until("healing", || {
        let gate = other.asks_admin("/api/v1/gates").json()["gate"].clone();
        (gate["condition"] == "healing" && gate["missing"].as_array().is_some_and(|gates| gates.len() == 1))
            .then_some(gate)
    });
    assert!(
        healing["healing_secs"].as_u64().is_some_and(|secs| secs <= 15),
        "{healing}"
    );
    let ready = other.asks_admin("/readyz");
    assert!(ready.status == 200 && ready.body.contains("healing for"), "{ready:?}");
    waiting.at = other.address;
    let told = says(&site, &other, &["gates"]).out;
    assert!(told.contains("ropeline gates --end-wait"), "{told}");
    let status = waiting.status();
    if other.asks_admin("/api/v1/gates").json()["gate"]["condition"] == "healing" {
        assert_eq!(
            (&status["why"], &status["resumes"]),
            (&json!("healing"), &json!(60)),
            "{status}"
        );
    }
    let ended = says(&site, &other, &["gates", "--end-wait"]);
    // Unless the wait was over by itself just then.
    assert!(
        ended.code == Some(0) || ended.err.contains("no gate is waited for"),
        "{ended:?}"
    );
    other.lives();
    assert_eq!((waiting.goes_to("/").word(), waiting.position()), ("waiting", Some(1)));
    let log = other.stop().err;
    assert!(
        ended.code != Some(0) || log.contains("an operator ended the wait for silent gates"),
        "{log}"
    );
}

/// No gate is left that knows, but the store has kept the gates' entries.
#[test]
fn a_gate_that_starts_after_all_have_died_shows_the_places_while_it_waits_for_the_dead() {
    let mut store = Server::start(&Options::durable());
    let site = Site::shared(&store.url(), "");
    let (one, other) = (site.start(), site.start());
    one.lives();
    roster(&one, 2);
    let mut inside = one.insider();
    let mut waiting = one.waits(1);
    let position = one.asks_admin("/api/v1/gates").json()["log"]["position"].clone();
    let (_, joined) = position.as_str().and_then(|at| at.split_once('-')).expect("a position");
    let joined: u64 = joined.parse().expect("a sequence");
    until("a snapshot in which they are", || {
        let saved: Option<u64> = store.ask("HGET {ropeline}:head saved");
        saved.filter(|sequence| *sequence >= joined)
    });
    one.kill();
    other.kill();
    store.kill();
    store.restart();
    let again = site.start();
    (inside.at, waiting.at) = (again.address, again.address);
    // While it begins the new log it heals already, and knows no visitor yet.
    let missing = until("who is waited for", || {
        let gate = again.asks_admin("/api/v1/gates").json()["gate"].clone();
        let missing = gate["missing"].as_array().filter(|_| gate["condition"] == "healing");
        missing.map(Vec::len)
    });
    assert_eq!(missing, 2);
    assert_eq!((waiting.goes_to("/").word(), waiting.position()), ("waiting", Some(1)));
    assert!(inside.goes_to("/basket").is_the_shops());
    assert_eq!(
        again.asks_admin("/api/v1/gates").json()["gate"]["condition"],
        "healing",
        "all that while"
    );
    again.lives();
    assert_eq!((waiting.goes_to("/").word(), waiting.position()), ("waiting", Some(1)));
    assert_eq!(inside.leaves().status, 200);
    until("the turn", || waiting.goes_to("/").is_the_shops().then_some(()));
}

/// A build for tests supports one version more than is in use, and agrees to it if configured so.
#[test]
fn a_machine_version_is_raised_when_all_gates_know_it() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "on_outage = \"open\"");
    let held_back = site.start();
    held_back.lives();
    assert_eq!(roster(&held_back, 1)["log"]["machine_version"], 2);
    site.set_store("machine_version = 3");
    let newer = site.start();
    roster(&newer, 2);
    let refused = says(&site, &newer, &["gates", "--raise", "3"]);
    assert!(
        refused.code == Some(1) && refused.err.contains("not all gates know machine version 3"),
        "{refused:?}"
    );
    assert_eq!(held_back.stop().code, Some(0));
    roster(&newer, 1);
    let raised = says(&site, &newer, &["gates", "--raise", "3"]);
    assert!(
        raised.code == Some(0) && raised.out.contains("machine version 3 in force"),
        "{raised:?}"
    );
    let again = says(&site, &newer, &["gates", "--raise", "3"]);
    assert!(again.err.contains("it never goes down"), "{again:?}");

    // Back to a binary that does not run it: such a gate takes no visitors, and opens no room for being in no touch.
    site.edit("machine_version = 3\n", "");
    let behind = site.start();
    let ready = until("readiness refused", || {
        let ready = behind.asks_admin("/readyz");
        ready.body.contains("behind").then_some(ready)
    });
    assert_eq!(ready.status, 503, "{ready:?}");
    let told = says(&site, &behind, &["gates"]).out;
    assert!(
        told.contains("gone on with machine version 3, which this gate does not run: upgrade it"),
        "{told}"
    );
    assert_eq!(behind.visitor().goes_to("/").word(), "joining");
    assert_eq!(roster(&newer, 1)["log"]["machine_version"], 3);
}
