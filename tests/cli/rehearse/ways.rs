//! Rehearsals where something is in the way: a log that takes nothing, a room that no file has, a sale that is not to be
//! rehearsed in, a shop that answers at length.

use ropeline::dates::rfc3339;
use ropeline::time;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::gate::{Gate, Site};
use crate::program::Program;
use crate::rehearse::{PLAIN, args, joined, room, site};
use crate::rooms::added::{adds, sends};
use crate::store::outage::{fill_disk, free_disk};
use crate::until;
use crate::visitor::Answer;

fn rehearsed(gate: &Gate) -> u64 {
    gate.figure("ropeline_requests_total{room=\"shop\",outcome=\"rehearsed\"}")
}

fn report(program: Program) -> Value {
    program.signal(Signal::INT);
    let ended = program.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

#[test]
fn whoever_comes_while_the_log_takes_nothing_joins_when_it_is_back() {
    let site = site();
    let gate = site.start_on_small_disk();
    let more = [
        "--profile",
        "steady",
        "--arrive",
        "20s",
        "--visitors",
        "60",
        "--inside",
        "10min",
    ];
    let whole = [&PLAIN[2..], &more, &["--format", "json"]].concat();
    let folder = site.path("config.toml");
    let mut program = Program::start(folder.parent().unwrap(), &args(&gate, &mut Vec::new(), &whole));
    joined(&gate, &mut program, 0);
    let before = fill_disk(&gate);
    gate.is_cut_off();
    let (asked, numbered) = (rehearsed(&gate), room(&gate)["rehearsal"]["joined"].as_u64().unwrap());
    assert!(numbered < 60, "nobody came in the outage");
    until("visitors who have to wait for the log", || {
        assert!(program.runs(), "{}", program.err());
        (rehearsed(&gate) > asked + 20).then_some(())
    });
    free_disk(&gate, before);
    joined(&gate, &mut program, 60);
    // A visitor who must wait for the log asks once more and gets the number: there is time for each to ask five times.
    let asked = rehearsed(&gate);
    until("what all of them hear", || {
        (rehearsed(&gate) > asked + 300).then_some(())
    });
    let report = report(program);
    let fates = &report["fates"];
    assert!(fates["lost"].is_null() && fates["refused"].is_null(), "{report}");
    let visits = report["visits"].as_array().unwrap();
    let mut came = visits.iter().filter(|visit| visit["fate"] != "ahead");
    assert!(came.all(|visit| visit["joined"].is_u64()), "{report}");
}

#[test]
fn a_room_that_was_added_at_run_time_is_rehearsed_as_any_other() {
    let site = site();
    let gate = site.start();
    let vip = "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\ntotal_active_users = 5\n";
    assert_eq!(adds(&gate, vip).status, 201);
    let mut places = Vec::new();
    let run = |places: &mut Vec<String>, room: &str, path: &str| {
        let more = [&PLAIN[..], &["--visitors", "5", "--inside", "1s", "--path", path]].concat();
        let mut whole = args(&gate, places, &more);
        whole[2] = room;
        site.run(&whole)
    };
    let ended = run(&mut places, "vip", "/vip/a");
    assert!(ended.code == Some(0) && ended.out.contains("inside 5,"), "{ended:?}");
    assert_eq!(gate.asks_admin("/api/v1/rooms/vip").json()["calls"], 5);
    assert_eq!(site.shop.asked("/vip/a"), 0);
    let elsewhere = run(&mut Vec::new(), "vip", "/");
    assert!(elsewhere.err.contains("is not in the room vip"), "{elsewhere:?}");
    let nowhere = run(&mut Vec::new(), "vap", "/");
    assert!(nowhere.err.contains("there is no room of that name"), "{nowhere:?}");
    // In the file as well, it is as the file says.
    site.edit("[[room]]", &format!("{vip}[[room]]"));
    let both = run(&mut Vec::new(), "vip", "/vip/a");
    assert!(both.code == Some(0) && both.out.contains("inside 5,"), "{both:?}");
}

fn orders(gate: &Gate, anyway: bool) -> Answer {
    let body = json!({"id": "0102030405060708", "visitors": 5, "seconds": 60, "anyway": anyway});
    let target = "POST /api/v1/rooms/shop/rehearsal";
    sends(gate, target, "application/json", &body.to_string())
}

#[test]
fn a_sale_by_stock_is_rehearsed_in_only_anyway_and_before_it_as_any_room() {
    let site = Site::new("stock = 5\nopens_at = \"2999-12-01 13:00 Asia/Seoul\"", "");
    let gate = site.start();
    assert_eq!(orders(&gate, false).status, 200);
    assert_eq!(room(&gate)["rehearsal"]["visitors"], 5);
    // The sale begins, and none goes on into it.
    site.edit("2999", "2021");
    let admin = gate.admin.to_string();
    let reload = site.run(&["reload", "--admin", &admin]);
    assert_eq!(reload.code, Some(0), "{reload:?}");
    until("the end of the rehearsal", || {
        room(&gate)["rehearsal"].is_null().then_some(())
    });
    let refused = orders(&gate, false);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(
        refused.body.contains("a sale by stock or by a draw is on"),
        "{refused:?}"
    );
    assert_eq!(orders(&gate, true).status, 200);
}

/// The early ones stand at the countdown, and join when the room opens.
#[test]
fn whoever_is_early_waits_for_the_opening() {
    let opens = rfc3339(time::wall().plus(10_000));
    let site = Site::new(&format!("session_duration = \"60s\"\nopens_at = \"{opens}\""), "");
    let gate = site.start();
    let more = ["--visitors", "5", "--inside", "1s", "--format", "json"];
    let whole = [&PLAIN[..], &more].concat();
    let ended = site.run(&args(&gate, &mut Vec::new(), &whole));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["fates"], json!({"ended": 5}), "{report}");
}
