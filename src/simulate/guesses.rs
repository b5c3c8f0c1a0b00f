//! Quality of estimates: each estimate shown to a watched visitor, compared with the true wait.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::charts::Histogram;
use crate::pages::{Kept, Stall};
use crate::room::Estimate;

/// The room's estimate at one look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    pub estimate: Option<Estimate>,
    pub why: Option<Stall>,
    /// The stock does not reach so far, which the page says.
    pub beyond: bool,
}

impl Seen {
    /// Whether a sentence of its own is shown for it.
    fn pauses(self) -> bool {
        self.beyond || self.why.is_some_and(Stall::pauses)
    }
}

/// The estimate shown at one look, in seconds; `None`: not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Guess {
    at: u64,
    interval: Option<(u32, u32)>,
}

/// A watched visitor.
#[derive(Debug, Default)]
struct Watched {
    kept: Kept,
    /// The end of the wait as the words last had it, in minutes.
    words: Option<u32>,
    looks: Vec<Guess>,
}

/// How often the shown estimates were right. A look counts once its result is known: the visitor was called, or was not
/// although the end of the interval has passed.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Trust {
    pub looks: u64,
    /// Looks of which it is not known.
    pub undecided: u64,
    /// Share of the looks at which an interval was shown, of those the ones with the true wait inside it.
    pub known: f64,
    pub inside: f64,
    /// Of the interval's middle against the true wait: half of the errors are no larger.
    pub median_error: f64,
    /// Shares of all looks at which the words had a later end than at the look before, or none any more: all of them, and
    /// those without a reason.
    pub later: f64,
    pub later_unsaid: f64,
}

/// A look that is decided: the interval, and the wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Point {
    pub low_secs: u32,
    pub high_secs: u32,
    pub wait_secs: u32,
}

/// Watches some of the visitors.
#[derive(Default)]
pub(super) struct Guesses {
    every: u32,
    watched: BTreeMap<u32, Watched>,
    seen: u64,
    looks: u64,
    known: u64,
    inside: u64,
    later: u64,
    later_unsaid: u64,
    /// Errors in millionths of the true wait.
    errors: Histogram,
    /// One of every few looks, for a plot.
    points: Vec<Point>,
    thinned: u64,
}

impl Guesses {
    pub fn new(people: usize, probes: u32) -> Self {
        let people = u32::try_from(people).unwrap_or(u32::MAX);
        Self {
            every: people.div_ceil(probes.max(1)).max(1),
            thinned: 1,
            ..Self::default()
        }
    }

    pub fn watches(&self, id: u32) -> bool {
        id.is_multiple_of(self.every)
    }

    /// A look; says after how long the visitor looks again, which is less and less often, so that the longest run keeps few.
    pub fn note(&mut self, id: u32, seen: Seen, now: u64) -> u64 {
        let watched = self.watched.entry(id).or_default();
        let estimate = seen.estimate.map(|known| (known.low_secs, known.high_secs));
        // The rule reads 0 as no value.
        let shown = watched.kept.show(estimate, seen.pauses(), now + 1);
        let words = shown.map_or(u32::MAX, |(_, high)| minutes(high));
        if watched.words.replace(words).is_some_and(|before| words > before) {
            self.later += 1;
            let said = seen.why.is_some() || seen.beyond || watched.kept.is_slow(now + 1);
            self.later_unsaid += u64::from(!said);
        }
        self.seen += 1;
        watched.looks.push(Guess {
            at: now,
            interval: shown,
        });
        LOOK_MS << (watched.looks.len() / MANY_LOOKS).min(16)
    }

    /// The visitor is not watched any more, and was not called.
    pub fn forget(&mut self, id: u32, now: u64) {
        let looks = self.watched.remove(&id).unwrap_or_default().looks;
        for look in looks {
            let passed = |(_, high): (u32, u32)| look.at + u64::from(high) * 1_000 < now;
            if look.interval.is_some_and(passed) {
                self.looks += 1;
                self.known += 1;
            }
        }
    }

    /// The visitor's turn has come: now it is known how long it took.
    pub fn is_called(&mut self, id: u32, now: u64) {
        let looks = self.watched.remove(&id).unwrap_or_default().looks;
        for look in &looks {
            self.score(look, now - look.at);
        }
    }

    /// It is over, also for visitors who still wait.
    pub fn end(&mut self, now: u64) {
        let ids: Vec<u32> = self.watched.keys().copied().collect();
        for id in ids {
            self.forget(id, now);
        }
    }

