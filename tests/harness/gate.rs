//! The gate as an operator runs it: the binary, a config file, a data folder.

use std::net::SocketAddr;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use super::guest::Guest;
use super::process::Process;

/// A running gate with a data folder of its own.
pub struct Gate {
    // Dropped in this order: the process goes before its folder.
    process: Process,
    _folder: TempDir,
    /// How visitors reach it: a name, so that a payment provider at `127.0.0.1` is another site.
    pub address: String,
    /// The operator's side, as `127.0.0.1:PORT`.
    pub admin: String,
}

impl Gate {
    /// Starts `anteroom run` before `upstream` with these rooms and limits, and waits until it listens.
    pub fn start(upstream: SocketAddr, rooms: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the gate");
        let config = format!(
            "[server]\nlisten = [\"127.0.0.1:0\"]\nadmin_listen = \"127.0.0.1:0\"\n\
             [upstream]\nurl = \"http://{upstream}\"\n\
             [store]\nurl = \"embedded:{}/data\"\n{rooms}",
            folder.path().display()
        );
        let file = folder.path().join("config.toml");
        std::fs::write(&file, config).expect("the config is written");
        let process = Process::start(
            Command::new(env!("CARGO_BIN_EXE_anteroom"))
                .arg("run")
                .arg("--config")
                .arg(file),
        );
        let (port, admin) = process.line("the gate's addresses", ports);
        let (address, admin) = (format!("http://localhost:{port}"), format!("127.0.0.1:{admin}"));
        Self {
            process,
            _folder: folder,
            address,
            admin,
        }
    }

    /// The whole address of a path.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// A whole figure of `/metrics`: the first sample whose name begins so.
    pub async fn metric(&self, name: &str) -> u64 {
        let metrics = Guest::new(&format!("http://{}", self.admin))
            .visit("/metrics")
            .await
            .body;
        let sample = metrics
            .lines()
            .find_map(|line| line.strip_prefix(name)?.rsplit_once(' ')?.1.parse().ok());
        sample.unwrap_or_else(|| panic!("no {name} in:\n{metrics}"))
    }

    /// Everything it has written so far.
    pub fn said(&self) -> String {
        self.process.said()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }
}

/// The ports of visitors and of the admin listener, from the line that says where the gate serves.
fn ports(line: &str) -> Option<(u16, u16)> {
    let (_, fields) = line.split_once("serving")?;
    let port = |name: &str| {
        let (_, rest) = fields.split_once(name)?.1.split_once("127.0.0.1:")?;
        rest.split(|other: char| !other.is_ascii_digit()).next()?.parse().ok()
    };
    Some((port("listen")?, port("admin")?))
}
