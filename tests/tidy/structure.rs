//! The structure of the sources: import loops, full folders, types whose methods are spread over files.
//!
//! The limits hold everywhere. A test that finds no file to check fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sources::survey;

/// Most files that may import each other in a circle.
const MOST_IN_A_LOOP: usize = 3;

#[test]
fn files_do_not_import_each_other_in_circles() {
    let trees = survey::crates(Path::new(".")).expect("sources that can be read");
    assert!(trees.iter().map(|tree| tree.files.len()).sum::<usize>() > 300);
    let mut loops = survey::largest_loops(Path::new("."), &trees);
    loops.retain(|_, files| *files > MOST_IN_A_LOOP);
    assert!(loops.is_empty(), "{loops:?}");
}

#[test]
fn no_folder_holds_too_many_files() {
    let all = sources::files(Path::new("tests"), "rs").expect("folders");
    assert!(all.len() > 300);
    let full = survey::full_folders(Path::new(".")).expect("folders");
    assert!(full.is_empty(), "{full:?}");
}

#[test]
fn the_methods_of_a_type_stand_together() {
    let trees = survey::crates(Path::new(".")).expect("sources that can be read");
    assert!(trees.len() >= 5);
    let spread = survey::spread_types(&trees);
    assert!(spread.is_empty(), "{spread:?}");
}

/// Files of the root that hold the parts together.
const ROOTS: [&str; 3] = ["lib", "main", "fuzzing"];

#[test]
fn parts_use_each_other_as_the_architecture_says() {
    let trees = survey::crates(Path::new(".")).expect("sources that can be read");
    let mut parts = survey::parts(Path::new("."), &trees);
    parts.retain(|part, _| !ROOTS.contains(&part.as_str()));
    assert!(parts.len() > 20);
    let page = std::fs::read_to_string("docs/explanation/architecture.md").expect("the page");
    let said = table(&page);
    for (part, used) in &parts {
        assert_eq!(said.get(part), Some(used), "{part}: left is what the page says");
    }
    assert_eq!(said.len(), parts.len(), "the page has parts that are not there");
    // Parts that only use removed ones are removed one by one: the rest use each other in a circle.
    let mut left = parts;
    while let Some(part) = left
        .iter()
        .find_map(|(part, used)| used.iter().all(|one| !left.contains_key(one)).then(|| part.clone()))
    {
        left.remove(&part);
    }
    assert!(left.is_empty(), "these use each other in a circle: {left:?}");
}

/// The rows of the table "module | may use".
fn table(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let (_, rows) = page
        .split_once("| module | may use |\n| --- | --- |\n")
        .expect("the table");
    let rows = rows.lines().take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let mut names = line.split('`').skip(1).step_by(2).map(str::to_owned);
        (names.next().expect("a part"), names.collect())
    };
    rows.map(row).collect()
}
