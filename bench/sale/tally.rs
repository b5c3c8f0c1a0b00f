//! The crowd's results: the duration and the answer of each join, and all answers that must not occur.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::plan::Kind;

/// The answer to a join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answered {
    /// With a number.
    Numbered,
    /// With a page that is held: the arrival is noted, and numbered when the store is back.
    Held,
    /// That everything is sold.
    SoldOut,
    Failed,
}

#[derive(Clone, Copy, Debug)]
pub struct Join {
    pub due: Duration,
    pub took: Duration,
    pub answered: Answered,
    pub kind: Kind,
}

#[derive(Debug, Default)]
pub struct Tally {
    pub joins: Vec<Join>,
    /// Faults, by kind.
    faults: BTreeMap<String, u64>,
    pub questions: u64,
    pub came_in: u64,
}

impl Tally {
    /// Joins that have any answer.
    pub fn answered(&self) -> u64 {
        u64::try_from(self.joins.len()).unwrap_or(u64::MAX)
    }

    pub fn fault(&mut self, what: String) {
        if self.faults.len() < MOST_FAULTS || self.faults.contains_key(&what) {
            *self.faults.entry(what).or_default() += 1;
        }
    }

    pub fn faults(&self) -> impl Iterator<Item = String> {
        self.faults
            .iter()
            .map(|(what, count)| format!("{what} ({count} times)"))
    }
}

/// Figures of some joins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub joins: usize,
    pub held: usize,
    pub sold_out: usize,
    pub failed: usize,
    pub mean: Duration,
    pub p95: Duration,
    pub p99: Duration,
    pub max: Duration,
}

impl Figures {
    pub fn of<'a>(joins: impl Iterator<Item = &'a Join>) -> Self {
        let mut figures = Self::default();
        let mut times = Vec::new();
        for join in joins {
            times.push(join.took);
            figures.held += usize::from(join.answered == Answered::Held);
            figures.sold_out += usize::from(join.answered == Answered::SoldOut);
            figures.failed += usize::from(join.answered == Answered::Failed);
        }
        times.sort_unstable();
        let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
        figures.joins = times.len();
        figures.mean = times.iter().sum::<Duration>() / u32::try_from(times.len().max(1)).unwrap_or(u32::MAX);
        figures.p95 = at(95).copied().unwrap_or_default();
        figures.p99 = at(99).copied().unwrap_or_default();
        figures.max = times.last().copied().unwrap_or_default();
        figures
    }

    /// A line of the table.
    pub fn line(&self, what: &str) -> String {
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0);
        format!(
            "| {what} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.joins,
            self.held,
            self.sold_out,
            self.failed,
            ms(self.mean),
            ms(self.p95),
            ms(self.p99),
            ms(self.max)
        )
    }
}

pub const HEAD: &str = "| joins | answered | of these held | sold out | failed | mean | p95 | p99 | max |\n\
                        | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Most kinds of faults that are counted separately.
const MOST_FAULTS: usize = 40;
