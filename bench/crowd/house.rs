//! The programs of a trial: a Redis, a gate before a shop, and their memory and processor time by the system's counts.

use std::fs::{self, File};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::wire::Wire;

pub const ROOM: &str = "crowd";

/// A program that ends with this one.
pub struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().expect("the program starts"))
    }

    /// Tells it to stop, and waits until it has.
    pub fn stop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }

    /// Processor time of all its threads so far.
    pub fn cpu(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.0.id())).expect("it runs");
        let of_task = |task: fs::DirEntry| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        };
        Duration::from_nanos(tasks.flatten().filter_map(of_task).sum())
    }

    /// Private memory in bytes: without memory shared with other programs, and without the kernel's.
    pub fn memory(&self) -> u64 {
        let path = format!("/proc/{}/smaps_rollup", self.0.id());
        let text = fs::read_to_string(path).expect("it runs");
        let of = |name| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
            let kb = line.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok());
            kb.unwrap_or(0) * 1_024
        };
        of("Private_Dirty:") + of("Private_Clean:")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A store of its own on a free port.
pub struct Redis {
    process: Process,
    port: u16,
}

impl Redis {
    pub async fn start(program: &str, folder: &Path) -> Self {
        let port = free().port();
        let folder = folder.join("redis");
        fs::create_dir_all(&folder).expect("a folder for the store");
        let process = Process::start(
            Command::new(program)
                .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"])
                .args(["--port", &port.to_string()])
                .arg("--dir")
                .arg(folder)
                .stdout(Stdio::null()),
        );
        while Wire::open(([127, 0, 0, 1], port).into(), None).await.is_err() {
            tokio::time::sleep(STEP).await;
        }
        Self { process, port }
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its counts so far.
    pub async fn tells(&self) -> Told {
        let client = redis::Client::open(self.url()).expect("a plain address");
        let all = tokio::task::spawn_blocking(move || {
            let mut connection = client.get_connection().expect("a connection");
            let info: String = redis::cmd("INFO").arg("all").query(&mut connection).expect("an answer");
            info
        });
        let all = all.await.expect("an answer");
        let calls = |name: &str| -> u64 {
            let lines = all.lines().filter(|line| line.starts_with(name));
            let calls = lines.filter_map(|line| line.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok());
            calls.sum()
        };
        let field = |name: &str| -> u64 {
            let line = all.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|text| text.trim().parse().ok()).expect("a field of INFO")
        };
        Told {
            entries: calls("cmdstat_xadd:"),
            commands: calls("cmdstat_") - calls("cmdstat_info:"),
            bytes_in: field("total_net_input_bytes:"),
            bytes_out: field("total_net_output_bytes:"),
        }
    }

    /// Processor time of all its threads so far.
    pub fn cpu(&self) -> Duration {
        self.process.cpu()
    }
}

/// A store's counts: entries of logs, commands with those inside scripts, bytes of its connections.
pub struct Told {
    pub entries: u64,
    pub commands: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// A gate as a process, with one room.
pub struct Gate {
    pub process: Process,
    program: String,
    file: PathBuf,
    pub address: SocketAddr,
    admin: SocketAddr,
}

impl Gate {
    /// Starts `program` on a store. Waits until visitors have places.
    pub async fn start(program: &str, folder: &Path, store: &str, shop: SocketAddr) -> Self {
        let (address, admin) = (free(), free());
        let wide = r#"{ requests = 1000000, window = "1s" }"#;
        let config = format!(
            "[server]\nlisten = [\"{address}\"]\nadmin_listen = \"{admin}\"\ntrusted_proxies = [\"127.0.0.1/32\"]\n\
             [upstream]\nurl = \"http://{shop}\"\n\
             [store]\nurl = \"{store}\"\n\
             [tokens]\nkeys = [{{ id = \"crowd\", secret = \"a secret of the crowd, long enough for any ring\" }}]\n\
             [limits]\nclients = 200000\njoin = {wide}\njoin_network = {wide}\njoin_wide = {wide}\nstatus = {wide}\n\
             status_network = {wide}\n\
             [[room]]\nname = \"{ROOM}\"\nexcept = [\"/free/*\"]\nmode = \"hold\"\ntotal_active_users = 10000\nfirm_within = \"10 min\"\n\
             grace = \"20 min\"\nlate_window = \"20 min\"\n"
        );
        let file = folder.join("gate.toml");
        fs::write(&file, config).expect("the config is written");
        let gate = Self {
            process: run(program, &file),
            program: program.to_owned(),
            file,
            address,
            admin,
        };
        gate.until_live().await;
        gate
    }

    /// Stops it as an operator would, and starts it again. Says how long it was gone.
    pub async fn restart(&mut self) -> Duration {
        let began = Instant::now();
        self.process.stop();
        self.process = run(&self.program, &self.file);
        self.until_live().await;
        began.elapsed()
    }

    async fn until_live(&self) {
        let began = Instant::now();
        while self.tells("GET", "/api/v1/gates", "").await["gate"]["condition"] != "live" {
            assert!(began.elapsed() < PATIENCE, "the gate never came up");
            tokio::time::sleep(STEP).await;
        }
    }

    /// The admin API's answer.
    pub async fn tells(&self, method: &str, target: &str, body: &str) -> Value {
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.admin,
            body.len()
        );
        let asked = async { Wire::open(self.admin, None).await?.ask(request.as_bytes()).await };
        let answer: io::Result<_> = asked.await;
        answer.map_or(Value::Null, |answer| answer.json())
    }
}

fn run(program: &str, file: &Path) -> Process {
    let folder = file.parent().expect("a file in a folder");
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.join("gate.log"))
        .expect("a log file");
    Process::start(
        Command::new(program)
            .args(["run", "--first-start", "--config"])
            .arg(file)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(log),
    )
}

/// Opens a shop that answers everything with a page.
pub async fn open_shop() -> io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(serve(stream));
        }
    });
    Ok(address)
}

/// Requests without bodies, one after another.
async fn serve(mut stream: tokio::net::TcpStream) -> io::Result<()> {
    let mut head = Vec::with_capacity(4_096);
    loop {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
        if head.ends_with(b"\r\n\r\n") {
            head.clear();
            stream
                .write_all(
                    b"HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: text/html\r\nContent-Length: 7\r\n\r\ncome in",
                )
                .await?;
        }
    }
}

pub fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound")
}

/// Between two looks.
const STEP: Duration = Duration::from_millis(10);

/// A condition that takes longer never holds.
const PATIENCE: Duration = Duration::from_secs(90);
