//! The effect of a crowd on one gate, which is a separate process as in production: `scripts/size` builds both and runs it.
//!
//! `crowd --gate PATH [--server PATH] streams|stampede|bill [COUNT]`. `streams` holds COUNT event streams on plain
//! connections and restarts the gate under them; `stampede` lets COUNT visitors join as fast as this machine can send them,
//! on a Redis, and then calls 10,000 of them at one instant; `fill COUNT URL` only lets them join a store's room; `bill`
//! measures the cost of a log for a Redis and computes that of a sale. Ends with an error when a figure is over its limit.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod bill;
mod fill;
mod house;
mod joins;
mod streams;
mod wire;

use std::process::ExitCode;
use std::time::Duration;

use ropeline::proxy::raise_descriptor_limit;

use house::{Gate, Redis};
use streams::Listeners;

/// Bytes of the gate's memory for a visitor who listens.
const MOST_BYTES: u64 = 12 * 1024;

/// Share of a core, while newcomers come as fast as they can.
const MOST_STORE: f64 = 0.1;

const CALLED: usize = 10_000;

struct Arguments {
    gate: String,
    server: String,
    what: String,
    count: Option<usize>,
    /// The store that `fill` fills.
    store: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::read();
    let _ = raise_descriptor_limit();
    let folder = tempfile::tempdir().expect("a folder");
    let faults = match arguments.what.as_str() {
        "streams" => streams(&arguments, folder.path()).await,
        "stampede" => stampede(&arguments, folder.path()).await,
        "bill" => bill::bill(&arguments.server, folder.path()).await,
        "fill" => {
            fill::fill(&arguments.store, arguments.count.expect("how many")).await;
            Vec::new()
        }
        other => panic!("streams, stampede, bill or fill, not {other}"),
    };
    for fault in &faults {
        eprintln!("over the limit: {fault}");
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

async fn streams(arguments: &Arguments, folder: &std::path::Path) -> Vec<String> {
    let count = arguments.count.unwrap_or(15_000);
    let shop = house::open_shop().await.expect("a shop");
    let store = format!("embedded:{}", folder.join("data").display());
    let mut gate = Gate::start(&arguments.gate, folder, &store, shop).await;
    let (listeners, cost) = Listeners::gather(&gate, count).await;
    let [first, second] = cost.memory;
    println!(
        "| event streams | bytes of the gate's memory each, of the first half, second half | processor time a second each | sent in a quiet minute each |"
    );
    println!("| --- | --- | --- | --- |");
    println!(
        "| {count} | {}, {first}, {second} | {:.2?} | {} bytes |",
        u64::midpoint(first, second),
        cost.quiet,
        cost.bytes
    );
    let (frames, each) = listeners.update(&gate).await;
    println!("\nan update for everybody: {frames} frames in a minute, {each:.1?} of processor time each");
    let (gone, back, failures) = listeners.restart(&mut gate).await;
    println!("a restart: gone for {gone:.1?}, all listen again {back:.1?} after that, {failures} refused");
    let mut faults = Vec::new();
    if u64::midpoint(first, second) > MOST_BYTES {
        faults.push(format!("a stream costs {} bytes", u64::midpoint(first, second)));
    }
    if failures > 0 {
        faults.push(format!("{failures} were refused after the restart"));
    }
    faults
}

async fn stampede(arguments: &Arguments, folder: &std::path::Path) -> Vec<String> {
    let count = arguments.count.unwrap_or(100_000);
    let shop = house::open_shop().await.expect("a shop");
    let redis = Redis::start(&arguments.server, folder).await;
    let gate = Gate::start(&arguments.gate, folder, &redis.url(), shop).await;
    let found = joins::stampede(&gate, &redis, count).await;
    let (took, share) = (
        found.took.as_secs_f64(),
        found.store.as_secs_f64() / found.took.as_secs_f64(),
    );
    let each = |time: Duration| 1e6 * time.as_secs_f64() / figure(count);
    println!(
        "| joins | took | a second | gate's processor time each | store's | store's share of a core | refused | out of order | misplaced |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    println!(
        "| {count} | {took:.1} s | {:.0} | {:.1} µs | {:.2} µs | {:.1} % | {} | {} | {} |",
        figure(count) / took,
        each(found.gate),
        each(found.store),
        100.0 * share,
        found.refused,
        found.out_of_order,
        found.misplaced
    );
    let called = CALLED.min(count);
    let together = joins::call_together(&gate, &found.visitors, called).await;
    println!(
        "\n{called} called at once: all had heard after {:.2?}, all were inside after {:.2?}; as many requests of nobody in line take {:.2?}; {} failed",
        together.heard, together.inside, together.alone, together.failed
    );
    let wrong = found.refused + found.out_of_order + found.misplaced + together.failed;
    let mut faults = Vec::new();
    if wrong > 0 {
        faults.push(format!("{wrong} joins or calls were not as they should be"));
    }
    if share > MOST_STORE {
        faults.push(format!("the store took {share:.2} of a core"));
    }
    faults
}

impl Arguments {
    fn read() -> Self {
        let mut words = std::env::args().skip(1);
        let mut read = Self {
            gate: "target/release/ropeline".to_owned(),
            server: "redis-server".to_owned(),
            what: String::new(),
            count: None,
            store: String::new(),
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--gate" => read.gate = words.next().expect("--gate PATH"),
                "--server" => read.server = words.next().expect("--server PATH"),
                _ if read.what.is_empty() => read.what = word,
                _ if read.count.is_none() => read.count = Some(word.parse().expect("a count")),
                _ => read.store = word,
            }
        }
        read
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn figure(count: usize) -> f64 {
    count as f64
}
