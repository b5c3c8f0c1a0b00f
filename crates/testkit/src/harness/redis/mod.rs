//! Real stores: servers, a cluster, and a master that sentinels watch, on free ports, gone with the test.
//!
//! `redis-server` from the `PATH`, or the program in `REDIS_SERVER`: Redis from 6.2 on, or Valkey. All requests go over the
//! wire, so no other program of a distribution is needed.

mod cluster;
mod sentinel;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use redis::{Connection, ConnectionAddr, ConnectionInfo, FromRedisValue, IntoConnectionInfo, RedisConnectionInfo};
use rustix::process::Signal;
use tempfile::TempDir;

use super::PATIENCE;
use super::process::Process;

#[allow(unused_imports, reason = "each test binary uses a part of it")]
pub use self::cluster::Cluster;
#[allow(unused_imports, reason = "each test binary uses a part of it")]
pub use self::sentinel::Sentinel;

/// How a server is configured; nothing is kept on disk unless it says so.
#[derive(Clone, Default)]
pub struct Options {
    /// Lines of the server's configuration, later ones win.
    pub lines: Vec<String>,
    pub password: Option<String>,
}

impl Options {
    /// Keeps every write on disk before it is answered.
    pub fn durable() -> Self {
        Self::default().line("appendonly yes").line("appendfsync always")
    }

    /// Demands this password.
    pub fn password(password: &str) -> Self {
        Self {
            password: Some(password.to_owned()),
            ..Self::default().line(&format!("requirepass {password}\nmasterauth {password}"))
        }
    }

    #[must_use]
    pub fn line(mut self, line: &str) -> Self {
        self.lines.push(line.to_owned());
        self
    }
}

/// A separate server: a folder, a port on 127.0.0.1, and a process that can be killed and started again on both.
pub struct Server {
    // Dropped in this order: the process goes before its folder.
    process: Option<Process>,
    folder: TempDir,
    port: u16,
    options: Options,
    sentinel: bool,
}

impl Server {
    /// Starts it and waits until it takes connections.
    pub fn start(options: &Options) -> Self {
        Self::start_as(options, false)
    }

