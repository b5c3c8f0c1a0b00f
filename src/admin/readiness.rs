//! Readiness for new connections: a latch that start and drain move, read by `/readyz`.

use std::sync::Arc;

use arc_swap::ArcSwap;

/// How far the process is in its life; it only moves forward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Phase {
    /// Listeners are not open yet.
    #[default]
    Starting,
    Serving,
    /// Asked to stop: no new connections, requests under way are finished.
    Draining,
}

/// A handle to the process's phase; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<ArcSwap<Phase>>);

impl Readiness {
    /// Starts as [`Phase::Starting`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Listeners are open.
    pub fn serving(&self) {
        self.advance(Phase::Serving);
    }

    /// The process is stopping: load balancers should look elsewhere.
    pub fn draining(&self) {
        self.advance(Phase::Draining);
    }

    /// Where the process is now.
    #[must_use]
    pub fn phase(&self) -> Phase {
        **self.0.load()
    }

    /// Moves on to `next`; nothing moves back.
    fn advance(&self, next: Phase) {
        self.0.rcu(|now| next.max(**now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latch_only_moves_forward() {
        let readiness = Readiness::new();
        assert_eq!(readiness.phase(), Phase::Starting);
        readiness.serving();
        readiness.clone().draining();
        readiness.serving();
        assert_eq!(readiness.phase(), Phase::Draining);
    }
}
