//! Measures of the store: the time of each call by its kind, failures by their kind, and connections made.

use std::array;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::protocol::Ask;
use crate::metrics::Latency;
use crate::store::Trouble;

/// Counts of one life of the process; cheap to clone, and all clones count together.
#[derive(Clone, Debug)]
pub struct Calls(Arc<Counts>);

/// A call of a store, by its cost there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// A batch appended, entries read.
    Exchange,
    /// A snapshot written or read: megabytes.
    Snapshot,
    /// A log begun, an entry skipped.
    Other,
}

#[derive(Debug)]
struct Counts {
    took: [Latency; Call::ALL.len()],
    failed: [AtomicU64; Trouble::ALL.len()],
    connections: AtomicU64,
}

impl Default for Calls {
    fn default() -> Self {
        Self(Arc::new(Counts {
            took: array::from_fn(|_| Latency::new(&BOUNDS)),
            failed: array::from_fn(|_| AtomicU64::new(0)),
            connections: AtomicU64::new(0),
        }))
    }
}

impl Calls {
    /// Latency of the calls by kind, failed calls included.
    pub fn took(&self) -> impl Iterator<Item = (&'static str, &Latency)> {
        Call::ALL.map(Call::as_str).into_iter().zip(&self.0.took)
    }

    /// How many failed, by the kind of trouble.
    pub fn failed(&self) -> impl Iterator<Item = (Trouble, u64)> {
        let count = |trouble: Trouble| self.0.failed[trouble as usize].load(Ordering::Relaxed);
        Trouble::ALL.into_iter().map(move |trouble| (trouble, count(trouble)))
    }

    /// Connections made to the store; 0 for one on the gate's own disk.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.0.connections.load(Ordering::Relaxed)
    }

    pub(super) fn answered(&self, call: Call, took: Duration, connections: u64) {
        self.0.took[call as usize].observe(took);
        self.0.connections.store(connections, Ordering::Relaxed);
    }

    pub(super) fn fail(&self, trouble: Trouble) {
        self.0.failed[trouble as usize].fetch_add(1, Ordering::Relaxed);
    }
}

impl Call {
    const ALL: [Self; 3] = [Self::Exchange, Self::Snapshot, Self::Other];

    pub fn of(ask: &Ask) -> Self {
        match ask {
            Ask::Exchange { .. } => Self::Exchange,
            Ask::Load | Ask::Root(_) | Ask::Save { .. } => Self::Snapshot,
            Ask::Begin { .. } | Ask::Skip(_) | Ask::Skips => Self::Other,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Snapshot => "snapshot",
            Self::Other => "other",
        }
    }
}

/// Upper bounds in seconds: a store in the same room answers within the first, and is given up after three seconds.
const BOUNDS: [f64; 12] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 3.0,
];
