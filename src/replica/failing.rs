//! How long the log has been failing, why, and when that is worth another line in the gate's own log.
//!
//! The replica's thread notes each call and its outcome; every handle may ask for the condition. A log can also answer and be
//! of no use, when its history is another one or lacks entries that it names. Only success as a live gate ends such a
//! failure.

use std::sync::Mutex;
use std::time::Duration;

use super::CUT_OFF_AFTER;
use crate::store::Unavailable;

/// For how long calls have failed in a row, two seconds at least, and the last error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub lasts: Duration,
    pub reason: String,
}

/// Shared between the thread and all handles.
#[derive(Default)]
pub(super) struct Failing(Mutex<Option<Row>>);

/// Calls that failed in a row.
struct Row {
    since: Duration,
    reason: String,
    /// The log answered, but the answer is of no use.
    odd: bool,
    /// The last message that was logged about it, and when.
    said: Option<(String, Duration)>,
}

impl Failing {
    /// A call failed at uptime `now`. Gives for how long that has been so when it is worth a line: at first, when the reason
    /// is another one, and once a minute.
    pub fn failed(&self, reason: &Unavailable, now: Duration) -> Option<Duration> {
        let mut row = self.row();
        let row = row.get_or_insert_with(|| Row {
            since: now,
            reason: String::new(),
            odd: false,
            said: None,
        });
        row.reason.clone_from(&reason.reason);
        row.odd = false;
        let due = row.said.as_ref().is_none_or(|(said, at)| {
            let apart = if *said == row.reason { SAY_AGAIN } else { SAY_ANOTHER };
            now.saturating_sub(*at) >= apart
        });
        if !due {
            return None;
        }
        row.said = Some((row.reason.clone(), now));
        Some(now.saturating_sub(row.since))
    }

    /// The log answered, and `of_use`, or not; `lives` while the gate lives on it. True when a row of failures ends so.
    pub fn answered(&self, of_use: bool, lives: bool) -> bool {
        let mut row = self.row();
        match row.as_mut() {
            Some(row) if !of_use => row.odd = true,
            Some(failing) if lives || !failing.odd => *row = None,
            _ => return false,
        }
        of_use
    }

    /// Answers came, and were of no use.
    pub fn odd(&self) -> bool {
        self.row().as_ref().is_some_and(|row| row.odd)
    }

    /// The last call failed, or its answer was of no use.
    pub fn fails(&self) -> bool {
        self.row().is_some()
    }

    /// How it stands at uptime `now`; `None` where the log answers, or has failed for less than two seconds.
    pub fn lasting(&self, now: Duration) -> Option<Failure> {
        let row = self.row();
        let row = row.as_ref()?;
        let lasts = now.saturating_sub(row.since);
        (lasts >= CUT_OFF_AFTER).then(|| Failure {
            lasts,
            reason: row.reason.clone(),
        })
    }

    fn row(&self) -> std::sync::MutexGuard<'_, Option<Row>> {
        // No code in here panics half way through a change.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The same reason is logged again after this time …
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// … and another one after this, since several may come by turns.
const SAY_ANOTHER: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn said(failing: &Failing, reason: &str, secs: u64) -> Option<u64> {
        let said = failing.failed(
            &Unavailable::new(crate::store::Trouble::Odd, reason),
            Duration::from_secs(secs),
        );
        said.map(|lasts| lasts.as_secs())
    }

    fn lasting(failing: &Failing, secs: u64) -> Option<(u64, String)> {
        let failure = failing.lasting(Duration::from_secs(secs))?;
        Some((failure.lasts.as_secs(), failure.reason))
    }

    #[test]
    fn a_reason_is_said_at_first_when_it_changes_and_once_a_minute() {
        let failing = Failing::default();
        assert_eq!(said(&failing, "refused", 100), Some(0));
        assert_eq!(said(&failing, "refused", 101), None);
        assert_eq!(
            said(&failing, "loading", 105),
            None,
            "reasons that come by turns flood nothing"
        );
        assert_eq!(said(&failing, "loading", 110), Some(10));
        assert_eq!(said(&failing, "loading", 169), None);
        assert_eq!(said(&failing, "loading", 170), Some(70));
        assert!(failing.answered(true, true));
        assert_eq!(said(&failing, "loading", 171), Some(0), "another row of failures");
    }

    #[test]
    fn what_is_shown_is_the_present_reason_and_the_whole_time() {
        let failing = Failing::default();
        said(&failing, "refused", 100);
        assert_eq!(lasting(&failing, 101), None, "two seconds are no outage");
        said(&failing, "full", 103);
        let full = "full".to_owned();
        assert_eq!(lasting(&failing, 140), Some((40, full)));
        assert!(failing.answered(true, false));
        assert_eq!(lasting(&failing, 150), None);
        assert!(!failing.answered(true, false), "that was said");
    }

    #[test]
    fn an_answer_of_no_use_ends_nothing_until_the_gate_lives_on_the_log() {
        let failing = Failing::default();
        for secs in 100..130 {
            assert!(!failing.answered(true, false), "reading goes well each time");
            said(&failing, "the root is gone", secs);
            assert!(!failing.answered(false, false));
        }
        assert_eq!(lasting(&failing, 130).map(|(secs, _)| secs), Some(30));
        said(&failing, "refused", 131);
        assert!(failing.answered(true, false), "a call that failed is answered");
        said(&failing, "the root is gone", 132);
        failing.answered(false, false);
        assert!(failing.answered(true, true));
        assert_eq!(lasting(&failing, 200), None);
    }
}
