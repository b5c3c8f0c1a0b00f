//! What estimates were worth: each that a watched visitor was shown, against how long it then took.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::Histogram;
use crate::room::Estimate;
use crate::waiting::Stall;

/// One look at the estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Guess {
    at: u64,
    ahead: u64,
    /// In seconds; `None`: not known.
    interval: Option<(u32, u32)>,
    why: Option<Stall>,
}

impl Guess {
    pub fn new(at: u64, ahead: u64, estimate: Option<Estimate>, why: Option<Stall>) -> Self {
        let interval = estimate.map(|known| (known.low_secs, known.high_secs));
        Self {
            at,
            ahead,
            interval,
            why,
        }
    }
}

/// How far estimates were right, over all looks of visitors who were called in the end.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Trust {
    pub looks: u64,
    /// Share of the looks at which an interval was shown, of those the ones with the true wait inside it.
    pub known: f64,
    pub inside: f64,
    /// Of the interval's middle against the true wait: half of the errors are no larger.
    pub median_error: f64,
    /// Shares of the looks at which the end of the wait lay later than at the look before, by over a tenth of the wait and
    /// ten seconds: all of them, and those without a reason.
    pub later: f64,
    pub later_unsaid: f64,
}

/// Watches some of the visitors.
pub(super) struct Guesses {
    every: u32,
    noted: BTreeMap<u32, Vec<Guess>>,
    looks: u64,
    known: u64,
    inside: u64,
    later: u64,
    later_unsaid: u64,
    /// Errors in millionths of the true wait.
    errors: Histogram,
    /// Each look, for a plot: true wait and interval, in seconds.
    pub points: Vec<(u32, u32, u32)>,
}

impl Guesses {
    pub fn new(people: usize, probes: u32) -> Self {
        let people = u32::try_from(people).unwrap_or(u32::MAX);
        Self {
            every: people.div_ceil(probes.max(1)).max(1),
            noted: BTreeMap::new(),
            looks: 0,
            known: 0,
            inside: 0,
            later: 0,
            later_unsaid: 0,
            errors: Histogram::default(),
            points: Vec::new(),
        }
    }

    pub fn watches(&self, id: u32) -> bool {
        id.is_multiple_of(self.every)
    }

    pub fn note(&mut self, id: u32, guess: Guess) {
        self.noted.entry(id).or_default().push(guess);
    }

    pub fn forget(&mut self, id: u32) {
        self.noted.remove(&id);
    }

    /// The visitor's turn has come: now it is known how long it took.
    pub fn is_called(&mut self, id: u32, now: u64) {
        let guesses = self.noted.remove(&id).unwrap_or_default();
        for guess in &guesses {
            self.score(guess, now - guess.at);
        }
        for pair in guesses.windows(2) {
            let [before, after] = pair else { continue };
            let later = is_later(before, after);
            self.later += u64::from(later);
            self.later_unsaid += u64::from(later && after.why.is_none());
        }
    }

    fn score(&mut self, guess: &Guess, wait_ms: u64) {
        self.looks += 1;
        let Some((low, high)) = guess.interval else { return };
        self.known += 1;
        let (low_ms, high_ms) = (u64::from(low) * 1_000, u64::from(high) * 1_000);
        self.inside += u64::from((low_ms..=high_ms).contains(&wait_ms));
        let middle_ms = u64::midpoint(low_ms, high_ms);
        self.errors
            .add(middle_ms.abs_diff(wait_ms) * 1_000_000 / wait_ms.max(1));
        if self.points.len() < MOST_POINTS {
            let secs = u32::try_from(wait_ms / 1_000).unwrap_or(u32::MAX);
            self.points.push((secs, low, high));
        }
    }

    pub fn trust(&self) -> Trust {
        Trust {
            looks: self.looks,
            known: share(self.known, self.looks),
            inside: share(self.inside, self.known),
            median_error: share(self.errors.percentile(50), 1_000_000),
            later: share(self.later, self.looks),
            later_unsaid: share(self.later_unsaid, self.looks),
        }
    }
}

/// The latest end of the wait has moved away by more than the seconds that passed.
fn is_later(before: &Guess, after: &Guess) -> bool {
    let (Some((_, was)), Some((_, is))) = (before.interval, after.interval) else {
        return false;
    };
    u64::from(is) > u64::from(was)
}

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
fn share(part: u64, whole: u64) -> f64 {
    let share = part as f64 / whole.max(1) as f64;
    (share * 10_000.0).round() / 10_000.0
}

/// Most looks that are kept for a plot.
const MOST_POINTS: usize = 200_000;
