//! The examples, each behind a driver that answers a line for a line.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A request as a shop would hand it to the check, with the time that it is.
#[derive(Clone, Debug)]
pub struct Case {
    pub method: String,
    pub target: String,
    pub session: String,
    pub signature: String,
    pub now_secs: u64,
}

/// The results of each installed language for the cases, with its name.
pub fn answers(cases: &[Case]) -> Vec<(&'static str, Vec<bool>)> {
    let found: Vec<_> = LANGUAGES
        .iter()
        .filter_map(|(name, command)| Some((*name, run(name, &mut command(), cases)?)))
        .collect();
    assert!(found.iter().any(|(name, _)| *name == "python3"), "python3 is needed");
    found
}

type Driver = fn() -> (Command, Option<TempDir>);

const LANGUAGES: [(&str, Driver); 4] = [
    ("python3", || plain("python3", "driver.py")),
    ("php", || plain("php", "driver.php")),
    ("node", || plain("node", "driver.mjs")),
    ("go", go),
];

fn plain(program: &str, driver: &str) -> (Command, Option<TempDir>) {
    let mut command = Command::new(program);
    command
        .arg(here().join("tests/back_door/drivers").join(driver))
        .arg(here().join("examples/back-door"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    (command, None)
}

/// Go wants a module around a package.
fn go() -> (Command, Option<TempDir>) {
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("module");
    fs::create_dir_all(module.join("backdoor")).unwrap();
    fs::write(module.join("go.mod"), "module test\n\ngo 1.19\n").unwrap();
    fs::copy(
        here().join("examples/back-door/check.go"),
        module.join("backdoor/check.go"),
    )
    .unwrap();
    fs::copy(here().join("tests/back_door/drivers/driver.go"), module.join("main.go")).unwrap();
    let mut command = Command::new("go");
    command
        .args(["run", "."])
        .current_dir(&module)
        .env("GOCACHE", folder.path().join("cache"))
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off");
    (command, Some(folder))
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// `None` where the language is not on this machine.
fn run(name: &str, (command, _folder): &mut (Command, Option<TempDir>), cases: &[Case]) -> Option<Vec<bool>> {
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("{name}: SKIPPED, it is not on this machine");
            return None;
        }
        started => started.unwrap(),
    };
    let lines: String = cases.iter().map(line).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let answers: Vec<bool> = said.lines().map(|line| line == "yes").collect();
    assert!(output.status.success(), "{name} fails: {told}");
    assert_eq!(answers.len(), cases.len(), "{name} says {said}, and {told}");
    Some(answers)
}

fn line(case: &Case) -> String {
    let Case {
        method,
        target,
        session,
        signature,
        now_secs,
    } = case;
    format!("{method}\t{target}\t{session}\t{signature}\t{now_secs}\n")
}
