//! The map of threats in `docs/contributing/testing.md`: every row names tests, and every test that it names is there.

use std::fs;

/// What the map's first letters stand for.
const SHORT: [(&str, &str); 4] = [
    ("W/", "tests/wire/"),
    ("B/", "tests/blackbox/contract/"),
    ("F/", "tests/faults/"),
    ("L/", "tests/store/"),
];

#[test]
fn every_threat_has_tests_and_each_of_them_is_there() {
    let page = fs::read_to_string("docs/contributing/testing.md").unwrap();
    let map = page.split("\n## ").find(|part| part.starts_with("Threats\n")).unwrap();
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| ---") && !line.starts_with("| threat");
    let rows: Vec<&str> = map.lines().filter(is_row).collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let without: Vec<&&str> = rows.iter().filter(|row| named(row).next().is_none()).collect();
    assert!(without.is_empty(), "no test: {without:#?}");
    let lost: Vec<&str> = rows
        .iter()
        .flat_map(|row| named(row))
        .filter(|test| !is_there(test))
        .collect();
    assert!(lost.is_empty(), "not there: {lost:#?}");
    assert!(!is_there("W/framing.rs::no_such_test") && !is_there("W/nowhere.rs::connect_is_refused"));
}

/// The tests that a row names, as `file.rs::name`.
fn named(row: &str) -> impl Iterator<Item = &str> {
    row.split('`').filter(|part| part.contains(".rs::"))
}

fn is_there(test: &str) -> bool {
    let (file, name) = test.split_once("::").unwrap();
    let long = SHORT
        .iter()
        .find_map(|(short, long)| Some(format!("{long}{}", file.strip_prefix(short)?)));
    let text = fs::read_to_string(long.as_deref().unwrap_or(file)).unwrap_or_default();
    text.contains(&format!("fn {name}("))
}
