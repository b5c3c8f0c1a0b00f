//! Connections that stand idle.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::line::Line;
use crate::lock::held;
use crate::upstream::servers::Key;

/// Idle connections, to any number of servers; the freshest last.
#[derive(Default)]
pub(crate) struct Stash(Mutex<Vec<Kept>>);

pub(super) struct Kept {
    line: Line,
    since: Instant,
}

impl Stash {
    pub(super) fn pop(&self, server: &Arc<Key>, now: Instant, oldest: Duration) -> Option<Line> {
        let mut idle = self.lock();
        let at = idle.iter().rposition(|kept| Arc::ptr_eq(&kept.line.server, server))?;
        if now.duration_since(idle[at].since) < oldest {
            return Some(idle.remove(at).line);
        }
        idle.retain(|kept| !Arc::ptr_eq(&kept.line.server, server));
        None
    }

    pub(super) fn push(&self, line: Line, most: usize) {
        let mut idle = self.lock();
        if idle.len() < most && !line.sender.is_closed() && !line.server.is_gone() {
            idle.push(Kept {
                line,
                since: Instant::now(),
            });
        }
    }

    /// Closes connections that were idle for too long, or whose server is gone.
    pub(super) fn sweep(&self, oldest: Duration) {
        self.lock().retain(|kept| {
            kept.since.elapsed() < oldest && !kept.line.sender.is_closed() && !kept.line.server.is_gone()
        });
    }

    /// Closes all of them.
    pub(crate) fn clear(&self) {
        let closed = std::mem::take(&mut *self.lock());
        drop(closed);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        held(&self.0)
    }
}
