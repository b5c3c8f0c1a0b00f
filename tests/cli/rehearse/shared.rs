//! Rehearsals where several gates share a store, and in a room with several lines.

use rustix::process::Signal;
use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::program::Program;
use crate::rehearse::{PLAIN, all_are_gone, args, joined, rehearse, room};
use crate::until;

/// Begun at one gate, with visitors that come to the other.
fn across(site: &Site, [admin, url]: [&Gate; 2], more: &[&str]) -> Program {
    let places = [format!("http://{}", admin.admin), format!("http://{}", url.address)];
    let base = ["rehearse", "--room", "shop", "--admin", &places[0], "--url", &places[1]];
    let folder = site.path("config.toml");
    Program::start(folder.parent().unwrap(), &[&base, &PLAIN[..], more].concat())
}

fn virtuals(gate: &Gate, name: &str) -> u64 {
    room(gate)["rehearsal"][name].as_u64().unwrap_or(0)
}

#[test]
fn all_gates_have_its_visitors_and_send_them_off_when_the_one_that_led_it_dies() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "session_duration = \"60s\"");
    let (one, two) = (site.start(), site.start());
    [&one, &two].into_iter().for_each(Gate::lives);
    let mut program = across(&site, [&one, &two], &["--visitors", "40", "--inside", "10min"]);
    for gate in [&one, &two] {
        joined(gate, &mut program, 40);
        until("the line", || {
            let figures = ["waiting", "called", "sessions"].map(|name| virtuals(gate, name));
            (figures == [39, 0, 1]).then_some(())
        });
    }
    let mut person = two.visitor();
    assert_eq!(person.goes_to("/person").word(), "waiting");
    assert_eq!(person.position(), Some(40));
    // No command renews it any more: the command only knows its own gate's admin listener.
    one.kill();
    until("the person's turn", || {
        (person.status()["state"] == "called").then_some(())
    });
    all_are_gone(&two);
    assert!(person.goes_to("/person").is_the_shops());
    assert_eq!(site.shop.asked("/"), 0, "a virtual visitor reached the shop");
    assert_ne!(program.ended().code, Some(0));
    assert_eq!(two.stop().code, Some(0));
}

#[test]
fn of_a_room_with_lines_the_one_of_the_path_is_rehearsed() {
    let site = Site::new(
        "session_duration = \"60s\"\nroutes = [\"/shows/{id}/*\"]\nper = \"{id}\"",
        "",
    );
    let gate = site.start();
    let more = ["--visitors", "20", "--inside", "10min", "--path", "/shows/a/seats"];
    let whole = [&PLAIN[..], &more, &["--format", "json"]].concat();
    let folder = site.path("config.toml");
    let mut program = Program::start(folder.parent().unwrap(), &args(&gate, &mut Vec::new(), &whole));
    joined(&gate, &mut program, 20);
    assert!(gate.visitor().goes_to("/shows/b/seats").is_the_shops(), "another line");
    let mut person = gate.visitor();
    assert_eq!(person.goes_to("/shows/a/seats").word(), "waiting");
    let lines = gate.asks_admin("/api/v1/rooms/shop/lines").json();
    let counted = |line: &str| -> Option<u64> {
        let lines = lines["lines"].as_array().unwrap();
        lines.iter().find(|one| one["line"] == line)?["joins"].as_u64()
    };
    assert_eq!((counted("a"), counted("b")), (Some(21), Some(1)), "{lines}");
    program.signal(Signal::TERM);
    let ended = program.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&report["fates"]["waiting"], &report["fates"]["inside"]),
        (&19.into(), &1.into()),
        "{report}"
    );
    // The two people, one in each line.
    all_are_gone_but(&gate, 2);
    let elsewhere = rehearse(&site, &gate, &["--visitors", "5", "--path", "/shows/"]);
    assert!(elsewhere.err.contains("is not in the room shop"), "{elsewhere:?}");
    assert_eq!(site.shop.asked("/shows/a/seats"), 0);
}

fn all_are_gone_but(gate: &Gate, people: u64) {
    until("the end of the rehearsal", || {
        let room = room(gate);
        let there = ["waiting", "called", "sessions"].map(|key| room[key].as_u64().unwrap());
        (room["rehearsal"].is_null() && there.iter().sum::<u64>() == people).then_some(())
    });
}
