//! The house rules that a reader of the source can check: purity, reachability, size, and no loose ends.
//!
//! It reads `src`, `crates` and `tests` as text. A rule that a line breaks for a good reason is changed here, with the reason.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod name;
mod named;
mod recipes;
mod sentences;
mod small;
mod structure;

use std::fs;
use std::path::{Path, PathBuf};

/// Longest source file, its tests included.
const MOST_LINES: usize = 600;

/// Names that a pure module may not use: clocks, randomness, I/O, locks, threads, floats, unordered collections, async.
const IMPURE: [&str; 24] = [
    "tokio",
    "hyper",
    "redis",
    "redb",
    "getrandom",
    "rand::",
    "HashMap",
    "HashSet",
    "RandomState",
    "Mutex",
    "RwLock",
    "Condvar",
    "Instant",
    "SystemTime",
    "crate::time",
    "std::fs",
    "std::net",
    "std::env",
    "std::thread",
    "std::io",
    "async",
    ".await",
    "f32",
    "f64",
];

const PURE: [&str; 4] = [
    "crates/ids/src",
    "crates/room/src",
    "crates/token/src",
    "crates/proxy/src/names",
];

/// Everything written in Rust that is the program or tests it.
const ALL: [&str; 3] = ["src", "crates", "tests"];

/// Words that mark something left to do.
const LOOSE_ENDS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

struct Source {
    path: PathBuf,
    text: String,
}

#[test]
fn pure_modules_name_nothing_impure() {
    for folder in PURE {
        let pure: Vec<Source> = sources(folder).collect();
        assert!(!pure.is_empty(), "no file in {folder}");
        let found: Vec<String> = pure.iter().flat_map(impure).collect();
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn every_file_is_reached_by_a_mod() {
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    let roots: Vec<&Path> = manifest
        .lines()
        .filter_map(|line| Some(Path::new(line.strip_prefix("path = \"")?.strip_suffix('"')?)))
        .collect();
    let is_root = |path: &Path| {
        let crate_root = ["lib.rs", "main.rs"]
            .iter()
            .any(|name| path.ends_with(format!("src/{name}")));
        crate_root || roots.contains(&path) || path.parent() == Some(Path::new("tests"))
    };
    let lost: Vec<_> = all_sources()
        .map(|s| s.path)
        .filter(|path| !is_root(path) && !is_reached(path, &roots))
        .collect();
    assert!(lost.is_empty(), "no mod reaches {lost:#?}");
}

#[test]
fn nothing_is_left_to_do_without_an_owner() {
    let files = all_sources().filter(|s| s.path != Path::new("tests/tidy/main.rs"));
    let found: Vec<String> = files.flat_map(|source| loose_ends(&source)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn files_stay_short() {
    let files = all_sources().chain(sources("bench"));
    let long: Vec<_> = files
        .map(|source| (source.text.lines().count(), source.path))
        .filter(|(lines, _)| *lines > MOST_LINES)
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn the_rules_see_what_they_should() {
    let source = |text: &str| Source {
        path: PathBuf::from("crates/room/src/x.rs"),
        text: text.to_owned(),
    };
    assert_eq!(impure(&source("let a = HashMap::new();")).len(), 1);
    assert_eq!(impure(&source("let share = 0.5_f64;")).len(), 1);
    assert!(impure(&source("/// No HashMap here.\nlet wasync_done = 1; // Mutex")).is_empty());
    assert!(
        impure(&source(
            "let a = 1;\n#[cfg(test)]\nmod tests { use std::collections::HashSet; }"
        ))
        .is_empty()
    );
    assert_eq!(loose_ends(&source("// TODO: later")).len(), 1);
    assert_eq!(loose_ends(&source("    todo!()")).len(), 1);
    assert!(loose_ends(&source("// TODO(issue 5): identity tags")).is_empty());
    assert!(!is_reached(Path::new("crates/room/src/nowhere.rs"), &[]));
    assert!(ALL.iter().all(|folder| sources(folder).count() > 50));
}

/// Lines of code, tests left out, that name something impure as a word of its own.
fn impure(source: &Source) -> Vec<String> {
    let code = source
        .text
        .lines()
        .take_while(|line| !line.contains("#[cfg(test)]"))
        .enumerate();
    let code = code.filter(|_| !is_test(&source.path));
    code.filter_map(|(i, line)| {
        let code = line.split("//").next()?;
        let named = IMPURE.iter().find(|word| has_word(code, word))?;
        Some(format!("{}:{}: {named}", source.path.display(), i + 1))
    })
    .collect()
}

fn has_word(code: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    code.match_indices(word).any(|(at, _)| {
        let (before, after) = (code[..at].chars().next_back(), code[at + word.len()..].chars().next());
        !part(before) && !part(after)
            || (word.starts_with('f') && before == Some('_') && !part(after))
            || word.ends_with(':') && !part(before)
    })
}

/// The file that should declare it does: `mod.rs` of its folder, or the file named like the folder.
fn is_reached(path: &Path, roots: &[&Path]) -> bool {
    let folder = path.parent().unwrap();
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let crate_root = folder.parent().is_some_and(|above| above.ends_with("tests")) && stem == "main";
    let (name, home) = match stem {
        "mod" => (folder.file_name().unwrap().to_str().unwrap(), folder.parent().unwrap()),
        _ => (stem, folder),
    };
    let declared = |file: PathBuf| fs::read_to_string(file).is_ok_and(|text| declares(&text, name));
    // A file that several others of its home take in by its path.
    let taken_in = || {
        let within = path.strip_prefix(home).unwrap().display();
        let path = format!("#[path = \"{within}\"]");
        let siblings = fs::read_dir(home).into_iter().flatten().flatten();
        siblings
            .filter_map(|file| fs::read_to_string(file.path()).ok())
            .any(|text| text.contains(&path))
    };
    crate_root
        || ["mod.rs", "lib.rs", "main.rs"]
            .iter()
            .any(|root| declared(home.join(root)))
        || roots
            .iter()
            .any(|root| root.parent() == Some(home) && declared(root.to_path_buf()))
        || declared(home.with_extension("rs"))
        || taken_in()
}

fn declares(text: &str, name: &str) -> bool {
    let end = format!("mod {name};");
    text.lines().any(|line| {
        let line = line.trim();
        let visibility = line.strip_suffix(&end).map(str::trim);
        visibility.is_some_and(|before| before.is_empty() || before.starts_with("pub"))
    })
}

fn loose_ends(source: &Source) -> Vec<String> {
    let lines = source.text.lines().enumerate();
    let loose = |line: &str| {
        let word = LOOSE_ENDS
            .iter()
            .find_map(|word| line.find(word).map(|at| &line[at + word.len()..]));
        let unowned = line.contains("//") && word.is_some_and(|rest| !rest.starts_with('('));
        unowned || line.contains("todo!(") || line.contains("unimplemented!(")
    };
    lines
        .filter(|(_, line)| loose(line))
        .map(|(i, line)| format!("{}:{}: {line}", source.path.display(), i + 1))
        .collect()
}

/// A file that holds tests only.
fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "tests.rs")
}

/// Every `.rs` file below a folder of the repository; none if the folder is not there.
fn all_sources() -> impl Iterator<Item = Source> {
    ALL.iter().flat_map(|folder| sources(folder))
}

fn sources(folder: &str) -> impl Iterator<Item = Source> {
    let mut folders = vec![PathBuf::from(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.into_iter().map(|path| Source {
        text: fs::read_to_string(&path).unwrap(),
        path,
    })
}
