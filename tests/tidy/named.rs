//! Pages that name tests: the threat map, the table of rules and that of bad input. Every row names a test, and every named test exists.

use std::fs;
use std::path::Path;

/// Most rows of the table of rules: a longer one is not read.
const MOST_RULES: usize = 80;

#[test]
fn every_threat_names_tests_that_exist() {
    let page = fs::read_to_string("docs/contributing/threats.md").unwrap();
    let rows = rows(&page, "| threat |");
    assert!(rows.len() > 30, "{} rows", rows.len());
    assert_eq!(faults(&rows), Vec::<String>::new());
}

#[test]
fn every_bad_input_names_tests_that_exist() {
    let page = fs::read_to_string("docs/reports/bad-input.md").unwrap();
    let rows = rows(&page, "| surface |");
    assert!(rows.len() > 30, "{} rows", rows.len());
    assert_eq!(faults(&rows), Vec::<String>::new());
}

#[test]
fn every_rule_names_a_test_that_exists_and_says_how_to_run_it() {
    let page = fs::read_to_string("docs/contributing/testing.md").unwrap();
    let rows = rows(&page, "| part | rule |");
    assert!((50..=MOST_RULES).contains(&rows.len()), "{} rows", rows.len());
    let mut faults = faults(&rows);
    for row in &rows {
        let right = |test: &str| row.contains(&format!("| `{}` |", arguments(test)));
        faults.extend(named(row).filter(|test| !right(test)).map(|test| {
            let right = arguments(test);
            format!("the last column of {test} is `{right}`")
        }));
    }
    assert_eq!(faults, Vec::<String>::new());
    for part in [
        "crates/room/",
        "crates/token/",
        "tests/store/",
        "tests/replica/",
        "tests/wire/",
        "tests/admin/",
    ] {
        assert!(
            rows.iter().any(|row| row.contains(part)),
            "no rule names a test of {part}"
        );
    }
}

#[test]
fn a_row_without_a_test_and_a_name_that_is_no_test_are_found() {
    let page =
        "## Other\n| rule | test |\n| --- | --- |\n| a | `tests/tidy/named.rs::rows` |\n| b | none |\n\nText | x |\n";
    let rows = rows(page, "| rule |");
    assert_eq!(rows.len(), 2);
    assert_eq!(faults(&rows).len(), 2);
    assert!(is_test("tests/tidy/named.rs::every_threat_names_tests_that_exist"));
    assert!(!is_test("tests/tidy/named.rs::no_such_test") && !is_test("tests/nowhere.rs::rows"));
    assert_eq!(
        arguments("crates/room/tests/room/line/stories.rs::a"),
        "-p ropeline-room --test room"
    );
    assert_eq!(arguments("crates/token/src/key.rs::a"), "-p ropeline-token --lib");
    assert_eq!(arguments("tests/wire/headers.rs::a"), "--test wire");
    assert_eq!(arguments("src/gate/decide/tests.rs::a"), "--lib");
}

/// The rows of all tables of a page whose first line begins so.
fn rows<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
    let mut rows = Vec::new();
    let mut lines = page.lines();
    while lines.any(|line| line.starts_with(head)) {
        let table = lines.by_ref().take_while(|line| line.starts_with('|'));
        rows.extend(table.filter(|line| !line.starts_with("| ---")));
    }
    rows
}

/// Rows that name no test, and names of tests that do not exist.
fn faults(rows: &[&str]) -> Vec<String> {
    let without = rows.iter().filter(|row| named(row).next().is_none());
    let without = without.map(|row| format!("no test: {row}"));
    let lost = rows.iter().flat_map(|row| named(row)).filter(|test| !is_test(test));
    without
        .chain(lost.map(|test| format!("no such test: {test}")))
        .collect()
}

/// The tests that a row names, as `path/file.rs::test`.
fn named(row: &str) -> impl Iterator<Item = &str> {
    row.split('`').filter(|part| part.contains(".rs::"))
}

/// Whether a file has a function of this name with an attribute that makes it a test.
fn is_test(test: &str) -> bool {
    let (file, name) = test.split_once("::").unwrap();
    let text = fs::read_to_string(file).unwrap_or_default();
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else {
        return false;
    };
    let attributes = before.rsplit("\n\n").next().unwrap_or(before);
    ["#[test]", "#[tokio::test"]
        .iter()
        .any(|test| attributes.contains(test))
}

/// The arguments by which `cargo test` finds the test: its package and its target.
fn arguments(test: &str) -> String {
    let (file, _) = test.split_once("::").unwrap();
    let parts: Vec<&str> = Path::new(file).iter().filter_map(|part| part.to_str()).collect();
    let package = (parts[0] == "crates").then(|| format!("-p ropeline-{} ", parts[1]));
    let rest = if package.is_some() { &parts[2..] } else { &parts[..] };
    let target = if rest[0] == "tests" {
        format!("--test {}", rest[1])
    } else {
        "--lib".to_owned()
    };
    package.unwrap_or_default() + &target
}
