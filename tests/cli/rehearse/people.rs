//! What virtual visitors do besides waiting and coming in, as the gate sees it.

use serde_json::Value;

use rustix::process::Signal;

use crate::gate::{Gate, Site};
use crate::program::Program;
use crate::rehearse::{args, joined, room};
use crate::until;

const LINES: &str = "session_duration = \"60s\"\nclaim_deadline = \"5s\"\nfirm_within = \"5s\"\ngrace = \"10s\"\n\
                     late_window = \"60s\"";

/// Ten come in at once, and everybody who does not is like this.
fn rehearsal(more: &[&str]) -> (Site, Gate, Program) {
    let site = Site::new(LINES, "");
    site.edit("total_active_users = 1", "total_active_users = 10");
    let gate = site.start();
    let nobody = ["--leave", "--sleep", "--late", "--no-show"];
    let nobody = nobody
        .iter()
        .filter(|option| !more.contains(option))
        .flat_map(|option| [*option, "0"]);
    let base = ["--arrive", "1s", "--seed", "7", "--format", "json"];
    let all: Vec<&str> = base.into_iter().chain(nobody).chain(more.iter().copied()).collect();
    let folder = site.path("config.toml");
    let program = Program::start(folder.parent().unwrap(), &args(&gate, &mut Vec::new(), &all));
    (site, gate, program)
}

fn report(program: Program) -> Value {
    let ended = program.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn figure(gate: &Gate, name: &str) -> u64 {
    room(gate)[name].as_u64().unwrap()
}

#[test]
fn whoever_gives_up_leaves_the_line() {
    let (site, gate, mut program) = rehearsal(&[
        "--visitors",
        "40",
        "--inside",
        "10h",
        "--leave",
        "100",
        "--patience",
        "2s",
    ]);
    joined(&gate, &mut program, 40);
    until("the end of the line", || {
        (figure(&gate, "left") == 30 && figure(&gate, "waiting") == 0).then_some(())
    });
    program.signal(Signal::INT);
    let report = report(program);
    assert_eq!(
        (&report["fates"]["left"], &report["fates"]["inside"]),
        (&30.into(), &10.into())
    );
    assert_eq!(site.shop.asked("/"), 0);
}

#[test]
fn whoever_falls_silent_counts_as_away_until_they_are_back_in_their_place() {
    let (_site, gate, mut program) = rehearsal(&[
        "--visitors",
        "30",
        "--inside",
        "10h",
        "--sleep",
        "100",
        "--patience",
        "1s",
        "--sleep-for",
        "12s",
    ]);
    joined(&gate, &mut program, 30);
    until("some to be away", || (figure(&gate, "waiting") <= 16).then_some(()));
    until("all to be back", || (figure(&gate, "waiting") == 20).then_some(()));
    program.signal(Signal::INT);
    let report = report(program);
    assert_eq!(
        (&report["fates"]["waiting"], &report["fates"]["inside"]),
        (&20.into(), &10.into())
    );
    assert_eq!(figure(&gate, "joins"), 30, "nobody took a new place");
}

#[test]
fn whoever_does_not_come_holds_a_slot_until_the_deadline() {
    let (_site, gate, mut program) = rehearsal(&["--visitors", "40", "--inside", "1s", "--no-show", "100"]);
    joined(&gate, &mut program, 40);
    until("missed turns", || {
        let rehearsal = &room(&gate)["rehearsal"];
        assert!(program.runs(), "it ended before: {}", program.err());
        (rehearsal["no_shows"].as_u64()? >= 10).then_some(())
    });
    let report = report(program);
    assert_eq!(
        (&report["fates"]["no_show"], &report["fates"]["ended"]),
        (&30.into(), &10.into())
    );
}

#[test]
fn whoever_comes_late_gets_in_now_or_when_called_again() {
    let (_site, gate, mut program) = rehearsal(&["--visitors", "40", "--inside", "1s", "--late", "100"]);
    joined(&gate, &mut program, 40);
    until("missed turns", || {
        let rehearsal = &room(&gate)["rehearsal"];
        assert!(program.runs(), "it ended before: {}", program.err());
        (rehearsal["no_shows"].as_u64()? >= 1).then_some(())
    });
    let report = report(program);
    assert_eq!(report["fates"]["ended"], 40, "{}", report["fates"]);
    let visits = report["visits"].as_array().unwrap();
    assert!(
        visits
            .iter()
            .all(|visit| visit["inside"].is_u64() && visit["again"] == 0),
        "{visits:?}"
    );
}
