//! The one file that reads clocks. Everything else is given its time.

#![expect(clippy::disallowed_methods, reason = "this file owns the clocks")]

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ropeline_ids::Wall;

/// The wall clock in milliseconds since the Unix epoch; a clock before 1970 reads as 0.
#[must_use]
pub fn wall() -> Wall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Time since the process first asked, from the monotonic clock: for intervals, never for dates.
#[must_use]
pub fn uptime() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
