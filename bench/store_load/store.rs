//! A `redis-server` on a free port, which ends with the program, and its own statistics.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server that keeps nothing on disk.
pub struct Store {
    child: Child,
    client: redis::Client,
    port: u16,
}

impl Store {
    /// Starts `program` and waits until it answers.
    pub fn start(program: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let child = Command::new(program)
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(["--port", &port.to_string()])
            .stdout(Stdio::null())
            .spawn()
            .expect("a redis-server");
        let client = redis::Client::open(format!("redis://127.0.0.1:{port}")).expect("a plain address");
        let store = Self { child, client, port };
        for _ in 0..200 {
            if store.client.get_connection().is_ok() {
                return store;
            }
            std::thread::park_timeout(Duration::from_millis(25));
        }
        panic!("{program} does not answer");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A whole figure of `INFO`.
    pub fn figure(&self, section: &str, field: &str) -> u64 {
        self.info(section, field).parse().expect("a whole figure")
    }

    /// Processor time that the server has taken, in microseconds: its own account, user and system, all threads. It is
    /// that of `/proc/PID/stat`, without the rounding to hundredths of a second.
    pub fn cpu_us(&self) -> f64 {
        let seconds = |field| self.info("cpu", field).parse::<f64>().expect("seconds");
        (seconds("used_cpu_user") + seconds("used_cpu_sys")) * 1e6
    }

    /// Commands run so far, those inside scripts included, without those that ask for figures.
    pub fn commands(&self) -> u64 {
        let text = self.ask("commandstats");
        let calls = text.lines().filter(|line| !line.starts_with("cmdstat_info"));
        let calls = calls.filter_map(|line| line.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok());
        calls.sum()
    }

    fn info(&self, section: &str, field: &str) -> String {
        let text = self.ask(section);
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        value.expect("a field of INFO").trim().to_owned()
    }

    fn ask(&self, section: &str) -> String {
        let mut connection = self.client.get_connection().expect("a connection");
        redis::cmd("INFO")
            .arg(section)
            .query(&mut connection)
            .expect("an answer")
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
