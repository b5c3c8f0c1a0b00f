//! One core's shared connections: which has room, and who opens the next.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::connection::{Connection, STREAMS, Stream};
use crate::error::Kind;
use crate::lock::held;
use crate::settings::UpstreamSettings;
use crate::upstream::pool::Way;
use crate::upstream::servers::{Protocol, Target};
use crate::upstream::socket::UpstreamSocket;

/// Connections to any number of servers.
#[derive(Default)]
pub(crate) struct Connections {
    shared: Mutex<Vec<Arc<Connection>>>,
    opening: Mutex<Vec<Expected>>,
}

/// A connection that is being opened.
struct Expected {
    target: Arc<Target>,
    outcome: watch::Receiver<Outcome>,
    /// How many more may wait for it.
    places: usize,
}

/// How the opening of a connection went, once it is over.
type Outcome = Option<Result<(), Kind>>;

/// The next step of a request without a connection.
enum Turn<'c> {
    /// Open one.
    Open(Opening<'c>),
    /// Wait for one that is being opened.
    Wait(watch::Receiver<Outcome>),
}

/// No connection came about.
pub(crate) struct Unopened {
    pub(crate) kind: Kind,
    /// Another request tried, and counts the failure.
    pub(crate) is_hearsay: bool,
}

impl From<Kind> for Unopened {
    fn from(kind: Kind) -> Self {
        Self {
            kind,
            is_hearsay: false,
        }
    }
}

/// The opening of a connection, for which other requests wait. If it is dropped before [`tell`](Self::tell), the next request
/// opens one.
struct Opening<'c> {
    connections: &'c Connections,
    outcome: watch::Sender<Outcome>,
    others: watch::Receiver<Outcome>,
}

impl Connections {
    /// A stream on the first connection with room: the last ones stand idle first, and close.
    pub(crate) fn join(&self, target: &Arc<Target>, oldest: Duration) -> Option<Stream> {
        let mut shared = held(&self.shared);
        shared.retain(|connection| !connection.is_to(target) || connection.is_good(oldest));
        let mut own = shared.iter().filter(|connection| connection.is_to(target));
        own.find_map(Connection::begin)
    }

    /// Lets go of connections that nothing new may go over.
    pub(crate) fn sweep(&self, oldest: Duration) {
        held(&self.shared).retain(|connection| connection.is_good(oldest));
    }

    /// Lets go of all of them: each closes when nothing is under way on it.
    pub(crate) fn clear(&self) {
        held(&self.shared).clear();
    }

    /// A stream on a connection that is opened for it, by this request with `open` or by another one. No connection may be
    /// older than `oldest`.
    pub(crate) async fn open<F: Future<Output = Result<Way, Kind>>>(
        &self,
        target: &Arc<Target>,
        oldest: Duration,
        deadline: Option<Instant>,
        open: impl Fn() -> F,
    ) -> Result<Way, Unopened> {
        for _ in 0..WAITS {
            if let Some(stream) = self.join(target, oldest) {
                return Ok(Way::Shared(Box::new(stream)));
            }
            if target.protocol() == Some(Protocol::Http1) {
                // No connection to share, and no opening to wait for.
                break;
            }
            match self.turn(target) {
                Turn::Open(opening) => {
                    let way = open().await;
                    opening.tell(way.as_ref().map(|_| ()).map_err(|kind| *kind));
                    return Ok(way?);
                }
                Turn::Wait(outcome) => match told(outcome, deadline).await? {
                    // The deadline of the request that opened it does not apply to this one.
                    Some(Err(kind)) if kind != Kind::TotalTimeout => return Err(Unopened { kind, is_hearsay: true }),
                    _ => {}
                },
            }
        }
        Ok(open().await?)
    }

    /// The first stream on a connection that speaks HTTP/2, which others may share from now on.
    pub(crate) async fn speak(
        &self,
        socket: UpstreamSocket,
        target: &Arc<Target>,
        settings: &UpstreamSettings,
        end: Instant,
        deadline: Option<Instant>,
    ) -> Result<Stream, Kind> {
        let Ok(opened) = timeout_at(end, Connection::open(socket, target, settings)).await else {
            if deadline == Some(end) {
                return Err(Kind::TotalTimeout);
            }
            target.note("no HTTP/2 settings in time");
            return Err(Kind::ConnectTimeout);
        };
        let Some(connection) = opened else {
            target.note("it does not speak HTTP/2");
            return Err(Kind::Broken);
        };
        let Some(stream) = connection.begin() else {
            target.note("it takes no requests over HTTP/2");
            return Err(Kind::Broken);
        };
        target.speaks(Protocol::Http2);
        held(&self.shared).push(connection);
        Ok(stream)
    }

    /// One request opens a connection for as many as will have a place on it.
    fn turn(&self, target: &Arc<Target>) -> Turn<'_> {
        let places = self.places(target);
        let mut opening = held(&self.opening);
        let mut own = opening
            .iter_mut()
            .filter(|expected| Arc::ptr_eq(&expected.target, target));
        if let Some(expected) = own.find(|expected| expected.places > 0) {
            expected.places -= 1;
            return Turn::Wait(expected.outcome.clone());
        }
        let (outcome, others) = watch::channel(None);
        opening.push(Expected {
            target: Arc::clone(target),
            outcome: others.clone(),
            places: places - 1,
        });
        Turn::Open(Opening {
            connections: self,
            outcome,
            others,
        })
    }

    /// The requests that a new connection will take, as far as the present ones tell.
    fn places(&self, target: &Arc<Target>) -> usize {
        let shared = held(&self.shared);
        let own = shared.iter().filter(|connection| connection.is_to(target));
        let most = own.map(|connection| connection.most_streams()).max();
        most.filter(|most| *most > 0).unwrap_or(STREAMS)
    }
}

/// The outcome of the opening, if the task that opened the connection is still there to report it. The opening has a deadline
/// of its own.
async fn told(mut outcome: watch::Receiver<Outcome>, deadline: Option<Instant>) -> Result<Outcome, Kind> {
    let told = async { outcome.wait_for(Option::is_some).await.ok().and_then(|told| *told) };
    match deadline {
        Some(deadline) => timeout_at(deadline, told).await.map_err(|_| Kind::TotalTimeout),
        None => Ok(told.await),
    }
}

impl Opening<'_> {
    fn tell(self, outcome: Result<(), Kind>) {
        let _ = self.outcome.send(Some(outcome));
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        held(&self.connections.opening).retain(|expected| !expected.outcome.same_channel(&self.others));
    }
}

/// How often a request waits for a place on a connection that another opens; then it opens one for itself.
const WAITS: u32 = 3;
