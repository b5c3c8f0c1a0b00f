//! Notes what the program is built from, for `ropeline --version`: the commit, its date, the target and the profile.
//!
//! The commit is `ROPELINE_COMMIT`, or git's where this folder is a clone, or the one that `git archive` wrote into
//! `commit.txt`. The date is `SOURCE_DATE_EPOCH`, or the commit's. The clock is not read: equal sources give an equal binary.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    for name in ["ROPELINE_COMMIT", "SOURCE_DATE_EPOCH", "RUSTFLAGS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=commit.txt");
    let is_release = variable("PROFILE").as_deref() == Some("release");
    // A build while the program is changed would be made anew after each commit.
    let (commit, time) = if is_release { commit() } else { (None, None) };
    let time = variable("SOURCE_DATE_EPOCH")
        .or(time)
        .and_then(|secs| secs.parse().ok());
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let profile = variable("PROFILE").unwrap_or_else(unknown);
    let guided = if flags.contains("profile-use") {
        ", profile-guided"
    } else {
        ""
    };
    note("COMMIT", &commit.unwrap_or_else(unknown));
    note("DATE", &time.map_or_else(unknown, date));
    note("TARGET", &variable("TARGET").unwrap_or_else(unknown));
    note("PROFILE", &format!("{profile}{guided}"));
}

/// The commit and its time, as far as they can be known.
fn commit() -> (Option<String>, Option<String>) {
    let (hash, time) = cloned().or_else(archived).unzip();
    (variable("ROPELINE_COMMIT").or(hash), time)
}

/// What git says, where this folder is a clone of its own and not a part of another.
fn cloned() -> Option<(String, String)> {
    if !Path::new(".git").exists() {
        return None;
    }
    let shown = git(&["log", "-1", "--format=%H %ct"])?;
    let (hash, time) = pair(&shown)?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    for path in ["src", "crates", "static", "Cargo.toml", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={path}");
    }
    println!(
        "cargo:rerun-if-changed={}",
        git(&["rev-parse", "--git-path", "logs/HEAD"])?
    );
    let hash = if changed.is_empty() { hash } else { hash + ", changed" };
    Some((hash, time))
}

fn archived() -> Option<(String, String)> {
    pair(&fs::read_to_string("commit.txt").ok()?)
}

/// A hash and a time; none in a `commit.txt` that no archive was made of.
fn pair(text: &str) -> Option<(String, String)> {
    let (hash, time) = text.trim().split_once(' ')?;
    let is_hash = hash.len() >= 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| (hash.to_owned(), time.to_owned()))
}

fn git(args: &[&str]) -> Option<String> {
    let ran = Command::new("git")
        .arg("--no-optional-locks")
        .args(args)
        .output()
        .ok()?;
    let said = String::from_utf8(ran.stdout).ok()?;
    ran.status.success().then(|| said.trim().to_owned())
}

/// The day in UTC, by the proleptic Gregorian calendar (H. Hinnant, "chrono-compatible low-level date algorithms").
fn date(secs: i64) -> String {
    let days = secs.div_euclid(86_400) + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn note(name: &str, value: &str) {
    println!("cargo:rustc-env=ROPELINE_BUILD_{name}={value}");
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// A variable that is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "what a build script is told, it is told by its environment"
)]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
