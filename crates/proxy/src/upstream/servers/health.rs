//! Whether a server is out of rotation, because of failed requests or of failed checks.
//!
//! A number of failures in a row puts it out, for a time that doubles with each. After that time one request is the trial: it
//! brings the server back, or puts it out again; a passed check brings it back too. Checks count separately; both must agree.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::settings::FailureRules;
use crate::time;

/// The results of one server's requests and checks. Relaxed atomics: a count that is late by one puts a server out later.
#[derive(Debug, Default)]
pub struct Health {
    in_a_row: AtomicU32,
    /// 0 while it is in.
    out_until_ms: AtomicU64,
    /// A request is out to see whether it is well again.
    trial: AtomicBool,
    /// How often in a row it has been out.
    outs: AtomicU32,
    back_at_ms: AtomicU64,
    checked_out: AtomicBool,
    failures: AtomicU64,
}

/// The change that matters for the choice of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    None,
    Out,
    Back,
}

impl Health {
    /// Whether it may be given a request: it is in, or due for its trial.
    pub fn takes(&self, now_ms: u64) -> bool {
        !self.checked_out.load(Ordering::Relaxed) && self.out_until_ms.load(Ordering::Relaxed) <= now_ms
    }

    /// Whether it is in.
    pub fn is_in(&self) -> bool {
        !self.checked_out.load(Ordering::Relaxed) && self.out_until_ms.load(Ordering::Relaxed) == 0
    }

    /// Whether it is its checks that put it out.
    pub(super) fn is_checked_out(&self) -> bool {
        self.checked_out.load(Ordering::Relaxed)
    }

