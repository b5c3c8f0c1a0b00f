//! The gate as an operator runs it: the binary, a config file, a data folder.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use super::guest::Guest;
use super::process::Process;

/// A running gate with a data folder of its own.
pub struct Gate {
    // Dropped in this order: the process goes before its folder.
    process: Process,
    folder: TempDir,
    /// How visitors reach it: a name, so that a payment provider at `127.0.0.1` is another site.
    pub address: String,
    /// The operator's side, as `127.0.0.1:PORT`.
    pub admin: String,
}

/// A gate that was killed, and can be started again at the address that visitors know.
pub struct Dead {
    folder: TempDir,
    address: String,
}

impl Gate {
    /// Starts `ropeline run` before `upstream` with these rooms and limits, and waits until it listens.
    pub fn start(upstream: SocketAddr, rooms: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the gate");
        let store = format!("embedded:{}/data", folder.path().display());
        Self::start_in(folder, upstream, (&store, ""), rooms)
    }

    /// As [`Self::start`], with these further lines of `[server]`.
    pub fn serving(upstream: SocketAddr, server: &str, rooms: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the gate");
        let store = format!("embedded:{}/data", folder.path().display());
        Self::start_in(folder, upstream, (&store, server), rooms)
    }

    /// As [`Self::start`], on the shared store at this URL, with the same keys as every other such gate.
    pub fn sharing(store: &str, upstream: SocketAddr, rooms: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the gate");
        let keys = "[tokens]\nkeys = [{ id = \"test\", secret = \"a secret of the tests, long enough for any ring\" }]";
        Self::start_in(folder, upstream, (store, ""), &format!("{rooms}\n{keys}\n"))
    }

    fn start_in(folder: TempDir, upstream: SocketAddr, (store, server): (&str, &str), rooms: &str) -> Self {
        let config = format!(
            "[server]\nlisten = [\"127.0.0.1:0\"]\nadmin_listen = \"127.0.0.1:0\"\n{server}\n\
             [upstream]\nurl = \"http://{upstream}\"\n\
             [store]\nurl = \"{store}\"\n{rooms}"
        );
        std::fs::write(folder.path().join(CONFIG), config).expect("the config is written");
        Self::run(folder)
    }

    fn run(folder: TempDir) -> Self {
        let process = Process::start(
            Command::new(crate::program())
                .arg("run")
                // A log that the tests let a store lose is one whose visitors they bring back themselves.
                .arg("--first-start")
                .arg("--config")
                .arg(folder.path().join(CONFIG)),
        );
        let (port, admin) = process.line("the gate's addresses", ports);
        let (address, admin) = (format!("http://localhost:{port}"), format!("127.0.0.1:{admin}"));
        Self {
            process,
            folder,
            address,
            admin,
        }
    }

    /// Replaces what stands once in its configuration, and has it read again (SIGHUP).
    pub fn reconfigure(&self, from: &str, to: &str) {
        let file = self.folder.path().join(CONFIG);
        let config = std::fs::read_to_string(&file).expect("written above");
        assert_eq!(config.matches(from).count(), 1, "{from} in {config}");
        std::fs::write(&file, config.replace(from, to)).expect("the config is written");
        self.signal(Signal::HUP);
    }

    /// Ends it at once, as a crash does.
    pub fn kill(self) -> Dead {
        drop(self.process);
        Dead {
            folder: self.folder,
            address: self.address,
        }
    }

    /// The whole address of a path.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// An integer of `/metrics`: the first sample whose name has this prefix.
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

impl Dead {
    /// Its data folder, where it has one.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts it again.
    pub fn start(self) -> Gate {
        let file = self.folder.path().join(CONFIG);
        let config = std::fs::read_to_string(&file).expect("written above");
        let (_, port) = self.address.rsplit_once(':').expect("an address with a port");
        let config = config.replacen("127.0.0.1:0", &format!("127.0.0.1:{port}"), 1);
        std::fs::write(&file, config).expect("the config is written");
        Gate::run(self.folder)
    }
}

/// Its name in the gate's folder.
const CONFIG: &str = "config.toml";

/// The ports of visitors and of the admin listener, from the line that says where the gate serves.
fn ports(line: &str) -> Option<(u16, u16)> {
    let (_, fields) = line.split_once("serving")?;
    let port = |name: &str| {
        let (_, rest) = fields.split_once(name)?.1.split_once("127.0.0.1:")?;
        rest.split(|other: char| !other.is_ascii_digit()).next()?.parse().ok()
    };
    Some((port("listen")?, port("admin")?))
}
