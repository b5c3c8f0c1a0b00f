//! One core's connections to the shop: those that stand idle, and leases on those that are at work.
//!
//! A connection comes back only when its whole exchange went by the book; a lease that is dropped before aborts it, which
//! is how a client that is gone cancels its request at the shop.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::error::Kind;
use super::origins::{Budget, Busy, Origin, Origins};
use super::sent::Sent;
use super::settings::UpstreamSettings;
use super::shop_socket::{Heard, ShopSocket};
use super::stats::Stats;

/// The pool; one per core, so its lock is never contended.
pub(super) struct Pool {
    origins: Origins,
    settings: Arc<UpstreamSettings>,
    stats: Arc<Stats>,
    idle: Stash,
    budget: Budget,
}

/// Idle connections, to any number of servers; the freshest last.
#[derive(Default)]
pub(super) struct Stash(Mutex<Vec<Idle>>);

struct Idle {
    line: Line,
    since: Instant,
}

/// A connection to a server.
struct Line {
    origin: Arc<Origin>,
    sender: SendRequest<Sent>,
    heard: Arc<Heard>,
    task: Leash,
}

/// Ends the connection's task, and with it the connection, when it drops; unless it was let go.
struct Leash(Option<AbortHandle>);

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// The use of a connection for one request.
pub(super) struct Lease {
    // Before `busy`: a connection is closed or kept before another may take its place.
    line: Option<Line>,
    pool: Arc<Pool>,
    busy: Busy,
    reused: bool,
    reusable: bool,
}

impl Pool {
    /// An empty pool, and its sweeper as a task of the current runtime.
    pub(super) fn new(origins: Origins, stats: Arc<Stats>) -> Arc<Self> {
        let settings = Arc::clone(origins.settings());
        let pool = Arc::new(Self {
            budget: Budget::new(settings.retry_budget),
            idle: Stash::default(),
            origins,
            settings,
            stats,
        });
        tokio::spawn(sweep(Arc::downgrade(&pool), pool.settings.idle));
        pool
    }

    pub(super) fn origins(&self) -> &Origins {
        &self.origins
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// An idle connection, the freshest first.
    pub(super) async fn kept(self: &Arc<Self>, busy: Busy) -> Result<Lease, Busy> {
        loop {
            let stash = busy.origin().stash().unwrap_or(&self.idle);
            let Some(mut line) = stash.pop(busy.origin(), Instant::now(), self.settings.idle) else {
                return Err(busy);
            };
            if is_ready(&mut line.sender).await {
                line.heard.reset();
                return Ok(Lease {
                    line: Some(line),
                    pool: Arc::clone(self),
                    busy,
                    reused: true,
                    reusable: false,
                });
            }
        }
    }

    /// A new connection; the error comes with what it was to be for.
    pub(super) async fn fresh(self: &Arc<Self>, busy: Busy, deadline: Option<Instant>) -> Result<Lease, (Kind, Busy)> {
        match self.line(busy.origin(), deadline).await {
            Ok(line) => Ok(Lease {
                line: Some(line),
                pool: Arc::clone(self),
                busy,
                reused: false,
                reusable: false,
            }),
            Err(kind) => Err((kind, busy)),
        }
    }

    async fn line(&self, origin: &Arc<Origin>, deadline: Option<Instant>) -> Result<Line, Kind> {
        let end = Instant::now() + self.settings.connect;
        let end = deadline.map_or(end, |deadline| deadline.min(end));
        let dialled = timeout_at(end, self.origins.dial().connect(origin)).await;
        let late = |_| {
            origin.note("no connection in time");
            Kind::ConnectTimeout
        };
        let stream = dialled.map_err(late)?.map_err(|error| {
            if error.kind() != Kind::Exhausted {
                origin.note(&error.to_string());
            }
            error.kind()
        })?;
        let heard = Arc::new(Heard::default());
        let socket = ShopSocket::new(stream, &self.settings, Arc::clone(&heard), Arc::clone(&self.stats));
        let handshake = http1::Builder::new()
            .max_header_size(self.settings.head_bytes)
            .max_buf_size(self.settings.head_bytes.max(BUFFER_BYTES))
            .handshake(TokioIo::new(socket));
        let (sender, connection) = handshake.await.map_err(|_| Kind::Broken)?;
        let task = tokio::spawn(async move {
            // Its errors reach whoever waits for the answer or reads its body.
            let _ = connection.with_upgrades().await;
        });
        Ok(Line {
            origin: Arc::clone(origin),
            sender,
            heard,
            task: Leash(Some(task.abort_handle())),
        })
    }

    fn push(&self, line: Line) {
        let stash = Arc::clone(&line.origin);
        let stash = stash.stash().unwrap_or(&self.idle);
        stash.push(line, self.settings.idle_connections);
    }
}

/// Whether a kept connection may be used. The exchange before may be over for us and not yet for hyper; it is a matter of
/// one turn of its task. An error means the shop has closed; silence, that it answered without taking the whole request,
/// whose rest is still being written.
async fn is_ready(sender: &mut SendRequest<Sent>) -> bool {
    // PERF: nearly always it is, and no clock need be read.
    let mut ready = None;
    poll_fn(|cx| {
        if let Poll::Ready(result) = sender.poll_ready(cx) {
            ready = Some(result.is_ok());
        }
        Poll::Ready(())
    })
    .await;
    match ready {
        Some(ready) => ready,
        None => matches!(timeout(KEPT_WAIT, sender.ready()).await, Ok(Ok(()))),
    }
}

impl Stash {
    fn pop(&self, origin: &Arc<Origin>, now: Instant, oldest: Duration) -> Option<Line> {
        let mut idle = self.lock();
        let at = idle.iter().rposition(|kept| Arc::ptr_eq(&kept.line.origin, origin))?;
        if now.duration_since(idle[at].since) < oldest {
            return Some(idle.remove(at).line);
        }
        idle.retain(|kept| !Arc::ptr_eq(&kept.line.origin, origin));
        None
    }

