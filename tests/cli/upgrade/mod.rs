//! Upgrades of a running gate: the real binary passes on to itself, or to the present binary at its path.

mod failing;
mod listeners;
mod places;
mod releases;
mod rooms;
mod watched;

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::program::{Ended, Program};
use crate::until;
use crate::visitor::Visitor;

/// A gate whose binary can be replaced.
pub struct Old {
    pub gate: Gate,
    binary: PathBuf,
}

/// The process that an upgrade has put in the gate's place; killed with the value.
pub struct Heir {
    pid: Pid,
    pub address: SocketAddr,
    pub admin: SocketAddr,
}

impl Old {
    /// Starts the site's gate from a path of its own.
    pub fn start(site: &Site) -> Self {
        let binary = site.path("ropeline");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ropeline"), &binary).unwrap();
        let gate = Gate::serving(Program::start_as(&binary, &site.path(""), &["run", "--first-start"]));
        Self { gate, binary }
    }

    /// Puts a script where the binary was.
    pub fn replace_by(&self, script: &str) {
        replace(&self.binary, script);
    }

    /// Waits until the process before has ended; it must have ended well. What it and the next have said so far.
    pub fn ends(&mut self) -> String {
        let said = until("the end of the process before", || {
            (!self.gate.program.runs()).then(|| self.gate.program.err())
        });
        assert_eq!(self.gate.program.code(), Some(0), "{said}");
        said
    }
}

/// Puts a script where a binary was.
pub fn replace(binary: &Path, script: &str) {
    fs::remove_file(binary).unwrap();
    fs::write(binary, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(binary, fs::Permissions::from_mode(0o755)).unwrap();
}

/// `ropeline upgrade`, to its end.
pub fn asks(site: &Site, admin: SocketAddr) -> Ended {
    site.run(&["upgrade", "--format", "json", "--admin", &admin.to_string()])
}

impl Heir {
    /// Upgrades the gate that is there.
    pub fn of(site: &Site, address: SocketAddr, admin: SocketAddr) -> Self {
        let ended = asks(site, admin);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let upgraded: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(upgraded["version"], env!("CARGO_PKG_VERSION"));
        let pid = i32::try_from(upgraded["pid"].as_u64().unwrap()).unwrap();
        let pid = Pid::from_raw(pid).unwrap();
        Self { pid, address, admin }
    }

    pub fn after(site: &Site, old: &Old) -> Self {
        Self::of(site, old.gate.address, old.gate.admin)
    }

    /// The process with this id, where an upgrade was asked for in another way.
    pub fn known(pid: i32, old: &Old) -> Self {
        Self {
            pid: Pid::from_raw(pid).unwrap(),
            address: old.gate.address,
            admin: old.gate.admin,
        }
    }

    pub fn asks_admin(&self, target: &str) -> Value {
        Visitor::new(self.admin).asks(&format!("GET {target}"), "", "").json()
    }

    pub fn runs(&self) -> bool {
        test_kill_process(self.pid).is_ok()
    }

    pub fn is_told(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    pub fn is_gone(&self) {
        until("the end of the next process", || (!self.runs()).then_some(()));
    }

    /// Tells it to stop, and waits until it has.
    pub fn stop(self) {
        self.is_told(Signal::TERM);
        self.is_gone();
    }
}

impl Drop for Heir {
    fn drop(&mut self) {
        // Fails where it has ended already.
        let _ = kill_process(self.pid, Signal::KILL);
    }
}

/// The epoch of the log, which is the epoch that numbers are issued in.
pub fn epoch(admin: SocketAddr) -> String {
    let position = until("the log's position", || {
        let gates = Visitor::new(admin).asks("GET /api/v1/gates", "", "");
        let position = gates.json()["log"]["position"].as_str()?.to_owned();
        (!position.is_empty()).then_some(position)
    });
    position.split('-').next().unwrap().to_owned()
}

/// A whole figure of the metrics.
pub fn figure(admin: SocketAddr, name: &str) -> u64 {
    let metrics = Visitor::new(admin).asks("GET /metrics", "", "").body;
    let figure = metrics
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    figure.unwrap_or_else(|| panic!("no {name} in:\n{metrics}"))
}
