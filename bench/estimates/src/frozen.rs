//! The files that make and judge crowds are frozen: their hash stands in the report.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The frozen files, with their content. `gate` is not among them, since it follows the room's interface; neither are the files
/// that only print.
const FILES: [(&str, &str); 13] = [
    ("agenda.rs", include_str!("agenda.rs")),
    ("chance.rs", include_str!("chance.rs")),
    ("crowd.rs", include_str!("crowd.rs")),
    ("judge.rs", include_str!("judge.rs")),
    ("looks.rs", include_str!("looks.rs")),
    ("oracle.rs", include_str!("oracle.rs")),
    ("patterns/judging.rs", include_str!("patterns/judging.rs")),
    ("patterns/mod.rs", include_str!("patterns/mod.rs")),
    ("patterns/working.rs", include_str!("patterns/working.rs")),
    ("run.rs", include_str!("run.rs")),
    ("score.rs", include_str!("score.rs")),
    ("seeds.rs", include_str!("seeds.rs")),
    ("visits.rs", include_str!("visits.rs")),
];

const REPORT: &str = include_str!("../../../docs/reports/estimates.md");
const MAIN: &str = include_str!("main.rs");

/// As `cd bench/estimates/src && cat FILES | sha256sum` computes it, with the files in this order.
fn hash() -> String {
    let mut hash = Sha256::new();
    for (_, text) in FILES {
        hash.update(text);
    }
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[test]
fn the_report_has_the_hash_of_the_generator_and_the_scoring() {
    let hash = hash();
    assert!(REPORT.contains(&hash), "changed since they were frozen: {hash}");
}

#[test]
fn every_file_is_frozen_or_known_not_to_be() {
    let mut modules: BTreeSet<&str> = MAIN
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    for (file, _) in FILES {
        modules.remove(file.trim_end_matches(".rs"));
    }
    assert_eq!(
        modules.into_iter().collect::<Vec<_>>(),
        ["draft", "frozen", "gate", "patterns", "plot", "table"]
    );
    assert_eq!(
        FILES.iter().filter(|(file, _)| file.starts_with("patterns/")).count(),
        3
    );
}
