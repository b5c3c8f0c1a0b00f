//! Slow and greedy clients before a gate: the cost of each of them, and whether good ones are served meanwhile.
//! `scripts/slow` builds it and runs it.
//!
//! `slow_clients GATE [--seconds N] [--connections N] [--only WORD]`: readers that read almost nothing of a large answer,
//! visitors inside whose bodies never end, then slowhttptest in each of its modes, against the gate with its defaults and
//! with a bound that accepts all of them. It ends with an error if a figure is beyond its limit.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should say where")]

mod attack;
mod good;
mod house;
mod readers;
mod trickle;
mod uploads;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ropeline::proxy::raise_descriptor_limit;

use house::House;

/// The arguments of this run.
pub struct Arguments {
    gate: PathBuf,
    seconds: u64,
    connections: usize,
    only: String,
}

impl Arguments {
    fn read() -> Self {
        let mut words = std::env::args().skip(1);
        let mut arguments = Self {
            gate: words.next().expect("the gate's binary").into(),
            seconds: 60,
            connections: 4_000,
            only: String::new(),
        };
        while let Some(word) = words.next() {
            let value = words.next().expect("a value");
            match word.as_str() {
                "--seconds" => arguments.seconds = value.parse().unwrap(),
                "--connections" => arguments.connections = value.parse().unwrap(),
                "--only" => arguments.only = value,
                other => panic!("{other} is nothing that is known"),
            }
        }
        arguments
    }

    fn asks_for(&self, name: &str) -> bool {
        name.contains(&self.only)
    }
}

fn main() -> ExitCode {
    let _ = raise_descriptor_limit();
    let arguments = Arguments::read();
    let mut report = Report::new();
    report.begin(READERS_HEAD.to_owned());
    for kind in readers::KINDS.iter().filter(|kind| arguments.asks_for(kind.name)) {
        if !report.goes_on(&format!("1,000 {}", kind.name)) {
            return report.end();
        }
        let house = House::open(&arguments.gate, usize::MAX, Duration::from_secs(600));
        report.take(readers::measure(&house, kind));
    }
    report.begin(UPLOADS_HEAD.to_owned());
    for upload in uploads::UPLOADS.iter().filter(|upload| arguments.asks_for(upload.name)) {
        if !report.goes_on(upload.name) {
            return report.end();
        }
        let house = House::open(&arguments.gate, usize::MAX, Duration::from_secs(30));
        report.take(upload.measure(&house));
    }
    report.begin(format!(
        "\n| {} slow clients, {} s{ATTACKS_HEAD}",
        arguments.connections, arguments.seconds
    ));
    for attack in attack::ATTACKS.iter().filter(|attack| arguments.asks_for(attack.name)) {
        for per_client in attack.bounds() {
            if !report.goes_on(&format!("{}, {per_client} connections for each client", attack.name)) {
                return report.end();
            }
            let house = Arc::new(House::open(&arguments.gate, per_client, Duration::from_secs(30)));
            let told = (arguments.connections, Duration::from_secs(arguments.seconds));
            report.take(attack.run(&house, per_client, told));
        }
    }
    report.end()
}

/// The tables, and the faults. Progress goes to standard error, so that standard output can be pasted.
struct Report {
    began: Instant,
    lines: Vec<String>,
    faults: Vec<String>,
    rows: usize,
}

impl Report {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            lines: Vec::new(),
            faults: Vec::new(),
            rows: 0,
        }
    }

    fn begin(&mut self, head: String) {
        self.lines.push(head);
    }

    /// Prints the next step; false if no time is left for it.
    fn goes_on(&mut self, what: &str) -> bool {
        eprintln!("{}. {what} ({} s)", self.rows + 1, self.began.elapsed().as_secs());
        let is_late = self.began.elapsed() > MOST_TIME;
        if is_late {
            self.faults.push(format!("the time was over before: {what}"));
        }
        !is_late
    }

    fn take(&mut self, (row, faults): (String, Vec<String>)) {
        eprintln!("    {row}");
        for fault in &faults {
            eprintln!("    beyond its limit: {fault}");
        }
        self.rows += 1;
        self.lines.push(row);
        self.faults.extend(faults);
    }

    fn end(self) -> ExitCode {
        for line in &self.lines {
            println!("{line}");
        }
        for fault in &self.faults {
            eprintln!("{fault}");
        }
        if self.faults.is_empty() && self.rows > 0 {
            return ExitCode::SUCCESS;
        }
        ExitCode::FAILURE
    }
}

/// No row is begun later; each has its own bound.
const MOST_TIME: Duration = Duration::from_secs(45 * 60);
const READERS_HEAD: &str =
    "| 1,000 readers that take nothing | bytes of the gate's memory each | of the kernel's each | limits |
| --- | --- | --- | --- |";
const UPLOADS_HEAD: &str = "
| 200 visitors inside | still there | connections of the shop's they hold | limit |
| --- | --- | --- | --- |";
const ATTACKS_HEAD: &str =
    " | `max_connections_per_client` | good requests answered | p99 | memory before, second third, last | \
                            connections most, after | the shop's most, after |
| --- | --- | --- | --- | --- | --- | --- |";
