//! A bound on requests of sessions that go on though their client has hung up.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;

use crate::limit::Held;
use crate::metrics::Metrics;
use ropeline_ids::Visitor;

/// The bound, and the requests under way within it.
pub struct Detached {
    held: Arc<Held<Arc<Visitor>>>,
    refused: Counter,
}

/// Of one visitor, who would else have as many requests at the shop as can be sent and hung up on.
const MOST_OF_ONE: usize = 4;
/// Of all visitors: some people hang up while they pay, and hardly ever more than this within one answer's time.
const MOST: usize = 1_024;

impl Detached {
    /// Requests under way under `before` stay counted.
    pub fn new(metrics: &Metrics, before: Option<&Self>) -> Self {
        Self {
            held: before.map_or_else(|| Held::within(MOST, MOST_OF_ONE), |before| Arc::clone(&before.held)),
            refused: metrics.limited("detached"),
        }
    }

    /// One more, to be held while it is under way; `None` where there are as many as may be.
    pub fn take(&self, visitor: &Arc<Visitor>) -> Option<Box<dyn Send>> {
        let taken = self.held.take(Arc::clone(visitor));
        if taken.is_none() {
            self.refused.inc();
        }
        Some(Box::new(taken?))
    }
}
