//! How many requests may be sent again: a share of all, so that an upstream in trouble is not hit harder for being slow.

use std::sync::atomic::{AtomicU32, Ordering};

/// One core's allowance. Every request earns a share, every retry costs a whole.
#[derive(Debug)]
pub(crate) struct Budget {
    share: u32,
    /// In hundredths of a retry.
    left: AtomicU32,
}

impl Budget {
    /// `share` retries in a hundred requests, and ten to begin with; none at all for a share of 0.
    pub(crate) fn new(share: u32) -> Self {
        let most = if share == 0 { 0 } else { MOST };
        Self {
            share,
            left: AtomicU32::new(most),
        }
    }

    /// A request came.
    pub(crate) fn earn(&self) {
        let left = self.left.load(Ordering::Relaxed);
        // PERF: most of the time it is full. Only one core uses it, so nothing is lost between the two steps.
        if left < MOST {
            self.left.store((left + self.share).min(MOST), Ordering::Relaxed);
        }
    }

    /// Whether a request may be sent again; it is paid for then.
    pub(crate) fn spend(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        let Some(rest) = left.checked_sub(WHOLE) else {
            return false;
        };
        self.left.store(rest, Ordering::Relaxed);
        true
    }
}

const WHOLE: u32 = 100;
/// Ten retries: the most at once after a quiet time.
const MOST: u32 = 10 * WHOLE;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_requests_is_sent_again_over_time() {
        let budget = Budget::new(20);
        while budget.spend() {}
        let retries = (0..1_000)
            .filter(|_| {
                budget.earn();
                budget.spend()
            })
            .count();
        assert_eq!(retries, 200);
    }

    #[test]
    fn quiet_time_saves_up_ten_at_most() {
        let budget = Budget::new(100);
        (0..1_000).for_each(|_| budget.earn());
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 10);
    }

    #[test]
    fn share_of_0_allows_none() {
        let budget = Budget::new(0);
        budget.earn();
        assert!(!budget.spend());
    }
}
