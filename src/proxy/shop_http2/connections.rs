//! One core's shared connections: which has room, and who opens the next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::connection::{Connection, Stream};
use crate::proxy::error::Kind;
use crate::proxy::origins::{Origin, Protocol};
use crate::proxy::pool::{Pool, Way};
use crate::proxy::settings::UpstreamSettings;
use crate::proxy::shop_socket::ShopSocket;

/// Connections to any number of servers.
#[derive(Default)]
pub(in crate::proxy) struct Connections {
    shared: Mutex<Vec<Arc<Connection>>>,
    opening: Mutex<Vec<(Arc<Origin>, watch::Receiver<Outcome>)>>,
}

/// How the opening of a connection went, once it is over.
type Outcome = Option<Result<(), Kind>>;

/// What a request without a connection is to do.
enum Turn<'c> {
    /// Open one.
    Open(Opening<'c>),
    /// Wait for the one that is being opened.
    Wait(watch::Receiver<Outcome>),
}

/// The opening of a connection, which others wait for. Dropped before it is [told](Self::tell), another's turn begins.
struct Opening<'c> {
    connections: &'c Connections,
    origin: Arc<Origin>,
    outcome: watch::Sender<Outcome>,
}

impl Connections {
    /// A stream on the first connection with room: the last ones stand idle first, and close.
    pub(in crate::proxy) fn join(&self, origin: &Arc<Origin>, oldest: Duration) -> Option<Stream> {
        let mut shared = held(&self.shared);
        shared.retain(|connection| !connection.is_to(origin) || connection.is_good(oldest));
        let mut own = shared.iter().filter(|connection| connection.is_to(origin));
        own.find_map(Connection::begin)
    }

    /// Lets go of connections that nothing new may go over.
    pub(in crate::proxy) fn sweep(&self, oldest: Duration) {
        held(&self.shared).retain(|connection| connection.is_good(oldest));
    }

    /// Lets go of all of them: each closes when nothing is under way on it.
    pub(in crate::proxy) fn clear(&self) {
        held(&self.shared).clear();
    }

    /// A stream on a connection that is opened for it, by this request or another.
    pub(in crate::proxy) async fn open(
        &self,
        pool: &Pool,
        origin: &Arc<Origin>,
        deadline: Option<Instant>,
    ) -> Result<Way, Kind> {
        let end = pool.connect_by(deadline);
        loop {
            if let Some(stream) = self.join(origin, pool.oldest()) {
                return Ok(Way::Shared(Box::new(stream)));
            }
            if origin.protocol() == Some(Protocol::Http1) {
                // Nothing to share, and nothing to wait for.
                return pool.open(origin, Protocol::Http2, deadline).await;
            }
            match self.turn(origin) {
                Turn::Open(opening) => {
                    let way = pool.open(origin, Protocol::Http2, deadline).await;
                    opening.tell(way.as_ref().map(|_| ()).map_err(|kind| *kind));
                    return way;
                }
                Turn::Wait(mut outcome) => {
                    let told = timeout_at(end, outcome.wait_for(Option::is_some)).await;
                    let told = told.map_err(|_| Kind::ConnectTimeout)?;
                    // The deadline of the request that opened it says nothing of this one.
                    if let Ok(Some(Err(kind))) = told.map(|told| *told)
                        && kind != Kind::TotalTimeout
                    {
                        return Err(kind);
                    }
                }
            }
        }
    }

    /// The first stream on a connection that speaks HTTP/2, which others may share from now on.
    pub(in crate::proxy) async fn speak(
        &self,
        socket: ShopSocket,
        origin: &Arc<Origin>,
        settings: &UpstreamSettings,
        end: Instant,
    ) -> Result<Stream, Kind> {
        let Ok(opened) = timeout_at(end, Connection::open(socket, origin, settings)).await else {
            origin.note("no HTTP/2 settings in time");
            return Err(Kind::ConnectTimeout);
        };
        let Some(connection) = opened else {
            origin.note("it does not speak HTTP/2");
            return Err(Kind::Broken);
        };
        let Some(stream) = connection.begin() else {
            origin.note("it takes no requests over HTTP/2");
            return Err(Kind::Broken);
        };
        origin.speaks(Protocol::Http2);
        held(&self.shared).push(connection);
        Ok(stream)
    }

    /// One request opens a connection to a server at a time: those that wait may share it.
    fn turn(&self, origin: &Arc<Origin>) -> Turn<'_> {
        let mut opening = held(&self.opening);
        if let Some((_, outcome)) = opening.iter().find(|(other, _)| Arc::ptr_eq(other, origin)) {
            return Turn::Wait(outcome.clone());
        }
        let (outcome, others) = watch::channel(None);
        opening.push((Arc::clone(origin), others));
        Turn::Open(Opening {
            connections: self,
            origin: Arc::clone(origin),
            outcome,
        })
    }
}

impl Opening<'_> {
    fn tell(self, outcome: Result<(), Kind>) {
        let _ = self.outcome.send(Some(outcome));
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        held(&self.connections.opening).retain(|(origin, _)| !Arc::ptr_eq(origin, &self.origin));
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
