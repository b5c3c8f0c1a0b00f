//! The idle connections of one core.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::line::Line;
use super::stash::Stash;
use crate::upstream::http2::Connections;
use crate::upstream::servers::Target;

/// One core's idle connections.
pub(crate) struct Idle {
    pub(super) stash: Stash,
    /// None if no server speaks HTTP/2.
    pub(super) shared: Option<Connections>,
    /// How long they may stand idle.
    oldest: Duration,
    /// Another pool has replaced this one's: its idle connections will not be used again.
    is_retired: AtomicBool,
}

impl Idle {
    pub(super) fn new(oldest: Duration, is_shared: bool) -> Self {
        Self {
            stash: Stash::default(),
            shared: is_shared.then(Connections::default),
            oldest,
            is_retired: AtomicBool::new(false),
        }
    }

    /// Keeps a connection, with those of its server where the cores share them.
    pub(super) fn push(&self, target: &Arc<Target>, line: Line, most: usize) {
        target.stash().unwrap_or(&self.stash).push(line, most);
        if self.is_retired.load(Ordering::Relaxed) {
            self.stash.clear();
        }
    }

    /// Keeps no connections from now on: requests that go on here take none of them, and others go elsewhere.
    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
        self.stash.clear();
        self.shared.iter().for_each(Connections::clear);
    }

    /// Closes connections that were idle for too long, or whose server is gone.
    pub(crate) fn sweep(&self) {
        self.stash.sweep(self.oldest);
        self.shared.iter().for_each(|shared| shared.sweep(self.oldest));
    }
}
