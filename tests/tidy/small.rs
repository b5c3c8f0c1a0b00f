//! The page's scripts as they are sent are those of their sources.

use std::fs;

use sha2::{Digest, Sha256};

/// `scripts/minify` writes down the SHA-256 of what it read and wrote. Half of one is enough to find a change.
#[test]
fn the_small_scripts_are_those_of_their_sources() {
    let sums = fs::read_to_string("static/small/sums").unwrap();
    let mut stale = Vec::new();
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let path = match name.strip_prefix("./") {
            Some(written) => format!("static/small/{written}"),
            None => format!("static/{name}"),
        };
        let found = Sha256::digest(fs::read(&path).unwrap());
        let wanted = u128::from_str_radix(&sum[..32], 16).unwrap();
        if found[..16] != wanted.to_be_bytes() {
            stale.push(path);
        }
    }
    assert!(stale.is_empty(), "run scripts/minify: {stale:?}");
    let scripts = fs::read_dir("static").unwrap().map(|entry| entry.unwrap().path());
    let scripts = scripts.filter(|path| path.extension().is_some_and(|ending| ending == "js"));
    assert_eq!(
        sums.lines().filter(|line| !line.contains("./")).count(),
        scripts.count()
    );
}
