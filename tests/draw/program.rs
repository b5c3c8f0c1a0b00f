//! `ropeline verify-draw` as a program: its output, and its exit codes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::{changed, early, example, figures};

/// The results of a program that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn of(command: &mut Command) -> Self {
        let ended = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: ended.status.code(),
            out: text(ended.stdout),
            err: text(ended.stderr),
        }
    }
}

/// Runs the program on figures that are in a file.
pub fn verify(arguments: &[&str], figures: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json");
    std::fs::write(&file, figures).unwrap();
    Ended::of(command().arg(file).args(arguments))
}

/// Runs the program on figures that come on standard input.
pub fn verify_from(input: &str, arguments: &[&str]) -> Ended {
    let pipes = |command: &mut Command| {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut child = pipes(command().arg("-").args(arguments));
    // It may have seen enough before all is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let ended = child.wait_with_output().unwrap();
    Ended {
        code: ended.status.code(),
        out: String::from_utf8(ended.stdout).unwrap(),
        err: String::from_utf8(ended.stderr).unwrap(),
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ropeline"));
    command.env_clear().arg("verify-draw");
    command
}

#[test]
fn places_are_worked_out_from_a_file_and_from_standard_input() {
    let ended = verify(&["1", "4711", "1000003", "1000004"], &example());
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    for line in [
        "number 1: place 637777\n",
        "number 4711: place 542077\n",
        "number 1000003: place 313197\n",
        "number 1000004: place 1000004, as it came: it joined behind those who were drawn\n",
        "opening     2026-12-01T04:00:00.000Z as promised\n",
        "closed      2026-12-01T04:00:00.212Z, 0.212 s after it\n",
        "drawn       1000003\n",
        "beacon      drand quicknet round 22000000 = 7d1f",
        "all fits: the secret is the one that was promised",
    ] {
        assert!(ended.out.contains(line), "{line:?} is not in {}", ended.out);
    }
    let same = verify_from(&example(), &["1", "4711", "1000003", "1000004"]);
    assert_eq!((same.code, same.out), (Some(0), ended.out));
}

#[test]
fn without_a_beacon_it_says_what_is_not_proved() {
    let ended = verify(&["2"], &figures("", 0, 12, None));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("beacon      none\n") && ended.out.contains("does not prove that the draw was impartial"),
        "{ended:?}"
    );
}

#[test]
fn each_change_is_told_in_a_sentence_of_its_own() {
    for (name, value, told) in [
        (
            "secret",
            serde_json::json!("00".repeat(32)),
            "the secret does not fit the commitment",
        ),
        (
            "count",
            serde_json::json!(999_999),
            "the count does not fit the closing",
        ),
        (
            "beacon_value",
            serde_json::json!("7d".repeat(32)),
            "the beacon's value does not fit the seal",
        ),
        (
            "opens_ms",
            serde_json::json!(1_796_097_600_001_u64),
            "the secret does not fit the commitment: the secret was changed, or the room, edition, opening",
        ),
        (
            "closed_ms",
            serde_json::json!(1_796_098_000_000_u64),
            "the count does not fit the closing",
        ),
    ] {
        let figures = changed(name, value);
        let ended = verify(&["4711"], &figures);
        assert_eq!(ended.code, Some(1), "{name}: {ended:?}");
        assert!(ended.out.contains(&format!("WRONG       {told}")), "{name}: {ended:?}");
        assert_eq!(ended.out.matches("WRONG").count(), 1, "{name}: {ended:?}");
        assert!(
            ended.out.ends_with("these are NOT the figures of an honest draw\n"),
            "{ended:?}"
        );
        let all = verify(&["--all"], &figures);
        assert_eq!(
            (all.code, all.out.as_str()),
            (Some(1), ""),
            "no list of a draw that does not fit: {all:?}"
        );
        assert!(all.err.contains(told), "{all:?}");
    }
}

#[test]
fn a_place_that_was_shown_and_a_fingerprint_that_was_kept_are_held_against_it() {
    let commitment = "b49fce0aa2ede34c25ec03ba4acd0a701d2ba266978966541afaa26cd79697be";
    let good = verify(&["4711", "--place", "542077", "--expect", commitment], &example());
    assert_eq!(good.code, Some(0), "{good:?}");
    let place = verify(&["4711", "--place", "542078"], &example());
    assert!(
        place.code == Some(1)
            && place
                .out
                .contains("WRONG       number 4711 stands at place 542077 by these figures, not at 542078"),
        "{place:?}"
    );
    let other = "5f".repeat(32);
    let kept = verify(&["--expect", commitment, "--expect", &other], &example());
    assert!(
        kept.code == Some(1)
            && kept
                .out
                .contains(&format!("WRONG       {other} is none of this draw's fingerprints")),
        "{kept:?}"
    );
}

#[test]
fn what_cannot_be_checked_says_why_and_by_its_exit_code() {
    let long = " ".repeat(20_000);
    let cases = [
        (verify(&["0"], &example()), 2, "0 is not in 1.."),
        (
            verify(&["1", "2", "--place", "3"], &example()),
            64,
            "--place is the place of one NUMBER",
        ),
        (
            verify(&["--expect", "5f"], &example()),
            64,
            "\"5f\" is no fingerprint: 64 hexadecimal digits",
        ),
        (verify(&["--all", "1"], &example()), 2, "cannot be used with"),
        (verify(&[], "{}"), 65, "not the figures of a draw: missing field `draw`"),
        (
            verify(&[], &changed("draw", 2)),
            65,
            "figures of form 2, and this program knows form 1",
        ),
        (
            verify(&[], &changed("secret", ())),
            65,
            "the draw has not been made: the secret is not published yet",
        ),
        (verify_from(&long, &[]), 65, "more than 16384 bytes"),
        (
            Ended::of(command().arg("/nowhere/figures.json")),
            66,
            "/nowhere/figures.json cannot be read",
        ),
    ];
    for (ended, code, told) in cases {
        assert_eq!(ended.code, Some(code), "{told}: {ended:?}");
        assert!(ended.err.contains(told) && ended.out.is_empty(), "{told}: {ended:?}");
    }
}

#[test]
fn what_figures_say_cannot_command_a_terminal() {
    let ended = verify(&[], &changed("beacon", "\u{1b}[2J"));
    assert!(!ended.out.contains('\u{1b}') && ended.code == Some(1), "{ended:?}");
}

#[test]
fn the_help_holds_examples_and_exit_codes() {
    let ended = Ended::of(command().arg("--help"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in [
        "Examples:\n  ropeline verify-draw figures.json",
        "Exit codes: 0 all fits",
        "docs/reference/draw.md",
    ] {
        assert!(ended.out.contains(part), "{part:?} is not in {}", ended.out);
    }
}

/// A value has one spelling, and a line that was closed before its opening left a visitor out.
#[test]
fn another_spelling_of_the_value_and_an_early_closing_are_refused() {
    let value = "7d1f2c0a8a5be4cb1c5d1c4d9b6f0d2e33a1b8f0a4f7b6c9e2d1f0a3b4c5d6e7";
    let upper = value.to_uppercase();
    for spelled in [&*upper, &format!(" {value}"), &value[1..], &format!("0x{value}"), ""] {
        let ended = verify(&[], &changed("beacon_value", spelled));
        assert_eq!(ended.code, Some(65), "{spelled:?}: {ended:?}");
        assert!(
            ended.err.contains("64 or 128 hexadecimal digits in small letters"),
            "{ended:?}"
        );
    }
    let early = verify(&["1"], &early());
    assert_eq!(early.code, Some(1), "{early:?}");
    assert!(
        early
            .out
            .contains("WRONG       the line was closed 60 s before the opening that was promised"),
        "{early:?}"
    );
    assert_eq!(early.out.matches("WRONG").count(), 1, "all fingerprints fit: {early:?}");
}
