//! Figures over time, in a bounded number of equal steps.

use serde::Serialize;

use crate::room::{Figures, LoadView};

use super::followed::Allowed;
use super::outcome::{Counts, Tally};

/// Figures over time.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Series {
    pub step_ms: u64,
    pub steps: Vec<Step>,
}

/// One step: the most that waited and held slots, and its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Step {
    pub waiting: u64,
    pub slots: u64,
    pub capacity: u32,
    pub joins: u64,
    pub calls: u64,
    pub claims: u64,
    pub no_shows: u64,
    /// Requests of the shop.
    pub requests: u64,
    /// The gates' notes: marks, and all others but joins.
    pub marks: u64,
    pub words: u64,
    /// The calls that the room's controller allowed, if it has one with a decision.
    pub allowed: Option<Allowed>,
}

/// Makes a series; steps become twice as long whenever there are too many.
pub(super) struct Recorder {
    series: Series,
    /// Totals at the last note.
    before: (Figures, Counts),
}

impl Recorder {
    pub fn new(step_ms: u64) -> Self {
        Self {
            series: Series {
                step_ms: step_ms.max(1_000),
                steps: Vec::new(),
            },
            before: <(Figures, Counts)>::default(),
        }
    }

    /// Takes `ms` milliseconds with these totals at their end; records the differences.
    pub fn note(&mut self, (now, ms): (u64, u64), figures: &Figures, tally: &Tally, load: Option<&LoadView>) -> Step {
        let (before, counts) = std::mem::replace(&mut self.before, (*figures, tally.counts));
        let new = Step {
            waiting: figures.waiting,
            slots: u64::from(figures.called) + u64::from(figures.inside),
            capacity: figures.capacity,
            joins: figures.joins - before.joins,
            calls: figures.calls - before.calls,
            claims: figures.claims - before.claims,
            no_shows: figures.no_shows - before.no_shows,
            requests: tally.counts.requests - counts.requests,
            marks: tally.counts.marks - counts.marks,
            words: tally.counts.words - counts.words,
            allowed: load.map(|load| Allowed::of(load, ms)),
        };
        let at = self.at(now);
        let steps = &mut self.series.steps;
        steps.resize(steps.len().max(at + 1), Step::default());
        steps[at] = steps[at].and(&new);
        new
    }

    pub fn into_series(self) -> Series {
        self.series
    }

    fn at(&mut self, now: u64) -> usize {
        loop {
            let at = usize::try_from(now / self.series.step_ms).unwrap_or(usize::MAX);
            if at < MOST_STEPS {
                return at;
            }
            self.halve();
        }
    }

    fn halve(&mut self) {
        let pairs = self.series.steps.chunks(2).map(|pair| {
            let [first, second] = pair else { return pair[0] };
            first.and(second)
        });
        self.series.steps = pairs.collect();
        self.series.step_ms *= 2;
    }
}

impl Step {
    /// Both times together.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            waiting: self.waiting.max(other.waiting),
            slots: self.slots.max(other.slots),
            capacity: self.capacity.max(other.capacity),
            joins: self.joins + other.joins,
            calls: self.calls + other.calls,
            claims: self.claims + other.claims,
            no_shows: self.no_shows + other.no_shows,
            requests: self.requests + other.requests,
            marks: self.marks + other.marks,
            words: self.words + other.words,
            allowed: both(self.allowed, other.allowed),
        }
    }
}

fn both(one: Option<Allowed>, other: Option<Allowed>) -> Option<Allowed> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        _ => one.or(other),
    }
}

/// Most steps of a series.
const MOST_STEPS: usize = 480;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_few_steps_and_every_count() {
        let mut recorder = Recorder::new(100);
        let mut figures = Figures::default();
        for second in 0..100_000 {
            (figures.joins, figures.waiting) = (figures.joins + 2, second % 7);
            recorder.note((second * 1_000, 1_000), &figures, &Tally::default(), None);
        }
        let series = recorder.into_series();
        assert!(series.steps.len() <= MOST_STEPS && series.step_ms == 256_000);
        assert_eq!(series.steps.iter().map(|step| step.joins).sum::<u64>(), 200_000);
        assert!(series.steps.iter().all(|step| step.waiting == 6));
    }
}
