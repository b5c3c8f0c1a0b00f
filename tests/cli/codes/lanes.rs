//! Lanes as an operator runs them: their visitors, the visitors' and the operator's view, and a reload in between.

use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::until;
use crate::visitor::{Answer, Visitor};

const LANES: &str = "[[room.lane]]\nname = \"members\"\nweight = 3\nnetworks = [\"198.51.100.0/24\"]\n\
                     [[room.lane]]\nname = \"everybody\"\n";

/// A visitor who comes through a trusted proxy, from that address.
fn from(visitor: &mut Visitor, address: &str) -> Answer {
    let fields = format!(
        "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nX-Forwarded-For: {address}\r\n"
    );
    visitor.asks("GET /", &fields, "")
}

fn site() -> Site {
    let site = Site::new("", LANES);
    site.edit("threads = 1", "threads = 1\ntrusted_proxies = [\"127.0.0.1\"]");
    site
}

fn lanes(gate: &Gate) -> Vec<Value> {
    let room = gate.asks_admin("/api/v1/rooms/shop").json();
    room["lanes"].as_array().cloned().unwrap_or_default()
}

/// A visitor of each network waits behind the one inside.
fn queued(gate: &Gate, address: &str, position: u64) -> Visitor {
    let mut visitor = gate.visitor();
    let answer = from(&mut visitor, address);
    assert_eq!((answer.status, answer.word()), (200, "waiting"), "{answer:?}");
    assert_eq!(visitor.position(), Some(position));
    visitor
}

#[test]
fn a_network_has_a_lane_of_its_own_with_positions_of_its_own() {
    let site = site();
    let gate = site.start();
    let mut inside = gate.insider();
    let mut others = [1, 2, 3].map(|position| queued(&gate, "203.0.113.9", position));
    let mut members = [1, 2].map(|position| queued(&gate, "198.51.100.7", position));
    let shown = lanes(&gate);
    let row = |at: usize| {
        (
            shown[at]["name"].as_str().unwrap(),
            shown[at]["waiting"].as_u64().unwrap(),
        )
    };
    assert_eq!(
        (shown.len(), row(0), row(1)),
        (2, ("everybody", 3), ("members", 2)),
        "{shown:?}"
    );
    assert_eq!(members[1].status()["waiting"], 2, "of the same lane");
    assert_eq!(gate.figure("ropeline_lane_waiting{room=\"shop\",lane=\"members\"}"), 2);
    let told = site.run(&["rooms", "--admin", &gate.admin.to_string()]);
    assert!(
        told.out
            .contains("shop: lane members (weight 3): 2 waiting, 0 called, 0 inside, 0 calls\n"),
        "{told:?}"
    );
    // The first call was of the common lane, so the members' turn comes now, in any order of arrival.
    inside.leaves();
    until("the first member's turn", || {
        (members[0].status()["state"] == "called").then_some(())
    });
    assert!(others.iter_mut().all(|other| other.status()["state"] == "waiting"));
    assert_eq!(members[1].position(), Some(1));
    let reference = others[0].status();
    assert_eq!(reference["position"], 1);
    gate.stop();
}

#[test]
fn a_reload_that_lists_the_lanes_otherwise_or_takes_one_out_leaves_everybody_where_they_are() {
    let site = site();
    let gate = site.start();
    let _inside = gate.insider();
    let mut other = queued(&gate, "203.0.113.9", 1);
    let mut members = [1, 2].map(|position| queued(&gate, "198.51.100.7", position));
    let reload = || site.run(&["reload", "--admin", &gate.admin.to_string()]);
    site.edit(
        LANES.trim_end(),
        "[[room.lane]]\nname = \"everybody\"\n[[room.lane]]\nname = \"press\"\nnetworks = [\"192.0.2.0/24\"]",
    );
    assert_eq!(reload().code, Some(0));
    let rows = until("the other lanes", || {
        let rows: Vec<_> = lanes(&gate)
            .iter()
            .map(|lane| lane["name"].as_str().unwrap().to_owned())
            .collect();
        (rows.len() == 3).then_some(rows)
    });
    assert_eq!(rows, ["everybody", "members", "press"]);
    assert_eq!(lanes(&gate)[1]["out"], true);
    assert_eq!(members.each_mut().map(Visitor::position), [Some(1), Some(2)]);
    assert_eq!(other.position(), Some(1));
    // A visitor who comes from there now stands with all others.
    let _late = queued(&gate, "198.51.100.7", 2);
    let _press = queued(&gate, "192.0.2.1", 1);
    for member in &mut members {
        member.leaves();
    }
    until("the lane to be gone", || (lanes(&gate).len() == 2).then_some(()));
    // A restart reads the same log, and tickets still have the same meaning.
    assert_eq!(gate.stop().code, Some(0));
    let gate = site.start();
    gate.lives();
    other.at = gate.address;
    assert_eq!(other.position(), Some(1));
    gate.stop();
}

#[test]
fn lanes_that_cannot_be_are_refused_by_a_reload_and_change_nothing() {
    let site = site();
    let gate = site.start();
    site.edit(
        "name = \"everybody\"\n",
        "name = \"everybody\"\nnetworks = [\"198.51.0.0/16\"]\n",
    );
    let refused = site.run(&["reload", "--admin", &gate.admin.to_string()]);
    assert_eq!(refused.code, Some(78), "{refused:?}");
    assert!(
        refused.err.contains("198.51.0.0/16 is in the lane \"members\" too"),
        "{refused:?}"
    );
    assert_eq!(lanes(&gate).len(), 2);
    gate.stop();
}
