//! The program's former name is gone: from every tracked file and path but the changelog.

use std::path::Path;
use std::process::Command;

/// Written in two parts, so that this file does not hold it.
const FORMER_NAME: &str = concat!("ante", "room");

#[test]
fn only_the_changelog_knows_the_former_name() {
    let files = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .expect("git lists the files");
    let files = String::from_utf8(files.stdout).expect("paths in UTF-8");
    let files: Vec<&str> = files.split_terminator('\0').collect();
    assert!(files.len() > 500, "{} files", files.len());
    let named = |path: &&&str| mentions(path.as_bytes()) || std::fs::read(path).is_ok_and(|text| mentions(&text));
    let others: Vec<_> = files
        .iter()
        .filter(|path| **path != "CHANGELOG.md" && Path::new(path).exists())
        .filter(named)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn the_former_name_is_found_in_any_case() {
    assert!(mentions(concat!("X-", "AnTe", "Room").as_bytes()));
    assert!(!mentions(b"a room before the room"));
}

fn mentions(text: &[u8]) -> bool {
    text.windows(FORMER_NAME.len())
        .any(|window| window.eq_ignore_ascii_case(FORMER_NAME.as_bytes()))
}
