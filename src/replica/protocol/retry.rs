//! How long a failing log is left alone: a backoff with jitter.

use std::time::Duration;

pub(super) struct Retry {
    backoff: Duration,
    /// Uptime until which the log is left alone.
    until: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            backoff: FIRST,
            until: Duration::ZERO,
        }
    }
}

impl Retry {
    /// Uptime before which the log is not asked, if that is still ahead.
    pub fn rests(&self, now: Duration) -> Option<Duration> {
        (self.until > now).then_some(self.until)
    }

    /// The log failed: each pause is twice as long as the one before, up to a second, and not in step with other gates.
    pub fn failed(&mut self, random: u64, now: Duration) {
        let half = self.backoff / 2;
        let jitter = u32::try_from(random % 1_024).unwrap_or(0);
        self.until = now + half + half * jitter / 1_024;
        self.backoff = (self.backoff * 2).min(MOST);
    }

    /// The log answered.
    pub fn end_rest(&mut self) {
        self.until = Duration::ZERO;
    }

    /// Its answers are of use: the next pause is a short one.
    pub fn reset(&mut self) {
        self.backoff = FIRST;
    }
}

/// First and longest pause.
const FIRST: Duration = Duration::from_millis(20);
const MOST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_second_and_start_again_short() {
        let mut retry = Retry::default();
        let now = Duration::from_secs(9);
        let pause = |retry: &mut Retry, random| {
            retry.failed(random, now);
            retry.rests(now).unwrap().saturating_sub(now)
        };
        assert_eq!(pause(&mut retry, 0), Duration::from_millis(10));
        assert_eq!(
            pause(&mut retry, 512),
            Duration::from_millis(30),
            "half of it is random"
        );
        for _ in 0..10 {
            pause(&mut retry, 0);
        }
        assert_eq!(pause(&mut retry, 0), Duration::from_millis(500));
        retry.end_rest();
        assert_eq!(retry.rests(now), None);
        assert_eq!(
            pause(&mut retry, 0),
            Duration::from_millis(500),
            "it answered, and to no use"
        );
        retry.reset();
        assert_eq!(pause(&mut retry, 0), Duration::from_millis(10));
    }
}
