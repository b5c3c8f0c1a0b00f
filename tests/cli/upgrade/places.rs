//! Visitors do not notice an upgrade.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;

use super::{Heir, Old, epoch};
use crate::PATIENCE;
use crate::gate::{Site, line_with};
use crate::harness::redis::{Options, Server};
use crate::until;
use crate::visitor::Visitor;

#[test]
fn everybody_keeps_the_place_and_numbers_go_on_in_the_same_log() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    let mut inside = old.gate.insider();
    let (mut first, mut second) = (old.gate.waits(1), old.gate.waits(2));
    let slow = inside.sets_out_for("/hold");
    site.shop.holds(1);
    let mut stream = first.listens();
    stream.reads("event: status");
    let before = epoch(old.gate.admin);

    let heir = Heir::after(&site, &old);
    // The one before drains: its stream says when to reconnect, and requests under way are finished.
    let stream = stream.answer();
    assert!(
        stream
            .body
            .trim_end()
            .rsplit("\n\n")
            .next()
            .unwrap()
            .contains("retry: "),
        "{stream:?}"
    );
    // Both are of one log: the next process knows the waiting visitors, new ones stand behind, and the one inside stays
    // inside.
    assert_eq!((second.position(), first.position()), (Some(2), Some(1)));
    assert!(inside.goes_to("/").is_the_shops());
    first.listens().reads("event: status");
    let mut third = Visitor::new(heir.address);
    assert_eq!((third.goes_to("/").word(), third.position()), ("waiting", Some(3)));
    assert!(old.gate.program.runs(), "the shop has not answered yet");
    site.shop.let_go();
    let slow = slow.answer();
    assert!(slow.is_the_shops() && slow.body.contains("GET /hold"), "{slow:?}");
    old.ends();
    assert_eq!(epoch(heir.admin), before);

    inside.leaves();
    until("the first's turn", || {
        (first.status()["state"] == "called").then_some(())
    });
    assert!(first.goes_to("/").is_the_shops());
    assert_eq!((second.position(), third.position()), (Some(1), Some(2)));
    // The last to end says so: the next start goes on in the same log too.
    heir.stop();
    let gate = site.start();
    for visitor in [&mut second, &mut third] {
        visitor.at = gate.address;
    }
    assert_eq!((second.position(), third.position()), (Some(1), Some(2)));
    assert_eq!(epoch(gate.admin), before);
}

#[test]
fn a_next_process_that_is_told_to_stop_leaves_the_one_before_to_its_drain() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    let inside = old.gate.insider();
    let mut waiting = old.gate.waits(1);
    let slow = inside.sets_out_for("/hold");
    site.shop.holds(1);
    let before = epoch(old.gate.admin);
    let heir = Heir::after(&site, &old);
    heir.stop();
    assert!(old.gate.program.runs(), "the shop has not answered yet");
    site.shop.let_go();
    assert!(slow.answer().is_the_shops());
    old.ends();
    let gate = site.start();
    waiting.at = gate.address;
    assert_eq!((waiting.position(), epoch(gate.admin)), (Some(1), before));
}

#[test]
fn upgrades_follow_each_other_and_one_waits_for_the_process_before_the_last() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    let inside = old.gate.insider();
    let mut waiting = old.gate.waits(1);
    let before = epoch(old.gate.admin);
    let slow = inside.sets_out_for("/hold");
    site.shop.holds(1);
    let heir = Heir::after(&site, &old);
    // Not before the first has drained.
    let next = std::thread::scope(|scope| {
        let next = scope.spawn(|| Heir::of(&site, heir.address, heir.admin));
        until("word that it waits", || {
            let said = old.gate.program.err();
            said.contains("waits until the process before").then_some(())
        });
        assert!(old.gate.program.runs());
        let busy = super::asks(&site, heir.admin);
        assert_eq!(busy.code, Some(1), "{busy:?}");
        assert!(busy.err.contains("under way already"), "{busy:?}");
        site.shop.let_go();
        assert!(slow.answer().is_the_shops());
        next.join().unwrap()
    });
    old.ends();
    let mut last = next;
    for _ in 0..3 {
        let (address, admin) = (last.address, last.admin);
        last = Heir::of(&site, address, admin);
        assert_eq!(waiting.position(), Some(1));
    }
    assert_eq!(epoch(last.admin), before);
    heir.is_gone();
}

