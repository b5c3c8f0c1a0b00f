//! Gates that share their rooms, reloaded one after the other.

use super::{capacity, reload, taken};
use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::until;

/// A room more.
const VIP: &str = "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\nmode = \"closed\"\n";

#[test]
fn one_gate_after_the_other_takes_the_new_file_and_nobody_loses_a_place() {
    let store = Server::start(&Options::default());
    let (first, second) = (Site::shared(&store.url(), ""), Site::shared(&store.url(), ""));
    let (one, two) = (first.start(), second.start());
    [&one, &two].into_iter().for_each(Gate::lives);
    let mut inside = one.insider();
    let mut waiting = two.waits(1);

    first.edit("total_active_users = 1", "total_active_users = 2");
    first.edit(
        "[[room]]",
        "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\nmode = \"closed\"\n[[room]]",
    );
    taken(&first, &one);
    assert_eq!(one.visitor().goes_to("/vip/a").word(), "closed");
    // In between: settings hold everywhere, what a path belongs to is each gate's own.
    until("the capacity at the other gate", || (capacity(&two) == 2).then_some(()));
    assert_ne!(two.visitor().goes_to("/vip/a").word(), "closed");
    until("the turn", || (waiting.status()["state"] == "called").then_some(()));
    assert!(waiting.goes_to("/").is_the_shops());
    inside.at = two.address;
    assert!(inside.goes_to("/").is_the_shops());

    let text = std::fs::read_to_string(first.path("config.toml")).unwrap();
    std::fs::write(
        second.path("config.toml"),
        text.replace(&first.shop.url(), &second.shop.url()),
    )
    .unwrap();
    taken(&second, &two);
    assert_eq!(two.visitor().goes_to("/vip/a").word(), "closed");

    // A room that one of them drops stays for the other, whose visitors are in it.
    first.edit(
        "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\nmode = \"closed\"\n",
        "",
    );
    taken(&first, &one);
    assert_ne!(one.visitor().goes_to("/vip/a").word(), "closed");
    assert_eq!(two.visitor().goes_to("/vip/a").word(), "closed");
    one.logs("a room that is not configured here stays");
}

#[test]
fn without_its_store_a_gate_takes_other_settings_and_no_new_room() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let gate = site.start();
    gate.lives();
    let mut inside = gate.insider();
    store.kill();
    gate.is_cut_off();
    site.edit("[[room]]", &format!("{VIP}[[room]]"));
    let ended = reload(&site, &gate);
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(ended.err.contains("the log has not taken vip in time"), "{ended:?}");
    site.edit(VIP, "");
    site.edit("total_active_users = 1", "total_active_users = 2");
    taken(&site, &gate);
    assert!(inside.goes_to("/").is_the_shops());
    store.restart();
    until("the new capacity", || (capacity(&gate) == 2).then_some(()));
    assert_eq!(gate.asks_admin("/api/v1/rooms/vip").status, 404);
}

#[test]
fn a_room_that_was_refused_is_not_there_once_the_store_is_back() {
    let mut store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let gate = site.start();
    gate.lives();
    let _inside = gate.insider();
    let mut waiting = gate.waits(1);
    store.kill();
    gate.is_cut_off();
    site.edit("[[room]]", &format!("{VIP}[[room]]"));
    assert_eq!(reload(&site, &gate).code, Some(78));
    store.restart();
    gate.lives();
    // A visitor who comes now is noted behind all earlier items of the gate.
    let mut next = gate.visitor();
    next.goes_to("/");
    until("a number", || next.position());
    assert_eq!(waiting.position(), Some(1));
    assert_eq!(gate.asks_admin("/api/v1/rooms/vip").status, 404);
}
