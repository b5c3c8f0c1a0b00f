//! A crowd's cost for the store that gates share: processor time of a join, commands per second, memory; how soon a new gate
//! is live, and how long a join takes. `scripts/load` builds it and runs it.
//!
//! `store_load [--gate PATH] [--server PATH] [WAITING …]`: three replicas in this process share a `redis-server` of their
//! own; for each number waiting the line is filled so far and measured. With `--gate` that binary joins them, and is then
//! asked for places one after another. It ends with an error when a figure is over its limit.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod gate;
mod latency;
mod line;
mod start;
mod store;

use std::process::ExitCode;
use std::time::Duration;

use line::Fleet;
use store::Store;

/// Processor time of the store for one join of a stampede, in microseconds.
const MOST_CPU_US: f64 = 1.0;

/// Bytes in the store, log and snapshots included, for a million and for ten.
const MOST_BYTES: u64 = 4_000_000;
const MOST_BYTES_TEN: u64 = 16_000_000;

/// All but one of a hundred joins of one idle gate.
const MOST_LATENCY: Duration = Duration::from_millis(5);

/// From the start of a process until its gate is live, on a log that others run.
const MOST_START: Duration = Duration::from_secs(2);

/// Figures are the same when the largest is no more than this many times the smallest, or differs by next to nothing:
/// the machine does other things too.
const SAME: f64 = 1.25;
const NOTHING_CPU_US: f64 = 0.2;

/// Commands a second of a room where people only wait, at most: three gates that say and hear something four times.
const MOST_QUIET: f64 = 150.0;

/// The measurements of one line.
struct Row {
    waiting: usize,
    cpu_us: f64,
    /// Commands a second, with check-ins alone and with newcomers too.
    quiet: f64,
    busy: f64,
    bytes: u64,
    /// The slowest of some gates that joined; none without a gate to start.
    start: Option<Duration>,
}

struct Arguments {
    gate: Option<String>,
    server: String,
    waiting: Vec<usize>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::read();
    let store = Store::start(&arguments.server);
    let baseline = store.figure("memory", "used_memory");
    let mut fleet = Fleet::start(&store.url());
    let mut rows = Vec::new();
    println!(
        "| waiting | store's processor time per join | commands a second | with 100 joins a second | memory \
         | a new gate is live after |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for waiting in arguments.waiting {
        fleet.fill(waiting).await;
        let quiet = fleet.commands_per_second(&store, false).await;
        let busy = fleet.commands_per_second(&store, true).await;
        let cpu_us = fleet.stampede(&store).await;
        let bytes = fleet.most_memory(&store).await.saturating_sub(baseline);
        // The log is trimmed to its last minute now: a gate starts from the snapshot.
        let start = match &arguments.gate {
            Some(gate) => Some(start::of_another(gate, &store.url(), Fleet::PREFIX, fleet.line()).await),
            None => None,
        };
        let row = Row {
            waiting,
            cpu_us,
            quiet,
            busy,
            bytes,
            start,
        };
        println!("{}", row.tells());
        rows.push(row);
    }
    fleet.stop();
    let mut faults = judge(&rows);
    if let Some(gate) = arguments.gate {
        let (half, most) = latency::of_joins(&gate, &store.url()).await;
        println!("\njoin of one idle gate: p50 {half:.2?}, p99 {most:.2?}");
        let first = start::of_the_first(&gate, &store.url()).await;
        println!("the first gate on an empty store is live after {first:.2?}");
        if most > MOST_LATENCY {
            faults.push(format!("p99 of a join is {most:?}"));
        }
    }
    for fault in &faults {
        eprintln!("over the limit: {fault}");
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

impl Arguments {
    fn read() -> Self {
        let mut read = Self {
            gate: None,
            server: "redis-server".into(),
            waiting: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--gate" => read.gate = words.next(),
                "--server" => read.server = words.next().expect("--server PATH"),
                number => read.waiting.push(number.parse().expect("a number of people waiting")),
            }
        }
        if read.waiting.is_empty() {
            read.waiting = vec![1_000, 100_000, 1_000_000];
        }
        read
    }
}

impl Row {
    fn tells(&self) -> String {
        let bytes = self.bytes / 1_000;
        let start = self.start.map_or("-".into(), |start| format!("{start:.2?}"));
        format!(
            "| {} | {:.2} µs | {:.0} | {:.0} | {bytes} KB | {start} |",
            self.waiting, self.cpu_us, self.quiet, self.busy
        )
    }
}

fn judge(rows: &[Row]) -> Vec<String> {
    let mut faults = Vec::new();
    for row in rows {
        if row.cpu_us > MOST_CPU_US {
            faults.push(format!("{:.2} µs per join with {} waiting", row.cpu_us, row.waiting));
        }
        if row.quiet > MOST_QUIET {
            faults.push(format!(
                "{:.0} commands a second with {} waiting",
                row.quiet, row.waiting
            ));
        }
        let most = if row.waiting > 1_000_000 {
            MOST_BYTES_TEN
        } else {
            MOST_BYTES
        };
        if row.bytes > most {
            faults.push(format!("{} bytes with {} waiting", row.bytes, row.waiting));
        }
        if let Some(start) = row.start.filter(|start| *start > MOST_START) {
            faults.push(format!(
                "a new gate is live after {start:?} with {} waiting",
                row.waiting
            ));
        }
    }
    grows(
        rows,
        "processor time per join",
        |row| row.cpu_us,
        NOTHING_CPU_US,
        &mut faults,
    );
    grows(rows, "commands a second", |row| row.busy, 0.0, &mut faults);
    faults
}

fn grows(rows: &[Row], what: &str, of: fn(&Row) -> f64, nothing: f64, faults: &mut Vec<String>) {
    let least = rows.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = rows.iter().map(of).fold(0.0, f64::max);
    if most > (least * SAME).max(least + nothing) {
        faults.push(format!("{what} grows from {least:.2} to {most:.2}"));
    }
}
