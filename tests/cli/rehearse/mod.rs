//! Rehearsals against running gates: people practise among virtual visitors, of whom the shop sees nothing, and who are gone
//! when it ends or is killed.

mod people;
mod shared;
mod ways;

use rustix::process::Signal;
use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::program::{Ended, Program};
use crate::until;

/// All come at once, stay briefly, and do nothing else.
pub const PLAIN: [&str; 10] = [
    "--arrive",
    "1s",
    "--leave",
    "0",
    "--sleep",
    "0",
    "--late",
    "0",
    "--no-show",
    "0",
];

pub fn site() -> Site {
    let site = Site::new("session_duration = \"20s\"", "");
    site.edit("total_active_users = 1", "total_active_users = 10");
    site
}

pub fn args<'a>(gate: &Gate, places: &'a mut Vec<String>, more: &[&'a str]) -> Vec<&'a str> {
    places.push(format!("http://{}", gate.admin));
    places.push(format!("http://{}", gate.address));
    let base = ["rehearse", "--room", "shop", "--admin", &places[0], "--url", &places[1]];
    [&base, more].concat()
}

pub fn rehearse(site: &Site, gate: &Gate, more: &[&str]) -> Ended {
    site.run(&args(gate, &mut Vec::new(), more))
}

pub fn begin(site: &Site, gate: &Gate, more: &[&str]) -> Program {
    let more = [&PLAIN, more].concat();
    let folder = site.path("config.toml");
    Program::start(folder.parent().unwrap(), &args(gate, &mut Vec::new(), &more))
}

pub fn room(gate: &Gate) -> Value {
    gate.asks_admin("/api/v1/rooms/shop").json()
}

/// So many virtual visitors have joined.
pub fn joined(gate: &Gate, program: &mut Program, count: u64) {
    until("virtual visitors", || {
        assert!(program.runs(), "{}\n{}", program.out(), program.err());
        (room(gate)["rehearsal"]["joined"].as_u64()? >= count).then_some(())
    });
}

/// No virtual visitor is left.
pub fn all_are_gone(gate: &Gate) {
    until("the end of the rehearsal", || {
        let room = room(gate);
        let figures = ["waiting", "called", "sessions"].map(|key| room[key].as_u64().unwrap());
        (room["rehearsal"].is_null() && figures[0] == 0).then_some(())
    });
}

#[test]
fn a_person_gets_in_in_turn_among_virtual_visitors_and_alone_reaches_the_shop() {
    let site = site();
    let gate = site.start();
    let mut program = begin(
        &site,
        &gate,
        &["--visitors", "80", "--inside", "1s", "--seed", "7", "--format", "json"],
    );
    joined(&gate, &mut program, 80);
    let before = room(&gate)["calls"].as_u64().unwrap();
    let mut person = gate.visitor();
    assert_eq!(person.goes_to("/person").word(), "waiting");
    let position = person.position().unwrap();
    assert!(position > 10, "{position}");
    until("the person's turn", || {
        (person.status()["state"] == "called").then_some(())
    });
    let calls = room(&gate)["calls"].as_u64().unwrap() - before;
    // All who stood before were called, and hardly any from behind: no other visitor came.
    assert!(
        calls >= position.saturating_sub(10),
        "{calls} calls from position {position}"
    );
    assert!(person.goes_to("/person").is_the_shops());
    program.signal(Signal::INT);
    let ended = program.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    all_are_gone(&gate);
    until("the person inside", || (room(&gate)["sessions"] == 1).then_some(()));
    assert_eq!(site.shop.asked("/"), 0, "a virtual visitor reached the shop");
    let report: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert_eq!(
        (report["seed"].as_u64(), report["visits"].as_array().unwrap().len()),
        (Some(7), 80)
    );
    let waits = &report["waits"]["until_called"];
    assert!(
        waits["count"].as_u64().unwrap() >= position - 10 && waits["p50_secs"].as_f64() <= waits["max_secs"].as_f64(),
        "{waits}"
    );
    assert!(gate.figure("ropeline_requests_total{room=\"shop\",outcome=\"rehearsed\"}") > 80);
    let told = gate.stop();
    assert!(
        told.err.contains("a rehearsal has begun") && told.err.contains("a rehearsal was ended"),
        "{told:?}"
    );
}

#[test]
fn when_it_is_killed_the_room_sends_its_visitors_off() {
    let site = site();
    let gate = site.start();
    let mut program = begin(&site, &gate, &["--visitors", "100", "--inside", "60s"]);
    joined(&gate, &mut program, 100);
    let mut person = gate.visitor();
    assert_eq!(person.goes_to("/person").word(), "waiting");
    program.signal(Signal::KILL);
    program.ended();
    until("the person's turn", || {
        (person.status()["state"] == "called").then_some(())
    });
    all_are_gone(&gate);
    assert!(person.goes_to("/person").is_the_shops());
    until("the claim", || (room(&gate)["sessions"] == 1).then_some(()));
    assert_eq!(site.shop.asked("/"), 0, "a virtual visitor reached the shop");
}

#[test]
fn one_at_a_time_and_anybody_with_a_token_can_end_it() {
    let site = site();
    let gate = site.start();
    let mut program = begin(&site, &gate, &["--visitors", "20", "--inside", "60s"]);
    joined(&gate, &mut program, 20);
    let second = rehearse(&site, &gate, &["--visitors", "5"]);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.err.contains("is under way until"), "{second:?}");
    let end = rehearse(&site, &gate, &["--end", "--reason", "enough"]);
    assert_eq!(end.code, Some(0), "{end:?}");
    all_are_gone(&gate);
    let ended = program.ended();
    assert!(ended.err.contains("over at the gate"), "{ended:?}");
    let changes = gate.asks_admin("/api/v1/rooms/shop/changes").json();
    let (last, first) = (&changes["changes"][0], &changes["changes"][1]);
    assert_eq!(
        (&last["what"], &last["reason"]),
        (&"rehearsal ended".into(), &"enough".into())
    );
    assert_eq!(first["what"], "rehearsal");
    assert_eq!(rehearse(&site, &gate, &["--end"]).code, Some(1), "none is under way");
}

