//! Connections that stand idle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Line;
use crate::proxy::origins::Origin;

/// Idle connections, to any number of servers; the freshest last.
#[derive(Default)]
pub(in crate::proxy) struct Stash(Mutex<Vec<Idle>>);

pub(super) struct Idle {
    line: Line,
    since: Instant,
}

impl Stash {
    pub(super) fn pop(&self, origin: &Arc<Origin>, now: Instant, oldest: Duration) -> Option<Line> {
        let mut idle = self.lock();
        let at = idle.iter().rposition(|kept| Arc::ptr_eq(&kept.line.origin, origin))?;
        if now.duration_since(idle[at].since) < oldest {
            return Some(idle.remove(at).line);
        }
        idle.retain(|kept| !Arc::ptr_eq(&kept.line.origin, origin));
        None
    }

    pub(super) fn push(&self, line: Line, most: usize) {
        let mut idle = self.lock();
        if idle.len() < most && !line.sender.is_closed() && !line.origin.is_gone() {
            idle.push(Idle {
                line,
                since: Instant::now(),
            });
        }
    }

    /// Closes what stood idle for too long, or is to a server that is gone.
    pub(super) fn sweep(&self, oldest: Duration) {
        self.lock().retain(|kept| {
            kept.since.elapsed() < oldest && !kept.line.sender.is_closed() && !kept.line.origin.is_gone()
        });
    }

    /// Closes all of them.
    pub(in crate::proxy) fn clear(&self) {
        let closed = std::mem::take(&mut *self.lock());
        drop(closed);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
