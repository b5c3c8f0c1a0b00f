//! The seeds of runs.
//!
//! Those of working runs are fixed. Those of judging runs follow from the commit that last changed the method, so that nobody
//! can have chosen a method by them.

use crate::chance::seed;

/// Runs that a figure is the mean of, and other runs that the oracle knows.
pub const RUNS: usize = 10;
pub const OTHERS: usize = 50;

/// The origin of the seeds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    Working,
    /// The id of the method's last commit, in hexadecimal.
    Commit(String),
}

impl Origin {
    /// The seed of a run of a pattern.
    pub fn run(&self, pattern: &str, at: usize) -> u64 {
        seed(&["run", self.word(), pattern, &at.to_string()])
    }

    /// The seed of a run for the pattern's oracle.
    pub fn other(&self, pattern: &str, at: usize) -> u64 {
        seed(&["oracle", self.word(), pattern, &at.to_string()])
    }

    fn word(&self) -> &str {
        match self {
            Self::Working => "working",
            Self::Commit(id) => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn seeds_differ_by_origin_pattern_and_run_and_are_always_the_same() {
        let origins = [
            Origin::Working,
            Origin::Commit("a1".to_owned()),
            Origin::Commit("a2".to_owned()),
        ];
        let mut seeds = BTreeSet::new();
        for (origin, pattern, at) in origins.iter().flat_map(|origin| {
            let patterns = ["a", "b"].into_iter();
            patterns.flat_map(move |pattern| (0..RUNS).map(move |at| (origin, pattern, at)))
        }) {
            seeds.extend([origin.run(pattern, at), origin.other(pattern, at)]);
        }
        assert_eq!(seeds.len(), 3 * 2 * RUNS * 2);
        // printf 'run\0working\0corner shop\x000\0' | sha256sum
        assert_eq!(Origin::Working.run("corner shop", 0) >> 32, 0xF048_8A8E);
    }
}