    fn start_as(options: &Options, sentinel: bool) -> Self {
        for _ in 0..ATTEMPTS {
            let mut server = Self {
                process: None,
                folder: tempfile::tempdir().expect("a folder for the store"),
                port: free_port(),
                options: options.clone(),
                sentinel,
            };
            server.configure();
            if server.run() {
                return server;
            }
        }
        panic!("no free port for {}", binary().display());
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// `redis://…` with its password.
    pub fn url(&self) -> String {
        let login = self.options.password.as_ref().map(|password| format!(":{password}@"));
        format!("redis://{}127.0.0.1:{}", login.unwrap_or_default(), self.port)
    }

    /// Where it keeps its data.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it at once, as a crash does.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Asks it to end, so that it saves its data as configured.
    pub fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop();
        }
    }

    /// Starts it again on the same port with the data it has kept; ended first if it still runs.
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.run(), "the port {} was taken meanwhile", self.port);
    }

    /// Removes the files of a stopped server.
    pub fn forget(&self) {
        assert!(self.process.is_none(), "it would write its data again");
        for entry in std::fs::read_dir(self.folder()).expect("the folder is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).expect("its own folder");
            } else if path != self.file() {
                std::fs::remove_file(path).expect("its own file");
            }
        }
    }

    /// Stops it in its tracks (SIGSTOP) until [`resume`](Self::resume): connections stay, nothing answers.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        self.process.as_ref().expect("it runs").signal(signal);
    }

    /// A separate connection; panics if it fails.
    pub fn connect(&self) -> Connection {
        self.try_connect().expect("a connection to the store")
    }

    fn try_connect(&self) -> redis::RedisResult<Connection> {
        let mut settings = RedisConnectionInfo::default();
        if let Some(password) = &self.options.password {
            settings = settings.set_password(password);
        }
        let client = redis::Client::open(address(self.port).set_redis_settings(settings))?;
        let connection = client.get_connection_with_timeout(TIMEOUT)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        Ok(connection)
    }

    /// Its answer to a command, given as words; over a new connection, as `redis-cli` does it.
    pub fn try_ask<T: FromRedisValue>(&self, words: &str) -> redis::RedisResult<T> {
        let mut words = words.split_whitespace();
        let mut command = redis::cmd(words.next().unwrap_or_default());
        command.arg(words.collect::<Vec<_>>());
        command.query(&mut self.try_connect()?)
    }

    /// As [`try_ask`](Self::try_ask), where an answer is expected.
    pub fn ask<T: FromRedisValue>(&self, words: &str) -> T {
        self.try_ask(words).unwrap_or_else(|error| panic!("{words}: {error}"))
    }

    /// A field of `INFO`, such as `("replication", "role")`.
    pub fn info(&self, section: &str, field: &str) -> Option<String> {
        let text: String = self.try_ask(&format!("INFO {section}")).ok()?;
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        value.map(str::to_owned)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("store.conf")
    }

    fn configure(&self) {
        let (port, folder) = (self.port, self.folder.path().display());
        let mut text = format!("bind 127.0.0.1\nport {port}\ndir {folder}\n");
        if !self.sentinel {
            text += "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\n";
            // Since 7.0 DEBUG must be asked for; before, the directive is not known.
            text += if version() >= (7, 0) {
                "enable-debug-command local\n"
            } else {
                ""
            };
        }
        text += &self.options.lines.join("\n");
        std::fs::write(self.file(), text + "\n").expect("the configuration is written");
    }

    /// Whether it came up; false if another process has taken the port.
    fn run(&mut self) -> bool {
        let mut command = Command::new(binary());
        command.arg(self.file());
        if self.sentinel {
            command.arg("--sentinel");
        }
        let process = Process::start(&mut command);
        let up = process.line("the store's readiness", |line| {
            let taken = ["Failed listening", "Could not create server TCP"];
            let ready = ["Ready to accept connections", "+monitor master"];
            if taken.iter().any(|text| line.contains(text)) {
                return Some(false);
            }
            ready.iter().any(|text| line.contains(text)).then_some(true)
        });
        self.process = up.then_some(process);
        up
    }
}

/// Waits until `condition` holds; panics with `what` when it never does.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = ropeline::time::uptime() + PATIENCE;
    while !condition() {
        assert!(ropeline::time::uptime() < end, "never came: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// The version of the server under test, Redis's or Valkey's own: (7, 0), (8, 0).
pub fn version() -> (u32, u32) {
    static VERSION: LazyLock<(u32, u32)> = LazyLock::new(|| {
        let said = Command::new(binary()).arg("--version").output();
        let said =
            said.unwrap_or_else(|error| panic!("{}: {error}; `scripts/test setup` installs it", binary().display()));
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let number = said.split(" v=").nth(1).expect("a version is printed");
        let mut parts = number.split('.').map(|part| part.parse().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    });
    *VERSION
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a test runs on is no configuration of the gate"
)]
fn binary() -> PathBuf {
    std::env::var_os("REDIS_SERVER").map_or_else(|| PathBuf::from("redis-server"), PathBuf::from)
}

fn address(port: u16) -> ConnectionInfo {
    let address = ConnectionAddr::Tcp("127.0.0.1".into(), port);
    address.into_connection_info().expect("an address of numbers")
}

/// A free port; a cluster's node needs the one 10,000 above it too.
fn free_port() -> u16 {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        if port < 55_000 && TcpListener::bind(("127.0.0.1", port + 10_000)).is_ok() {
            return port;
        }
    }
}

/// Ports tried before giving up: others may take one between the look and the start.
const ATTEMPTS: usize = 20;

/// Until a connection stands.
const TIMEOUT: Duration = Duration::from_secs(5);
