//! A token bucket for actions of one connection's peer: a number at once, refilled over time.
//!
//! Limits of clients and routes are governor's (`limit`); this is the few bytes that a connection keeps for itself.

use tokio::time::Instant;

/// A number of tokens at once, and a number more each second.
#[derive(Debug)]
pub(crate) struct Bucket {
    most: f64,
    per_second: f64,
    left: f64,
    filled: Instant,
}

impl Bucket {
    pub(crate) fn full(most: f64, per_second: f64) -> Self {
        Self {
            most,
            per_second,
            left: most,
            filled: Instant::now(),
        }
    }

    /// Takes one; false where none is left.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let gained = now.duration_since(self.filled).as_secs_f64() * self.per_second;
        self.left = (self.left + gained).min(self.most) - 1.0;
        self.filled = now;
        self.left >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn some_at_once_and_some_each_second() {
        let mut bucket = Bucket::full(200.0, 20.0);
        let began = Instant::now();
        let taken = |bucket: &mut Bucket, now| (0..1_000).take_while(|_| bucket.take(now)).count();
        assert_eq!(taken(&mut bucket, began), 200);
        // One was asked for in vain, and is owed.
        assert_eq!(taken(&mut bucket, began + Duration::from_secs(3)), 59);
        assert_eq!(taken(&mut bucket, began + Duration::from_secs(3_600)), 200);
    }
}
