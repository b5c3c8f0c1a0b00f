//! The system under test: a Redis that can be restarted, three gates as an operator runs them, and a shop.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::plan::Plan;
use crate::wire::Wires;

pub const ROOM: &str = "drop";
pub const SECRET: &str = "a secret of the load test, long enough for any ring";

/// A process that ends with its guard.
pub struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).spawn();
        Self(child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")))
    }

    /// Tells it to stop, and waits until it has.
    fn stop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }

    /// Processor time so far, in seconds.
    fn cpu_secs(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap_or_default();
        let fields: Vec<f64> = stat.rsplit(')').next().map_or_else(Vec::new, |rest| {
            rest.split_whitespace()
                .map(|field| field.parse().unwrap_or(0.0))
                .collect()
        });
        // User and system, in hundredths of a second.
        fields
            .get(11..13)
            .map_or(0.0, |times| times.iter().sum::<f64>() / 100.0)
    }

    /// The most memory that it has had, in megabytes.
    fn most_mb(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kb.unwrap_or(0) / 1_024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The store that the gates share. It is durable, as `docs/guides/redis.md` requires.
pub struct Redis {
    process: Process,
    program: String,
    folder: PathBuf,
    port: u16,
    cpu_before: f64,
}

impl Redis {
    pub fn start(program: &str, folder: &Path) -> Self {
        let port = free().port();
        let folder = folder.join("redis");
        fs::create_dir_all(&folder).expect("a folder for the store");
        Self {
            process: Self::run(program, &folder, port),
            program: program.to_owned(),
            folder,
            port,
            cpu_before: 0.0,
        }
    }

    fn run(program: &str, folder: &Path, port: u16) -> Process {
        let process = Process::start(
            Command::new(program)
                .args([
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--appendonly",
                    "yes",
                    "--port",
                    &port.to_string(),
                ])
                .arg("--dir")
                .arg(folder)
                .stdout(Stdio::null()),
        );
        until("the store answers", || pong(port).is_ok_and(|said| said));
        process
    }

    /// Stops it and starts it again, with all that it kept or with nothing. Says how long it was gone, which is until it has
    /// read its file and takes commands.
    pub fn restart(&mut self, forgets: bool) -> Duration {
        let began = Instant::now();
        self.cpu_before += self.process.cpu_secs();
        self.process.stop();
        if forgets {
            fs::remove_dir_all(&self.folder).expect("its own folder");
            fs::create_dir_all(&self.folder).expect("a folder for the store");
        }
        self.process = Self::run(&self.program, &self.folder, self.port);
        began.elapsed()
    }

    pub fn cpu_secs(&self) -> f64 {
        self.cpu_before + self.process.cpu_secs()
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

/// A gate, and the ways to it.
pub struct Gate {
    process: Mutex<Process>,
    binary: PathBuf,
    pub visitors: Wires,
    operators: Wires,
    admin: SocketAddr,
}

impl Gate {
    /// Starts one and does not wait for it.
    pub fn start(binary: &Path, index: usize, folder: &Path, (redis, shop): (&Redis, SocketAddr), plan: &Plan) -> Self {
        let (address, admin) = (free(), free());
        let wide = r#"{ requests = 1000000, window = "1s" }"#;
        let config = format!(
            "[server]\nlisten = [\"{address}\"]\nadmin_listen = \"{admin}\"\ntrusted_proxies = [\"127.0.0.1/32\"]\n\
             [upstream]\nurl = \"http://{shop}\"\n\
             [store]\nurl = \"{}\"\narchive = \"{}\"\n\
             [tokens]\nkeys = [{{ id = \"load\", secret = \"{SECRET}\" }}]\n\
             [limits]\njoin = {wide}\njoin_network = {wide}\njoin_wide = {wide}\nstatus_network = {wide}\n\
             [[room]]\nname = \"{ROOM}\"\nroutes = [\"/drop/*\"]\nstock = {}\n\
             completes_on = [{{ route = \"/drop/receipt/*\", status = 200 }}]\n\
             total_active_users = 1000\nnew_users_per_minute = {}\nsession_duration = \"30s\"\nclaim_deadline = \"30s\"\n\
             end_grace = \"1s\"\n\
             [room.identity]\nfrom = \"header\"\nname = \"X-User\"\nmissing = \"refuse\"\n",
            redis.url(),
            folder.join("archive").display(),
            plan.stock,
            plan.calls_per_minute(),
        );
        let file = folder.join(format!("gate-{index}.toml"));
        fs::write(&file, config).expect("the config is written");
        let log = File::create(folder.join(format!("gate-{index}.log"))).expect("a log file");
        let process = Process::start(
            Command::new(binary)
                .args(["run", "--first-start", "--config"])
                .arg(&file)
                .current_dir(folder)
                .stdout(Stdio::null())
                .stderr(log),
        );
        Self {
            process: Mutex::new(process),
            binary: binary.to_owned(),
            visitors: Wires::to(address),
            operators: Wires::to(admin),
            admin,
        }
    }

    /// Visitors can join: the room knows its stock, and the gate is live.
    pub async fn is_open(&self) -> bool {
        let request = format!("GET /.ropeline/rooms/{ROOM}/status HTTP/1.1\r\nHost: shop.test\r\n\r\n");
        let asked = self.visitors.ask(&request).await;
        let open = asked.is_ok_and(|answer| answer.json()["state"] == "none");
        open && self.tells("/api/v1/gates").await["gate"]["condition"] == "live"
    }

    /// The admin API's answer.
    pub async fn tells(&self, target: &str) -> Value {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.admin);
        self.operators
            .ask(&request)
            .await
            .map_or(Value::Null, |answer| answer.json())
    }

    /// The output of `ropeline winners`.
    pub fn winners(&self) -> Vec<Value> {
        let out = Command::new(&self.binary)
            .args([
                "winners",
                "--room",
                ROOM,
                "--format",
                "json",
                "--admin",
                &self.admin.to_string(),
            ])
            .output()
            .expect("ropeline winners");
        serde_json::from_slice(&out.stdout).unwrap_or_default()
    }

    pub fn cpu_secs(&self) -> f64 {
        self.process.lock().expect("nobody panics").cpu_secs()
    }

    pub fn most_mb(&self) -> u64 {
        self.process.lock().expect("nobody panics").most_mb()
    }

    pub fn stop(&self) {
        self.process.lock().expect("nobody panics").stop();
    }
}

/// The receipts that a shop has given: how many of them for each account.
pub type Receipts = Arc<Mutex<BTreeMap<String, u64>>>;

/// Opens a shop that answers every request with a page, and records the visitors of its receipts.
pub async fn open_shop() -> io::Result<(SocketAddr, Receipts)> {
    let receipts = Receipts::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let kept = Arc::clone(&receipts);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(BufReader::new(stream), Arc::clone(&kept)));
        }
    });
    Ok((address, receipts))
}

async fn serve(mut stream: BufReader<tokio::net::TcpStream>, receipts: Receipts) -> io::Result<()> {
    loop {
        let (mut first, mut account, mut line) = (String::new(), String::new(), String::new());
        stream.read_line(&mut first).await?;
        loop {
            line.clear();
            if stream.read_line(&mut line).await? <= 2 {
                break;
            }
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("x-user") => value.trim().clone_into(&mut account),
                _ => {}
            }
        }
        if first.is_empty() {
            return Ok(());
        }
        if first.starts_with("GET /drop/receipt/") {
            *receipts.lock().expect("nobody panics").entry(account).or_default() += 1;
        }
        let page = b"HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: text/html\r\nContent-Length: 7\r\n\r\ncome in";
        stream.get_mut().write_all(page).await?;
    }
}

fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound")
}

/// Whether it takes commands; while it reads its file it says `-LOADING`.
fn pong(port: u16) -> io::Result<bool> {
    let mut wire = std::net::TcpStream::connect(("127.0.0.1", port))?;
    wire.write_all(b"PING\r\n")?;
    let mut said = [0; 5];
    wire.read_exact(&mut said)?;
    Ok(&said == b"+PONG")
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came to be: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
