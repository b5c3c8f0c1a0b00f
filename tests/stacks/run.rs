//! Compares the gate's reading of a request with those of real stacks below it: they are the same, or the request is refused.
//! `scripts/stacks` installs the stacks, builds this and runs it.
//!
//! `stacks [--gate PATH] [--requests N] [--seed N] [--only STACK]... [--keep FILE]`: makes requests from the seed until N
//! were forwarded, asks every stack for its reading of each, and prints a table. FILE gets the readings of the first
//! thousand. It ends with an error if a stack disagrees, or if the gate refuses an ordinary request.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod bodies;
mod case;
mod gate;
mod generate;
mod judge;
mod kept;
mod ordinary;
mod stack;
mod start;
mod steer;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use case::{Answer, Case, Thing};
use gate::{Gate, Outcome};
use kept::{Kept, Row};
use stack::{Places, Stack};

/// Number of readings that are kept.
const KEPT: usize = 1_000;

/// Longer requests are not kept.
const KEPT_BYTES: usize = 2_000;

/// Disagreements of a kind that are shown.
const SHOWN: usize = 3;

struct Arguments {
    gate: PathBuf,
    requests: u64,
    seed: u64,
    only: Vec<String>,
    keep: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    let folder = std::env::temp_dir().join(format!("ropeline-stacks-{}", std::process::id()));
    let agree = run(&arguments, &folder).expect("gate and stacks start");
    let _ = std::fs::remove_dir_all(&folder);
    if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All parts of the run, and its findings so far.
struct Run {
    gate: Gate,
    stacks: Vec<Stack>,
    /// Requests asked of the gate, ordinary ones among them.
    asked: u64,
    found: Found,
}

/// Disagreements by stack, thing and kind: how many, and the first of them.
type Found = BTreeMap<(&'static str, Thing, String), (usize, String)>;

fn run(arguments: &Arguments, folder: &Path) -> io::Result<bool> {
    let began = Instant::now();
    let places = Places::of(&std::env::current_dir()?, folder.to_owned());
    let mut run = Run {
        gate: Gate::start(&arguments.gate, &folder.join("gate"))?,
        stacks: arguments.stacks(&places)?,
        asked: 0,
        found: Found::new(),
    };
    let refused = run.ordinary(&places)?;
    let mut kept = Kept {
        stacks: run
            .stacks
            .iter()
            .map(|stack| (stack.name.to_owned(), stack.version.clone()))
            .collect(),
        rows: Vec::new(),
    };
    let mut rng = fastrand::Rng::with_seed(arguments.seed);
    let (mut made, mut forwarded) = (0_u64, 0);
    while forwarded < arguments.requests {
        let thing = Thing::ALL[usize::try_from(made).unwrap_or_default() % Thing::ALL.len()];
        let case = generate::case(&mut rng, thing);
        made += 1;
        let Some((print, answers)) = run.ask(&case)? else {
            continue;
        };
        forwarded += 1;
        if kept.rows.len() < KEPT && case.bytes.len() < KEPT_BYTES {
            kept.rows.push(Row {
                case,
                forwarded: print,
                answers,
            });
        }
        if forwarded % 1_000 == 0 {
            println!(
                "{forwarded} of {made} requests forwarded, {} disagreements, {:.0?}",
                run.disagreements(),
                began.elapsed()
            );
        }
    }
    run.tell(made, forwarded);
    for case in &refused {
        println!("an ordinary request was refused: {}", shown(case));
    }
    let agree = run.disagreements() == 0 && refused.is_empty();
    if let Some(file) = arguments.keep.as_ref().filter(|_| agree) {
        let text = kept.write();
        Kept::read(&text).map_err(io::Error::other)?;
        std::fs::write(file, text)?;
    }
    Ok(agree)
}

impl Run {
    /// The ordinary requests that the gate refused.
    fn ordinary(&mut self, places: &Places) -> io::Result<Vec<Case>> {
        let text = std::fs::read_to_string(places.apps.with_file_name("ordinary.tsv"))?;
        let cases = ordinary::cases(&text).map_err(io::Error::other)?;
        let total = cases.len();
        let mut refused = Vec::new();
        for case in cases {
            if self.ask(&case)?.is_none() {
                refused.push(case);
            }
        }
        println!("{total} ordinary requests, {} refused", refused.len());
        Ok(refused)
    }

    /// The forwarded bytes of a request, and each stack's readings of it; `None` if the gate refused it.
    fn ask(&mut self, case: &Case) -> io::Result<Option<(String, Vec<Answer>)>> {
        self.asked += 1;
        let outcome = self.gate.ask(case, self.asked)?;
        let Outcome::Forwarded { bytes, .. } = &outcome else {
            return Ok(None);
        };
        let mut answers = Vec::new();
        for stack in &self.stacks {
            let answer = stack.ask(bytes, self.asked)?;
            if let Some(what) = judge::disagreement(&self.gate, case, &outcome, &answer) {
                let kind = what.split('"').next().unwrap_or_default().to_owned();
                let (times, examples) = self.found.entry((stack.name, case.thing, kind)).or_default();
                *times += 1;
                if *times <= SHOWN {
                    let _ = writeln!(examples, "  {what}\n    {}", shown(case));
                }
            }
            answers.push(answer);
        }
        Ok(Some((kept::fingerprint(bytes), answers)))
    }

    fn disagreements(&self) -> usize {
        self.found.values().map(|(times, _)| times).sum()
    }

    /// The table, and behind it the disagreements.
    fn tell(&self, made: u64, forwarded: u64) {
        println!(
            "\n{made} requests made, {forwarded} forwarded\n\n| stack | version | requests | disagreements |\n| --- | --- | --- | --- |"
        );
        for stack in &self.stacks {
            let of = |((name, ..), (times, _)): (&(&str, Thing, String), &(usize, String))| {
                (*name == stack.name).then_some(*times)
            };
            let times: usize = self.found.iter().filter_map(of).sum();
            println!("| {} | {} | {forwarded} | {times} |", stack.name, stack.version);
        }
        println!();
        for ((stack, thing, kind), (times, examples)) in &self.found {
            println!("{stack}, {}: {times} times: {kind}\n{examples}", thing.name());
        }
    }
}

/// A request for people: without what all have.
fn shown(case: &Case) -> String {
    let text = case.bytes.escape_ascii().to_string();
    let text = text.replace(&generate::PAGE.as_bytes().escape_ascii().to_string(), "");
    if text.len() > 400 {
        format!("{} ...", &text[..400])
    } else {
        text
    }
}

impl Arguments {
    fn read() -> Self {
        let mut read = Self {
            gate: PathBuf::from("target/debug/ropeline"),
            requests: 1_000,
            seed: 1,
            only: Vec::new(),
            keep: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match word.as_str() {
                "--gate" => read.gate = value().into(),
                "--requests" => read.requests = value().parse().expect("a number"),
                "--seed" => read.seed = value().parse().expect("a number"),
                "--only" => read.only.push(value()),
                "--keep" => read.keep = Some(value().into()),
                other => panic!("unknown argument {other}"),
            }
        }
        read
    }

    /// Those that were asked for, or all that are installed.
    fn stacks(&self, places: &Places) -> io::Result<Vec<Stack>> {
        let go = places.built.join("go/readings").exists().then_some("go");
        let wanted = |name: &&&str| self.only.is_empty() || self.only.iter().any(|only| only == **name);
        let names = Stack::NAMES.iter().chain(go.iter()).filter(wanted);
        names.map(|name| Stack::start(name, places)).collect()
    }
}
