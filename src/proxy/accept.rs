//! Accepting: which core a socket goes to, how many there may be, and what happens when there are too many.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{Notify, mpsc};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::limit::{ClientKey, Held, Hold};

use super::address::is_trusted;
use super::listener::{Listener, Terms};
use super::settings::ServerSettings;
use super::stats::{Stats, down, up};
use super::transport::Stream;

/// Accepts until the drain begins. SECURITY: an error of one connection, or a lack of descriptors, never ends the loop.
pub(super) async fn accept(
    listener: Listener,
    index: usize,
    load: &Arc<Load>,
    queues: &[mpsc::Sender<Arrival>],
    closing: &CancellationToken,
) {
    let door = match listener.open() {
        Ok(door) => door,
        Err(error) => return tracing::error!(%error, "cannot accept"),
    };
    let mut is_short = false;
    loop {
        let accepted = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            accepted = door.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                is_short = false;
                load.place(stream, peer, (index, &door.terms), queues);
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                if !std::mem::replace(&mut is_short, true) {
                    tracing::warn!(%error, "cannot accept; trying again until it works");
                }
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}

/// A socket on its way to its core.
pub(super) struct Arrival {
    pub(super) stream: Stream,
    pub(super) peer: SocketAddr,
    pub(super) terms: Arc<Terms>,
    /// It must begin with a PROXY header.
    pub(super) announced: bool,
    pub(super) permit: Permit,
}

/// How many connections there are, in all and where.
pub(super) struct Load {
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
    pub(super) fn new(listeners: usize, cores: usize, settings: &ServerSettings, stats: Arc<Stats>) -> Self {
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

    /// What connections that come now are bound by.
    pub(super) fn settings(&self) -> Arc<ServerSettings> {
        self.settings.load_full()
    }

    /// Binds connections that come from now on by these; those that are there count, and are left alone.
    pub(super) fn bind_by(&self, settings: ServerSettings) {
        self.clients.allow(settings.connections_per_client);
        self.settings.store(Arc::new(settings));
    }

    pub(super) fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// Connections of one core that are at work.
    pub(super) fn on(&self, core: usize) -> usize {
        self.cores[core].load(Ordering::Relaxed)
    }

    /// Waits until there are no connections left, on this core or another: they share what connects them to the shop.
    pub(super) async fn until_empty(&self, core: usize) {
        while self.all.load(Ordering::Relaxed) > 0 {
            self.ended[core].notified().await;
        }
    }

    /// Hands a socket to the core with the fewest connections, or closes it when a bound is reached.
    fn place(
        self: &Arc<Self>,
        stream: Stream,
        peer: SocketAddr,
        (listener, terms): (usize, &Arc<Terms>),
        queues: &[mpsc::Sender<Arrival>],
    ) {
        let settings = self.settings.load();
        let is_full = self.all.load(Ordering::Relaxed) >= settings.connections
            || self.listeners[listener].load(Ordering::Relaxed) >= settings.connections_per_listener;
        let counts = self.cores.iter().map(|core| core.load(Ordering::Relaxed)).enumerate();
        let Some((core, _)) = counts.min_by_key(|(_, count)| *count).filter(|_| !is_full) else {
            up(&self.stats.refused);
            return;
        };
        let announced = is_trusted(peer.ip().to_canonical(), &settings.announced);
        let mut permit = Permit::new(Spot {
            load: Arc::clone(self),
            listener,
            core,
        });
        // Whoever may open a Unix socket is a proxy on this machine, which brings many clients.
        if !announced && !stream.is_unix() && permit.count(peer.ip()).is_err() {
            up(&self.stats.refused);
            return;
        }
        let arrival = Arrival {
            stream,
            peer,
            terms: Arc::clone(terms),
            announced,
            permit,
        };
        if queues[core].try_send(arrival).is_err() {
            up(&self.stats.refused);
            return;
        }
        up(&self.stats.accepted);
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
pub(super) struct TooMany;

/// Where connections are counted: at a listener and a core.
#[derive(Clone)]
pub(super) struct Spot {
    load: Arc<Load>,
    listener: usize,
    core: usize,
}

/// One connection, counted until its descriptor is closed: through a tunnel, and while it is only read from any more. A request that
/// goes on without its client counts as one.
pub(super) struct Permit {
    spot: Spot,
    client: Option<Hold<ClientKey>>,
    rests: AtomicBool,
}

impl Permit {
    pub(super) fn new(spot: Spot) -> Self {
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

    /// Counts the connection as the client's, besides in all.
    pub(super) fn count(&mut self, client: IpAddr) -> Result<(), TooMany> {
        self.client = self.spot.load.client(client)?;
        Ok(())
    }

    /// One more request of the same client, beside the one that every connection may have. SECURITY: without it one address
    /// has as many requests under way as its connections have streams.
    pub(super) fn beside(&self) -> Result<Option<Hold<ClientKey>>, TooMany> {
        let Some(own) = &self.client else { return Ok(None) };
        self.spot.load.clients.take(*own.key()).map(Some).ok_or(TooMany)
    }

    /// All that was under way is done: what a drain's deadline ends now, it does not cut.
    pub(super) fn rest(&self) {
        if !self.rests.swap(true, Ordering::Relaxed) {
            self.spot.load.cores[self.spot.core].fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(super) fn spot(&self) -> &Spot {
        &self.spot
    }

    /// Of a server that has nothing else.
    #[cfg(test)]
    pub(super) fn alone() -> Self {
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

/// How long accepting rests when descriptors or memory have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

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
