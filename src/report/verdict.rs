//! The verdict: every reason why a history is incomplete or a line was unfair.

use super::findings::{Covers, Expected, Intervention, Line, Log, NotListed, Verdict};

/// The facts on which a verdict rests.
pub(super) struct Grounds<'a> {
    pub faults: &'a [String],
    pub covers: &'a Covers,
    /// The fault of where the history begins.
    pub beginning: Option<String>,
    /// Epochs of logs that are known only from visitors' tokens.
    pub lost_logs: Vec<u64>,
    /// The fault of states that gates voted against.
    pub disowned: Option<String>,
    pub expected: Option<Expected>,
    pub not_listed: NotListed,
    pub lines: &'a [Line],
    pub interventions: Vec<Intervention>,
    /// The unfairness of draws.
    pub unfair_draws: Vec<String>,
}

impl Grounds<'_> {
    pub fn verdict(self) -> Verdict {
        let missing = self.missing();
        let unfair = self.lines.iter().filter_map(unfair);
        let unfair: Vec<String> = unfair.chain(self.unfair_draws.iter().cloned()).collect();
        let first_fault = self.faults.first().cloned();
        let (whole, fair) = (first_fault.is_none() && missing.is_empty(), unfair.is_empty());
        let wrong: Vec<String> = missing.into_iter().chain(unfair).take(MOST_REASONS).collect();
        Verdict {
            whole,
            fair,
            first_wrong: first_fault.or_else(|| wrong.first().cloned()),
            wrong,
            interventions: self.interventions,
            expected: self.expected,
        }
    }

    /// Why the history is not whole, beside the faults that are listed.
    fn missing(&self) -> Vec<String> {
        let covers = self.covers;
        let expected = self.expected.as_ref().filter(|expected| !expected.found);
        let cut = expected.map(|expected| {
            format!(
                "the hash {} is nowhere in this history: entries are missing at its end, or it is another one",
                expected.hash
            )
        });
        let nothing = (covers.entries == 0).then(|| "there is not one entry".to_owned());
        let logs = covers.logs.iter().skip(1).filter_map(lost);
        let unrun = (covers.entries_not_replayed > 0).then(|| {
            format!(
                "{} of {} entries could not be replayed: nothing is known of what they did",
                covers.entries_not_replayed, covers.entries
            )
        });
        let capped = self
            .not_listed
            .said()
            .map(|what| format!("there is more than a report lists: {what}"));
        let told = self.lost_logs.iter().map(|epoch| {
            format!(
                "visitors came back with tickets of the log {epoch}, which was lost with every gate and is not here: nothing is \
                 known of whom it called"
            )
        });
        let first = [cut, nothing, self.beginning.clone(), self.disowned.clone()];
        let first = first.into_iter().flatten();
        first.chain(told).chain(logs).chain(unrun).chain(capped).collect()
    }
}

/// Why a log that does not go on from the whole of the one before is a loss.
fn lost(log: &Log) -> Option<String> {
    let since = log.since.as_deref().unwrap_or("its first entry");
    let began = format!("the log {}, of {since},", log.epoch);
    match log.goes_on_from {
        "whole" => None,
        "lost" => Some(format!(
            "{began} goes on without the last {} of the one before: they were lost with the store",
            if log.entries_lost == 1 {
                "entry".to_owned()
            } else {
                format!("{} entries", log.entries_lost)
            }
        )),
        "nothing" => Some(format!(
            "{began} begins from nothing: the store and everything that gates knew of the log before were lost"
        )),
        _ => Some(format!("{began} begins from a history that is not here")),
    }
}

fn unfair(line: &Line) -> Option<String> {
    let place = line.place();
    let inverted = line.inversions.first().map(|inversion| {
        format!(
            "{place}: at {} ({}) number {} was {} before {}, who was there",
            inversion.at.position, inversion.at.time, inversion.number, inversion.kind, inversion.before
        )
    });
    let twice = (line.tally.numbers_given_twice > 0).then(|| format!("{place}: a number was given twice"));
    let beyond = (line.tally.beyond_stock > 0).then(|| {
        let calls = line.tally.beyond_stock;
        format!("{place}: {calls} were called for pieces that were not there")
    });
    inverted.or(twice).or(beyond)
}

/// Reasons listed one by one; the verdict stands without the others.
const MOST_REASONS: usize = 1_000;
