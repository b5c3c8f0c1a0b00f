//! How long a client has taken none of the data that is ready for it: a write deadline for one stream of many.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Whether data waits for a client to take it, and since when.
#[derive(Debug)]
pub(crate) struct Pace {
    born: Instant,
    /// Milliseconds after `born`, plus one; 0 while nothing is waiting.
    offered_ms: AtomicU64,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self {
            born: Instant::now(),
            offered_ms: AtomicU64::new(0),
        }
    }

    /// Data waits. If some waited already, its time is kept.
    pub(crate) fn offer(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        let _ = self
            .offered_ms
            .compare_exchange(0, now + 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// No data waits any more.
    pub(crate) fn taken(&self) {
        self.offered_ms.store(0, Ordering::Relaxed);
    }

    /// Resolves when something has waited for as long as `patience` then says.
    pub(crate) async fn stalled(&self, patience: impl Fn() -> Duration) {
        loop {
            let since = match self.offered_ms.load(Ordering::Relaxed) {
                0 => Instant::now(),
                ms => self.born + Duration::from_millis(ms - 1),
            };
            let due = since + patience();
            if due <= Instant::now() {
                return;
            }
            sleep_until(due).await;
        }
    }
}

/// How many of `left` bytes are passed on at once. h2 buffers a whole piece as soon as the client would take one byte of it.
/// So the possibly last piece leaves a byte behind, and a client that takes nothing is noticed here, not in h2.
pub(crate) fn piece_of(left: usize) -> usize {
    if left <= SMALL_BYTES {
        return left;
    }
    PIECE_BYTES.min(left - 1)
}

/// Bytes that fit in a frame of the size that every client takes (RFC 9113, section 4.2).
const PIECE_BYTES: usize = 16 * 1024;
/// Not worth a frame more.
const SMALL_BYTES: usize = 256;
