//! Whether the gate should be given new connections: a latch that start and drain move, read by `/readyz`.

use std::sync::Arc;

use arc_swap::ArcSwap;

/// How far the process is in its life; it only moves forward.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Phase {
    /// Listeners are not open yet.
    #[default]
    Starting,
    Serving,
    /// Told to stop: no new connections, those under way are finished.
    Draining,
    /// A part that the gate cannot do without has ended, with the reason; only a restart helps.
    Failed(String),
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

    /// A part has ended that the gate cannot do without.
    pub fn failed(&self, reason: impl Into<String>) {
        self.advance(Phase::Failed(reason.into()));
    }

    /// Where the process is now.
    #[must_use]
    pub fn phase(&self) -> Phase {
        Phase::clone(&self.0.load())
    }

    /// Moves on to `next`; the first failure stays, and nothing moves back.
    fn advance(&self, next: Phase) {
        let next = Arc::new(next);
        let further = |now: &Arc<Phase>| !matches!(**now, Phase::Failed(_)) && **now < *next;
        self.0.rcu(|now| {
            if further(now) {
                Arc::clone(&next)
            } else {
                Arc::clone(now)
            }
        });
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
        readiness.failed("a");
        readiness.failed("b");
        assert_eq!(readiness.phase(), Phase::Failed("a".to_owned()));
    }
}
