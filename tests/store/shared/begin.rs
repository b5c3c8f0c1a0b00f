//! How a shared log begins.

use std::sync::Barrier;

use ropeline::room::{GateId, Position, Wall};
use ropeline::store::{Beginning, Begun, Exchanged, Log};

use super::{append_of, open, server, snapshot, why};
use crate::contract::{after, begin, beginning, exchange, fill, root};

fn first(gate: u64, epoch: u64) -> Beginning {
    Beginning::First {
        epoch,
        append: Box::new(append_of(gate, 1)),
    }
}

#[test]
fn the_beginners_word_is_the_first_entry() {
    let server = server();
    let mut log = open(&server.url());
    let loaded = log.load().unwrap();
    assert!(!loaded.clean && !log.alone());
    assert_eq!(log.begin(0, &first(7, 90)), Ok(Begun::Begun));
    let before = Position { epoch: 90, sequence: 0 };
    let entries = exchange(&mut log, before, None);
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!(
        (entry.position, entry.gate, entry.serial),
        (after(before, 1), GateId(7), 1)
    );
    assert_eq!((entry.previous, entry.nonce), ([0; 8], append_of(7, 1).nonce));
    assert!(entry.time > Wall(1_600_000_000_000) && log.load().unwrap().clean);
}

#[test]
fn a_beginning_sent_again_is_the_same() {
    let server = server();
    let mut log = open(&server.url());
    assert_eq!(log.begin(0, &first(7, 90)), Ok(Begun::Begun));
    let at = Position { epoch: 90, sequence: 1 };
    fill(&mut log, at, 3);
    assert_eq!(log.begin(0, &first(7, 90)), Ok(Begun::Begun), "its answer was lost");
    assert_eq!(exchange(&mut log, at, None).len(), 3, "nothing began anew");
}

#[test]
fn a_shared_log_does_not_begin_with_a_root() {
    let server = server();
    let begun = open(&server.url()).begin(0, &Beginning::Root(root(5)));
    assert!(why(begun).contains("without its root"));
}

#[test]
fn of_gates_that_begin_at_the_same_moment_one_wins() {
    const GATES: u64 = 4;
    let server = server();
    let url = server.url();
    let mut seen = 0;
    for round in 1..=25 {
        let together = Barrier::new(usize::try_from(GATES).unwrap());
        let begin_one = &|gate: u64| {
            let mut log = open(&url);
            together.wait();
            (
                round * 100 + gate,
                log.begin(seen, &first(gate, round * 100 + gate)).unwrap(),
            )
        };
        let begun: Vec<_> = std::thread::scope(|scope| {
            let gates: Vec<_> = (1..=GATES).map(|gate| scope.spawn(move || begin_one(gate))).collect();
            gates.into_iter().map(|gate| gate.join().unwrap()).collect()
        });
        let won: Vec<_> = begun.iter().filter(|(_, begun)| *begun == Begun::Begun).collect();
        let [(winner, _)] = won[..] else {
            panic!("round {round}: {begun:?}")
        };
        let lost = Begun::Lost { epoch: *winner };
        assert!(
            begun.iter().all(|(own, begun)| own == winner || *begun == lost),
            "{begun:?}"
        );
        seen = *winner;
    }
}

#[test]
fn a_stream_that_somebody_else_wrote_to_is_begun_anew() {
    let server = server();
    let mut log = open(&server.url());
    let end = begin(&mut log);
    let _: String = server.ask("XADD {ropeline}:log 18446744073709551614-5 a b");
    let broken = Exchanged::Broken { epoch: end.epoch };
    assert_eq!(log.exchange(end, Some(&append_of(1, 2))), Ok(broken));
    assert_eq!(log.begin(end.epoch, &first(1, end.epoch + 1)), Ok(Begun::Begun));
    let at = Position {
        epoch: end.epoch + 1,
        sequence: 1,
    };
    fill(&mut log, at, 2);
}

#[test]
fn the_old_logs_snapshot_stays_until_the_new_one_has_its_own() {
    let server = server();
    let mut log = open(&server.url());
    let at = begin(&mut log);
    let end = fill(&mut log, at, 2);
    let old = snapshot(end, b"old");
    log.save(old.clone(), ropeline::store::Occasion::Checkpoint).unwrap();
    let next = beginning(&log, at.epoch + 1);
    log.begin(at.epoch, &next).unwrap();
    let loaded = log.load().unwrap();
    assert_eq!((loaded.epoch, loaded.snapshots), (at.epoch + 1, vec![old]));
    let new = Position {
        epoch: at.epoch + 1,
        sequence: 1,
    };
    log.save(snapshot(new, b"new"), ropeline::store::Occasion::Checkpoint)
        .unwrap();
    assert_eq!(log.load().unwrap().snapshots, [snapshot(new, b"new")]);
}

#[test]
fn what_was_skipped_in_the_old_log_means_nothing_in_the_new() {
    let server = server();
    let mut log = open(&server.url());
    let at = begin(&mut log);
    log.skip(at).unwrap();
    log.begin(at.epoch, &first(1, at.epoch + 1)).unwrap();
    assert_eq!(log.load().unwrap().skips, []);
}
