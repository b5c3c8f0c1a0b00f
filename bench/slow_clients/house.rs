//! A gate before nginx as its shop, and measurements of both from outside.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::generate_simple_self_signed;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use tempfile::TempDir;

/// A process that ends with its guard.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The gate, its shop, and how to reach them.
pub struct House {
    gate: Process,
    _shop: Process,
    _folder: TempDir,
    pub clear: SocketAddr,
    pub secured: SocketAddr,
    shop: SocketAddr,
    authority: CertificateDer<'static>,
}

impl House {
    /// With at most so many connections for each client, and so much patience with one that takes nothing.
    pub fn open(gate: &Path, per_client: usize, patience: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [clear, secured, admin, shop] = addresses();
        let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("cert.pem"), made.cert.pem()).unwrap();
        private(&at("key.pem"), &made.signing_key.serialize_pem());
        fs::create_dir(at("www")).unwrap();
        fs::write(at("www/page"), "p".repeat(PAGE_BYTES)).unwrap();
        let large = File::create(at("www/large")).unwrap();
        large.write_at(b"end", LARGE_BYTES).unwrap();
        fs::write(at("nginx.conf"), shop_config(shop)).unwrap();
        let nginx = Command::new("nginx")
            .arg("-p")
            .arg(folder.path())
            .args(["-e", "said", "-c"])
            .arg(at("nginx.conf"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let config = format!(
            "[server]\nlisten = [\"{clear}\"]\nadmin_listen = \"{admin}\"\nh2c = true\n\
             max_connections_per_client = {}\nwrite_timeout = \"{}s\"\n[tls]\nlisten = [\"{secured}\"]\n\
             certificates = [{{ cert_file = \"cert.pem\", key_file = \"key.pem\" }}]\n\
             [upstream]\nurl = \"http://{shop}\"\n[store]\nurl = \"embedded:data\"\n\
             [[room]]\nname = \"shop\"\nroutes = [\"/checkout/*\"]\ntotal_active_users = 1000\n\
             [limits]\njoin = {{ requests = 10000, window = \"1s\" }}\n",
            per_client.min(100_000),
            patience.as_secs()
        );
        fs::write(at("config.toml"), config).unwrap();
        let gate = Command::new(gate.canonicalize().unwrap())
            .args(["run", "--config", "config.toml"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(at("gate.log")).unwrap())
            .spawn()
            .unwrap();
        let house = Self {
            gate: Process(gate),
            _shop: Process(nginx),
            authority: CertificateDer::from_pem_file(at("cert.pem")).unwrap(),
            _folder: folder,
            clear,
            secured,
            shop,
        };
        for address in [clear, secured, shop] {
            until("it listens", || TcpStream::connect(address).is_ok());
        }
        house
    }

    /// A client's side of TLS that speaks this protocol.
    pub fn tls(&self, protocol: &[u8]) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).unwrap();
        let mut config = ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        Arc::new(config)
    }

    /// Bytes of memory that the gate has.
    pub fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.gate.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Descriptors that the gate has.
    pub fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.gate.0.id())).map_or(0, Iterator::count)
    }

    /// Connections to the shop, as it says itself.
    pub fn at_the_shop(&self) -> usize {
        // One that does not get in counts as none: the most of many looks is taken.
        let said = self.ask_the_shop().unwrap_or_default();
        let count = said
            .split("Active connections: ")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next());
        // One is this.
        count
            .and_then(|count| count.parse().ok())
            .map_or(0, |count: usize| count - 1)
    }

    fn ask_the_shop(&self) -> io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&self.shop, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /busy HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n")?;
        let mut said = String::new();
        stream.read_to_string(&mut said)?;
        Ok(said)
    }

    /// Bytes that the kernel keeps for the gate to send to its clients; none where `ss` is not there to tell.
    pub fn kept_by_the_kernel(&self) -> Option<u64> {
        let ours = format!("( sport = :{} or sport = :{} )", self.clear.port(), self.secured.port());
        let said = Command::new("ss")
            .args(["-tmnH", "state", "established", &ours])
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&said.stdout);
        let queued = text
            .split(",w")
            .skip(1)
            .filter_map(|rest| rest.split(',').next()?.parse::<u64>().ok());
        Some(queued.sum())
    }
}

/// Waits for it, for a minute at most.
pub fn until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came to be: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Free ports, found all at once so that they differ.
fn addresses<const N: usize>() -> [SocketAddr; N] {
    let free = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    free.map(|listener| listener.local_addr().unwrap())
}

fn private(path: &Path, text: &str) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

/// nginx with its defaults, and room for all clients.
fn shop_config(address: SocketAddr) -> String {
    let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|kind| format!("{kind}_temp_path {kind};"));
    format!(
        "daemon off; master_process off; pid pid; worker_rlimit_nofile 20000;\n\
         events {{ worker_connections 19000; }}\n\
         http {{ access_log off; {} sendfile on; tcp_nopush on; keepalive_timeout 75s;\n\
         server {{ listen {address} backlog=4096; root www;\n\
         location = /busy {{ stub_status; }}\n\
         location = /order {{ proxy_pass http://{address}/taken; }}\n\
         location = /checkout/ {{ proxy_pass http://{address}/taken; }}\n\
         location = /taken {{ return 204; }} }} }}\n",
        kept.join(" ")
    )
}

/// How long the shop may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(5);
/// Sizes of the shop's pages and of its large file.
pub const PAGE_BYTES: usize = 16_000;
pub const LARGE_BYTES: u64 = 50_000_000;
