//! A supervisor may take the end of the gate's process for the end of the gate: then an upgrade is refused.

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use super::{Heir, asks, replace};
use crate::gate::{Gate, Site};
use crate::program::Program;
use crate::until;

const BINARY: &str = env!("CARGO_BIN_EXE_ropeline");

/// Starts a gate by a script of the shell's, whose arguments are the gate's binary and this.
fn starts(site: &Site, script: &str, more: &Path) -> Gate {
    let more = more.display().to_string();
    let args = ["-c", script, BINARY, &more];
    Gate::serving(Program::start_as(Path::new("/bin/sh"), &site.path(""), &args))
}

fn is_refused(site: &Site, gate: &Gate, why: &str) {
    let ended = asks(site, gate.admin);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains(why), "{why} is not said: {ended:?}");
    assert!(!gate.program.err().contains("the next process is started"));
    gate.insider();
}

#[test]
fn a_unit_of_systemd_that_would_not_hear_of_the_next_process_is_told_what_it_must_be() {
    let site = Site::new("", "");
    let gate = starts(&site, "export SYSTEMD_EXEC_PID=$$; exec \"$0\" run", Path::new(""));
    is_refused(&site, &gate, "the unit must be Type=notify");
}

#[test]
fn a_unit_of_systemd_that_hears_of_the_next_process_is_upgraded_again_and_again() {
    let site = Site::new("", "");
    let path = site.path("notify");
    let _ear = UnixDatagram::bind(&path).unwrap();
    let script = "export SYSTEMD_EXEC_PID=$$ NOTIFY_SOCKET=\"$1\"; exec \"$0\" run";
    let gate = starts(&site, script, &path);
    let heir = Heir::of(&site, gate.address, gate.admin);
    let _next = Heir::of(&site, heir.address, heir.admin);
}

/// Starts a gate that speaks to this ear.
fn notifies(site: &Site) -> (Gate, UnixDatagram) {
    let path = site.path("notify");
    let ear = UnixDatagram::bind(&path).unwrap();
    let script = "export NOTIFY_SOCKET=\"$1\"; exec ./ropeline run";
    std::os::unix::fs::symlink(BINARY, site.path("ropeline")).unwrap();
    (starts(site, script, &path), ear)
}

/// The supervisor would take its end for the gate's.
#[test]
fn a_supervisor_does_not_hear_of_a_next_process_that_is_gone() {
    let site = Site::new("", "");
    let (gate, ear) = notifies(&site);
    let script = "import socket; s = socket.socket(fileno=0); s.shutdown(socket.SHUT_RD); \
        s.send(b'{\"ready\":{\"version\":\"1\",\"kept\":[]}}\\n'); s.recv(1)";
    std::fs::write(site.path("next.py"), script).unwrap();
    replace(&site.path("ropeline"), "exec python3 next.py");
    let ended = asks(&site, gate.admin);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    gate.insider();
    ear.set_nonblocking(true).unwrap();
    let mut words = [0; 256];
    let mut heard = std::iter::from_fn(|| ear.recv(&mut words).ok().map(|count| words[..count].to_vec()));
    assert!(heard.next().is_some_and(|word| word == b"READY=1"));
    assert_eq!(heard.next(), None);
}

#[test]
fn a_process_that_drains_does_not_stand_in_the_way_when_the_next_one_dies() {
    let site = Site::new("", "");
    site.edit("threads = 1", "threads = 1\ndrain_deadline = \"1h\"");
    site.edit("[upstream]", "[upstream]\nresponse_timeout = \"1h\"");
    let (mut gate, _ear) = notifies(&site);
    let _held = gate.insider().sets_out_for("/hold");
    site.shop.holds(1);
    let heir = Heir::of(&site, gate.address, gate.admin);
    assert!(gate.program.runs());
    heir.is_told(Signal::KILL);
    until("the end of the process before", || (!gate.program.runs()).then_some(()));
    until("word of it", || {
        let said = gate.program.err();
        said.contains("the next process has ended before this one")
            .then_some(())
    });
}

/// The first process of a container, with this name, that has one child and waits for it. Where no container of its own can be
/// had, it is one process among others.
fn contained(site: &Site, name: &str) -> Option<Gate> {
    let first = site.path(name);
    std::os::unix::fs::symlink("/bin/sh", &first).unwrap();
    let contains = ["--pid", "--fork", "--mount-proc", "true"];
    let can = Command::new("unshare")
        .args(contains)
        .output()
        .is_ok_and(|ran| ran.status.success());
    let script = if can {
        "exec unshare --pid --fork --mount-proc --kill-child \"$1\" -c '\"$0\" run & wait' \"$0\""
    } else {
        "exec \"$1\" -c 'setpriv --pdeathsig KILL \"$0\" run; :' \"$0\""
    };
    (can || name == "tini").then(|| starts(site, script, &first))
}

#[test]
fn the_child_of_a_containers_first_process_is_told_to_be_replaced() {
    for name in ["tini", "entrypoint"] {
        let site = Site::new("", "");
        let Some(gate) = contained(&site, name) else { continue };
        is_refused(&site, &gate, "the main process of its container");
    }
}
