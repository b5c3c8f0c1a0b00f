//! `ropeline --version`, and how `build.rs` learns what it prints: compiled here by itself, and run where there is a clone, an
//! archive of one, or neither.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::Program;

const COMMITTED: &str = "1795896000 +0900";
const DAY: &str = "2026-11-28";

/// Runs a program in `folder` and takes what it prints.
fn printed(folder: &Path, command: &mut Command) -> String {
    let ran = command
        .current_dir(folder)
        .output()
        .expect("installed with the toolchain");
    assert!(
        ran.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    String::from_utf8(ran.stdout).unwrap()
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@a.test",
        "-c",
        "commit.gpgsign=false",
    ]);
    git.args(args).env("GIT_COMMITTER_DATE", COMMITTED).env("HOME", folder);
    printed(folder, &mut git).trim().to_owned()
}

/// A folder with the compiled build script, and a clone with what it reads.
struct Built {
    folder: tempfile::TempDir,
    commit: String,
}

impl Built {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut rustc = Command::new("rustc");
        rustc
            .args(["--edition", "2024", "-o", "script"])
            .arg(ours.join("build.rs"));
        printed(folder.path(), &mut rustc);
        let clone = folder.path().join("clone");
        fs::create_dir(&clone).unwrap();
        for file in ["commit.txt", ".gitattributes", "Cargo.toml"] {
            fs::copy(ours.join(file), clone.join(file)).unwrap();
        }
        git(&clone, &["init", "-q"]);
        git(&clone, &["add", "."]);
        git(&clone, &["commit", "-q", "-m", "all"]);
        let commit = git(&clone, &["rev-parse", "HEAD"]);
        Self { folder, commit }
    }

    /// What the script notes in a folder beside it, with these variables: commit, date and profile.
    fn notes(&self, folder: &str, variables: &[(&str, &str)]) -> [String; 3] {
        let mut script = Command::new(self.folder.path().join("script"));
        script.env_remove("SOURCE_DATE_EPOCH").env_remove("ROPELINE_COMMIT");
        script
            .envs([("PROFILE", "release"), ("TARGET", "here")])
            .envs(variables.iter().copied());
        let out = printed(&self.folder.path().join(folder), &mut script);
        ["COMMIT", "DATE", "PROFILE"].map(|name| {
            let start = format!("cargo:rustc-env=ROPELINE_BUILD_{name}=");
            let line = out.lines().find_map(|line| line.strip_prefix(&start));
            line.unwrap_or_else(|| panic!("no {name} in {out}")).to_owned()
        })
    }
}

#[test]
fn a_clone_an_archive_and_variables_say_what_was_built() {
    let built = Built::new();
    let commit = built.commit.clone();
    assert_eq!(built.notes("clone", &[]), [&*commit, DAY, "release"]);
    let guided = [("CARGO_ENCODED_RUSTFLAGS", "-Cprofile-use=/a/b.profdata")];
    assert_eq!(built.notes("clone", &guided)[2], "release, profile-guided");
    assert_eq!(
        built.notes("clone", &[("PROFILE", "debug")]),
        ["unknown", "unknown", "debug"]
    );

    let archive = built.folder.path().join("archive");
    fs::create_dir(&archive).unwrap();
    git(
        &built.folder.path().join("clone"),
        &["archive", "-o", "../a.tar", "HEAD"],
    );
    printed(&archive, Command::new("tar").args(["-xf", "../a.tar"]));
    assert_eq!(built.notes("archive", &[]), [&*commit, DAY, "release"]);

    // Sources that came in another way, inside somebody's clone.
    fs::create_dir(built.folder.path().join("clone/sources")).unwrap();
    fs::copy(
        built.folder.path().join("clone/commit.txt"),
        built.folder.path().join("clone/sources/commit.txt"),
    )
    .unwrap();
    assert_eq!(built.notes("clone/sources", &[]), ["unknown", "unknown", "release"]);
    for (secs, day) in [
        ("0", "1970-01-01"),
        ("951782400", "2000-02-29"),
        ("4107542399", "2100-02-28"),
        ("4107542400", "2100-03-01"),
    ] {
        let given = [("SOURCE_DATE_EPOCH", secs), ("ROPELINE_COMMIT", "abc")];
        assert_eq!(built.notes("clone/sources", &given), ["abc", day, "release"]);
    }

    fs::write(built.folder.path().join("clone/Cargo.toml"), "changed").unwrap();
    assert_eq!(built.notes("clone", &[])[0], format!("{commit}, changed"));
}

#[test]
fn the_version_is_one_line_or_says_what_the_program_was_built_from() {
    let folder = tempfile::tempdir().unwrap();
    let run = |option: &str| Program::run(folder.path(), &[option]).out;
    let version = concat!("ropeline ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(run("-V"), version);
    let whole = run("--version");
    assert!(whole.starts_with(version), "{whole}");
    let names: Vec<&str> = whole
        .lines()
        .skip(1)
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(names, ["commit", "date", "target", "profile"], "{whole}");
    assert!(
        whole.contains(&format!("\ntarget   {}-", std::env::consts::ARCH)),
        "{whole}"
    );
}
