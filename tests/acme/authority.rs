//! Debian's pebble, a small authority for tests, behind the proxy; it asks all hosts at the two doors.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tempfile::TempDir;

use crate::door::Door;
use crate::front::Front;
use crate::harness::certificates::Authority;
use crate::harness::dns::Dns;
use crate::harness::process::Process;
use crate::harness::redis::until;

pub struct Pebble {
    // Dropped in this order: the process goes before its folder.
    _process: Process,
    folder: TempDir,
    management: u16,
    _dns: Dns,
    pub front: Front,
    /// Where it asks over HTTP, and over TLS.
    pub http: Door,
    pub tls: Door,
}

/// How it behaves.
#[derive(Clone, Copy)]
pub struct Options {
    /// The lifetime of certificates.
    pub secs: u32,
    /// Of a hundred good nonces, so many are refused.
    pub refused_nonces: u8,
    /// Only accounts with an external account are made.
    pub external: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            secs: 3_600,
            refused_nonces: 0,
            external: false,
        }
    }
}

/// The external account that it knows: a key identifier, and its secret in base64url.
pub const EXTERNAL: (&str, &str) = (
    "kid-1",
    "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W",
);

impl Pebble {
    pub fn start(options: Options) -> Self {
        for _ in 0..ATTEMPTS {
            if let Some(pebble) = Self::attempt(options) {
                return pebble;
            }
        }
        panic!("no free ports for pebble");
    }

    /// `None`: a port was taken meanwhile.
    fn attempt(options: Options) -> Option<Self> {
        let (folder, own) = (tempfile::tempdir().unwrap(), Authority::new());
        let issued = own.issue(&["localhost"]);
        issued.write(folder.path(), "pebble");
        std::fs::write(folder.path().join("ca.pem"), own.pem()).unwrap();
        let (http, tls, dns) = (Door::open(), Door::open(), Dns::open());
        for host in crate::site::HOSTS {
            dns.has(host, 60, &["127.0.0.1"]);
        }
        let [port, management] = [free_port(), free_port()];
        let config = serde_json::json!({ "pebble": {
            "listenAddress": format!("127.0.0.1:{port}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": "pebble.pem",
            "privateKey": "pebble.key",
            "httpPort": http.address.port(),
            "tlsPort": tls.address.port(),
            "certificateValidityPeriod": options.secs,
            "externalAccountBindingRequired": options.external,
            "externalAccountMACKeys": { EXTERNAL.0: EXTERNAL.1 },
        }});
        std::fs::write(folder.path().join("pebble.json"), config.to_string()).unwrap();
        let mut command = Command::new("pebble");
        command
            .args(["-config", "pebble.json", "-dnsserver", &dns.address.to_string()])
            .current_dir(folder.path())
            .env("PEBBLE_VA_NOSLEEP", "1")
            // Every order is verified anew.
            .env("PEBBLE_AUTHZREUSE", "0")
            .env("PEBBLE_WFE_NONCEREJECT", options.refused_nonces.to_string());
        let mut process = Process::start(&mut command);
        let mut is_up = false;
        until("pebble", || {
            let listens = |port: u16| TcpStream::connect(("127.0.0.1", port)).is_ok();
            is_up = listens(port) && listens(management);
            is_up || !process.alive()
        });
        is_up.then(|| Self {
            front: Front::open(&own, &issued, SocketAddr::from(([127, 0, 0, 1], port))),
            _process: process,
            folder,
            management,
            _dns: dns,
            http,
            tls,
        })
    }

    /// The URL of its directory, behind the proxy.
    pub fn directory(&self) -> String {
        format!("https://localhost:{}/dir", self.front.address.port())
    }

    /// The authorities for that URL.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// The root of the certificates that it issues.
    pub fn roots(&self) -> RootCertStore {
        let asked = Command::new("curl")
            .args(["-s", "--max-time", "60", "--cacert"])
            .arg(self.ca_file())
            .arg(format!("https://localhost:{}/roots/0", self.management))
            .output()
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(&asked.stdout).unwrap())
            .unwrap();
        roots
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

const ATTEMPTS: usize = 10;
