//! Prints measurements of a repository's sources as a table: `sources [FOLDER]`, by default of the current folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sources::survey::{MOST_FILES, MOST_METHOD_FILES, crates, full_folders, largest_loops, spread_types};
use sources::{Error, files, lines, read, words};

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
    let loops = largest_loops(folder, &trees);
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
    rows.push((
        format!("types with methods in more than {MOST_METHOD_FILES} files"),
        with_list(&spread_types(&trees)),
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
