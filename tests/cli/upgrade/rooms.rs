//! A file that was edited before an upgrade changes no room before the next process is in charge.

use super::failing::says_so;
use super::{Heir, Old, asks};
use crate::gate::Site;
use crate::harness::redis::{Options, Server};
use crate::until;
use crate::visitor::Visitor;

/// A room more, which the next file has no more.
const VIP: &str = "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\", \"/hold\"]\ntotal_active_users = 1\n";
/// One that only the next file has.
const LATE: &str = "[[room]]\nname = \"late\"\nroutes = [\"/late/*\"]\nmode = \"closed\"\n";

/// With this many threads a process needs more descriptors than one may open that is to fail.
pub const THREADS: &str = "threads = 64";
/// Fails after it has read the rooms, said hello and begun to listen.
pub fn failing() -> String {
    format!("ulimit -n 64; exec {} \"$@\"", env!("CARGO_BIN_EXE_ropeline"))
}

fn position(visitor: &mut Visitor) -> Option<u64> {
    let fields =
        "Accept: application/json\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\nSec-Fetch-Site: same-origin\r\n";
    visitor.asks("GET /.ropeline/rooms/vip/status", fields, "").json()["position"].as_u64()
}

/// A visitor in the room and one who waits before it.
fn vips(old: &Old) -> [Visitor; 2] {
    let (mut inside, mut waiting) = (old.gate.visitor(), old.gate.visitor());
    assert!(inside.goes_to("/vip/a").is_the_shops() && inside.goes_to("/vip/a").is_the_shops());
    assert_eq!(waiting.goes_to("/vip/a").word(), "waiting");
    assert_eq!(position(&mut waiting), Some(1));
    [inside, waiting]
}

/// The file of the next process: the gate that runs refuses to reload it, for its threads.
fn edit(site: &Site) {
    site.edit(VIP, LATE);
    site.edit(
        "name = \"shop\"\ntotal_active_users = 1",
        "name = \"shop\"\ntotal_active_users = 2",
    );
    site.edit("threads = 1", THREADS);
}

/// Some answers of the operator's side, by room: there or not.
fn has(admin: std::net::SocketAddr, room: &str) -> bool {
    let answer = Visitor::new(admin).asks(&format!("GET /api/v1/rooms/{room}"), "", "");
    assert!([200, 404].contains(&answer.status), "{answer:?}");
    answer.status == 200
}

fn capacity(admin: std::net::SocketAddr) -> u64 {
    let room = Visitor::new(admin).asks("GET /api/v1/rooms/shop", "", "").json();
    room["total_active_users"].as_u64().unwrap()
}

fn fails_and_leaves_the_rooms(site: &Site) -> Old {
    site.edit("[[room]]", &format!("{VIP}[[room]]"));
    let old = Old::start(site);
    old.gate.lives();
    old.gate.insider();
    let [mut inside, mut waiting] = vips(&old);
    edit(site);
    old.replace_by(&failing());
    let ended = asks(site, old.gate.admin);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("no threads: Too many open files"), "{ended:?}");
    says_so(&old);
    // A visitor numbered now stands behind all of the other's items.
    let _behind = old.gate.waits(1);
    assert!(has(old.gate.admin, "vip"));
    assert_eq!((capacity(old.gate.admin), position(&mut waiting)), (1, Some(1)));
    assert!(inside.goes_to("/vip/b").is_the_shops());
    assert_eq!(waiting.goes_to("/vip/b").word(), "waiting");
    old
}

#[test]
fn a_next_process_that_fails_late_leaves_the_rooms_as_they_were() {
    let site = Site::new("", "");
    let mut old = fails_and_leaves_the_rooms(&site);
    until("the end of the new room", || {
        (!has(old.gate.admin, "late")).then_some(())
    });
    assert!(old.gate.program.runs());
}

#[test]
fn a_next_process_that_fails_late_leaves_the_rooms_in_a_shared_store_as_they_were() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let mut old = fails_and_leaves_the_rooms(&site);
    assert!(old.gate.program.runs());
}

fn serves_and_takes_the_rooms(site: &Site) {
    site.edit("[[room]]", &format!("{VIP}[[room]]"));
    let mut old = Old::start(site);
    old.gate.lives();
    old.gate.insider();
    let mut waiting = old.gate.waits(1);
    let [inside, _] = vips(&old);
    let slow = inside.sets_out_for("/hold");
    edit(site);
    let heir = Heir::after(site, &old);
    // A process in charge adds it to the log; visitors who come before that wait.
    until("the new room", || {
        let word = Visitor::new(heir.address).goes_to("/late/a").word().to_owned();
        assert!(["waiting", "closed"].contains(&word.as_str()), "{word}");
        (word == "closed").then_some(())
    });
    until("the new file's capacity", || (capacity(heir.admin) == 2).then_some(()));
    until("the turn", || (waiting.status()["state"] == "called").then_some(()));
    assert!(
        old.gate.program.runs() && has(heir.admin, "vip"),
        "somebody is in it still"
    );
    site.shop.let_go();
    assert!(slow.answer().is_the_shops());
    old.ends();
    until("the end of the room", || (!has(heir.admin, "vip")).then_some(()));
    assert!(has(heir.admin, "late"));
}

#[test]
fn rooms_that_are_gone_go_when_the_process_before_has_ended() {
    serves_and_takes_the_rooms(&Site::new("", ""));
}

#[test]
fn rooms_that_are_gone_go_from_a_shared_store_too_with_the_last_gate_that_has_them() {
    let store = Server::start(&Options::default());
    serves_and_takes_the_rooms(&Site::shared(&store.url(), ""));
}
