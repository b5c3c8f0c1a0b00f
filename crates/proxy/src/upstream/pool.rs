//! One core's connections to the upstream: those that stand idle, and leases on those that are at work.
//!
//! Where the upstream speaks HTTP/2 a lease is one stream of a connection that others [share](crate::upstream::http2). Any other
//! connection comes back only when its whole exchange went by the book; a lease that is dropped before aborts it, which
//! is how a client that is gone cancels its request at the upstream.

mod idle;
mod lease;
mod line;
mod stash;
mod way;

use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::error::Kind;
use crate::settings::{UpstreamHttp2, UpstreamSettings};
use crate::stats::{Stats, UpstreamStats};
use crate::upstream::heard::Heard;
use crate::upstream::http2::{Connections, Unopened};
use crate::upstream::request_body::Sent;
use crate::upstream::servers::{Budget, Busy, Protocol, Target, UpstreamServers};
use crate::upstream::socket::UpstreamSocket;

pub(crate) use idle::Idle;
pub(crate) use lease::Lease;
use line::{Leash, Line};
pub(crate) use stash::Stash;
pub(crate) use way::Way;

/// The pool; one per core, so its lock is hardly ever contended: only where servers go.
pub(crate) struct Pool {
    servers: UpstreamServers,
    settings: Arc<UpstreamSettings>,
    stats: Arc<Stats>,
    used: Arc<UpstreamStats>,
    idle: Arc<Idle>,
    budget: Budget,
}

impl Pool {
    /// An empty pool, and its sweeper as a task of the current runtime.
    pub(crate) fn new(servers: UpstreamServers, stats: Arc<Stats>) -> Arc<Self> {
        let settings = Arc::clone(servers.settings());
        let pool = Arc::new(Self {
            budget: Budget::new(settings.retry_budget),
            idle: Arc::new(Idle::new(settings.idle, settings.http2 != UpstreamHttp2::Off)),
            used: servers.stats(),
            servers,
            settings,
            stats,
        });
        pool.servers.fill(&pool.idle);
        tokio::spawn(sweep(Arc::downgrade(&pool), pool.settings.idle));
        pool
    }

    pub(crate) fn servers(&self) -> &UpstreamServers {
        &self.servers
    }

    pub(crate) fn settings(&self) -> &UpstreamSettings {
        &self.settings
    }

