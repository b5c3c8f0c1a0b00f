//! `ropeline init`: a file from answers, options and defaults, that `check` passes.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::gate::{Gate, Site};
use crate::program::{Ended, Program};
use crate::shop::Shop;

/// Runs it with these answers on its standard input.
fn init(folder: &Path, args: &[&str], answers: &str) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ropeline"))
        .arg("init")
        .args(args)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses its options reads no answer.
    let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// `ropeline check` has nothing to say.
fn passes(folder: &Path, file: &str) {
    let checked = Program::run(folder, &["check", file]);
    assert_eq!(checked.out, format!("{file}: good\n"), "{checked:?}");
}

#[test]
fn the_defaults_the_answers_and_the_options_each_make_a_file_that_passes_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    let ended = init(folder.path(), &[], "");
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    assert!(ended.out.contains("  ropeline run --config config.toml\n"), "{ended:?}");
    assert_eq!(ended.out.matches("]: ").count(), 5, "{ended:?}");
    passes(folder.path(), "config.toml");

    let answers = "http://10.0.0.5:3000\n0.0.0.0:8080\n300\n600\n/payment/return\n";
    assert_eq!(init(folder.path(), &["answered.toml"], answers).code, Some(0));
    passes(folder.path(), "answered.toml");
    let options = [
        "given.toml",
        "--upstream",
        "http://10.0.0.5:3000",
        "--listen",
        "0.0.0.0:8080",
        "--capacity",
        "300",
        "--rate",
        "600",
        "--payment-return",
        "/payment/return",
    ];
    let given = init(folder.path(), &options, "");
    assert!(
        given.code == Some(0) && !given.out.contains("]: "),
        "nothing is asked: {given:?}"
    );
    assert_eq!(read("given.toml"), read("answered.toml"));
    for line in [
        "url = \"http://10.0.0.5:3000\"",
        "listen = [\"0.0.0.0:8080\"]",
        "total_active_users = 300",
        "new_users_per_minute = 600",
        "return_routes = [\"/payment/return\"]",
    ] {
        assert!(read("given.toml").lines().any(|written| written == line), "{line}");
    }
}

#[test]
fn a_wrong_answer_is_asked_for_again_at_once_and_a_wrong_option_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let ended = init(folder.path(), &[], "shop\nhttp://127.0.0.1:3000\n\nmany\n-5\n50\n");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.out.matches("; right: ").count(), 3, "{ended:?}");
    let written = std::fs::read_to_string(folder.path().join("config.toml")).unwrap();
    assert!(written.contains("total_active_users = 50\n"), "{written}");
    passes(folder.path(), "config.toml");

    let unanswered = init(folder.path(), &["other.toml"], "shop\n");
    assert_eq!(unanswered.code, Some(78), "{unanswered:?}");
    let wrong = init(folder.path(), &["other.toml", "--capacity", "0"], "");
    assert!(
        wrong.code == Some(78) && wrong.err.contains("--capacity: "),
        "{wrong:?}"
    );
    assert!(!folder.path().join("other.toml").exists());
}

#[test]
fn a_file_that_is_there_is_left_as_it_is() {
    let site = Site::new("", "");
    let before = std::fs::read(site.path("config.toml")).unwrap();
    let ended = init(&site.path(""), &[], "");
    assert!(
        ended.code == Some(1) && ended.err.contains("config.toml exists already"),
        "{ended:?}"
    );
    assert!(!ended.out.contains("]: "), "nothing is asked in vain: {ended:?}");
    assert_eq!(std::fs::read(site.path("config.toml")).unwrap(), before);
    std::os::unix::fs::symlink("nowhere", site.path("link.toml")).unwrap();
    assert_eq!(init(&site.path(""), &["link.toml"], "").code, Some(1));
    assert!(!site.path("nowhere").exists());
    let missing = init(&site.path(""), &["no/such/folder.toml"], "");
    assert!(
        missing.code == Some(1) && missing.err.contains("cannot be written"),
        "{missing:?}"
    );
}

#[test]
fn a_gate_starts_from_the_file() {
    let (folder, shop) = (tempfile::tempdir().unwrap(), Shop::open());
    let args = ["--upstream", &shop.url(), "--listen", "127.0.0.1:0", "--capacity", "1"];
    assert_eq!(init(folder.path(), &args, "").code, Some(0));
    let gate = Gate::serving(Program::start(
        folder.path(),
        &["run", "--config", "config.toml", "--admin-listen", "127.0.0.1:0"],
    ));
    gate.insider();
    assert_eq!(gate.visitor().goes_to("/").word(), "waiting");
}
