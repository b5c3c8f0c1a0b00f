//! A check that the upstream answers at all, as the visitors of one room meet it.
//!
//! SECURITY: every shop has a request that it breaks off, and a client that finds it can send it all day. So requests without a
//! session do not count, and a visitor counts once until another request is answered.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::witnesses::ENOUGH;
use crate::proxy::{FailureRules, Health};
use crate::room::Circuit;

/// This many visitors failed in a row, without an answer between them: the upstream is out for a time, and then tried.
#[derive(Debug, Default)]
pub(super) struct Answering {
    /// Visitors who failed since the last answer; visitors share a bit by chance.
    failed: AtomicU64,
    health: Health,
}

impl Answering {
    /// The shop has answered a visitor. PERF: as a rule three loads.
    pub fn answered(&self, now_ms: u64) {
        if self.failed.load(Ordering::Relaxed) != 0 {
            self.failed.store(0, Ordering::Relaxed);
        }
        self.health.succeeded(|| now_ms);
    }

    /// It has failed a visitor.
    pub fn failed(&self, cell: usize, now_ms: u64) {
        let bit = 1 << (cell % 64);
        let before = self.failed.fetch_or(bit, Ordering::Relaxed);
        if before & bit == 0 {
            self.health.failed(&RULES, now_ms);
        }
        if before | bit == u64::MAX {
            // All bits are taken: the next visitors could not be distinguished from these.
            self.failed.store(0, Ordering::Relaxed);
        }
    }

    pub fn circuit(&self, now_ms: u64) -> Circuit {
        match (self.health.is_in(), self.health.takes(now_ms)) {
            (true, _) => Circuit::Closed,
            (false, true) => Circuit::Trial,
            (false, false) => Circuit::Open,
        }
    }
}

const RULES: FailureRules = FailureRules {
    most: ENOUGH,
    server_errors: true,
    out: Duration::from_secs(10),
    out_at_most: Duration::from_secs(60),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_visitors_in_a_row_open_the_circuit_and_one_who_is_answered_closes_it() {
        let shop = Answering::default();
        (1..3).for_each(|cell| shop.failed(cell, 1_000));
        shop.answered(1_000);
        (1..3).for_each(|cell| shop.failed(cell, 1_000));
        assert_eq!(shop.circuit(1_000), Circuit::Closed);
        shop.failed(3, 1_000);
        assert_eq!(shop.circuit(1_000), Circuit::Open);
        assert_eq!(shop.circuit(11_000), Circuit::Trial);
        shop.answered(11_000);
        assert_eq!(shop.circuit(11_000), Circuit::Closed);
    }

    #[test]
    fn two_visitors_who_fail_all_day_open_nothing_and_those_who_failed_before_fail_no_trial() {
        let shop = Answering::default();
        (0..1_000).for_each(|n| shop.failed(n % 2, 1_000));
        assert_eq!(shop.circuit(1_000), Circuit::Closed);
        shop.failed(2, 1_000);
        (0..1_000).for_each(|n| shop.failed(n % 3, 11_000));
        assert_eq!(shop.circuit(11_000), Circuit::Trial);
        shop.failed(3, 11_000);
        assert_eq!(
            shop.circuit(11_001),
            Circuit::Open,
            "the visitor who was called to try it has failed"
        );
    }

    #[test]
    fn a_shop_that_is_away_for_long_is_tried_by_as_many_as_come() {
        let shop = Answering::default();
        let mut tried = 0;
        for at in 0..1_000_u64 {
            if shop.circuit(at * 10_000) != Circuit::Open {
                shop.failed(usize::try_from(at).unwrap(), at * 10_000);
                tried += 1;
            }
        }
        assert!((100..700).contains(&tried), "{tried}");
    }
}
