//! The verdict in one sentence.

use std::collections::BTreeMap;

use super::findings::{Findings, Verdict};
use super::text::printable;

/// The verdict in one sentence.
#[must_use]
pub fn verdict(findings: &Findings) -> String {
    let verdict = &findings.verdict;
    let by_hand = by_hand(verdict);
    match &verdict.first_wrong {
        None if !by_hand.is_empty() => format!(
            "whole and fair but for what was done by hand ({by_hand}): nothing is missing or altered, and nobody else was \
             called before somebody with a lower number who was there"
        ),
        None => "whole and fair: nothing is missing or altered, and nobody was called before somebody with a lower \
                 number who was there"
            .to_owned(),
        Some(wrong) => {
            let what = match (verdict.whole, verdict.fair) {
                (false, true) => "NOT WHOLE",
                (true, false) => "NOT FAIR",
                _ => "NEITHER WHOLE NOR FAIR",
            };
            let by_hand = if by_hand.is_empty() {
                by_hand
            } else {
                format!("; by hand: {by_hand}")
            };
            format!("{what}: {wrong}{by_hand}")
        }
    }
}

/// The interventions, by kind and author; at most as many as fit into a sentence.
fn by_hand(verdict: &Verdict) -> String {
    let mut sums: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for act in &verdict.interventions {
        *sums.entry((act.kind, &act.by)).or_default() += act.count;
    }
    let more = sums.len().saturating_sub(MOST_SUMS);
    let mut parts: Vec<String> = sums
        .iter()
        .take(MOST_SUMS)
        .map(|((kind, by), count)| format!("{kind} by {}: {count}", printable(by)))
        .collect();
    if more > 0 {
        parts.push(format!("and {more} more"));
    }
    parts.join(", ")
}

/// Kinds of interventions that the last sentence lists.
const MOST_SUMS: usize = 10;
