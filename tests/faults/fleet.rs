//! Three gates as processes, each behind a separate proxy to the store, before one shop.

use std::net::SocketAddr;
use std::ops::Range;

use crate::crowd::gate::Gate;
use crate::crowd::http::Pool;
use crate::crowd::people::{LIMITS, REPLIES, Rules};
use crate::crowd::shop::Shop;
use crate::harness::redis::{Cluster, Sentinel, Server};
use crate::harness::toxic::{Proxy, Toxic};

/// How many gates share a room.
pub const GATES: usize = 3;

/// The store that the gates share. Only a single server has proxies before it: with the others the gates get the servers' own
/// addresses.
pub enum Store {
    Server(Server),
    Cluster(Cluster),
    Sentinel(Sentinel),
}

impl Store {
    /// The address of the store itself, without a proxy.
    pub fn url(&self) -> String {
        match self {
            Self::Server(server) => server.url(),
            Self::Cluster(cluster) => cluster.url(),
            Self::Sentinel(sentinel) => sentinel.url(),
        }
    }
}

/// Gates, their store and their shop.
pub struct Fleet {
    pub gates: Vec<Gate>,
    pub proxies: Vec<Proxy>,
    pub shop: Shop,
    pub store: Store,
}

impl Fleet {
    /// Starts the gates, all at once, and waits until they serve.
    pub async fn open(store: Store, rules: Rules, tables: &str) -> Self {
        let mut fleet = Self::of(store, rules, tables).await;
        fleet.start(0..GATES).await;
        fleet
    }

    /// Starts some of the gates, and waits until they serve.
    pub async fn start(&mut self, gates: Range<usize>) {
        let gates = &mut self.gates[gates];
        gates.iter_mut().for_each(Gate::start);
        for gate in gates {
            gate.ready().await;
        }
    }

    /// Gates that are not started yet.
    pub async fn of(store: Store, rules: Rules, tables: &str) -> Self {
        let shop = Shop::open(REPLIES).await;
        let proxies: Vec<Proxy> = match &store {
            Store::Server(server) => (0..GATES).map(|_| before(server)).collect(),
            Store::Cluster(_) | Store::Sentinel(_) => Vec::new(),
        };
        let url = |gate: usize| match proxies.get(gate) {
            Some(proxy) => format!("redis://{}", proxy.address),
            None => store.url(),
        };
        let tables = format!("{LIMITS}\n{tables}");
        let gates = (0..GATES).map(|gate| Gate::with_store(&url(gate), shop.address, &rules.room(), &tables));
        Self {
            gates: gates.collect(),
            proxies,
            shop,
            store,
        }
    }

    /// Visitors' way to the gates: each request takes the next.
    pub fn pool(&self) -> Pool {
        let addresses: Vec<SocketAddr> = self.gates.iter().map(|gate| gate.address).collect();
        Pool::over(&addresses)
    }

    /// The one server that the gates share.
    pub fn server(&mut self) -> &mut Server {
        match &mut self.store {
            Store::Server(server) => server,
            Store::Cluster(_) | Store::Sentinel(_) => panic!("there are several"),
        }
    }

    /// Sets the toxic of every gate's connection from now on.
    pub fn network(&self, toxic: Toxic) {
        self.proxies.iter().for_each(|proxy| proxy.set(toxic));
    }

    /// How often the store failed the gates since they were started.
    pub async fn failures(&self) -> f64 {
        self.figures("ropeline_store_failures_total{").await.iter().sum()
    }

    /// How long a gate's last batch took, the longest of all, in seconds.
    pub async fn lag(&self) -> f64 {
        let lags = self.figures("ropeline_store_lag_seconds ").await;
        lags.into_iter().fold(0.0, f64::max)
    }

    /// A figure of every gate's metrics, of every label if it has any.
    pub async fn figures(&self, name: &str) -> Vec<f64> {
        let mut figures = Vec::new();
        for gate in &self.gates {
            let text = gate.admin_ask("GET", "/metrics", "").await.text();
            let value = |line: &str| line.strip_prefix(name)?.rsplit(' ').next()?.parse::<f64>().ok();
            figures.extend(text.lines().filter_map(value));
        }
        figures
    }

    /// Stops all gates as an operator does.
    pub fn stop(&mut self) {
        self.gates.iter_mut().for_each(Gate::stop);
    }
}

fn before(server: &Server) -> Proxy {
    Proxy::before(SocketAddr::from(([127, 0, 0, 1], server.port())))
}
