//! The configuration from outside: files that are good, files that are bad with every message expected, the shipped
//! `config.toml` and `docs/reference/configuration.md` held against the table of keys, the file of the packages.

mod bad;
mod docs;
mod examples;
mod good;
mod packaged;
mod schema;
mod shipped;
mod shop_tls;
mod tls;

use ropeline_testkit::harness::certificates;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of the repository.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Names and texts of the TOML files in a folder, in order.
fn files(folder: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(path(folder)).expect("the folder is there");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "toml"))
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| (name.clone(), text(&format!("{folder}/{name}"))))
        .collect()
}

/// The key of RFC 8037, appendix A.2.
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
";