    /// Gives it a request. False where the trial is another's.
    pub(super) fn enter(&self, now_ms: u64) -> bool {
        let until = self.out_until_ms.load(Ordering::Relaxed);
        if until == 0 {
            return true;
        }
        let next = now_ms + TRIAL_MS;
        let won = self
            .out_until_ms
            .compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        if won {
            self.trial.store(true, Ordering::Relaxed);
        }
        won
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// A request succeeded. PERF: two loads while the server is healthy.
    pub fn succeeded(&self, now_ms: impl Fn() -> u64) -> Change {
        if self.in_a_row.load(Ordering::Relaxed) != 0 {
            self.in_a_row.store(0, Ordering::Relaxed);
        }
        if self.out_until_ms.load(Ordering::Relaxed) == 0 {
            return Change::None;
        }
        self.trial.store(false, Ordering::Relaxed);
        self.back_at_ms.store(now_ms(), Ordering::Relaxed);
        let was_out = self.out_until_ms.swap(0, Ordering::Relaxed) != 0;
        if was_out && !self.checked_out.load(Ordering::Relaxed) {
            Change::Back
        } else {
            Change::None
        }
    }

    /// A request failed by the server's fault.
    pub fn failed(&self, rules: &FailureRules, now_ms: u64) -> Change {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let in_a_row = self.in_a_row.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if rules.most == 0 {
            return Change::None;
        }
        let until_ms = self.out_until_ms.load(Ordering::Relaxed);
        let was_in = until_ms == 0;
        // A server without alternatives is used without `enter`: its first request once it is due is its trial.
        let trial = self.trial.swap(false, Ordering::Relaxed) || (!was_in && until_ms <= now_ms);
        if (was_in && in_a_row >= rules.most) || trial {
            self.put_out(rules, now_ms, was_in);
        }
        let is_news = was_in && in_a_row >= rules.most && !self.checked_out.load(Ordering::Relaxed);
        if is_news { Change::Out } else { Change::None }
    }

    /// Sets the result of the checks.
    pub(super) fn checked(&self, well: bool) -> Change {
        let was_in = self.is_in();
        self.checked_out.store(!well, Ordering::Relaxed);
        match (was_in, self.is_in()) {
            (true, false) => Change::Out,
            (false, true) => Change::Back,
            _ => Change::None,
        }
    }

    /// A check was good: where the time out is over that is its trial. The next failure puts it out again.
    pub(super) fn check_passed(&self, rules: &FailureRules, now_ms: u64) -> Change {
        let until_ms = self.out_until_ms.load(Ordering::Relaxed);
        if until_ms == 0 || until_ms > now_ms {
            return Change::None;
        }
        self.in_a_row.store(rules.most.saturating_sub(1), Ordering::Relaxed);
        self.trial.store(false, Ordering::Relaxed);
        self.back_at_ms.store(now_ms, Ordering::Relaxed);
        let swapped = self
            .out_until_ms
            .compare_exchange(until_ms, 0, Ordering::Relaxed, Ordering::Relaxed);
        if swapped.is_ok() && !self.is_checked_out() {
            Change::Back
        } else {
            Change::None
        }
    }

    /// Counts a failed check.
    pub(super) fn check_failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    fn put_out(&self, rules: &FailureRules, now_ms: u64, was_in: bool) {
        let longest = millis(rules.out_at_most);
        let been_well = was_in && now_ms.saturating_sub(self.back_at_ms.load(Ordering::Relaxed)) > longest;
        let outs = if been_well {
            0
        } else {
            self.outs.load(Ordering::Relaxed)
        };
        self.outs.store(outs.saturating_add(1), Ordering::Relaxed);
        let time = span_ms(rules, outs, fastrand::f32());
        self.out_until_ms
            .store(now_ms.saturating_add(time).max(1), Ordering::Relaxed);
    }
}

/// Twice as long each time up to the longest; up to half is taken off by chance, so that gates do not come back at once.
fn span_ms(rules: &FailureRules, outs: u32, chance: f32) -> u64 {
    let factor = 1_u64.checked_shl(outs.min(MOST_DOUBLINGS)).unwrap_or(u64::MAX);
    let whole = millis(rules.out).saturating_mul(factor).min(millis(rules.out_at_most));
    let part = Duration::from_millis(whole / 2).mul_f32(chance.clamp(0.0, 1.0));
    whole - millis(part).min(whole)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// How long others wait for the outcome of a trial before one of them is the next.
const TRIAL_MS: u64 = 2_000;
const MOST_DOUBLINGS: u32 = 20;

/// On the process's clock.
pub(super) fn now_ms() -> u64 {
    u64::try_from(time::uptime().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: FailureRules = FailureRules {
        most: 3,
        server_errors: false,
        out: Duration::from_secs(10),
        out_at_most: Duration::from_secs(60),
    };

    fn out() -> Health {
        let health = Health::default();
        assert_eq!(health.failed(&RULES, 0), Change::None);
        assert_eq!(health.failed(&RULES, 0), Change::None);
        assert_eq!(health.failed(&RULES, 0), Change::Out);
        health
    }

    #[test]
    fn so_many_failures_in_a_row_put_it_out() {
        let health = out();
        assert!(!health.takes(4_999) && !health.is_in());
        assert!(health.takes(10_000), "out for ten seconds at most");
    }

    #[test]
    fn success_between_failures_starts_the_count_anew() {
        let health = Health::default();
        for _ in 0..10 {
            health.failed(&RULES, 0);
            health.failed(&RULES, 0);
            assert_eq!(health.succeeded(|| 0), Change::None);
        }
        assert!(health.is_in());
        assert_eq!(health.failures(), 20);
    }

    #[test]
    fn one_request_is_the_trial() {
        let health = out();
        assert!(health.enter(10_000));
        assert!(!health.takes(10_000), "others wait for it");
        assert_eq!(health.succeeded(|| 10_001), Change::Back);
        assert!(health.is_in());
    }

    #[test]
    fn a_server_that_stays_away_for_hours_is_tried_no_more_often() {
        let health = Health::default();
        let mut tried = 0;
        for now_ms in (0..36_000_000).step_by(1_000) {
            if health.takes(now_ms) {
                health.failed(&RULES, now_ms);
                tried += 1;
            }
        }
        // Every 30 to 60 seconds.
        assert!((600..1_210).contains(&tried), "{tried}");
    }

    #[test]
    fn failed_trial_puts_it_out_for_longer_and_is_no_news() {
        let health = out();
        assert!(health.enter(10_000));
        assert_eq!(health.failed(&RULES, 10_000), Change::None);
        assert!(!health.takes(10_000 + 9_999), "20 s, less half at most");
        assert!(health.takes(10_000 + 20_000));
    }

    #[test]
    fn a_lone_server_that_fails_when_it_is_due_is_out_again() {
        let health = out();
        assert!(health.takes(10_000) && !health.is_in());
        assert_eq!(health.failed(&RULES, 10_000), Change::None);
        assert!(!health.takes(10_000 + 9_999), "20 s, less half at most");
        assert_eq!(health.succeeded(|| 40_000), Change::Back);
    }

    #[test]
    fn trial_that_is_never_heard_of_makes_way_for_the_next() {
        let health = out();
        assert!(health.enter(10_000));
        assert!(health.takes(10_000 + TRIAL_MS));
    }

    #[test]
    fn a_good_check_after_its_time_is_its_trial_and_the_next_failure_puts_it_out_again() {
        let health = out();
        assert_eq!(health.check_passed(&RULES, 4_999), Change::None);
        assert!(!health.is_in(), "its time is not over");
        assert_eq!(health.check_passed(&RULES, 10_000), Change::Back);
        assert!(health.is_in());
        assert_eq!(health.failed(&RULES, 10_001), Change::Out);
        assert!(!health.takes(10_001 + 9_999), "20 s, less half at most");
        assert_eq!(health.check_passed(&RULES, 40_000), Change::Back);
        assert_eq!(health.succeeded(|| 40_001), Change::None);
        assert_eq!(
            health.failed(&RULES, 40_002),
            Change::None,
            "a success starts the count anew"
        );
        assert!(health.is_in());
    }

    #[test]
    fn a_good_check_brings_nothing_back_that_checks_hold_out() {
        let health = out();
        health.checked(false);
        assert_eq!(health.check_passed(&RULES, 10_000), Change::None);
        assert!(!health.takes(10_000));
        assert_eq!(health.checked(true), Change::Back);
    }

    #[test]
    fn time_out_doubles_up_to_the_longest() {
        let spans: Vec<u64> = (0..5).map(|outs| span_ms(&RULES, outs, 0.0)).collect();
        assert_eq!(spans, [10_000, 20_000, 40_000, 60_000, 60_000]);
        assert_eq!(span_ms(&RULES, 0, 1.0), 5_000);
        assert_eq!(span_ms(&RULES, u32::MAX, 0.0), 60_000);
    }

    #[test]
    fn most_of_0_never_puts_it_out() {
        let health = Health::default();
        let never = FailureRules { most: 0, ..RULES };
        assert!((0..100).all(|_| health.failed(&never, 0) == Change::None));
        assert!(health.is_in());
    }

    #[test]
    fn checks_and_requests_must_agree() {
        let health = out();
        assert_eq!(health.checked(false), Change::None);
        assert_eq!(health.succeeded(|| 0), Change::None, "the checks hold it out");
        assert!(!health.takes(u64::MAX));
        assert_eq!(health.checked(true), Change::Back);
        assert_eq!(health.checked(false), Change::Out);
    }
}
