//! The judged load of a sale by stock: three gates on one Redis that is restarted half way, a shop, and a crowd that joins at a
//! steady rate, with the same accounts from several browsers and gates, and requests sent again. `scripts/sale` builds it and
//! runs it.
//!
//! It ends with an error when a join took too long or failed, or when the winners are not the first accounts that were
//! present. Accounts are ordered by their first joins in the log; among those that wait, come when called and finish, the
//! first ones up to the stock must have won. A visitor who is called and does not come, or does not finish, gives the chance
//! to the next.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod house;
mod order;
mod people;
mod plan;
mod tally;
mod verdict;
mod wire;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::Parser;
use tokio::time::sleep;

use house::{Gate, ROOM, Receipts, Redis};
use people::Crowd;
use plan::Plan;
use tally::{Figures, HEAD};
use verdict::Evidence;

/// As `scripts/sale --help` says.
#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    gate: PathBuf,
    #[arg(long, default_value = "redis-server")]
    server: String,
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(600..=1_000_000))]
    rate: u64,
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=60))]
    minutes: u64,
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    stock: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The restarted store has lost everything.
    #[arg(long)]
    forget: bool,
    /// Leaves configurations, logs and the archive in this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = arguments.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    std::fs::create_dir_all(folder.join("archive")).expect("a folder for the archive");
    let folder = folder.canonicalize().expect("it was made");
    let plan = Plan {
        seed: arguments.seed,
        gates: GATES,
        rate: arguments.rate,
        minutes: arguments.minutes,
        stock: arguments.stock,
    };
    println!(
        "{} joins a minute for {} min, {} pieces, {} calls a minute, {GATES} gates\n",
        plan.rate,
        plan.minutes,
        plan.stock,
        plan.calls_per_minute()
    );
    let mut redis = Redis::start(&arguments.server, &folder);
    let (shop, receipts) = house::open_shop().await.expect("a shop");
    let binary = arguments.gate.canonicalize().expect("the gate's binary");
    let gates = (0..GATES).map(|index| Gate::start(&binary, index, &folder, (&redis, shop), &plan));
    let crowd = Arc::new(Crowd {
        gates: gates.collect(),
        plan,
        tally: Mutex::default(),
        buyers: Mutex::default(),
        others: Mutex::default(),
    });
    all_open(&crowd).await;
    let began = Instant::now();
    let half = Duration::from_secs(crowd.plan.minutes * 30);
    let telling = tokio::spawn(tell(Arc::clone(&crowd), began));
    let coming = tokio::spawn({
        let crowd = Arc::clone(&crowd);
        async move { people::come(&crowd, began).await }
    });
    people::until(began, half).await;
    let forget = arguments.forget;
    let (redis, gone) = tokio::task::spawn_blocking(move || {
        let gone = redis.restart(forget);
        (redis, gone)
    })
    .await
    .expect("a restart");
    println!(
        "[{:4.0} s] the store was restarted: gone for {gone:.2?}",
        began.elapsed().as_secs_f64()
    );
    coming.await.expect("the crowd");
    let evidence = settle(&crowd, began, &receipts).await;
    telling.abort();
    print_figures(&crowd, &redis, half);
    verdict::pronounce(&crowd, &evidence, &folder)
}

async fn all_open(crowd: &Crowd) {
    let began = Instant::now();
    for gate in &crowd.gates {
        while !gate.is_open().await {
            assert!(began.elapsed() < PATIENCE, "the gates never came up");
            sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Waits until every join is answered and everything is sold, and asks all parties for the winners.
async fn settle(crowd: &Crowd, began: Instant, receipts: &Receipts) -> Evidence {
    let last = Instant::now();
    let answered = || crowd.tally.lock().expect("nobody panics").answered();
    while answered() < crowd.plan.joins() && last.elapsed() < ANSWERED {
        sleep(Duration::from_millis(100)).await;
    }
    let mut sold_out = false;
    while !sold_out && last.elapsed() < SOLD {
        sleep(Duration::from_millis(500)).await;
        sold_out = true;
        for gate in &crowd.gates {
            let room = gate.tells(&format!("/api/v1/rooms/{ROOM}")).await;
            sold_out &= room["completed"].as_u64() >= Some(crowd.plan.stock.into());
        }
    }
    println!(
        "[{:4.0} s] all answered; sold out: {sold_out}",
        began.elapsed().as_secs_f64()
    );
    // Waiting visitors ask once more, and browsers on their way to the till arrive.
    sleep(Duration::from_secs(20)).await;
    verdict::ask_everybody(crowd, receipts, sold_out).await
}

/// A line every ten seconds.
async fn tell(crowd: Arc<Crowd>, began: Instant) {
    for count in 1_u64.. {
        people::until(began, Duration::from_secs(count * 10)).await;
        let room = crowd.gates[0].tells(&format!("/api/v1/rooms/{ROOM}")).await;
        let (figures, came_in) = {
            let tally = crowd.tally.lock().expect("nobody panics");
            let since = Duration::from_secs(count.saturating_sub(1) * 10);
            let joins = tally.joins.iter().rev().take_while(|join| join.due + LATE > since);
            (Figures::of(joins.filter(|join| join.due >= since)), tally.came_in)
        };
        println!(
            "[{:4} s] {} joins in ten seconds, mean {:.1?}, max {:.1?}; {came_in} came in, {} sold, {} waiting",
            count * 10,
            figures.joins,
            figures.mean,
            figures.max,
            room["completed"],
            room["waiting"]
        );
    }
}

fn print_figures(crowd: &Crowd, redis: &Redis, half: Duration) {
    use plan::Kind;
    let tally = crowd.tally.lock().expect("nobody panics");
    println!("\n{HEAD}");
    let of = |kind| Figures::of(tally.joins.iter().filter(move |join| join.kind == kind));
    println!("{}", Figures::of(tally.joins.iter()).line("all"));
    println!("{}", of(Kind::First).line("an account for the first time"));
    println!("{}", of(Kind::Browser).line("its other browsers, at other gates"));
    println!("{}", of(Kind::Retry).line("sent again"));
    let then = tally
        .joins
        .iter()
        .filter(|join| join.due >= half && join.due < half + LATE);
    println!("{}", Figures::of(then).line("within ten seconds of the restart"));
    println!("\n| | processor time | most memory |\n| --- | --- | --- |");
    for (index, gate) in crowd.gates.iter().enumerate() {
        println!(
            "| gate {} | {:.1} s | {} MB |",
            index + 1,
            gate.cpu_secs(),
            gate.most_mb()
        );
    }
    println!("| Redis | {:.1} s | |", redis.cpu_secs());
    println!(
        "\n{} check-ins of those who wait; {} came in\n",
        tally.questions, tally.came_in
    );
}

const GATES: usize = 3;

/// Every step takes less, also under other load on the machine.
const PATIENCE: Duration = Duration::from_secs(300);
const SOLD: Duration = Duration::from_secs(900);
const ANSWERED: Duration = Duration::from_secs(30);

/// A join that is answered later than this is a fault in any case.
const LATE: Duration = Duration::from_secs(10);
