//! The rate at which newcomers join a room at one gate.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often newcomers join a room at this gate, which determines the price.
#[derive(Debug, Default)]
pub struct JoinPace {
    /// Joins, each of which fades away, and when they were last looked at.
    faded: Mutex<(f64, Duration)>,
}

impl JoinPace {
    /// One more. A join that was asked for a proof has paid for the rise of the price that it makes.
    pub fn count(&self, now: Duration) {
        self.fade(now, 1.0);
    }

    /// Recent joins per minute.
    pub fn per_minute(&self, now: Duration) -> u32 {
        let minute = 60.0 / FADE.as_secs_f64() * self.fade(now, 0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count, cut at what fits"
        )]
        let joins = minute.round() as u32;
        joins
    }

    fn fade(&self, now: Duration, more: f64) -> f64 {
        let mut faded = self.faded.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.saturating_sub(faded.1).as_secs_f64();
        *faded = (faded.0 * (-passed / FADE.as_secs_f64()).exp() + more, now.max(faded.1));
        faded.0
    }
}

/// Time in which the weight of a join fades to a third.
const FADE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_that_of_the_last_half_minute() {
        let pace = JoinPace::default();
        let at = |ms: u64| Duration::from_millis(ms);
        assert_eq!(pace.per_minute(at(5)), 0);
        for n in 0..1_200 {
            pace.count(at(n * 100));
        }
        let now = pace.per_minute(at(120_000));
        assert!((570..=630).contains(&now), "{now} of 600 a minute");
        assert!(pace.per_minute(at(150_000)) < now / 2);
        assert_eq!(pace.per_minute(at(1_000_000)), 0);
        assert_eq!(pace.per_minute(at(0)), 0, "a clock that goes back changes nothing");
    }
}
