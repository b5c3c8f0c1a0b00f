//! The bound on requests at one server: so many at once over all cores, and a line of those that wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::proxy::pool::Stash;
use crate::proxy::settings::ConnectionBound;

/// How many requests are at one server where they are bounded. Idle connections are shared by all cores: else one core's would
/// keep another from connecting.
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

    /// The right to a connection, if one is free and nobody waits for it.
    pub(super) fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// How long one waits for it otherwise.
    pub(super) fn patience(&self) -> Duration {
        self.rules.wait
    }

    /// A place in the line, if there is one left.
    pub(super) fn place(&self) -> Option<Place<'_>> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.rules.waiting {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Place(self))
    }
}

/// A place in a server's line, until it drops.
pub(super) struct Place<'b>(&'b Bound);

impl Place<'_> {
    /// The right to a connection, first come, first served from when this is first polled.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.permits).acquire_owned().await.ok()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
