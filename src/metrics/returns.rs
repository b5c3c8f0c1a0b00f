//! Requests of parked sessions that waited for a slot, in one room.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;

use super::Latency;

/// The counters of one room; cheap to clone.
#[derive(Clone, Debug)]
pub struct Returns {
    pub(super) granted: Counter,
    pub(super) later: Counter,
    pub(super) waited: Latency,
}

impl Returns {
    /// Counts one request whose wait is over, with a slot or without one.
    pub fn over(&self, is_granted: bool, waited: Duration) {
        let outcome = if is_granted { &self.granted } else { &self.later };
        outcome.inc();
        self.waited.observe(waited);
    }
}
