//! Slow and greedy clients before a gate: what each of them costs, and whether good ones are served meanwhile.
//! `scripts/slow` builds it and runs it.
//!
//! `slow_clients GATE [--seconds N] [--connections N] [--only WORD]`: readers that take next to nothing of a large answer, then
//! slowhttptest in each of its modes, against the gate as it comes and with a bound that lets all of them in. It ends with an
//! error where a figure is beyond its limit.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should say where")]

mod attack;
mod good;
mod house;
mod readers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anteroom::proxy::raise_descriptor_limit;

use house::House;

/// What is asked of this run.
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
    let mut faults = Vec::new();
    println!("| slow readers, 1,000 | memory each | in the kernel each | limits |\n| --- | --- | --- | --- |");
    for kind in readers::KINDS.iter().filter(|kind| arguments.asks_for(kind.name)) {
        let house = House::open(&arguments.gate, usize::MAX);
        faults.extend(readers::measure(&house, kind));
    }
    println!(
        "\n| slow clients, {} for {} s | bound | good requests answered | p99 | memory before, most, late | open most, after \
         | the shop's connections most, after |\n| --- | --- | --- | --- | --- | --- | --- |",
        arguments.connections, arguments.seconds
    );
    for attack in attack::ATTACKS.iter().filter(|attack| arguments.asks_for(attack.name)) {
        for per_client in attack.bounds() {
            let house = House::open(&arguments.gate, per_client);
            let told = (arguments.connections, Duration::from_secs(arguments.seconds));
            faults.extend(attack.run(&house, per_client, told));
        }
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
