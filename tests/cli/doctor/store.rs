//! The store that would lose the log, is slow, or hangs; and gates with different keys on one store.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::doctor::{doctor, line_of, small};
use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::harness::toxic::{Proxy, Toxic};
use crate::program::Program;
use crate::until;

#[test]
fn a_store_that_may_evict_the_log_is_a_fault() {
    let store = Server::start(&Options::durable());
    let site = small(Site::shared(&store.url(), ""));
    let gate = site.start();
    gate.lives();
    doctor(&site, Some(&gate)).says("store", "fine", "keeps the log");
    let _: String = store.ask("CONFIG SET maxmemory 100mb");
    let _: String = store.ask("CONFIG SET maxmemory-policy allkeys-lru");
    for gate in [None, Some(&gate)] {
        let all = doctor(&site, gate);
        assert_eq!(all.code, Some(78));
        let found = all.says("store", "fault", "maxmemory-policy is allkeys-lru");
        assert_eq!(found["line"], line_of(&site, "[store]") + 1);
    }
}

#[test]
fn a_store_that_keeps_nothing_on_disk_is_a_warning() {
    let store = Server::start(&Options::default());
    let site = small(Site::shared(&store.url(), ""));
    doctor(&site, None).says("store", "warning", "appendonly yes");
}

#[test]
fn a_slow_store_is_told_by_its_round_trip() {
    let store = Server::start(&Options::durable());
    let proxy = Proxy::before(([127, 0, 0, 1], store.port()).into());
    proxy.set(Toxic::Delay(Duration::from_millis(40)));
    let site = small(Site::shared(&format!("redis://{}", proxy.address), ""));
    doctor(&site, None).says("store", "warning", "a visitor who joins waits for it");
    proxy.set(Toxic::Delay(Duration::from_millis(150)));
    let all = doctor(&site, None);
    assert_eq!(all.code, Some(78));
    let found = all.says("store", "fault", "a visitor who joins waits for it");
    assert_eq!(found["line"], line_of(&site, "[store]") + 1);
}

#[test]
fn a_store_that_hangs_is_a_fault_and_does_not_keep_the_doctor() {
    let store = Server::start(&Options::durable());
    let site = small(Site::shared(&store.url(), ""));
    let gate = site.start();
    gate.lives();
    store.pause();
    gate.is_cut_off();
    let all = doctor(&site, Some(&gate));
    store.resume();
    assert_eq!(all.code, Some(78));
    all.says("store", "fault", "does not answer");
    all.says("gate", "fault", "Cut off from the store");
}

#[test]
fn a_gate_with_another_key_is_a_fault_at_both() {
    let store = Server::start(&Options::durable());
    let sites = [(), ()].map(|()| small(Site::shared(&store.url(), "")));
    sites[1].edit("a secret of the tests", "another secret of the tests");
    let gates = sites.each_ref().map(Site::start);
    gates.iter().for_each(Gate::lives);
    for (site, gate) in sites.iter().zip(&gates) {
        let found = until("the other gate's note", || {
            let all = doctor(site, Some(gate));
            let found = all.of("keys").clone();
            (found["severity"] == "fault").then_some(found)
        });
        let message = found["message"].as_str().unwrap();
        assert!(
            message.contains("with the key \"test\"") && message.contains("another secret"),
            "{found}"
        );
        assert_eq!(
            (&found["key"], &found["line"]),
            (&"tokens.keys".into(), &line_of(site, "keys =").into())
        );
        assert!(!message.contains("a secret of the tests"), "{message}");
    }
}

/// libfaketime stands before the system's clock of one gate.
#[test]
fn a_gate_whose_clock_is_a_minute_ahead_is_a_fault_at_both() {
    let store = Server::start(&Options::durable());
    let site = small(Site::shared(&store.url(), ""));
    let script = site.path("start.sh");
    let text = format!(
        "#!/bin/sh\nfor file in /usr/lib/*/faketime/libfaketime.so.1; do export LD_PRELOAD=\"$file\"; done\n\
         export FAKETIME=+60s FAKETIME_DONT_FAKE_MONOTONIC=1\nexec {} \"$@\"\n",
        env!("CARGO_BIN_EXE_ropeline")
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let right = site.start();
    let ahead = Gate::serving(Program::start_as(&script, &site.path(""), &["run", "--first-start"]));
    for (gate, part) in [(&ahead, "ahead of the store's"), (&right, "behind another gate's")] {
        gate.lives();
        let found = until("the other gate's note", || {
            let found = doctor(&site, Some(gate)).of("clocks").clone();
            (found["severity"] == "fault").then_some(found)
        });
        let message = found["message"].as_str().unwrap();
        assert!(message.contains(part) && message.contains("clock is "), "{message}");
        assert_eq!(found["command"], "timedatectl");
    }
}
