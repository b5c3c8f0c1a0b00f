//! The gate as a process, with its own folder and ports, in front of a shop.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::ops::Range;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ropeline::room::{LineName, RoomName};
use ropeline::token::{Key, KeyId, Keyring, Secret};
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit, test_kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::http::{Message, PATIENCE, Pool};
use crate::harness::redis::until;

const SECRET: &str = "a secret of the tests, long enough for any key ring there is";

/// The room of every test.
pub fn room() -> RoomName {
    RoomName::new("shop").unwrap()
}

/// The keys that the gates of the tests sign with.
pub fn keyring() -> Keyring {
    keyring_of(SECRET)
}

/// A ring whose one key has this secret.
pub fn keyring_of(secret: &str) -> Keyring {
    let id = KeyId::new("test").unwrap();
    Keyring::new(vec![Key {
        id,
        secret: Secret::new(secret.as_bytes().to_vec()),
    }])
    .unwrap()
}

pub fn ticket_name() -> String {
    ropeline::token::ticket_cookie(&room(), &LineName::ONLY)
}

pub fn pass_name() -> String {
    ropeline::token::pass_cookie(&room(), &LineName::ONLY)
}

/// A gate that can be killed and started again. Dropping it kills it.
pub struct Gate {
    child: Option<Child>,
    /// The process that has taken over by a live upgrade.
    heir: Option<Pid>,
    first_start: bool,
    pub address: SocketAddr,
    pub admin: Pool,
    folder: TempDir,
}

impl Gate {
    /// Starts a gate before `shop` with these lines in `[[room]]`, and `tables` behind it.
    pub async fn open(shop: SocketAddr, room: &str, tables: &str) -> Self {
        let mut gate = Self::at(shop, room, tables);
        gate.start();
        gate.ready().await;
        gate
    }

    /// A gate with a log of its own that is not started yet.
    pub fn at(shop: SocketAddr, room: &str, tables: &str) -> Self {
        Self::with_store("embedded:data", shop, room, tables)
    }

    /// A gate with this store that is not started yet.
    pub fn with_store(store: &str, shop: SocketAddr, room: &str, tables: &str) -> Self {
        Self::configured(store, &format!("[upstream]\nurl = \"http://{shop}\""), room, tables)
    }

    /// A gate with this store and these tables for the way to the shop, that is not started yet.
    pub fn configured(store: &str, way: &str, room: &str, tables: &str) -> Self {
        allow_many_sockets();
        let folder = tempfile::tempdir().unwrap();
        let (address, admin) = (free_address(), free_address());
        let config = format!(
            "[server]\nlisten = [\"{address}\"]\nadmin_listen = \"{admin}\"\ntrusted_proxies = [\"127.0.0.1/32\"]\n\
             {way}\n[store]\nurl = \"{store}\"\n\
             [tokens]\nkeys = [{{ id = \"test\", secret = \"{SECRET}\" }}]\n\
             [[room]]\nname = \"shop\"\n{room}\n{tables}\n"
        );
        fs::write(folder.path().join("config.toml"), config).unwrap();
        let gate = Self {
            child: None,
            heir: None,
            first_start: true,
            address,
            admin: Pool::new(admin),
            folder,
        };
        gate.runs(&crate::program());
        gate
    }

    /// It is this program from its next start on.
    pub fn runs(&self, program: &Path) {
        let _ = fs::remove_file(self.program());
        symlink(program, self.program()).unwrap();
    }

    /// Its next start is said to be the first, where nobody can be inside by a log that was lost. That is so at the first one.
    pub fn starts_first(&mut self) {
        self.first_start = true;
    }

    /// Its next start is not said to be the first. The version before does not know the word.
    pub fn starts_again(&mut self) {
        self.first_start = false;
    }

    /// A live upgrade knows a program by its path.
    fn program(&self) -> PathBuf {
        self.folder.path().join("ropeline")
    }

    /// Its configuration file.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    /// Replaces the text `stands` in its configuration, before it is started.
    pub fn amend(&self, stands: &str, instead: &str) {
        let config = fs::read_to_string(self.config()).unwrap();
        assert!(config.contains(stands), "{config}");
        fs::write(self.config(), config.replacen(stands, instead, 1)).unwrap();
    }

    /// Where the log is.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Loses the log of a gate that does not run.
    pub fn lose_log(&self) {
        for file in fs::read_dir(self.data()).unwrap() {
            let path = file.unwrap().path();
            if path.file_name().is_some_and(|name| name != "lock") && path.is_file() {
                fs::remove_file(path).unwrap();
            }
        }
    }

