//! The measures of a whole repository, for `scripts/measure` and for the tidy tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::{Error, Tree, files, imports, loops, spread};

/// Most source files in one folder.
pub const MOST_FILES: usize = 20;
/// Most files with inherent methods of one type.
pub const MOST_METHOD_FILES: usize = 3;
/// Members of the workspace that are no part of the program.
const NO_PRODUCT: [&str; 2] = ["sources", "testkit"];
/// The prefix of members' names in code.
const MEMBERS: &str = "ropeline_";

/// The program's crates: that of the root, and the members that it includes.
///
/// # Errors
/// Where a source cannot be read.
pub fn crates(folder: &Path) -> Result<Vec<Tree>, Error> {
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
#[must_use]
pub fn largest_loops(folder: &Path, trees: &[Tree]) -> BTreeMap<String, usize> {
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

/// For each part of the program those that it uses: the modules below the root of `src`, and the members by their names.
#[must_use]
pub fn parts(folder: &Path, trees: &[Tree]) -> BTreeMap<String, BTreeSet<String>> {
    let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for tree in trees {
        let name = |file: usize| {
            let path = tree.files[file].path.strip_prefix(folder).unwrap_or(Path::new(""));
            part_of(path).trim_start_matches("crates/").to_owned()
        };
        for (file, used) in imports::of(tree) {
            let used = used.into_iter().map(name);
            parts.entry(name(file)).or_default().extend(used);
        }
        for (file, used) in imports::of_crates(tree, MEMBERS) {
            let used = used.iter().map(|member| member[MEMBERS.len()..].to_owned());
            parts.entry(name(file)).or_default().extend(used);
        }
    }
    for (part, used) in &mut parts {
        used.remove(part);
    }
    parts
}

/// Types with inherent methods in more than [`MOST_METHOD_FILES`] files, with the number of files.
#[must_use]
pub fn spread_types(trees: &[Tree]) -> BTreeMap<String, usize> {
    trees
        .iter()
        .flat_map(|tree| spread::of(tree, MOST_METHOD_FILES))
        .collect()
}

/// Folders below `src`, `crates` and `tests` of more than [`MOST_FILES`] source files, with their number.
///
/// # Errors
/// Where a folder cannot be read.
pub fn full_folders(folder: &Path) -> Result<BTreeMap<String, usize>, Error> {
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

/// `room` for `src/room/line.rs` and `src/room.rs`, `crates/room` for a member's file.
fn part_of(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    match parts.as_slice() {
        [first, member, ..] if first == "crates" => format!("crates/{member}"),
        [_, part, ..] => part.trim_end_matches(".rs").to_owned(),
        _ => String::new(),
    }
}
