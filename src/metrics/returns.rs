//! Requests of parked sessions that waited for a slot, in one room.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;

use super::Latency;

/// How a request's wait for a slot ended.
#[derive(Clone, Copy, Debug)]
pub enum Returned {
    Granted,
    /// None came free in time.
    Later,
    /// The client hung up.
    Gone,
}

/// The counters of one room; cheap to clone.
#[derive(Clone, Debug)]
pub struct Returns {
    pub(super) granted: Counter,
    pub(super) later: Counter,
    pub(super) gone: Counter,
    pub(super) waited: Latency,
}

impl Returns {
    /// Counts one request whose wait is over.
    pub fn over(&self, end: Returned, waited: Duration) {
        let counter = match end {
            Returned::Granted => &self.granted,
            Returned::Later => &self.later,
            Returned::Gone => &self.gone,
        };
        counter.inc();
        self.waited.observe(waited);
    }
}
