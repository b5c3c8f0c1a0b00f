//! A level that is raised by a guard and lowered when the guard is dropped, so that no early return leaves it up.

use prometheus_client::metrics::gauge::Gauge;

/// How many of something there are now; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Level(pub(super) Gauge);

impl Level {
    /// One more, until the guard is dropped.
    #[must_use = "the level falls when this is dropped"]
    pub fn raise(&self) -> Raised {
        self.0.inc();
        Raised(self.clone())
    }

    /// How many there are now.
    #[must_use]
    pub fn now(&self) -> u64 {
        u64::try_from(self.0.get()).unwrap_or(0)
    }
}

/// Holds a [`Level`] up by one.
#[derive(Debug)]
pub struct Raised(Level);

impl Drop for Raised {
    fn drop(&mut self) {
        self.0.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_guard_lowers_the_level() {
        let level = Level::default();
        let (one, two) = (level.raise(), level.clone().raise());
        assert_eq!(level.now(), 2);
        drop(one);
        assert_eq!(level.now(), 1);
        drop(two);
        assert_eq!(level.now(), 0);
    }
}
