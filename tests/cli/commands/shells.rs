//! Completion scripts and manual pages as the programs take them that they are for: bash, zsh, fish and man.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::program::Program;

/// The completion script of a shell, as a file in `folder`.
fn script(folder: &Path, shell: &str) -> String {
    let ended = Program::run(folder, &["completions", shell]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    let file = folder.join(shell);
    fs::write(&file, ended.out).unwrap();
    file.display().to_string()
}

/// Runs a program in `folder`, which is its home too. `scripts/test setup` installs those that are used here.
fn run(folder: &Path, program: &str, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env("HOME", folder);
    let ran = command.output();
    ran.unwrap_or_else(|error| panic!("{program}: {error}; scripts/test setup installs it"))
}

/// The output of a run that succeeds without a word on standard error.
fn told(ran: Output) -> String {
    let (out, err) = (
        String::from_utf8(ran.stdout).unwrap(),
        String::from_utf8(ran.stderr).unwrap(),
    );
    assert!(ran.status.success() && err.is_empty(), "{}\n{out}\n{err}", ran.status);
    out
}

/// Calls the function that the script registers as bash does at a tab, with the words of the line.
const TAB: &str = r#"
source "$1"; shift
[[ $(complete -p ropeline) == *"-F _ropeline"* ]] || exit 3
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_ropeline "$1" "${@: -1}" "${@: -2:1}"
echo "${COMPREPLY[*]}"
"#;

#[test]
fn bash_completes_commands_options_and_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let script = script(folder.path(), "bash");
    for (line, wanted) in [
        (&["ropeline", "roo"][..], "rooms"),
        (&["ropeline", "rooms", "end"], "end-healing"),
        (&["ropeline", "rooms", "set", "main", "--cap"], "--capacity"),
        (
            &["ropeline", "rooms", "set", "main", "--mode", ""],
            "auto hold closed off default",
        ),
        (&["ropeline", "completions", ""], "bash zsh fish"),
    ] {
        let args = [&["--norc", "-c", TAB, "bash", &script][..], line].concat();
        let completed = told(run(folder.path(), "bash", &args));
        let found = completed.trim_end().ends_with(wanted);
        assert!(found, "{line:?}: {completed:?} is not {wanted:?}");
    }
}

#[test]
fn fish_completes_commands_and_options() {
    let folder = tempfile::tempdir().unwrap();
    let script = script(folder.path(), "fish");
    for (line, wanted) in [
        ("ropeline roo", "rooms\t"),
        ("ropeline rooms set main --cap", "--capacity\t"),
        ("ropeline rooms set main --mode ho", "hold"),
    ] {
        let completes = format!("source '{script}'; complete -C '{line}'");
        let completed = told(run(folder.path(), "fish", &["--no-config", "-c", &completes]));
        assert!(
            completed.lines().any(|at| at.starts_with(wanted)),
            "{line}: {completed:?}"
        );
    }
}

#[test]
fn zsh_takes_its_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = script(folder.path(), "zsh");
    told(run(folder.path(), "zsh", &["-f", "-n", &script]));
    let takes = format!("autoload -Uz compinit && compinit -u -D && source '{script}' && echo $_comps[ropeline]");
    assert_eq!(told(run(folder.path(), "zsh", &["-f", "-c", &takes])), "_ropeline\n");
}

#[test]
fn an_unknown_shell_is_refused_with_those_that_there_are() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["completions", "tcsh"][..],
        &["completions", ""],
        &["completions", "bash", "zsh"],
    ] {
        let ended = Program::run(folder.path(), args);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    }
    let ended = Program::run(folder.path(), &["completions", "tcsh"]);
    let words = ["'tcsh'", "bash, zsh, fish"];
    assert!(words.iter().all(|word| ended.err.contains(word)), "{ended:?}");
}

#[test]
fn man_takes_the_page_of_every_command_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let ended = Program::run(folder.path(), &["manual", "man1"]);
    let names: Vec<_> = fs::read_dir(&pages)
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(ended.out, format!("{} pages in man1\n", names.len()), "{ended:?}");
    assert!(names.len() > 35, "{names:?}");
    let shown = |name: &str| {
        let page = pages.join(name).display().to_string();
        let mut man = Command::new("man");
        man.args(["--warnings", "-E", "UTF-8", "-l", &page]);
        man.env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8");
        told(man.output().expect("man; scripts/test setup installs it"))
    };
    for name in &names {
        let page = shown(name.to_str().unwrap());
        assert!(page.contains("\nEXAMPLES\n"), "{name:?}:\n{page}");
    }
    let page = shown("ropeline-rooms-set.1");
    for wanted in [
        "ropeline-rooms-set - Change a room at once",
        "\n       --capacity <N|default>\n",
        "\n         ropeline rooms set main --rate none             no limit on calls per minute\n",
    ] {
        assert!(page.contains(wanted), "{wanted:?} is not in\n{page}");
    }
    assert!(shown("ropeline.1").contains("ropeline-rooms(1)"));
}
