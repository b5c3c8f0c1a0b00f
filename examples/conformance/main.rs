//! Conformance, side by side: the same cases against the gate, nginx and `HAProxy`, judged by what a recording shop got.
//! `scripts/conformance` builds it and runs it.
//!
//! `conformance [--gate PATH] [--table FILE] [--only WORD] [--alone]`: plays every case on a fresh connection, and for
//! the gate once more byte by byte; writes the table. It ends with an error where the gate forwards what is ambiguous,
//! judges otherwise byte by byte, or is wrong.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod others;
mod suite;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use suite::case::Case;
use suite::cases::{Section, sections};
use suite::client::Delivery;
use suite::proxy;
use suite::run::{Played, play_all};

/// Cases of one proxy under way at a time.
const LANES: usize = 8;

struct Arguments {
    gate: PathBuf,
    table: Option<PathBuf>,
    /// Only cases with this in their name, told in full.
    only: Option<String>,
    /// The gate without the others.
    alone: bool,
}

/// What became of a section's cases.
pub struct Results {
    pub section: Section,
    pub gate: Vec<Played>,
    /// The gate again, byte by byte.
    pub slow: Vec<Played>,
    pub nginx: Vec<Played>,
    pub haproxy: Vec<Played>,
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    let folder = std::env::temp_dir().join(format!("anteroom-conformance-{}", std::process::id()));
    let faults = run(&arguments, &folder).expect("the proxies start");
    let _ = std::fs::remove_dir_all(&folder);
    for fault in &faults {
        eprintln!("{fault}");
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn run(arguments: &Arguments, folder: &Path) -> std::io::Result<Vec<String>> {
    let began = Instant::now();
    let (gate, _gates) = proxy::gate(&arguments.gate, folder, LANES)?;
    let others = if arguments.alone {
        None
    } else {
        Some((others::nginx(folder, LANES)?, others::haproxy(folder, LANES)?))
    };
    let mut all = Vec::new();
    for mut section in sections() {
        if let Some(word) = &arguments.only {
            section.cases.retain(|case| case.name.contains(word.as_str()));
        }
        let cases: Vec<&Case> = section.cases.iter().collect();
        let (mut nginx, mut haproxy) = (Vec::new(), Vec::new());
        let (mut at_once, mut slow) = (Vec::new(), Vec::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                at_once = play_all(&cases, &gate, Delivery::AtOnce);
                slow = play_all(&cases, &gate, Delivery::ByteByByte);
            });
            if let Some(((first, _), (second, _))) = &others {
                scope.spawn(|| nginx = play_all(&cases, first, Delivery::AtOnce));
                scope.spawn(|| haproxy = play_all(&cases, second, Delivery::AtOnce));
            }
        });
        println!("{}: {} cases, {:.0?}", section.title, cases.len(), began.elapsed());
        all.push(Results {
            section,
            gate: at_once,
            slow,
            nginx,
            haproxy,
        });
    }
    if arguments.only.is_some() || arguments.alone {
        all.iter().for_each(table::tell);
    }
    if let Some(file) = &arguments.table {
        std::fs::write(file, table::page(&all))?;
    }
    Ok(all.iter().flat_map(table::faults).collect())
}

impl Arguments {
    fn read() -> Self {
        let mut read = Self {
            gate: "target/release/anteroom".into(),
            table: None,
            only: None,
            alone: false,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} wants a value"));
            match word.as_str() {
                "--gate" => read.gate = std::path::absolute(value()).expect("a path"),
                "--table" => read.table = Some(value().into()),
                "--only" => read.only = Some(value()),
                "--alone" => read.alone = true,
                _ => panic!("unknown option {word}"),
            }
        }
        read
    }
}
