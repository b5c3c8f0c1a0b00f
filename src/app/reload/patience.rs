//! The time that a drain may take, and the end of all reloads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::config::Config;

/// How long a drain may take, by the configuration in force; and the end of all reloads. Clones are the same.
#[derive(Clone, Debug)]
pub struct Patience(Arc<(AtomicU64, AtomicBool)>);

impl Patience {
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let patience = Self(Arc::default());
        patience.set(config);
        patience
    }

    pub(super) fn set(&self, config: &Config) {
        let millis = u64::try_from(config.server.drain_deadline.as_millis()).unwrap_or(u64::MAX);
        self.0.0.store(millis, Ordering::Relaxed);
    }

    #[must_use]
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.0.0.load(Ordering::Relaxed))
    }

    /// From here on nothing is taken any more.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.0.1.store(true, Ordering::Relaxed);
        self.now()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0.1.load(Ordering::Relaxed)
    }
}
