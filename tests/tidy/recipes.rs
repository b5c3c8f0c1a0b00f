//! The recipes of CONTRIBUTING.md name files and folders that exist, and the architecture page functions that its files have.

use std::fs;
use std::path::Path;

#[test]
fn every_path_of_a_recipe_exists() {
    let page = fs::read_to_string("CONTRIBUTING.md").unwrap();
    let paths: Vec<&str> = paths(&page).collect();
    assert!(paths.len() > 30, "{} paths", paths.len());
    let lost: Vec<_> = paths.iter().filter(|path| !Path::new(path).exists()).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn every_step_of_the_architecture_names_a_function_of_its_file() {
    let page = fs::read_to_string("docs/explanation/architecture.md").unwrap();
    let tables = page.split("| step | file | function |\n| --- | --- | --- |\n").skip(1);
    let rows: Vec<&str> = tables
        .flat_map(|table| table.lines().take_while(|line| line.starts_with('|')))
        .collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let lost: Vec<_> = rows.iter().filter(|row| !is_there(row)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

/// Whether the last code span is a function of the file that the one before it names.
fn is_there(row: &str) -> bool {
    let spans: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
    let [.., file, function] = spans.as_slice() else {
        return false;
    };
    let text = fs::read_to_string(file).unwrap_or_default();
    [format!("fn {function}("), format!("fn {function}<")]
        .iter()
        .any(|head| text.contains(head))
}

#[test]
fn paths_stand_in_code_spans() {
    let page =
        "1. `src/a.rs` and `src/b/`: see [c](d/e.md)\n```sh\ncargo x/y\n```\n`scripts/test lint`, `name`, `or/not`";
    assert_eq!(paths(page).collect::<Vec<_>>(), ["src/a.rs", "src/b/", "or/not"]);
}

/// Code spans with a slash and without a space.
fn paths(page: &str) -> impl Iterator<Item = &str> {
    let lines = page.lines().filter(|line| !line.starts_with("```"));
    let spans = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.filter(|span| span.contains('/') && !span.contains(' '))
}
