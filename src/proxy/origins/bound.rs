//! The bound on connections to one server: so many at once over all cores, and a line of requests that wait for one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::proxy::error::Kind;
use crate::proxy::pool::Stash;
use crate::proxy::settings::ConnectionBound;

/// One server's connections where they are bounded. Idle ones are shared by all cores: else one core's would keep another
/// from connecting.
pub(super) struct Bound {
    rules: ConnectionBound,
    permits: Arc<Semaphore>,
    waiting: AtomicU32,
    idle: Stash,
}

impl Bound {
    pub(super) fn new(rules: ConnectionBound) -> Self {
        let permits = usize::try_from(rules.connections)
            .unwrap_or(usize::MAX)
            .min(Semaphore::MAX_PERMITS);
        Self {
            rules,
            permits: Arc::new(Semaphore::new(permits)),
            waiting: AtomicU32::new(0),
            idle: Stash::default(),
        }
    }

    pub(super) fn idle(&self) -> &Stash {
        &self.idle
    }

    pub(super) fn is_full(&self) -> bool {
        self.permits.available_permits() == 0
    }

    pub(super) fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// The right to a connection, first come, first served. Dropped while it waits, it leaves the line.
    pub(super) async fn enter(&self, deadline: Option<Instant>) -> Result<OwnedSemaphorePermit, Kind> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let _place = self.place()?;
        let end = Instant::now() + self.rules.wait;
        let end = deadline.map_or(end, |deadline| deadline.min(end));
        match timeout_at(end, Arc::clone(&self.permits).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Kind::Exhausted),
        }
    }

    fn place(&self) -> Result<Waiting<'_>, Kind> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.rules.waiting {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Kind::Exhausted);
        }
        Ok(Waiting(self))
    }
}

struct Waiting<'b>(&'b Bound);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
