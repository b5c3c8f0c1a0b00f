//! A bound on requests that wait for a slot: each holds its connection, and its body.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;

use crate::limit::{Held, Hold};
use crate::metrics::Metrics;
use ropeline_ids::Visitor;

/// The bound, and the requests that wait within it.
pub struct Returning {
    held: Arc<Held<Visitor>>,
    refused: Counter,
}

/// Of one visitor: as many as a browser sends to one host at once, and a second tab.
const MOST_OF_ONE: usize = 8;
/// Of all visitors at one gate.
const MOST: usize = 16_384;

impl Returning {
    /// Requests that wait under `before` stay counted.
    pub fn new(metrics: &Metrics, before: Option<&Self>) -> Self {
        Self {
            held: before.map_or_else(|| Held::within(MOST, MOST_OF_ONE), |before| Arc::clone(&before.held)),
            refused: metrics.limited("returning"),
        }
    }

    /// One more, to be held while it waits; `None` where there are as many as may be.
    pub fn take(&self, visitor: &Visitor) -> Option<Hold<Visitor>> {
        let taken = self.held.take(visitor.clone());
        if taken.is_none() {
            self.refused.inc();
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::state::in_flight::Right;

    #[test]
    fn a_visitor_waits_with_eight_requests_at_once_and_others_are_not_in_the_way() {
        let returning = Returning::new(&Metrics::new(), None);
        let visitor = |n| match Right::sample(n) {
            Right::Session(visitor) => Visitor::clone(&visitor),
            other => panic!("{other:?}"),
        };
        let held: Vec<_> = (0..9).map(|_| returning.take(&visitor(1))).collect();
        assert_eq!(held.iter().flatten().count(), MOST_OF_ONE);
        assert!(returning.take(&visitor(2)).is_some());
        assert_eq!(returning.refused.get(), 1);
        let after = Returning::new(&Metrics::new(), Some(&returning));
        assert!(after.take(&visitor(1)).is_none());
        drop(held);
        assert!(after.take(&visitor(1)).is_some());
    }
}
