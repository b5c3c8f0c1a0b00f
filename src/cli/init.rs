//! `ropeline init`: asks for the five settings that matter first, and writes a file with them.
//!
//! An answer is checked as `ropeline check` checks the file that it would become part of, before the next question.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, BufRead, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::output::{EXIT_CONFIG, plain, quoted, say};
use crate::config;

/// Arguments of `ropeline init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ropeline init                              asks, and writes config.toml
  ropeline init shop.toml --upstream http://10.0.0.5:3000 --capacity 300 --rate 600 </dev/null

What an option answers is not asked. Without a terminal the answers are read from standard input, one a line; an empty line,
or none, takes the default. An existing file is never overwritten.
Exit codes: 0 written, 1 the file exists or cannot be written, 78 an answer is wrong")]
pub struct InitArgs {
    /// The file to write
    #[arg(default_value = "config.toml", value_name = "FILE")]
    file: PathBuf,
    /// The shop's URL
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Address for visitors
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// How many visitors the shop serves at once
    #[arg(long, value_name = "N")]
    capacity: Option<String>,
    /// How many visitors are called a minute, or none
    #[arg(long, value_name = "N")]
    rate: Option<String>,
    /// Path to which the payment provider sends the browser back, or none
    #[arg(long, value_name = "PATH")]
    payment_return: Option<String>,
}

/// A question, and how its answer becomes a line of the file.
struct Question {
    option: &'static str,
    text: &'static str,
    /// The first that fits the answers before.
    defaults: &'static [&'static str],
    /// Fits whatever is answered elsewhere, for as long as there is no answer.
    open: &'static str,
    line: fn(&str) -> String,
}

/// The answers so far, in the order of the questions.
type Answers = [Option<String>; 5];

const QUESTIONS: [Question; 5] = [
    Question {
        option: "--upstream",
        text: "The shop's address, as this machine reaches it",
        defaults: &["http://127.0.0.1:3000"],
        open: "http://127.0.0.1:3000",
        line: |answer| format!("url = {}", quoted(answer)),
    },
    Question {
        option: "--listen",
        text: "Where visitors come in: 127.0.0.1:8080 is this machine alone, 0.0.0.0:8080 everybody",
        defaults: &["127.0.0.1:8080", "127.0.0.1:8081"],
        open: "127.0.0.1:0",
        line: |answer| format!("listen = [{}]", quoted(answer)),
    },
    Question {
        option: "--capacity",
        text: "How many visitors the shop serves at once, by a load test if there was one",
        defaults: &["100"],
        open: "100",
        line: |answer| format!("total_active_users = {}", number(answer)),
    },
    Question {
        option: "--rate",
        text: "How many visitors are called a minute at most, or none: as soon as a slot is free",
        defaults: &[NONE],
        open: NONE,
        line: |answer| match answer {
            NONE => "#new_users_per_minute = 600".to_owned(),
            some => format!("new_users_per_minute = {}", number(some)),
        },
    },
    Question {
        option: "--payment-return",
        text: "The path to which the payment provider sends the browser back, such as /payment/return, or none",
        defaults: &[NONE],
        open: NONE,
        line: |answer| match answer {
            NONE => "#return_routes = [\"/payment/return\"]".to_owned(),
            some => format!("return_routes = [{}]", quoted(some)),
        },
    },
];

const NONE: &str = "none";

