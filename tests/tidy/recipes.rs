//! The recipes of CONTRIBUTING.md name files and folders that exist.

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
