//! Counters of the proxy, for metrics. Plain relaxed atomics: figures, never decisions.

use std::sync::atomic::{AtomicU64, Ordering};

/// Totals since the start, and gauges where the name says `open`.
#[derive(Debug, Default)]
pub struct Stats {
    /// Client connections open now, tunnels included.
    pub open: AtomicU64,
    /// Client connections accepted.
    pub accepted: AtomicU64,
    /// Client connections closed at once because a bound on connections was reached.
    pub refused: AtomicU64,
    /// Client connections closed because a deadline passed.
    pub timed_out: AtomicU64,
    /// Client connections closed because a proxy that must send a PROXY header first sent something else.
    pub unannounced: AtomicU64,
    /// Client connections closed because requests on them were called off one after the other.
    pub flooded: AtomicU64,
    /// Requests that were well-formed enough to be answered by the service.
    pub requests: AtomicU64,
    /// Requests answered 4xx before any service saw them.
    pub malformed: AtomicU64,
    /// Tunnels open now.
    pub tunnels_open: AtomicU64,
    /// Requests that are forwarded and whose answer has not begun.
    pub unanswered: AtomicU64,
}

/// The same of one upstream. They go on under other settings.
#[derive(Debug, Default)]
pub struct UpstreamStats {
    /// Connections open now.
    pub open: AtomicU64,
    /// Connections made.
    pub connects: AtomicU64,
    /// Requests sent again because a kept connection had died before any byte of an answer.
    pub retries: AtomicU64,
    /// Memory that holds request bodies now, in KiB.
    pub buffered_kib: AtomicU64,
    /// Request bodies streamed now.
    pub streaming: AtomicU64,
}

/// A forwarded request until its answer begins.
pub(crate) struct Unanswered<'a>(&'a AtomicU64);

impl<'a> Unanswered<'a> {
    pub fn count(stats: &'a Stats) -> Self {
        up(&stats.unanswered);
        Self(&stats.unanswered)
    }
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        down(self.0);
    }
}

/// Adds one.
pub(crate) fn up(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Takes one off again.
pub(crate) fn down(counter: &AtomicU64) {
    counter.fetch_sub(1, Ordering::Relaxed);
}