/// Why no file was written.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0} exists already, and is left as it is: name another file, or move it away")]
    Exists(String),
    #[error("{0} cannot be written: {1}")]
    Written(String, io::Error),
    #[error("the answers cannot be read: {0}")]
    Read(#[from] io::Error),
    #[error("{option}: {wrong}")]
    Option { option: &'static str, wrong: String },
    #[error("there is no further answer")]
    NoMore,
}

/// Runs `ropeline init`.
#[must_use]
pub fn run(args: &InitArgs) -> ExitCode {
    match init(args, &mut io::stdin().lock()) {
        Ok(()) => {
            let file = plain(&args.file.display().to_string());
            say(&format!(
                "\nWrote {file}. Next:\n  ropeline run --config {file}\n\nIts other keys have their defaults; `ropeline check {file}` looks over \
                 every change.\n"
            ));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("ropeline init: {failure}");
            match failure {
                Failure::Option { .. } | Failure::NoMore => ExitCode::from(EXIT_CONFIG),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn init(args: &InitArgs, input: &mut impl BufRead) -> Result<(), Failure> {
    // Before anybody has answered five questions in vain.
    if args.file.symlink_metadata().is_ok() {
        return Err(Failure::Exists(args.file.display().to_string()));
    }
    let given = [
        &args.upstream,
        &args.listen,
        &args.capacity,
        &args.rate,
        &args.payment_return,
    ];
    let mut answers = Answers::default();
    for (at, given) in given.into_iter().enumerate() {
        answers[at].clone_from(given);
        if let Some(wrong) = given.as_ref().and_then(|_| mistake(&answers)) {
            let option = QUESTIONS[at].option;
            return Err(Failure::Option { option, wrong });
        }
    }
    for at in 0..QUESTIONS.len() {
        if answers[at].is_none() {
            ask(at, &mut answers, input)?;
        }
    }
    write_new(&args.file, &text(&answers))
}

/// Asks until the answer is right.
fn ask(at: usize, answers: &mut Answers, input: &mut impl BufRead) -> Result<(), Failure> {
    let question = &QUESTIONS[at];
    let mut with = |answer: &str| {
        answers[at] = Some(answer.to_owned());
        mistake(answers)
    };
    let fits = question.defaults.iter().find(|default| with(default).is_none());
    let default = fits.or(question.defaults.first()).copied().unwrap_or(NONE);
    let mut again = false;
    loop {
        say(&format!("{} [{default}]: ", question.text));
        let _ = io::stdout().flush();
        let mut line = String::new();
        let ended = input.by_ref().take(MOST).read_line(&mut line)? == 0;
        if !io::stdin().is_terminal() {
            say("\n");
        }
        if ended && again {
            return Err(Failure::NoMore);
        }
        let answer = line.trim();
        let Some(wrong) = with(if answer.is_empty() { default } else { answer }) else {
            return Ok(());
        };
        say(&format!("  {}\n", plain(&wrong)));
        again = true;
    }
}

/// What is wrong in the file with the answers so far. It was right before the last one.
fn mistake(answers: &Answers) -> Option<String> {
    let report = config::check(&text(answers), "");
    let wrong = report.mistakes().iter().chain(report.warnings()).next()?;
    Some(format!("{}; right: {}", wrong.wrong, wrong.right))
}

fn text(answers: &Answers) -> String {
    let line = |at: usize| (QUESTIONS[at].line)(answers[at].as_deref().unwrap_or(QUESTIONS[at].open));
    let mut text = String::new();
    let _ = write!(
        text,
        "# Written by `ropeline init`. docs/reference/configuration.md has every key; the others have their defaults.\n\n\
         [server]\n{}\n\n[upstream]\n{}\n\n[[room]]\nname = \"main\"\nroutes = [\"/*\"]\n\
         # Files that pages load: nobody waits for them. Name the paths of your shop.\n\
         except = [\"/static/*\", \"/assets/*\", \"/favicon.ico\"]\n\
         # How many visitors the shop serves at once, and how many are called a minute at most.\n{}\n{}\n\
         # Where the payment provider sends the browser back: a visitor who has paid does not wait.\n{}\n",
        line(1),
        line(0),
        line(2),
        line(3),
        line(4),
    );
    text
}

/// A whole number as it is; any other text as a text, so that the check names what would be right.
fn number(answer: &str) -> String {
    let whole = !answer.is_empty() && answer.len() < 19 && answer.bytes().all(|byte| byte.is_ascii_digit());
    let digits = answer.trim_start_matches('0');
    match whole {
        true if digits.is_empty() => "0".to_owned(),
        true => digits.to_owned(),
        false => quoted(answer),
    }
}

fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let name = || path.display().to_string();
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Failure::Exists(name())),
        Err(error) => return Err(Failure::Written(name(), error)),
    };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| {
        let _ = std::fs::remove_file(path);
        Failure::Written(name(), error)
    })
}

/// Bytes of an answer.
const MOST: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    fn with(at: usize, answer: &str) -> Answers {
        let mut answers = Answers::default();
        answers[at] = Some(answer.to_owned());
        answers
    }

    #[test]
    fn every_default_and_every_right_answer_is_taken() {
        for (at, question) in QUESTIONS.iter().enumerate() {
            for default in question.defaults.iter().chain([&question.open]) {
                assert_eq!(mistake(&with(at, default)), None, "{default}");
            }
        }
        for (at, answer) in [
            (0, "http://[::1]:3000"),
            (0, "https://shop.internal"),
            (0, "http://127.0.0.1:8080"),
            (1, "0.0.0.0:8080"),
            (1, "unix:/run/ropeline/http.sock"),
            (2, "0300"),
            (3, "600"),
            (4, "/payment/return"),
        ] {
            assert_eq!(mistake(&with(at, answer)), None, "{answer}");
        }
    }

    #[test]
    fn a_wrong_answer_is_told_with_a_right_one() {
        for (at, answer) in [
            (0, "shop"),
            (0, "http://shop\"\n[tokens]"),
            (1, "8080"),
            (1, "127.0.0.1:9925"),
            (1, "127.0.0.1:3000"),
            (2, "0"),
            (2, "many"),
            (2, "99999999999999999999"),
            (3, "-1"),
            (4, "payment"),
        ] {
            let wrong = mistake(&with(at, answer));
            assert!(
                wrong.as_ref().is_some_and(|wrong| wrong.contains("; right: ")),
                "{answer}: {wrong:?}"
            );
        }
    }

    #[test]
    fn the_address_for_visitors_makes_way_for_a_shop_at_the_same_port() {
        let mut answers = with(0, "http://127.0.0.1:8080");
        ask(1, &mut answers, &mut io::empty()).unwrap();
        assert_eq!(answers[1].as_deref(), Some("127.0.0.1:8081"));
    }
}
