//! TLS with visitors: real handshakes by rustls and by openssl, over real sockets.

mod ends;
mod handshakes;
mod hosts;
mod rotation;
mod serving;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use ropeline::tls::{Certificates, Files, Tls, Version};
use rustls::ClientConfig;
use tempfile::TempDir;

use crate::certificates::{Authority, Issued};
use crate::client::Client;
use crate::gate::{Gate, Setup};
use crate::shop::Shop;

const GET: &str = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";

/// Certificates in a folder, and the gate's side of TLS with them.
pub struct Shown {
    pub authority: Authority,
    pub folder: TempDir,
    pub tls: Arc<Tls>,
}

impl Shown {
    /// One certificate for each list of hosts, called `0`, `1` and so on.
    pub fn new(hosts: &[&[&str]]) -> Self {
        Self::with(hosts, Version::Tls12)
    }

    pub fn with(hosts: &[&[&str]], least: Version) -> Self {
        let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
        let write = |(at, hosts): (usize, &&[&str])| files(&authority.issue(hosts), folder.path(), &at.to_string());
        let all: Vec<Files> = hosts.iter().enumerate().map(write).collect();
        let certificates = Arc::new(Certificates::load(&all).unwrap());
        Self {
            tls: Arc::new(Tls::new(certificates, least, true).unwrap()),
            authority,
            folder,
        }
    }

    pub fn gate(&self, shop: &Shop) -> Gate {
        self.gate_with(shop.address, |_| {})
    }

    pub fn gate_with(&self, shop: SocketAddr, change: impl FnOnce(&mut Setup)) -> Gate {
        Gate::with(shop, |setup| {
            setup.tls = Some(Arc::clone(&self.tls));
            change(setup);
        })
    }

    /// A visitor of `a.example`.
    pub fn client(&self, gate: &Gate) -> Client {
        Client::secured(gate.address, "a.example", &self.authority.shared_client()).unwrap()
    }

    /// A visitor of this host with these settings.
    pub fn visitor(&self, gate: &Gate, host: &str, change: impl FnOnce(&mut ClientConfig)) -> std::io::Result<Client> {
        let mut config = self.authority.client();
        change(&mut config);
        Client::secured(gate.address, host, &Arc::new(config))
    }
}

pub fn files(issued: &Issued, folder: &Path, name: &str) -> Files {
    let (certificate, key) = issued.write(folder, name);
    Files { certificate, key }
}
