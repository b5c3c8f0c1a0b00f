//! One core's connections to the shop: those that stand idle, and leases on those that are at work.
//!
//! A connection comes back only when its whole exchange went by the book; a lease that is dropped before aborts it, which
//! is how a client that is gone cancels its request at the shop.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use super::error::Kind;
use super::sent::Sent;
use super::settings::UpstreamSettings;
use super::socket::{Heard, ShopSocket};
use super::stats::Stats;

/// The pool; one per core, so its lock is never contended.
pub(super) struct Pool {
    settings: Arc<UpstreamSettings>,
    stats: Arc<Stats>,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    line: Line,
    since: Instant,
}

/// A connection to the shop.
struct Line {
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
    line: Option<Line>,
    pool: Arc<Pool>,
    reused: bool,
    reusable: bool,
}

impl Pool {
    /// An empty pool, and its sweeper as a task of the current runtime.
    pub(super) fn new(settings: Arc<UpstreamSettings>, stats: Arc<Stats>) -> Arc<Self> {
        let pool = Arc::new(Self {
            settings,
            stats,
            idle: Mutex::default(),
        });
        tokio::spawn(sweep(Arc::downgrade(&pool), pool.settings.idle));
        pool
    }

    /// An idle connection, the freshest first.
    pub(super) async fn kept(self: &Arc<Self>) -> Option<Lease> {
        loop {
            let mut line = self.pop(Instant::now())?;
            // The exchange before may be over for us and not yet for hyper. An error means the shop has closed; silence, that
            // it answered without taking the whole request, whose rest is still being written.
            if matches!(timeout(KEPT_WAIT, line.sender.ready()).await, Ok(Ok(()))) {
                line.heard.reset();
                return Some(Lease {
                    line: Some(line),
                    pool: Arc::clone(self),
                    reused: true,
                    reusable: false,
                });
            }
        }
    }

    /// A new connection.
    pub(super) async fn fresh(self: &Arc<Self>) -> Result<Lease, Kind> {
        let target = (self.settings.host.as_str(), self.settings.port);
        let connected = timeout(self.settings.connect, TcpStream::connect(target)).await;
        let stream = connected
            .map_err(|_| Kind::ConnectTimeout)?
            .map_err(|error| unreachable_or_ours(&error))?;
        // Without it a head and its body may wait for each other's acknowledgement; nothing is lost if it fails.
        let _ = stream.set_nodelay(true);
        let heard = Arc::new(Heard::default());
        let socket = ShopSocket::new(stream, self.settings.write, Arc::clone(&heard), Arc::clone(&self.stats));
        let handshake = http1::Builder::new()
            .max_header_size(self.settings.head_bytes)
            .max_buf_size(self.settings.head_bytes.max(BUFFER_BYTES))
            .handshake(TokioIo::new(socket));
        let (sender, connection) = handshake.await.map_err(|_| Kind::Broken)?;
        let task = tokio::spawn(async move {
            // Its errors reach whoever waits for the answer or reads its body.
            let _ = connection.with_upgrades().await;
        });
        let line = Line {
            sender,
            heard,
            task: Leash(Some(task.abort_handle())),
        };
        Ok(Lease {
            line: Some(line),
            pool: Arc::clone(self),
            reused: false,
            reusable: false,
        })
    }

    fn pop(&self, now: Instant) -> Option<Line> {
        let mut idle = self.idle();
        let newest = idle.pop()?;
        if now.duration_since(newest.since) < self.settings.idle {
            return Some(newest.line);
        }
        idle.clear();
        None
    }

    fn push(&self, line: Line) {
        let mut idle = self.idle();
        if idle.len() < self.settings.idle_connections && !line.sender.is_closed() {
            idle.push(Idle {
                line,
                since: Instant::now(),
            });
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Whether the connection has served a request before.
    pub(super) fn is_reused(&self) -> bool {
        self.reused
    }

    /// Whether the shop has sent any byte during this lease.
    pub(super) fn is_answered(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.heard.any())
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

    /// The connection is a tunnel now: its task hands the socket over and ends by itself.
    pub(super) fn detach(mut self) {
        if let Some(line) = &mut self.line {
            line.task.0 = None;
        }
    }
}

/// Closes what stood idle for too long, until the pool is gone.
async fn sweep(pool: Weak<Pool>, idle: Duration) {
    loop {
        sleep(idle).await;
        let Some(pool) = pool.upgrade() else { return };
        pool.idle()
            .retain(|kept| kept.since.elapsed() < idle && !kept.line.sender.is_closed());
    }
}

fn unreachable_or_ours(error: &io::Error) -> Kind {
    match error.kind() {
        io::ErrorKind::AddrNotAvailable | io::ErrorKind::OutOfMemory => Kind::Exhausted,
        _ if matches!(error.raw_os_error(), Some(EMFILE | ENFILE | ENOBUFS)) => Kind::Exhausted,
        _ => Kind::Unreachable,
    }
}

/// How long a kept connection may take to be ready; it is a matter of one turn of its task.
const KEPT_WAIT: Duration = Duration::from_millis(20);
const EMFILE: i32 = rustix::io::Errno::MFILE.raw_os_error();
const ENFILE: i32 = rustix::io::Errno::NFILE.raw_os_error();
const ENOBUFS: i32 = rustix::io::Errno::NOBUFS.raw_os_error();
/// hyper's smallest buffer; it holds what one write to the shop may carry.
const BUFFER_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool with one idle connection to a shop that does nothing, and the bound on its age.
    async fn kept() -> (Arc<Pool>, Duration, std::net::TcpListener) {
        let shop = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let settings = UpstreamSettings::new("127.0.0.1", shop.local_addr().unwrap().port());
        let idle = settings.idle;
        let pool = Pool::new(Arc::new(settings), Arc::default());
        let mut lease = pool.fresh().await.ok().unwrap();
        lease.may_be_kept();
        lease.give_back();
        (pool, idle, shop)
    }

    #[tokio::test]
    async fn young_connection_is_used() {
        let (pool, ..) = kept().await;
        assert!(pool.pop(Instant::now()).is_some());
        assert!(pool.pop(Instant::now()).is_none());
    }

    #[tokio::test]
    async fn old_connection_is_not_used_even_before_it_is_swept() {
        let (pool, idle, _shop) = kept().await;
        assert!(pool.pop(Instant::now() + idle).is_none());
        assert!(pool.idle().is_empty());
    }

    #[tokio::test]
    async fn lease_that_is_not_given_back_leaves_nothing() {
        let (pool, ..) = kept().await;
        drop(pool.kept().await);
        assert!(pool.idle().is_empty());
    }
}
