//! Conformance, side by side: the same cases against the gate, nginx and `HAProxy`, judged by the requests that a recording
//! shop received. `scripts/conformance` builds it and runs it.
//!
//! `conformance [--gate PATH] [--table FILE] [--only WORD] [--alone] [--httpwg PATH]`: plays every case on a fresh
//! connection, and for the gate once more byte by byte; writes the table. It ends with an error if the gate forwards an
//! ambiguous request, judges differently byte by byte, or is wrong.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod httpwg;
mod others;
mod suite;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use suite::cases::sections;
use suite::client::Delivery;
use suite::proxy::{self, Process, Setup};
use suite::run::{self, Contestant, Played};
use suite::{faults, http2};

/// Cases of one proxy under way at a time.
const LANES: usize = 8;

struct Arguments {
    gate: PathBuf,
    table: Option<PathBuf>,
    /// Only cases with this in their name, shown in full.
    only: Option<String>,
    /// The gate without the others.
    alone: bool,
    /// A second source of cases over HTTP/2.
    httpwg: Option<PathBuf>,
}

/// The results of a section's cases.
pub struct Results {
    pub title: &'static str,
    pub about: &'static str,
    pub rows: Vec<Row>,
    pub gate: Vec<Played>,
    /// The gate again, byte by byte.
    pub slow: Vec<Played>,
    pub nginx: Vec<Played>,
    pub haproxy: Vec<Played>,
}

/// The table's columns of a case before its results.
pub struct Row {
    pub name: String,
    pub source: &'static str,
    pub expected: &'static str,
    /// Where a list of others has it.
    pub listed: &'static str,
    /// Why the gate may be lenient.
    pub known: &'static str,
}

/// All that take part.
struct Field {
    gate: Contestant,
    others: Option<(Contestant, Contestant)>,
    _processes: Vec<Process>,
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    let folder = std::env::temp_dir().join(format!("ropeline-conformance-{}", std::process::id()));
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
    let mut all = Vec::new();
    let field = Field::new(arguments, folder, Setup::Plain)?;
    for mut section in sections() {
        section.cases.retain(|case| arguments.wants(&case.name));
        let rows = section.cases.iter().map(table::row).collect();
        let played = field.play(&section.cases, run::play_all);
        all.push(Results::new(section.title, section.about, rows, played));
        println!("{}: {:.0?}", section.title, began.elapsed());
    }
    let field = Field::new(arguments, folder, Setup::Faulty)?;
    let mut cases = faults::cases::all();
    cases.retain(|case| arguments.wants(case.name));
    let rows = cases.iter().map(table::row_of_fault).collect();
    let played = field.play(&cases, faults::play_all);
    all.push(Results::new("Faulty upstreams", table::FAULTS, rows, played));
    println!("Faulty upstreams: {:.0?}", began.elapsed());
    let field = Field::new(arguments, folder, Setup::Http2)?;
    for mut section in http2::cases::sections() {
        section.cases.retain(|case| arguments.wants(&case.name));
        let rows = section.cases.iter().map(table::row_of_http2).collect();
        let played = field.play(&section.cases, http2::run::play_all);
        all.push(Results::new(section.title, section.about, rows, played));
        println!("{}: {:.0?}", section.title, began.elapsed());
    }
    let mut floods = http2::floods::all();
    floods.retain(|flood| arguments.wants(flood.name));
    let rows = floods.iter().map(table::row_of_flood).collect();
    let played = field.play(&floods, |floods, contestant, delivery| {
        if delivery == Delivery::AtOnce {
            http2::floods::play_all(floods, contestant)
        } else {
            Vec::new()
        }
    });
    all.push(Results::new("HTTP/2 floods", table::FLOODS, rows, played));
    println!("HTTP/2 floods: {:.0?}", began.elapsed());
    if arguments.only.is_some() || arguments.alone {
        all.iter().for_each(table::tell);
    }
    let second = arguments.httpwg.as_ref().map(|program| {
        let others = field.others.iter().flat_map(|(nginx, haproxy)| [nginx, haproxy]);
        let contestants = std::iter::once(&field.gate).chain(others);
        contestants.map(|one| httpwg::run(program, one)).collect::<Vec<_>>()
    });
    println!("httpwg: {:.0?}", began.elapsed());
    if let Some(file) = &arguments.table {
        std::fs::write(file, table::page(&all) + &httpwg::section(second.as_deref()))?;
    }
    Ok(all.iter().flat_map(table::faults).collect())
}

impl Field {
    fn new(arguments: &Arguments, folder: &Path, setup: Setup) -> std::io::Result<Self> {
        let (gate, mut processes) = proxy::gate(&arguments.gate, folder, LANES, setup)?;
        let mut others = None;
        if !arguments.alone {
            let (nginx, more) = others::nginx(folder, LANES, setup)?;
            processes.extend(more);
            let (haproxy, more) = others::haproxy(folder, LANES, setup)?;
            processes.extend(more);
            others = Some((nginx, haproxy));
        }
        Ok(Self {
            gate,
            others,
            _processes: processes,
        })
    }

    /// Every case at the gate, at the gate byte by byte, at nginx and at `HAProxy`.
    fn play<C: Sync>(
        &self,
        cases: &[C],
        play: impl Fn(&[&C], &Contestant, Delivery) -> Vec<Played> + Sync,
    ) -> [Vec<Played>; 4] {
        let cases: Vec<&C> = cases.iter().collect();
        let [mut at_once, mut slow, mut nginx, mut haproxy] = [const { Vec::new() }; 4];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                at_once = play(&cases, &self.gate, Delivery::AtOnce);
                slow = play(&cases, &self.gate, Delivery::ByteByByte);
            });
            if let Some((first, second)) = &self.others {
                scope.spawn(|| nginx = play(&cases, first, Delivery::AtOnce));
                scope.spawn(|| haproxy = play(&cases, second, Delivery::AtOnce));
            }
        });
        [at_once, slow, nginx, haproxy]
    }
}

impl Results {
    fn new(title: &'static str, about: &'static str, rows: Vec<Row>, played: [Vec<Played>; 4]) -> Self {
        let [gate, slow, nginx, haproxy] = played;
        Self {
            title,
            about,
            rows,
            gate,
            slow,
            nginx,
            haproxy,
        }
    }
}

impl Arguments {
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|word| name.contains(word.as_str()))
    }

    fn read() -> Self {
        let mut read = Self {
            gate: "target/release/ropeline".into(),
            table: None,
            only: None,
            alone: false,
            httpwg: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} wants a value"));
            match word.as_str() {
                "--gate" => read.gate = std::path::absolute(value()).expect("a path"),
                "--table" => read.table = Some(value().into()),
                "--only" => read.only = Some(value()),
                "--httpwg" => read.httpwg = Some(value().into()),
                "--alone" => read.alone = true,
                _ => panic!("unknown option {word}"),
            }
        }
        read
    }
}
