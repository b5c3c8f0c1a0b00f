//! An authority, a shop, and gates between visitors and the shop that get their certificates from the authority.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ClientConfig;

use crate::authority::{Options, Pebble};
use crate::harness::gate::Gate;
use crate::harness::redis::{self, Server, until};
use crate::shop::Shop;
use crate::visitor::{asks, client, comes_in};

/// The key of a gate's configuration.
pub const OLD_KEY: &str = "{ id = \"test\", secret = \"a secret of the tests, long enough for any ring\" }";

/// Failures are tried again soon.
pub const QUICK: &str = "retry = \"1s\"\n";

/// Hosts that lead to the doors.
pub const HOSTS: [&str; 2] = ["shop.example", "tickets.example"];
pub const HOST: &str = HOSTS[0];

pub struct Site {
    pub pebble: Pebble,
    pub shop: Shop,
    pub client: Arc<ClientConfig>,
    /// Lines of `[tls.acme]`.
    acme: String,
}

/// A gate's listeners for visitors.
pub struct Addresses {
    pub clear: SocketAddr,
    pub tls: SocketAddr,
}

/// Gates on one store, all of which show one certificate.
pub struct Fleet<const N: usize> {
    pub gates: [Gate; N],
    pub store: Server,
    pub site: Site,
    pub certificate: Vec<u8>,
}

impl<const N: usize> Fleet<N> {
    pub fn open() -> Self {
        Self::on(&redis::Options::default())
    }

    /// With this store.
    pub fn on(options: &redis::Options) -> Self {
        let site = Site::new(Options::default(), QUICK);
        let store = Server::start(options);
        let gates = [(); N].map(|()| site.shares(&store));
        site.leads_to(&gates.each_ref());
        let shown = gates.each_ref().map(|gate| site.serves(gate, HOST));
        let certificate = shown[0].clone();
        assert!(shown.iter().all(|other| *other == certificate));
        Self {
            gates,
            store,
            site,
            certificate,
        }
    }
}

impl Site {
    /// With these lines more in `[tls.acme]`.
    pub fn new(options: Options, acme: &str) -> Self {
        let pebble = Pebble::start(options);
        let base = format!(
            "directory = \"{}\"\nca_file = \"{}\"\ncontact = [\"ops@shop.example\"]\n",
            pebble.directory(),
            pebble.ca_file().display()
        );
        Self {
            client: client(pebble.roots()),
            pebble,
            shop: Shop::open(),
            acme: base + acme,
        }
    }

    fn tables(&self, hosts: &[&str]) -> String {
        format!(
            "[[room]]\nname = \"shop\"\ntotal_active_users = 100\n[tls]\nlisten = [\"127.0.0.1:0\"]\n\
             [tls.acme]\nhosts = {hosts:?}\n{}\n",
            self.acme
        )
    }

    /// A gate that shares the store, with certificates for the first host.
    pub fn shares(&self, store: &Server) -> Gate {
        Gate::sharing(&store.url(), self.shop.address, &self.tables(&[HOST]))
    }

    /// A gate with a folder of its own, and certificates for these hosts.
    pub fn alone(&self, hosts: &[&str]) -> Gate {
        Gate::start(self.shop.address, &self.tables(hosts))
    }

    /// Whom the authority asks.
    pub fn leads_to(&self, gates: &[&Gate]) {
        let all: Vec<Addresses> = gates.iter().map(|gate| addresses(gate)).collect();
        self.pebble
            .http
            .leads_to(&all.iter().map(|one| one.clear).collect::<Vec<_>>());
        self.pebble
            .tls
            .leads_to(&all.iter().map(|one| one.tls).collect::<Vec<_>>());
    }

    /// Waits until visitors of the host come in over TLS, and returns the certificate.
    pub fn serves(&self, gate: &Gate, host: &str) -> Vec<u8> {
        let (tls, mut shown) = (addresses(gate).tls, None);
        until(&format!("a certificate for {host}"), || {
            shown = comes_in(tls, host, &self.client).ok();
            shown.is_some()
        });
        shown.unwrap()
    }
}

/// Waits for a line of the gate's log.
pub fn logs(gate: &Gate, words: &str) -> String {
    let mut found = None;
    until(words, || {
        found = gate.said().lines().find(|line| line.contains(words)).map(str::to_owned);
        found.is_some()
    });
    found.unwrap()
}

pub fn addresses(gate: &Gate) -> Addresses {
    let said = gate.said();
    let line = said
        .lines()
        .find(|line| line.contains("serving") && line.contains("upstream"))
        .unwrap();
    let port = |name: &str| -> u16 {
        let rest = line.split_once("serving").unwrap().1.split_once(name).unwrap().1;
        let rest = rest.split_once("127.0.0.1:").unwrap().1;
        rest.split(|other: char| !other.is_ascii_digit())
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    let [clear, tls] = [port("listen"), port("tls")].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    Addresses { clear, tls }
}

/// Waits until the gates of the store have looked at it many times.
pub fn many_looks(store: &Server) {
    let looks = || {
        let text = store.info("commandstats", "cmdstat_hmget").unwrap_or_default();
        let calls = text.split("calls=").nth(1).and_then(|rest| rest.split(',').next());
        calls.and_then(|calls| calls.parse::<u64>().ok()).unwrap_or_default()
    };
    let before = looks();
    until("many looks at the store", || looks() > before + 30);
}

/// The lines of a gate's metrics that begin so.
pub fn metric(gate: &Gate, name: &str) -> Vec<String> {
    let text = asks(gate.admin.parse().unwrap(), "localhost", "/metrics");
    text.lines()
        .filter(|line| line.starts_with(name))
        .map(str::to_owned)
        .collect()
}
