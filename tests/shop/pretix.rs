//! The shop as a process.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::process::Command;

use tempfile::TempDir;

use crate::harness::process::Process;

/// Where the shop will listen. It is opened first, since the gate wants the shop's address and the shop the gate's.
pub struct Door(TcpListener);

impl Door {
    pub fn open() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").expect("a port"))
    }

    pub fn address(&self) -> SocketAddr {
        self.0.local_addr().expect("bound above")
    }
}

/// A running pretix with a database of its own, and the payment provider beside it.
pub struct Pretix {
    // Dropped in this order: the process goes before its folder.
    _process: Process,
    _data: TempDir,
}

impl Pretix {
    /// Starts the shop behind `door`; visitors reach it at `public`, such as `http://localhost:8080`.
    pub fn start(door: Door, public: &str) -> Self {
        let data = tempfile::tempdir().expect("a folder for the shop");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/shop");
        let mut command = Command::new(script);
        command
            .args(["run", "--bind", "fd://0", "--url", public, "--data"])
            .arg(data.path());
        let process = Process::start_with(OwnedFd::from(door.0).into(), &mut command);
        process.line("the shop's address", |line| line.strip_prefix("shop: ").map(drop));
        Self {
            _process: process,
            _data: data,
        }
    }
}
