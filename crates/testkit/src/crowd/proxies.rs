//! Real proxies, each with its configuration of `examples/forward-auth`, on ports of their own.

use std::fs::{self, File};
use std::marker::PhantomData;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use super::gate::{Gate, free_address};
use super::house::Way;
use super::http::{PATIENCE, Pool};

/// A running proxy with a folder of its own; dropping it ends it.
pub struct Proxy {
    child: Child,
    folder: TempDir,
    address: SocketAddr,
}

impl Proxy {
    /// Starts `program` on its example, with the addresses in it replaced, and waits until it listens.
    async fn start(example: &str, gate: &Gate, shop: SocketAddr, program: impl Fn(&Path) -> Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = free_address();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/forward-auth");
        let text = fs::read_to_string(examples.join(example)).unwrap();
        let own = [
            ("8000", address.port().to_string()),
            ("/etc/haproxy", examples.display().to_string()),
            ("127.0.0.1:8080", gate.address.to_string()),
            ("127.0.0.1:3000", shop.to_string()),
        ];
        // Uses marks, because an inserted text may contain one that is still to be replaced.
        let mark = |at: usize| format!("\u{0}{at}\u{0}");
        let marked = own.iter().enumerate().fold(text, |text, (at, (theirs, _))| {
            assert!(
                *theirs == "/etc/haproxy" || text.contains(theirs),
                "{example} does not name {theirs}"
            );
            text.replace(theirs, &mark(at))
        });
        let text = own
            .iter()
            .enumerate()
            .fold(marked, |text, (at, (_, ours))| text.replace(&mark(at), ours));
        fs::write(folder.path().join(example), text).unwrap();
        let log = File::create(folder.path().join("said")).unwrap();
        let mut command = program(folder.path());
        command.current_dir(folder.path()).env("HOME", folder.path());
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}; `scripts/test setup` installs it"));
        let mut proxy = Self { child, folder, address };
        proxy.ready().await;
        proxy
    }

    async fn ready(&mut self) {
        let began = ropeline::time::uptime();
        while TcpStream::connect(self.address).is_err() {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && ropeline::time::uptime() < began + PATIENCE,
                "{ended:?}: {}",
                self.said()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the proxy said:\n{}", self.said());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A proxy's program and its example.
pub trait Program {
    /// Its name in the gate's configuration.
    const NAME: &str;
    const EXAMPLE: &str;
    /// Its status when the gate is away.
    const GATE_AWAY: u16;
    /// Runs it in the foreground, as one process, on its example in this folder.
    fn command(folder: &Path) -> Command;
}

/// The way to the shop through a proxy. It trusts no peer, so every visitor comes from a separate address.
pub struct Behind<P> {
    proxy: Proxy,
    program: PhantomData<P>,
}

impl<P: Program> Way for Behind<P> {
    const PAGE: u16 = 503;

    fn tables(_: SocketAddr) -> String {
        format!("[forward_auth]\nproxies = [\"{}\"]", P::NAME)
    }

    async fn open(gate: &Gate, shop: SocketAddr) -> Self {
        Self {
            proxy: Proxy::start(P::EXAMPLE, gate, shop, P::command).await,
            program: PhantomData,
        }
    }

    fn entrance(&self) -> SocketAddr {
        self.proxy.address
    }

    fn pool(&self, address: &str) -> Arc<Pool> {
        Arc::new(Pool::from(address.parse().unwrap(), self.proxy.address))
    }
}

pub struct Nginx;

impl Program for Nginx {
    const NAME: &str = "nginx";
    const EXAMPLE: &str = "nginx.conf";
    const GATE_AWAY: u16 = 500;

    fn command(folder: &Path) -> Command {
        // A folder in which a user who is not root may write.
        let file = folder.join(Self::EXAMPLE);
        let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|kind| format!("{kind}_temp_path {kind};"));
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replacen("http {", &format!("http {{ access_log off; {}", kept.join(" ")), 1);
        fs::write(&file, text).unwrap();
        let mut command = Command::new(daemon("nginx"));
        command.arg("-p").arg(folder).arg("-c").arg(file);
        command.args(["-e", "said", "-g", "daemon off; master_process off; pid pid;"]);
        command
    }
}

pub struct Haproxy;

impl Program for Haproxy {
    const NAME: &str = "haproxy";
    const EXAMPLE: &str = "haproxy.cfg";
    const GATE_AWAY: u16 = 503;

    fn command(folder: &Path) -> Command {
        let mut command = Command::new(daemon("haproxy"));
        command.arg("-db").arg("-f").arg(folder.join(Self::EXAMPLE));
        command
    }
}

pub struct Caddy;

impl Program for Caddy {
    const NAME: &str = "caddy";
    const EXAMPLE: &str = "Caddyfile";
    const GATE_AWAY: u16 = 502;

    fn command(folder: &Path) -> Command {
        let mut command = Command::new("caddy");
        command
            .args(["run", "--adapter", "caddyfile", "--config"])
            .arg(folder.join(Self::EXAMPLE));
        command
    }
}

/// Debian keeps daemons where not everybody's `PATH` leads.
fn daemon(name: &str) -> PathBuf {
    let kept = Path::new("/usr/sbin").join(name);
    if kept.exists() { kept } else { name.into() }
}