    pub(crate) fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// The counts of this upstream alone.
    pub(crate) fn used(&self) -> &UpstreamStats {
        &self.used
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The connections that a request may share; none for a tunnel within TLS, which takes a separate one.
    pub(crate) fn shared(&self, target: &Target, is_tunnel: bool) -> Option<&Connections> {
        let shared = self.idle.shared.as_ref()?;
        let may = self.servers.dial().most(target) == Protocol::Http2 && !(is_tunnel && target.is_secured());
        may.then_some(shared)
    }

    /// An existing connection: one with room, or an idle one, the most recently used first.
    pub(crate) async fn kept(self: &Arc<Self>, busy: Busy, is_tunnel: bool) -> Result<Lease, Busy> {
        if let Some(shared) = self.shared(busy.target(), is_tunnel)
            && let Some(stream) = shared.join(busy.target(), self.settings.idle)
        {
            return Ok(Lease::new(self, Way::Shared(Box::new(stream)), busy, Instant::now()));
        }
        loop {
            let now = Instant::now();
            let stash = busy.target().stash().unwrap_or(&self.idle.stash);
            let Some(mut line) = stash.pop(busy.target().key(), now, self.settings.idle) else {
                return Err(busy);
            };
            if is_ready(&mut line.sender).await {
                line.heard.reset();
                return Ok(Lease::again(self, line, busy, now));
            }
        }
    }

    /// A new connection, or a stream on a new one; the error includes the place that it was meant for.
    pub(crate) async fn fresh(
        self: &Arc<Self>,
        busy: Busy,
        is_tunnel: bool,
        deadline: Option<Instant>,
    ) -> Result<Lease, (Unopened, Busy)> {
        let way = match self.shared(busy.target(), is_tunnel) {
            None => self
                .open(busy.target(), Protocol::Http1, deadline)
                .await
                .map_err(Into::into),
            Some(shared) => {
                let open = || self.open(busy.target(), Protocol::Http2, deadline);
                shared.open(busy.target(), self.settings.idle, deadline, open).await
            }
        };
        match way {
            Ok(way) => Ok(Lease::new(self, way, busy, Instant::now())),
            Err(unopened) => Err((unopened, busy)),
        }
    }

    /// A new connection that speaks `most` or less.
    pub(crate) async fn open(
        &self,
        target: &Arc<Target>,
        most: Protocol,
        deadline: Option<Instant>,
    ) -> Result<Way, Kind> {
        let end = self.connect_by(deadline);
        let dialled = timeout_at(end, self.servers.dial().connect(target, most)).await;
        let late = |_| {
            if deadline == Some(end) {
                return Kind::TotalTimeout;
            }
            target.note("no connection in time");
            Kind::ConnectTimeout
        };
        let (stream, protocol) = dialled.map_err(late)?.map_err(|error| {
            if error.kind() != Kind::Exhausted {
                target.note(&error.to_string());
            }
            error.kind()
        })?;
        target.reached();
        let heard = Arc::new(Heard::default());
        let socket = UpstreamSocket::new(stream, &self.settings, Arc::clone(&heard), Arc::clone(&self.used));
        if let (Protocol::Http2, Some(shared)) = (protocol, &self.idle.shared) {
            // Data ahead of answers is bounded by frames there.
            heard.head();
            let speak = shared.speak(socket, target, &self.settings, end, deadline);
            return Ok(Way::Shared(Box::new(speak.await?)));
        }
        if most == self.servers.dial().most(target) {
            target.speaks(protocol);
        }
        self.line(socket, target, heard).await.map(Way::Own)
    }

    /// When a connection that is begun now must be there.
    fn connect_by(&self, deadline: Option<Instant>) -> Instant {
        let end = Instant::now() + self.settings.connect;
        deadline.map_or(end, |deadline| deadline.min(end))
    }

    async fn line(&self, socket: UpstreamSocket, target: &Arc<Target>, heard: Arc<Heard>) -> Result<Line, Kind> {
        let handshake = http1::Builder::new()
            .max_header_size(self.settings.head_bytes)
            .max_buf_size(self.settings.head_bytes.max(BUFFER_BYTES))
            .handshake(TokioIo::new(socket));
        let (sender, connection) = handshake.await.map_err(|_| Kind::Broken)?;
        let task = tokio::spawn(async move {
            // Its errors reach the task that waits for the answer or reads its body.
            let _ = connection.with_upgrades().await;
        });
        Ok(Line {
            server: Arc::clone(target.key()),
            sender,
            heard,
            alarm: None,
            task: Leash(Some(task.abort_handle())),
        })
    }

    fn push(&self, target: &Arc<Target>, line: Line) {
        self.idle.push(target, line, self.settings.idle_connections);
    }

    /// Closes connections that were idle for too long, or whose server is gone.
    fn sweep(&self) {
        self.idle.sweep();
        self.servers.sweep(|stash| stash.sweep(self.settings.idle));
    }
}

/// Whether a kept connection may be used. The exchange before may be over for the gate and not yet for hyper, which takes one
/// turn of its task. An error means the upstream has closed; no answer, that it answered without taking the whole request,
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

/// Closes connections that were idle for too long, until the pool is gone.
async fn sweep(pool: Weak<Pool>, idle: Duration) {
    loop {
        sleep(idle).await;
        let Some(pool) = pool.upgrade() else { return };
        pool.sweep();
    }
}

/// How long a kept connection may take to be ready.
const KEPT_WAIT: Duration = Duration::from_millis(20);
/// hyper's smallest buffer; it holds as much as one write to the upstream may carry.
const BUFFER_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