    fn push(&self, line: Line, most: usize) {
        let mut idle = self.lock();
        if idle.len() < most && !line.sender.is_closed() && !line.origin.is_gone() {
            idle.push(Idle {
                line,
                since: Instant::now(),
            });
        }
    }

    fn sweep(&self, oldest: Duration) {
        self.lock().retain(|kept| {
            kept.since.elapsed() < oldest && !kept.line.sender.is_closed() && !kept.line.origin.is_gone()
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    pub(super) fn sender(&mut self) -> &mut SendRequest<Sent> {
        &mut self
            .line
            .as_mut()
            .expect("a lease holds its connection until it is given back")
            .sender
    }

    pub(super) fn origin(&self) -> &Arc<Origin> {
        self.busy.origin()
    }

    /// Whether the connection has served a request before.
    pub(super) fn is_reused(&self) -> bool {
        self.reused
    }

    /// Whether the shop has sent any byte during this lease.
    pub(super) fn is_answered(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.heard.any())
    }

    /// Says that the answer's head is here.
    pub(super) fn is_headed(&self) {
        if let Some(line) = &self.line {
            line.heard.head();
        }
    }

    /// Says that the connection may serve another request once the answer has been read whole.
    pub(super) fn may_be_kept(&mut self) {
        self.reusable = true;
    }

    /// The answer has been read whole.
    pub(super) fn give_back(mut self) {
        let Some(line) = self.line.take() else { return };
        if self.reusable {
            self.pool.push(line);
        }
    }

    /// The connection is a tunnel now: its task hands the socket over and ends by itself. The server is busy with it as long
    /// as what is returned lives.
    pub(super) fn detach(self) -> Busy {
        let Self { line, busy, .. } = self;
        if let Some(mut line) = line {
            line.task.0 = None;
        }
        busy
    }
}

/// Closes what stood idle for too long, until the pool is gone.
async fn sweep(pool: Weak<Pool>, idle: Duration) {
    loop {
        sleep(idle).await;
        let Some(pool) = pool.upgrade() else { return };
        pool.idle.sweep(idle);
        pool.origins.sweep(|stash| stash.sweep(idle));
    }
}

/// How long a kept connection may take to be ready.
const KEPT_WAIT: Duration = Duration::from_millis(20);
/// hyper's smallest buffer; it holds what one write to the shop may carry.
const BUFFER_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
