//! A reload while much is under way, and while another reload is.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use rustix::process::Signal;

use super::{begins, taken};
use crate::gate::{Gate, Site};
use crate::visitor::Visitor;
use crate::{PATIENCE, until};

/// A form of which the first half is sent.
struct Upload(TcpStream, usize);

impl Upload {
    fn begin(visitor: &Visitor, length: usize) -> Self {
        let mut stream = TcpStream::connect(visitor.at).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let cookies: Vec<String> = visitor
            .jar
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let head = format!(
            "POST /order HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nSec-Fetch-Site: same-origin\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n",
            visitor.at,
            cookies.join("; ")
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'a'; length / 2]).unwrap();
        Self(stream, length - length / 2)
    }

    fn end(mut self) -> String {
        self.0.write_all(&vec![b'b'; self.1]).unwrap();
        let mut answer = String::new();
        self.0.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// Makes a file a pipe: its reader waits for the test.
fn pipe(site: &Site, name: &str) {
    std::fs::remove_file(site.path(name)).unwrap();
    assert!(Command::new("mkfifo").arg(site.path(name)).status().unwrap().success());
}

/// Gives the reader of the pipe the file's content.
fn feed(site: &Site, name: &str, text: &str) {
    let path = site.path(name);
    let mut pipe = until("somebody who reads", || {
        let mut options = OpenOptions::new();
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
        options.write(true).custom_flags(nonblocking).open(&path).ok()
    });
    pipe.write_all(text.as_bytes()).unwrap();
}

#[test]
fn nothing_that_is_under_way_is_lost_however_often_it_reloads() {
    let site = Site::new("", "");
    site.edit("total_active_users = 1", "total_active_users = 4");
    let gate = site.start();
    let insiders: Vec<Visitor> = (0..4).map(|_| gate.insider()).collect();
    let waiting: Vec<Visitor> = (1..=5).map(|position| gate.waits(position)).collect();
    let mut streams: Vec<_> = waiting.iter().map(Visitor::listens).collect();
    for stream in &mut streams {
        stream.reads("event: status");
    }
    let upload = Upload::begin(&insiders[0], 4_000_000);
    let mut socket = insiders[1].opens_socket();
    let held = insiders[2].sets_out_for("/hold");
    site.shop.holds(1);

    let (mut capacity, mut asked) = (4, 0);
    for turn in 0..6 {
        let (from, to) = (
            format!("total_active_users = {capacity}"),
            format!("total_active_users = {}", 4 + turn % 2),
        );
        if from != to {
            site.edit(&from, &to);
        }
        capacity = 4 + turn % 2;
        let going = begins(&site, &gate);
        gate.program.signal(Signal::HUP);
        // Requests go on meanwhile, one connection after the other.
        let mut visitor = insiders[3].clone();
        for _ in 0..20 {
            assert!(visitor.goes_to("/").is_the_shops());
            asked += 1;
        }
        let ended = going.ended();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(socket.is_alive());
    }
    assert_eq!(asked, 120);
    assert_eq!(gate.figure("ropeline_config_reloads_total{result=\"refused\"} "), 0);
    assert!(gate.figure("ropeline_config_reloads_total{result=\"taken\"} ") >= 6);
    let answer = upload.end();
    assert!(answer.contains("200 OK") && answer.contains("POST /order"), "{answer}");
    site.shop.let_go();
    assert!(held.answer().is_the_shops());
    // The first in line was called when there were five; the streams of the others say so, as they did before.
    streams[0].reads("event: called");
    insiders.into_iter().take(2).for_each(|mut one| {
        one.leaves();
    });
    streams[1].reads("event: called");
    assert!(socket_is_over(&mut socket), "its session was left");
    let mut waiting = waiting;
    until("who is left in line", || {
        (waiting[4].position() <= Some(3)).then_some(())
    });
}

/// Keepers look after what began before a reload too.
fn socket_is_over(socket: &mut crate::visitor::Socket) -> bool {
    until("the end of the socket", || (!socket.is_alive()).then_some(()));
    true
}

fn signs(site: &Site) -> Gate {
    std::fs::write(site.path("key"), "a first secret that is long enough to sign").unwrap();
    site.edit(
        "[store]",
        "signature_key = { id = \"a\", secret = { file = \"key\" } }\n[store]",
    );
    let gate = site.start();
    until("readiness", || (gate.asks_admin("/readyz").status == 200).then_some(()));
    // The gate reads its files once more when it has seen the rooms of its log: from here on it has.
    taken(site, &gate);
    pipe(site, "key");
    gate
}

#[test]
fn a_second_reload_waits_for_the_first_and_visitors_for_neither() {
    let site = Site::new("", "");
    let gate = signs(&site);
    let asked = || gate.program.err().matches("an operator asked for a reload").count();
    let before = asked();
    let mut first = begins(&site, &gate);
    until("the first", || (asked() == before + 1).then_some(()));
    let mut second = begins(&site, &gate);
    until("the second", || (asked() == before + 2).then_some(()));
    assert!(gate.insider().goes_to("/").is_the_shops());
    assert!(first.runs() && second.runs());
    feed(&site, "key", "short");
    let ended = first.ended();
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(second.runs());
    feed(&site, "key", "another secret that is long enough to sign");
    let ended = second.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(gate.figure("ropeline_config_reloads_total{result=\"refused\"} "), 1);
    assert_eq!(gate.figure("ropeline_config_reloads_total{result=\"taken\"} "), 2);
}

#[test]
fn more_reloads_than_may_wait_are_turned_away_and_a_stop_waits_for_none() {
    let site = Site::new("", "");
    let gate = signs(&site);
    let mut asking: Vec<_> = (0..12).map(|_| begins(&site, &gate)).collect();
    until("some that are turned away", || {
        let over = asking.iter_mut().filter_map(|one| (!one.runs()).then_some(())).count();
        (over >= 3).then_some(())
    });
    gate.program.signal(Signal::TERM);
    let ended = gate.program.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let turned_away = asking
        .into_iter()
        .map(|one| one.ended().err)
        .filter(|err| err.contains("too many wait"));
    assert!(turned_away.count() >= 3);
}

#[test]
fn an_order_that_comes_while_it_drains_changes_nothing() {
    let site = Site::new("", "");
    let gate = site.start();
    let inside = gate.insider();
    let held = inside.sets_out_for("/hold");
    site.shop.holds(1);
    gate.program.signal(Signal::TERM);
    until("readiness off", || {
        (gate.asks_admin("/readyz").status == 503).then_some(())
    });
    gate.program.signal(Signal::HUP);
    let ended = super::reload(&site, &gate);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    site.shop.let_go();
    assert!(held.answer().is_the_shops());
    assert_eq!(gate.program.ended().code, Some(0));
}

#[test]
fn a_file_that_stays_as_it_is_is_no_change() {
    let site = Site::new("", "");
    let gate = site.start();
    let told = taken(&site, &gate);
    assert!(told.contains("no key has another value"), "{told}");
}
