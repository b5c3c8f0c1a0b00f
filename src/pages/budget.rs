//! The budget of a stream in bytes: a visitor pays for each, often by the megabyte.

use std::time::Duration;

use tokio::time::Instant;

/// Bytes that may go at once, and bytes that come back in an hour. Together with the page itself and a poll now and then
/// they stay below 50 KB in any hour.
pub(super) const BURST: u64 = 14_000;
pub(super) const PER_HOUR: u64 = 24_000;

/// The cost of a chunk besides its bytes.
const FRAMING: u64 = 8;

/// A bucket of bytes that fills evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// When the bucket will be full again; a full one never overflows.
    full_at: Instant,
}

impl Budget {
    pub fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// When `bytes` can be paid, `now` or later.
    pub fn affords(&self, bytes: usize, now: Instant) -> Instant {
        let room = refill(BURST.saturating_sub(cost(bytes)));
        self.full_at.checked_sub(room).map_or(now, |at| at.max(now))
    }

    /// Pays, on credit where it must (heartbeats are never held back).
    pub fn pay(&mut self, bytes: usize, now: Instant) {
        self.full_at = self.full_at.max(now) + refill(cost(bytes));
    }
}

fn cost(bytes: usize) -> u64 {
    bytes as u64 + FRAMING
}

/// How long until this many bytes are available again.
fn refill(bytes: u64) -> Duration {
    Duration::from_micros(bytes * 3_600_000_000 / PER_HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_then_bytes_come_back_by_the_hour() {
        let start = Instant::now();
        let mut budget = Budget::new(start);
        let mut sent = 0;
        while budget.affords(992, start) == start {
            budget.pay(992, start);
            sent += 1_000;
        }
        assert_eq!(sent, BURST);
        let hour = start + Duration::from_secs(3_600);
        let mut now = start;
        while budget.affords(992, now) <= hour {
            now = budget.affords(992, now);
            budget.pay(992, now);
            sent += 1_000;
        }
        assert_eq!(sent, BURST + PER_HOUR);
    }

    #[test]
    fn a_long_silence_saves_no_more_than_a_burst() {
        let start = Instant::now();
        let later = start + Duration::from_secs(86_400);
        let mut budget = Budget::new(start);
        budget.pay(usize::try_from(BURST).unwrap(), later);
        assert!(budget.affords(992, later) > later);
    }
}