#[test]
fn what_is_not_signed_by_the_gates_keys_makes_nobody_virtual() {
    let (site, other) = (self::site(), self::site());
    let gate = site.start();
    // A key of its own, which is not the gate's.
    other.start().stop();
    let refused = rehearse(&other, &gate, &["--visitors", "5"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("does not take the mark"), "{refused:?}");
    assert!(room(&gate)["rehearsal"].is_null());
    for target in ["GET /", "GET /robots.txt", "POST /", "GET /.ropeline/rooms/shop/status"] {
        let fields = "Accept: text/html\r\nContent-Length: 0\r\nRopeline-Rehearsal: AQNvd24\r\n";
        let answer = gate.visitor().asks(target, fields, "");
        assert_eq!((answer.status, answer.word()), (403, "rehearsal_mark"), "{target}");
    }
    assert_eq!((site.shop.asked("/"), site.shop.asked("/robots.txt")), (0, 0));
}

#[test]
fn with_forward_and_not_without_it_the_shop_is_asked() {
    let site = site();
    let gate = site.start();
    let plain = rehearse(
        &site,
        &gate,
        &[&PLAIN[..], &["--visitors", "10", "--inside", "1s"]].concat(),
    );
    assert_eq!((plain.code, site.shop.asked("/")), (Some(0), 0), "{plain:?}");
    let forwarded = rehearse(
        &site,
        &gate,
        &[&PLAIN[..], &["--visitors", "10", "--inside", "1s", "--forward"]].concat(),
    );
    assert_eq!(forwarded.code, Some(0), "{forwarded:?}");
    assert!(site.shop.asked("/") >= 10, "{forwarded:?}");
    assert!(forwarded.out.contains("inside 10"), "{forwarded:?}");
}

#[test]
fn a_wrong_target_is_told_in_words() {
    let site = site();
    let gate = site.start();
    let told = |args: &[&str]| {
        let ended = site.run(args);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        ended.err
    };
    let (admin, shop) = (format!("http://{}", gate.admin), site.shop.url());
    let base = ["rehearse", "--admin", &admin, "--room"];
    assert!(told(&[&base[..], &["nowhere"]].concat()).contains("no room of that name; there are: shop"));
    assert!(told(&[&base[..], &["shop", "--url", &shop]].concat()).contains("no gate that can rehearse"));
    assert!(told(&[&base[..], &["shop", "--url", "http://127.0.0.1:1"]].concat()).contains("nothing answers"));
    assert!(told(&[&base[..], &["shop", "--url", &shop, "--path", "/a b"]].concat()).contains("no path"));
    let misspelt = site.run(&[&base[..], &["shop", "--profile", "stampede"]].concat());
    assert!(
        misspelt.code == Some(2) && misspelt.err.contains("spike, wave"),
        "{misspelt:?}"
    );
    assert!(
        told(&[&base[..], &["shop"]].concat()).contains("--url"),
        "no port is known"
    );
}
