//! How many connections there are, in all, of each client, at each listener and on each core; and the bounds on them.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use tokio::sync::Notify;

use crate::limit::{ClientKey, Held, Hold};

use crate::listen::address::is_trusted;
use crate::settings::ServerSettings;
use crate::stats::{Stats, down, up};

/// How many connections there are, in all and where.
pub(crate) struct Load {
    all: AtomicUsize,
    listeners: Vec<AtomicUsize>,
    cores: Vec<AtomicUsize>,
    ended: Vec<Notify>,
    /// SECURITY: without it one address takes every connection there is. Never more entries than connections.
    clients: Arc<Held<ClientKey>>,
    /// In force for connections that are yet to come.
    settings: ArcSwap<ServerSettings>,
    stats: Arc<Stats>,
}

impl Load {
    pub(crate) fn new(listeners: usize, cores: usize, settings: &ServerSettings, stats: Arc<Stats>) -> Self {
        Self {
            all: AtomicUsize::new(0),
            listeners: (0..listeners).map(|_| AtomicUsize::new(0)).collect(),
            cores: (0..cores).map(|_| AtomicUsize::new(0)).collect(),
            ended: (0..cores).map(|_| Notify::new()).collect(),
            clients: Held::new(settings.connections_per_client),
            settings: ArcSwap::from_pointee(settings.clone()),
            stats,
        }
    }

    /// The limits of new connections.
    pub(crate) fn settings(&self) -> Arc<ServerSettings> {
        self.settings.load_full()
    }

    /// Sets the limits of new connections; open connections count, and keep their own.
    pub(crate) fn bind_by(&self, settings: ServerSettings) {
        self.clients.allow(settings.connections_per_client);
        self.settings.store(Arc::new(settings));
    }

    pub(crate) fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// Connections of one core that are at work.
    pub(crate) fn on(&self, core: usize) -> usize {
        self.cores[core].load(Ordering::Relaxed)
    }

    /// Waits until no connections are left, on this core or another, because they share connections to the upstream.
    pub(crate) async fn until_empty(&self, core: usize) {
        while self.all.load(Ordering::Relaxed) > 0 {
            self.ended[core].notified().await;
        }
    }

    /// The core with the fewest connections, for one more of this listener's; `None` where a bound is reached.
    pub(crate) fn core_for(&self, listener: usize) -> Option<usize> {
        let settings = self.settings.load();
        let is_full = self.all.load(Ordering::Relaxed) >= settings.connections
            || self.listeners[listener].load(Ordering::Relaxed) >= settings.connections_per_listener;
        let counts = self.cores.iter().map(|core| core.load(Ordering::Relaxed)).enumerate();
        let fewest = counts.min_by_key(|(_, count)| *count).filter(|_| !is_full);
        fewest.map(|(core, _)| core)
    }

    /// One more connection of a client; none is counted for a trusted proxy.
    fn client(&self, peer: IpAddr) -> Result<Option<Hold<ClientKey>>, TooMany> {
        let settings = self.settings.load();
        if is_trusted(peer.to_canonical(), &settings.trusted) {
            return Ok(None);
        }
        let most = settings.loopback_connections.filter(|_| is_loopback(peer));
        self.clients.take_as(peer.into(), most).map(Some).ok_or(TooMany)
    }
}

fn is_loopback(peer: IpAddr) -> bool {
    peer.to_canonical().is_loopback()
}

/// A client has as many connections and requests under way as it may.
#[derive(Debug)]
pub(crate) struct TooMany;

/// Where connections are counted: at a listener and a core.
#[derive(Clone)]
pub(crate) struct Spot {
    pub(crate) load: Arc<Load>,
    pub(crate) listener: usize,
    pub(crate) core: usize,
}

/// One connection, counted until its descriptor is closed: through a tunnel, and while it is only read from any more. A request that
/// goes on without its client counts as one.
pub(crate) struct Permit {
    spot: Spot,
    client: Option<Hold<ClientKey>>,
    rests: AtomicBool,
}

impl Permit {
    pub(crate) fn new(spot: Spot) -> Self {
        spot.load.all.fetch_add(1, Ordering::Relaxed);
        spot.load.listeners[spot.listener].fetch_add(1, Ordering::Relaxed);
        spot.load.cores[spot.core].fetch_add(1, Ordering::Relaxed);
        up(&spot.load.stats.open);
        Self {
            spot,
            client: None,
            rests: AtomicBool::new(false),
        }
    }

    /// Counts the connection for the client, in addition to the total.
    pub(crate) fn count(&mut self, client: IpAddr) -> Result<(), TooMany> {
        self.client = self.spot.load.client(client)?;
        Ok(())
    }

    /// One more request of the same client, beside the one that every connection may have. SECURITY: without it one address
    /// has as many requests under way as its connections have streams.
    pub(crate) fn beside(&self) -> Result<Option<Hold<ClientKey>>, TooMany> {
        let Some(own) = &self.client else { return Ok(None) };
        self.spot.load.clients.take(*own.key()).map(Some).ok_or(TooMany)
    }

    /// The requests under way are done: a connection that a drain's deadline ends from now on does not count as cut.
    pub(crate) fn rest(&self) {
        if !self.rests.swap(true, Ordering::Relaxed) {
            self.spot.load.cores[self.spot.core].fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn spot(&self) -> &Spot {
        &self.spot
    }

    /// Of a server that has nothing else.
    #[cfg(test)]
    pub(crate) fn alone() -> Self {
        let load = Load::new(1, 1, &ServerSettings::default(), Arc::default());
        Self::new(Spot {
            load: Arc::new(load),
            listener: 0,
            core: 0,
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        drop(self.client.take());
        self.rest();
        let Spot { load, listener, .. } = &self.spot;
        let is_last = load.all.fetch_sub(1, Ordering::Relaxed) == 1;
        load.listeners[*listener].fetch_sub(1, Ordering::Relaxed);
        down(&load.stats.open);
        if is_last {
            load.ended.iter().for_each(Notify::notify_one);
        }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("spot", &self.spot)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spot").field("core", &self.core).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(settings: &ServerSettings) -> Arc<Load> {
        Arc::new(Load::new(1, 1, settings, Arc::default()))
    }

    fn taken(load: &Load, peer: &str, tries: usize) -> Vec<Hold<ClientKey>> {
        let peer = peer.parse().expect("an address");
        (0..tries).filter_map(|_| load.client(peer).ok().flatten()).collect()
    }

    #[test]
    fn a_client_on_loopback_has_a_share_of_its_own_where_one_is_set() {
        let mut settings = ServerSettings {
            connections_per_client: 2,
            ..ServerSettings::default()
        };
        assert_eq!(taken(&load(&settings), "127.0.0.1", 9).len(), 2);
        settings.loopback_connections = Some(5);
        let load = load(&settings);
        for peer in ["127.0.0.1", "::1", "::ffff:127.0.0.2"] {
            assert_eq!(taken(&load, peer, 9).len(), 5, "{peer}");
        }
        for peer in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.2"] {
            assert_eq!(taken(&load, peer, 9).len(), 2, "{peer}");
        }
    }
}
