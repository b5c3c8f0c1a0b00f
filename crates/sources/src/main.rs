//! Prints what the sources of a repository look like, as a table: `sources [FOLDER]`, the current folder where none is named.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sources::{Error, Tree, files, imports, lines, loops, read, spread, words};

/// More files than this in one folder, or with one type's methods, are listed.
const MOST_FILES: usize = 20;
const MOST_METHOD_FILES: usize = 3;
/// Members of the workspace that are no part of the program.
const NO_PRODUCT: [&str; 2] = ["sources", "testkit"];

fn main() -> ExitCode {
    let folder = std::env::args()
        .nth(1)
        .map_or_else(|| PathBuf::from("."), PathBuf::from);
    match measured(&folder) {
        Ok(rows) => {
            println!("| measure | value |\n| --- | --- |");
            for (name, value) in rows {
                println!("| {name} | {value} |");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("sources: {error}");
            ExitCode::FAILURE
        }
    }
}

type Rows = Vec<(String, String)>;

fn measured(folder: &Path) -> Result<Rows, Error> {
    let mut rows = Rows::new();
    let trees = crates(folder)?;
    let counted: Vec<(&str, usize)> = trees.iter().map(|tree| (tree.name.as_str(), lines::of(tree))).collect();
    let total: usize = counted.iter().map(|(_, lines)| lines).sum();
    rows.push(("code lines".into(), with_parts(total, &counted)));
    let loops = all_loops(folder, &trees);
    rows.push((
        "largest import loop".into(),
        loops.values().max().copied().unwrap_or(1).to_string(),
    ));
    rows.push(("largest import loop by module".into(), listed(&loops)));
    let full = full_folders(folder)?;
    rows.push((
        format!("folders of more than {MOST_FILES} source files"),
        with_list(&full),
    ));
    let mut spread_types = BTreeMap::new();
    for tree in &trees {
        spread_types.extend(spread::of(tree, MOST_METHOD_FILES));
    }
    rows.push((
        format!("types with methods in more than {MOST_METHOD_FILES} files"),
        with_list(&spread_types),
    ));
    let readme = read(&folder.join("README.md"))?;
    rows.push(("lines of README.md".into(), readme.lines().count().to_string()));
    rows.push(("links of README.md".into(), words::links(&readme).to_string()));
    let documents = texts(&folder.join("docs"), "md")?;
    rows.push((
        "words of docs".into(),
        documents
            .iter()
            .map(|text| words::count(text))
            .sum::<usize>()
            .to_string(),
    ));
    let private: usize = documents.iter().chain([&readme]).map(|text| words::private(text)).sum();
    rows.push(("private words of README.md and docs".into(), private.to_string()));
    let comments: usize = trees
        .iter()
        .flat_map(|tree| &tree.files)
        .map(|file| words::private(&words::comments(&file.text)))
        .sum();
    rows.push(("private words of comments".into(), comments.to_string()));
    Ok(rows)
}

/// The program's crates: that of the root, and the members that are part of it.
fn crates(folder: &Path) -> Result<Vec<Tree>, Error> {
    let mut roots = vec![("src".to_owned(), folder.join("src/lib.rs"))];
    if let Ok(entries) = fs::read_dir(folder.join("crates")) {
        let names = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        let members = names.filter(|name| !NO_PRODUCT.contains(&name.as_str()));
        roots.extend(members.map(|name| (name.clone(), folder.join("crates").join(&name).join("src/lib.rs"))));
    }
    roots.sort();
    roots.iter().map(|(name, root)| Tree::read(name, root)).collect()
}

/// The largest loop of each module below a crate's root, or of a member, that has one.
fn all_loops(folder: &Path, trees: &[Tree]) -> BTreeMap<String, usize> {
    let mut largest = BTreeMap::new();
    for tree in trees {
        for found in loops::of(&imports::of(tree)) {
            for file in &found {
                let path = tree.files[*file].path.strip_prefix(folder).unwrap_or(Path::new(""));
                let part = part_of(path);
                let most = largest.entry(part).or_insert(0);
                *most = found.len().max(*most);
            }
        }
    }
    largest
}

/// `room` for `src/room/line.rs` and `src/room.rs`, `crates/room` for a member's file.
fn part_of(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    match parts.as_slice() {
        [first, member, ..] if first == "crates" => format!("crates/{member}"),
        [_, part, ..] => part.trim_end_matches(".rs").to_owned(),
        _ => String::new(),
    }
}

fn full_folders(folder: &Path) -> Result<BTreeMap<String, usize>, Error> {
    let mut counted = BTreeMap::new();
    for below in ["src", "crates", "tests"] {
        for file in files(&folder.join(below), "rs")? {
            let parent = file.parent().and_then(|parent| parent.strip_prefix(folder).ok());
            let name = parent.unwrap_or(Path::new("")).display().to_string();
            *counted.entry(name).or_insert(0) += 1;
        }
    }
    counted.retain(|_, files| *files > MOST_FILES);
    Ok(counted)
}

fn texts(folder: &Path, ending: &str) -> Result<Vec<String>, Error> {
    files(folder, ending)?.iter().map(|path| read(path)).collect()
}

fn with_parts(total: usize, parts: &[(&str, usize)]) -> String {
    if parts.len() < 2 {
        return total.to_string();
    }
    let parts: Vec<String> = parts.iter().map(|(name, lines)| format!("{name} {lines}")).collect();
    format!("{total} ({})", parts.join(", "))
}

fn with_list(found: &BTreeMap<String, usize>) -> String {
    if found.is_empty() {
        return "0".into();
    }
    format!("{}: {}", found.len(), listed(found))
}

/// The largest first.
fn listed(found: &BTreeMap<String, usize>) -> String {
    let mut pairs: Vec<(&String, &usize)> = found.iter().collect();
    pairs.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let pairs: Vec<String> = pairs.iter().map(|(name, count)| format!("{name} {count}")).collect();
    pairs.join(", ")
}
