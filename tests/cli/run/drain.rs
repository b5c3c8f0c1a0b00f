//! Stopping a gate: requests under way are finished, and no visitor loses a place.

use std::time::Duration;

use rustix::process::Signal;

use crate::gate::{Gate, Site};
use crate::until;

fn told_to_drain(gate: &Gate) {
    gate.program.signal(Signal::TERM);
    until("readiness off", || {
        let ready = gate.asks_admin("/readyz");
        (ready.status == 503 && ready.body.contains("draining")).then_some(())
    });
}

#[test]
fn a_gate_told_to_stop_finishes_what_is_under_way_and_keeps_every_place() {
    let site = Site::new("", "");
    let gate = site.start();
    let mut inside = gate.insider();
    let (mut first, mut second) = (gate.waits(1), gate.waits(2));
    let slow = inside.sets_out_for("/hold");
    site.shop.holds(1);
    let mut stream = first.listens();
    stream.reads("event: status");
    assert_eq!(gate.asks_admin("/readyz").status, 200);

    told_to_drain(&gate);
    let stream = stream.answer();
    let last = stream.body.trim_end().rsplit("\n\n").next().unwrap();
    assert!(last.contains("retry: "), "{stream:?}");
    site.shop.let_go();
    let slow = slow.answer();
    assert!(slow.is_the_shops() && slow.body.contains("GET /hold"), "{slow:?}");
    let ended = gate.program.ended();
    assert_eq!(ended.code, Some(0), "{ended:?}");

    let gate = site.start();
    for visitor in [&mut inside, &mut first, &mut second] {
        visitor.at = gate.address;
    }
    assert_eq!((second.position(), first.position()), (Some(2), Some(1)));
    first.listens().reads("event: status");
    assert!(inside.goes_to("/").is_the_shops());
    inside.leaves();
    until("the first's turn", || {
        (first.status()["state"] == "called").then_some(())
    });
    assert!(first.goes_to("/").is_the_shops());
    assert_eq!(second.position(), Some(1));
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let site = Site::new("", "");
    let mut gate = site.start();
    let inside = gate.insider();
    let slow = inside.sets_out_for("/hold");
    site.shop.holds(1);
    told_to_drain(&gate);
    // Sent to the process and to its group, as some do.
    gate.program.signal(Signal::TERM);
    let later = ropeline::time::uptime() + Duration::from_millis(1_200);
    while ropeline::time::uptime() < later {
        std::thread::park_timeout(Duration::from_millis(50));
    }
    assert!(gate.program.runs());
    gate.program.signal(Signal::TERM);
    assert_eq!(gate.program.ended().code, Some(1), "the shop has not answered yet");
    drop(slow);
    // The place is in the log all the same.
    let gate = site.start();
    assert_eq!(gate.visitor().goes_to("/").word(), "waiting");
}

#[test]
fn a_gate_that_is_killed_comes_back_with_everybody_in_their_place() {
    let site = Site::new("", "");
    let gate = site.start();
    let mut inside = gate.insider();
    let mut waiting = gate.waits(1);
    gate.kill();
    let gate = site.start();
    inside.at = gate.address;
    waiting.at = gate.address;
    assert!(inside.goes_to("/").is_the_shops());
    assert_eq!(waiting.goes_to("/").word(), "waiting");
    assert_eq!(waiting.position(), Some(1));
    gate.waits(2);
}