#[test]
fn a_load_balancer_that_asks_all_the_while_is_never_told_that_it_is_not_ready() {
    let site = Site::new("", "");
    site.edit("threads = 1", "threads = 64");
    let mut old = Old::start(&site);
    old.gate.insider();
    let (admin, done) = (old.gate.admin, AtomicBool::new(false));
    let asks = || -> Vec<u16> {
        let status = || Visitor::new(admin).asks("GET /readyz", "", "").status;
        std::iter::from_fn(|| (!done.load(Ordering::Relaxed)).then(status)).collect()
    };
    let told = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(asks)).collect();
        let _heir = Heir::after(&site, &old);
        old.ends();
        done.store(true, Ordering::Relaxed);
        asking
            .into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect::<Vec<u16>>()
    });
    assert!(told.len() > 1 && told.iter().all(|status| *status == 200), "{told:?}");
}

#[test]
fn the_signal_does_the_same() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    let mut waiting = {
        old.gate.insider();
        old.gate.waits(1)
    };
    old.gate.program.signal(Signal::USR2);
    let said = old.ends();
    let pid = line_with(&said, "upgraded: the next process serves").unwrap()["pid"]
        .as_i64()
        .unwrap();
    let heir = Heir::known(i32::try_from(pid).unwrap(), &old);
    assert_eq!(waiting.position(), Some(1));
    assert!(heir.runs());
}

#[test]
fn a_connection_with_half_a_request_is_answered_and_then_closed() {
    let site = Site::new("", "");
    let mut old = Old::start(&site);
    let mut stream = TcpStream::connect(old.gate.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut idle = TcpStream::connect(old.gate.address).unwrap();
    idle.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"GET /robots.txt HTTP/1.1\r\nHo").unwrap();
    until("its bytes", || {
        (super::figure(old.gate.admin, "ropeline_connections") >= 2).then_some(())
    });
    let _heir = Heir::after(&site, &old);
    stream.write_all(b"st: shop.test\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let answer = answer.to_ascii_lowercase();
    assert!(
        answer.starts_with("http/1.1 200 ok\r\n") && answer.contains("connection: close\r\n"),
        "{answer}"
    );
    // No reset, and nothing that was not asked for.
    assert_eq!(idle.read_to_end(&mut Vec::new()).unwrap(), 0);
    old.ends();
}

#[test]
fn gates_that_share_a_store_are_upgraded_one_by_one() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    let mut old = Old::start(&site);
    old.gate.lives();
    let mut inside = old.gate.insider();
    let mut waiting = old.gate.waits(1);
    let mut stream = waiting.listens();
    stream.reads("event: status");
    let before = epoch(old.gate.admin);
    let heir = Heir::after(&site, &old);
    stream.answer();
    assert_eq!(waiting.position(), Some(1));
    assert!(inside.goes_to("/").is_the_shops());
    old.ends();
    assert_eq!(epoch(heir.admin), before);
    until("the other's goodbye", || {
        let gates = heir.asks_admin("/api/v1/gates");
        (gates["gates"].as_array().unwrap().len() == 1).then_some(())
    });
    assert_eq!(waiting.position(), Some(1));
}

#[test]
fn a_purchase_whose_answer_begins_during_the_upgrade_is_counted() {
    let room = "routes = [\"/*\"]\nstock = 3\ncompletes_on = [{ route = \"/hold\", status = 200 }]";
    let site = Site::new(room, "");
    let mut old = Old::start(&site);
    let buys = old.gate.insider().sets_out_for("/hold");
    site.shop.holds(1);
    let heir = std::thread::scope(|scope| {
        let heir = scope.spawn(|| Heir::after(&site, &old));
        until("the next process", || {
            old.gate
                .program
                .err()
                .contains("the next process is started")
                .then_some(())
        });
        // Longer than the next process takes to want the store. Were it closed by then, the purchase would have nowhere to go.
        std::thread::park_timeout(Duration::from_secs(2));
        site.shop.let_go();
        heir.join().unwrap()
    });
    assert!(buys.answer().is_the_shops());
    old.ends();
    let sold = until("the purchase", || {
        let room = heir.asks_admin("/api/v1/rooms/shop");
        room["completed"].as_u64().filter(|sold| *sold > 0)
    });
    assert_eq!(sold, 1);
}
