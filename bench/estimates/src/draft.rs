//! A quick look at a method: two runs of each working pattern, beside the limits that the report's oracle sets.

use std::fmt::Write as _;

use crate::judge::in_parallel;
use crate::looks::{Kind, Look};
use crate::patterns::{MIN, Pattern};
use crate::run::{Outcome, Record, run};
use crate::score::{Score, Told, broken, mean, score};
use crate::seeds::Origin;
use crate::table::alike;

const REPORT: &str = include_str!("../../../docs/reports/estimates.md");
/// The part of the report that has them.
const TABLE: &str = "## Before the method was changed";
const RUNS: usize = 2;
const MINUTES: [u64; 8] = [0, 2, 5, 10, 20, 40, 80, 100_000];

/// A row for each pattern: figures with the oracle's in brackets, and holds and interval score by minutes since the first call.
pub fn table(patterns: &[&'static Pattern]) -> String {
    let outcomes = in_parallel(patterns.len() * RUNS, |at| {
        let pattern = patterns[at / RUNS];
        run(pattern, Origin::Working.run(pattern.name, at % RUNS), Record::Told)
    });
    let mut text = String::new();
    for (pattern, outcomes) in patterns.iter().zip(outcomes.chunks(RUNS)) {
        let scores: Vec<Score> = outcomes.iter().map(|one| of(&one.looks)).collect();
        let (score, oracle) = (mean(&scores), oracle(pattern.name));
        let quarters = score.quarters.map(|holds| holds.map_or(0.0, |holds| holds * 100.0));
        let _ = write!(
            text,
            "{:<26} told {:>3.0} hold {:>4.1} ({:>3.0} {:>3.0} {:>3.0} {:>3.0}) middle {:>5.1} ({:>4.1}) score {:.2} ({:.2})",
            pattern.name,
            score.told * 100.0,
            score.holds * 100.0,
            quarters[0],
            quarters[1],
            quarters[2],
            quarters[3],
            score.middle * 100.0,
            oracle.middle * 150.0,
            score.interval,
            oracle.interval * 1.5 + 0.25,
        );
        text += " |";
        for span in MINUTES.windows(2) {
            text += &over_time(&outcomes[0], span[0] * MIN, span[1] * MIN);
        }
        let _ = writeln!(text, " | {}", broken(&score, &oracle).join(" "));
    }
    text
}

fn of(looks: &[Look]) -> Score {
    score(looks, |look| look.told.map(Told::of))
}

fn over_time(outcome: &Outcome, from: u64, to: u64) -> String {
    let alike = alike(outcome.looks.iter(), &(from..to));
    let score = of(&alike);
    if score.looks == 0.0 {
        return " -".to_owned();
    }
    format!(
        " {:.0}/{:.2}/{:+.0}%",
        score.holds * 100.0,
        score.interval,
        bias(&alike) * 100.0
    )
}

/// By how much the middle is too late (or too early: below zero), by the wait, at the median of the looks.
fn bias(looks: &[Look]) -> f64 {
    let counted = looks.iter().filter(|look| look.kind == Kind::Counts);
    let of = |look: &Look| {
        let wait = look.wait? as f64;
        Some((look.told.map_or(0.0, |told| Told::of(told).middle) - wait) / wait.max(1_000.0))
    };
    let mut biases: Vec<f64> = counted.filter_map(of).collect();
    biases.sort_by(f64::total_cmp);
    biases.get(biases.len() / 2).copied().unwrap_or(0.0)
}

/// The oracle's figures, as the report has them.
fn oracle(name: &str) -> Score {
    let lines = REPORT.lines().skip_while(|line| *line != TABLE);
    let row = lines.into_iter().find(|line| line.starts_with(&format!("| {name} |")));
    let cells: Vec<&str> = row.map_or_else(Vec::new, |row| row.split('|').map(str::trim).collect());
    let figure = |at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok()).unwrap_or(0.0);
    Score {
        middle: figure(8) / 100.0,
        interval: figure(10),
        ..Score::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::WORKING;

    #[test]
    fn the_report_has_the_oracle_of_every_working_pattern() {
        for pattern in &WORKING {
            let oracle = oracle(pattern.name);
            assert!(oracle.middle > 0.0 && oracle.interval > 0.0, "{}", pattern.name);
        }
        let club = oracle("club night");
        assert!(
            (club.middle - 0.033).abs() < 1e-9 && (club.interval - 0.22).abs() < 1e-9,
            "{club:?}"
        );
    }
}