    fn score(&mut self, look: &Guess, wait_ms: u64) {
        self.looks += 1;
        let Some((low, high)) = look.interval else { return };
        self.known += 1;
        let (low_ms, high_ms) = (u64::from(low) * 1_000, u64::from(high) * 1_000);
        self.inside += u64::from((low_ms..=high_ms).contains(&wait_ms));
        let middle_ms = u64::midpoint(low_ms, high_ms);
        self.errors
            .add(middle_ms.abs_diff(wait_ms) * 1_000_000 / wait_ms.max(1));
        if self.known.is_multiple_of(self.thinned) {
            self.points.push(Point {
                low_secs: low,
                high_secs: high,
                wait_secs: u32::try_from(wait_ms / 1_000).unwrap_or(u32::MAX),
            });
        }
        if self.points.len() >= MOST_POINTS {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.thinned *= 2;
        }
    }

    pub fn trust(&self) -> Trust {
        Trust {
            looks: self.looks,
            undecided: self.seen.saturating_sub(self.looks),
            known: share(self.known, self.looks),
            inside: share(self.inside, self.known),
            median_error: share(self.errors.percentile(50), 1_000_000),
            later: share(self.later, self.seen),
            // One is not none.
            later_unsaid: ratio(self.later_unsaid, self.seen),
        }
    }

    pub fn into_points(self) -> Vec<Point> {
        self.points
    }
}

/// The end of a wait as the page has it: "soon", whole minutes, and from an hour and a half on whole hours.
fn minutes(high_secs: u32) -> u32 {
    match high_secs {
        0..=60 => 0,
        61..=5_400 => high_secs.div_ceil(60),
        _ => high_secs.div_ceil(3_600).saturating_mul(60),
    }
}

fn share(part: u64, whole: u64) -> f64 {
    (ratio(part, whole) * 10_000.0).round() / 10_000.0
}

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// How often estimates are looked at, and after how many looks only half as often.
const LOOK_MS: u64 = 15_000;
const MANY_LOOKS: usize = 240;

/// Most looks that are kept for a plot.
const MOST_POINTS: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(interval: Option<(u32, u32)>, why: Option<Stall>) -> Seen {
        let estimate = interval.map(|(low_secs, high_secs)| Estimate { low_secs, high_secs });
        Seen {
            estimate,
            why,
            beyond: false,
        }
    }

    #[test]
    fn who_is_not_called_by_the_end_of_the_interval_was_told_wrong() {
        let mut guesses = Guesses::new(1, 1);
        guesses.note(0, seen(Some((10, 100)), None), 0);
        guesses.note(0, seen(Some((300, 900)), None), 60_000);
        guesses.end(120_000);
        let trust = guesses.trust();
        assert_eq!((trust.looks, trust.undecided), (1, 1));
        assert!(trust.known > 0.99 && trust.inside < 0.01);
    }

    #[test]
    fn words_that_got_worse_are_counted_and_said() {
        let mut guesses = Guesses::new(1, 1);
        guesses.note(0, seen(Some((100, 300)), None), 0);
        guesses.note(0, seen(Some((600, 900)), None), 15_000);
        guesses.note(0, seen(None, Some(Stall::Held)), 30_000);
        guesses.note(0, seen(Some((600, 1_200)), None), 45_000);
        guesses.is_called(0, 645_000);
        let trust = guesses.trust();
        assert!(
            (trust.later - 0.5).abs() < 0.001 && trust.later_unsaid == 0.0,
            "{trust:?}"
        );
        assert!(
            (trust.known - 0.75).abs() < 0.001 && (trust.inside - 0.6667).abs() < 0.001,
            "{trust:?}"
        );
    }

    #[test]
    fn the_longest_run_keeps_few_looks_and_points() {
        let mut guesses = Guesses::new(1, 1);
        let mut now = 0;
        while now < 30 * 86_400_000 {
            now += guesses.note(0, seen(Some((100, 4_000_000)), None), now);
        }
        assert!(guesses.watched[&0].looks.len() < 4_000);
        for _ in 0..20 {
            for at in 0..1_000 {
                guesses.note(0, seen(Some((1, 2)), None), now + at);
            }
            guesses.is_called(0, now + 1_000);
        }
        assert!(guesses.points.len() < MOST_POINTS && guesses.thinned > 1);
    }
}