    /// Starts the process; [`Self::ready`] waits until it serves.
    pub fn start(&mut self) {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("stderr"))
            .unwrap();
        let first = std::mem::take(&mut self.first_start).then_some("--first-start");
        let child = Command::new(self.program())
            .arg("run")
            .args(first)
            .arg("--config")
            .arg(self.config())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
    }

    /// Waits until visitors are served.
    pub async fn ready(&mut self) {
        let pool = Pool::new(self.address);
        let asked = async {
            loop {
                let health = pool
                    .ask(b"GET /.ropeline/health HTTP/1.1\r\nHost: shop.test\r\n\r\n")
                    .await;
                if health.is_ok_and(|answer| answer.status() == 200) {
                    return;
                }
                if let Ok(Some(status)) = self.child.as_mut().unwrap().try_wait() {
                    panic!("the gate ended with {status}:\n{}", self.said());
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let ready = tokio::time::timeout(PATIENCE, asked).await;
        assert!(ready.is_ok(), "the gate never served:\n{}", self.said());
    }

    /// A live upgrade to this program. Returns when the process before has ended in order.
    pub async fn upgrade(&mut self, program: &Path) {
        self.runs(program);
        let answer = self.admin_ask("POST", "/api/v1/upgrade", "{}").await;
        assert_eq!(answer.status(), 200, "{}\n{}", answer.text(), self.said());
        let pid = i32::try_from(answer.json()["pid"].as_u64().unwrap()).unwrap();
        let mut before = self.child.take().unwrap();
        self.heir = Pid::from_raw(pid);
        let ended = tokio::task::block_in_place(|| before.wait().unwrap());
        assert!(ended.success(), "the gate before ended with {ended}:\n{}", self.said());
    }

    /// kill -9. Returns when the process is gone.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        assert!(
            child.try_wait().unwrap().is_none(),
            "the gate ended by itself:\n{}",
            self.said()
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Stops it as an operator does, and waits until it has ended in order.
    pub fn stop(&mut self) {
        if let Some(heir) = self.heir.take() {
            kill_process(heir, Signal::TERM).unwrap();
            return until("the end of the gate", || test_kill_process(heir).is_err());
        }
        let mut child = self.child.take().unwrap();
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let status = child.wait().unwrap();
        assert!(status.success(), "the gate ended with {status}:\n{}", self.said());
    }

    /// All lives' standard error.
    pub fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    /// Runs another command of the binary in the gate's folder.
    pub fn command(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(crate::program());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    /// The room as the admin API tells it.
    pub async fn room(&self) -> Value {
        self.admin_ask("GET", "/api/v1/rooms/shop", "").await.json()
    }

    /// Changes the room as an operator does.
    pub async fn set(&self, patch: &str) {
        let answer = self.admin_ask("PATCH", "/api/v1/rooms/shop", patch).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
    }

    /// How the session of a forwarded request stands, as the shop asks it.
    pub async fn verify(&self, session: &str) -> Value {
        let host = self.admin.address;
        let request = format!("GET /api/v1/verify HTTP/1.1\r\nHost: {host}\r\nRopeline-Session: {session}\r\n\r\n");
        self.admin.ask(request.as_bytes()).await.unwrap().json()
    }

    pub async fn admin_ask(&self, method: &str, target: &str, body: &str) -> Message {
        self.admin
            .ask(admin_request(&self.admin, method, target, body).as_bytes())
            .await
            .unwrap()
    }
}

/// A request for the admin API.
pub fn admin_request(admin: &Pool, method: &str, target: &str, body: &str) -> String {
    let (host, length) = (admin.address, body.len());
    let fields = format!("Host: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n");
    format!("{method} {target} HTTP/1.1\r\n{fields}\r\n{body}")
}

impl Drop for Gate {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the gate said:\n{}", self.said());
        }
        if let Some(heir) = self.heir {
            let _ = kill_process(heir, Signal::KILL);
        }
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// An address that stays free while a gate is down: below the ports that outgoing connections take. No process of tests gives an
/// address twice, since it may not be listened at yet, and none gives another one's: gates and proxies would share the port.
pub fn free_address() -> SocketAddr {
    static PORTS: Mutex<Ports> = Mutex::new(Ports {
        left: 0..0,
        locks: Vec::new(),
    });
    let mut ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let port = ports.next();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

/// The ports of this process, in blocks that it holds by locks on files of their names.
struct Ports {
    left: Range<u16>,
    locks: Vec<File>,
}

impl Ports {
    fn next(&mut self) -> u16 {
        loop {
            if let Some(port) = self.left.next() {
                return port;
            }
            self.take_block();
        }
    }

    fn take_block(&mut self) {
        let folder = std::env::temp_dir().join("ropeline-test-ports");
        fs::create_dir_all(&folder).unwrap();
        let block = (0..BLOCKS).find_map(|block| {
            let lock = File::create(folder.join(block.to_string())).unwrap();
            lock.try_lock().ok().map(|()| (block, lock))
        });
        let (block, lock) = block.expect("a free block of ports for tests");
        let first = 10_000 + block * BLOCK;
        self.left = first..first + BLOCK;
        self.locks.push(lock);
    }
}

/// Ports of a block, and blocks.
const BLOCK: u16 = 220;
const BLOCKS: u16 = 100;

/// A crowd, and the gate before it, need more sockets than a shell gives by default.
fn allow_many_sockets() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
