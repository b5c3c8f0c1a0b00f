//! The fuzz target for the configuration: any text gets an answer, and each mistake says where it is.

use toml::de::DeTable;

use super::document::{Mistake, Origin, Overrides};
use super::report::Report;

/// A file's text, read without the real environment.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Devices and the like are read as an operator's files are: no business of this target.
    if text.contains("/dev") || text.contains("/proc") {
        return;
    }
    let env = |name: &str| (name == "KEY").then(|| SECRET.to_owned());
    let report = super::read::report((Some(text), "fuzz.toml"), (&Overrides::none(), &[]), &env);
    check(text, &report);
}

fn check(text: &str, report: &Report) {
    let told = report.to_string();
    assert!(!told.contains(SECRET), "a secret is told: {told}");
    assert_eq!(report.config().is_some(), report.mistakes().is_empty(), "{told}");
    let (root, _) = DeTable::parse_recoverable(text);
    let all: Vec<&Mistake> = report.mistakes().iter().chain(report.warnings()).collect();
    for mistake in &all {
        assert!(
            is_placed(mistake, &all, text, root.get_ref()),
            "{mistake:?} in {text:?}"
        );
    }
    let Some(config) = report.config() else { return };
    let described = config.describe();
    assert!(!described.contains(SECRET), "a secret is shown: {described}");
    assert!(described.parse::<toml::Table>().is_ok(), "{described}");
    let _router = config.router();
}

/// At a line of the text; without one only if no part of its table is written, or the table has a mistake of its own.
fn is_placed(mistake: &Mistake, all: &[&Mistake], text: &str, root: &DeTable<'_>) -> bool {
    match mistake.origin {
        Origin::File(place) => {
            let line = text.split('\n').nth(place.line.wrapping_sub(1));
            line.is_some_and(|line| (1..=line.chars().count() + 1).contains(&place.column))
        }
        Origin::Option(_) | Origin::Added(..) => false,
        Origin::Defaults => {
            let name = table_of(mistake);
            let placed = |other: &&Mistake| matches!(other.origin, Origin::File(_)) && table_of(other) == name;
            !root.contains_key(name) || all.iter().any(placed)
        }
    }
}

fn table_of(mistake: &Mistake) -> &str {
    mistake.key.split(['.', '[']).next().unwrap_or_default()
}

const SECRET: &str = "never-to-be-seen-4f1c9a7be03d52c8";
