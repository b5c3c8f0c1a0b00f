//! Rooms that come and go at several gates at once: one gate's operator, another gate's file, and a third gate's addition.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::rooms::added::{VIP, adds, all, removal, removes, word};
use crate::until;
use crate::visitor::Visitor;

fn table(room: &str) -> String {
    VIP.replace("vip", room)
}

fn has(gate: &Gate, room: &str, from: &str) -> bool {
    all(gate).contains(&(room.to_owned(), from.to_owned()))
}

fn comes(gate: &Gate, room: &str) {
    until("the room", || has(gate, room, "api").then_some(()));
    assert_eq!(word(gate, &format!("/{room}/a")), "closed");
}

#[test]
fn operators_at_two_gates_add_and_remove_at_once() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let (one, two) = (site.start(), site.start());
    [&one, &two].into_iter().for_each(Gate::lives);
    for round in 0..6 {
        let (left, right) = (format!("left{round}"), format!("right{round}"));
        thread::scope(|scope| {
            let other = scope.spawn(|| adds(&two, &table(&right)).status);
            assert_eq!(adds(&one, &table(&left)).status, 201);
            assert_eq!(other.join().unwrap(), 201);
        });
        for gate in [&one, &two] {
            comes(gate, &left);
            comes(gate, &right);
        }
        thread::scope(|scope| {
            let other = scope.spawn(|| removes(&two, &left, &removal(&left)).status);
            assert_eq!(removes(&one, &right, &removal(&right)).status, 200);
            assert_eq!(other.join().unwrap(), 200);
        });
        for gate in [&one, &two] {
            until("the end of both", || (all(gate).len() == 1).then_some(()));
            for room in [&left, &right] {
                let path = format!("/{room}/a");
                until("the end of its paths", || (word(gate, &path) != "closed").then_some(()));
            }
        }
    }
}

#[test]
fn a_file_with_a_mistake_holds_up_no_room_that_is_added_elsewhere() {
    let store = Server::start(&Options::default());
    let (first, second) = (Site::shared(&store.url(), ""), Site::shared(&store.url(), ""));
    let (one, two) = (first.start(), second.start());
    [&one, &two].into_iter().for_each(Gate::lives);
    first.edit("total_active_users = 1", "total_active_users = 0");
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reloads = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let answer = Visitor::new(one.admin).asks("POST /api/v1/reload", "Content-Length: 0\r\n", "");
                assert_ne!(answer.status, 200);
            }
        });
        for round in 0..8 {
            let room = format!("room{round}");
            assert_eq!(adds(&two, &table(&room)).status, 201);
            let came = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| comes(&one, &room)));
            if let Err(why) = came {
                over.store(true, Ordering::Relaxed);
                std::panic::resume_unwind(why);
            }
        }
        over.store(true, Ordering::Relaxed);
        reloads.join().unwrap();
    });
}

#[test]
fn a_room_that_moved_into_another_gates_file_is_there_again_after_its_removal() {
    let store = Server::start(&Options::default());
    let (first, second) = (Site::shared(&store.url(), ""), Site::shared(&store.url(), ""));
    let (one, two) = (first.start(), second.start());
    [&one, &two].into_iter().for_each(Gate::lives);
    assert_eq!(adds(&one, VIP).status, 201);
    comes(&two, "vip");
    second.edit("[[room]]", &format!("{VIP}[[room]]"));
    let reloaded = second.run(&["reload", "--admin", &two.admin.to_string()]);
    assert_eq!(reloaded.code, Some(0), "{reloaded:?}");
    assert!(has(&two, "vip", "file"));
    assert_eq!(removes(&one, "vip", &removal("vip")).status, 200);
    until("the room of the file", || {
        let listed = two.asks_admin("/api/v1/additions").json();
        (has(&two, "vip", "file") && listed["changes"][0]["what"] == "remove").then_some(())
    });
    assert_eq!(word(&two, "/vip/a"), "closed");
}
