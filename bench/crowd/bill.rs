//! The bill: measures the unit costs of a Redis, compares the result of [`ropeline::simulate::bill`] with measurements, and
//! computes a sale that is too large for this machine.
//!
//! `r` is measured by long ranges of a stream; the round trip, `k`, `c` and the envelopes come from a run of one gate and one of
//! six; other runs check them.

use std::time::Duration;

use ropeline::replica::{Note, Options, Replica, ReplicaThread};
use ropeline::room::{LaneId, LineName, Mode, Number, RoomName, Settings, Visitor};
use ropeline::simulate::bill::{Cost, Load, Units};
use ropeline::store::redis::{Options as LogOptions, RedisLog};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::fill;
use crate::house::{ROOM, Redis, Told};

/// Visitors who wait and check in while gates are measured.
const WAITING: usize = 20_000;

/// How long a run is.
const RUN: Duration = Duration::from_secs(15);
const BEAT: Duration = Duration::from_millis(5);

/// How far a check may be from what the formula says.
const NEAR: f64 = 0.3;

/// The load of replicas in a run.
fn given(gates: u32, joins: u32, marks: u32) -> Load {
    Load {
        gates: gates.into(),
        joins: joins.into(),
        marks: marks.into(),
        waiting: 20_000.0,
        ..Load::default()
    }
}

/// Fourteen million come within ten minutes and wait on event streams; a thousand a second are called and go twenty pages.
fn sale(gates: u32) -> Load {
    Load {
        gates: gates.into(),
        joins: 14e6 / 600.0,
        words: 2_000.0,
        marks: 14e6 / 120.0,
        waiting: 14e6,
        slots: 40_000.0,
        forwarded: 20_000.0,
        asked: 1_000.0,
        streams: 14e6,
    }
}

/// Measures, checks, and prints the bill. Returns the differences from the formula.
pub async fn bill(server: &str, folder: &std::path::Path) -> Vec<String> {
    let one = measure(server, folder, given(1, 400, 150)).await;
    let six = measure(server, folder, given(6, 400, 150)).await;
    let units = Units {
        trip_secs: one.trip_secs,
        ..fit(&one, &six, reading(server, folder).await)
    };
    println!("unit costs: {units:.6?}\n");
    println!("| gates | joins/s | | entries/s | commands/s | of a core | bytes/s in | bytes/s out |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut faults = Vec::new();
    for load in [given(1, 1_000, 150), given(3, 400, 150), given(3, 1_000, 150)] {
        let found = measure(server, folder, load).await.cost;
        let said = load.costs(&units);
        for (what, cost) in [("formula", &said), ("measured", &found)] {
            println!("| {} | {} | {what} | {} |", load.gates, load.joins, tells(cost));
        }
        for (what, said, found) in [
            ("entries", said.exchanges, found.exchanges),
            ("commands", said.commands, found.commands),
            ("processor time", said.cpu, found.cpu),
            ("bytes in", said.bytes_in, found.bytes_in),
            ("bytes out", said.bytes_out, found.bytes_out),
        ] {
            if (said / found - 1.0).abs() > NEAR {
                faults.push(format!(
                    "{} gates, {} joins/s: {what} {found:.3}, by the formula {said:.3}",
                    load.gates, load.joins
                ));
            }
        }
    }
    println!(
        "\n| 14 million in ten minutes | entries/s | commands/s | of a core | bytes/s in | bytes/s out | cores a gate | cores of all |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for gates in [1, 10, 100] {
        let load = sale(gates);
        let cost = load.costs(&units);
        let cores = load.gate_cores(cost.exchanges) + load.stream_cores();
        println!(
            "| {gates} gates | {} | {cores:.2} | {:.1} |",
            tells(&cost),
            cores * load.gates
        );
    }
    faults
}

fn tells(cost: &Cost) -> String {
    format!(
        "{:.0} | {:.0} | {:.3} | {:.0} KB | {:.0} KB",
        cost.exchanges,
        cost.commands,
        cost.cpu,
        cost.bytes_in / 1e3,
        cost.bytes_out / 1e3
    )
}

/// The results of a run.
struct Run {
    load: Load,
    cost: Cost,
    /// Duration of an exchange, as its gate measures it.
    trip_secs: f64,
}

/// From a run of one gate and one of several, and what reading an entry takes; but for the round trip.
fn fit(few: &Run, many: &Run, read_secs: f64) -> Units {
    let (
        Run {
            load: one, cost: few, ..
        },
        Run {
            load: other,
            cost: many,
            ..
        },
    ) = (few, many);
    let alone = |load: &Load, cost: &Cost| cost.cpu / cost.exchanges - read_secs * load.gates;
    let entry = |load: &Load, cost: &Cost| load.entry_bytes(cost.exchanges);
    Units {
        commands: f64::midpoint(few.commands / few.exchanges, many.commands / many.exchanges),
        exchange_secs: f64::midpoint(alone(one, few), alone(other, many)),
        read_secs,
        request_bytes: f64::midpoint(
            few.bytes_in / few.exchanges - entry(one, few),
            many.bytes_in / many.exchanges - entry(other, many),
        ),
        envelope_bytes: many.bytes_out / many.exchanges / other.gates - entry(other, many),
        ..Units::default()
    }
}

/// The store's cost of reading an entry: long ranges of a stream beside short ones.
async fn reading(server: &str, folder: &std::path::Path) -> f64 {
    let redis = Redis::start(server, &folder.join("reading")).await;
    let client = redis::Client::open(redis.url()).expect("a plain address");
    let ranges = move |length: u32| {
        let client = client.clone();
        let asking = tokio::task::spawn_blocking(move || {
            let mut connection = client.get_connection().expect("a connection");
            for _ in 0..200 {
                let mut add = redis::cmd("XADD");
                add.arg("log").arg("MAXLEN").arg(200).arg("*");
                for field in [
                    "gate", "serial", "previous", "nonce", "time", "version", "bytes", "batch",
                ] {
                    add.arg(field).arg("0123456789012345");
                }
                add.query::<String>(&mut connection).expect("an answer");
            }
            for _ in 0..RANGES {
                let mut range = redis::cmd("XRANGE");
                range.arg("log").arg("-").arg("+").arg("COUNT").arg(length);
                range.query::<redis::Value>(&mut connection).expect("an answer");
            }
        });
        async { asking.await.expect("answers") }
    };
    let mut spent = Vec::new();
    for length in [1, 101] {
        let before = redis.cpu();
        ranges(length).await;
        spent.push(redis.cpu().saturating_sub(before).as_secs_f64());
    }
    (spent[1] - spent[0]) / f64::from(RANGES) / 100.0
}

const RANGES: u32 = 2_000;

/// A run of replicas alone, on a Redis of its own: what the store's side costs, the gates' requests left out.
async fn measure(server: &str, folder: &std::path::Path, load: Load) -> Run {
    let folder = folder.join(format!("bill-{}-{}", load.gates, load.joins));
    let redis = Redis::start(server, &folder).await;
    let gates: Vec<(Replica, ReplicaThread)> = (0..whole(load.gates)).map(|_| replica(&redis.url())).collect();
    // The first waits until the log is begun.
    join(&gates, 1).await;
    let numbers = join(&gates, WAITING).await;
    sleep(Duration::from_secs(2)).await;
    let (before, cpu, began, asked) = (redis.tells().await, redis.cpu(), Instant::now(), exchanged(&gates));
    busy(&gates, &numbers, load).await;
    let (after, secs) = (redis.tells().await, began.elapsed().as_secs_f64());
    let cpu = redis.cpu().saturating_sub(cpu).as_secs_f64() / secs;
    let grown = |of: fn(&Told) -> u64| figure(of(&after) - of(&before)) / secs;
    let answered = exchanged(&gates);
    let trip_secs = answered.0.saturating_sub(asked.0).as_secs_f64() / figure((answered.1 - asked.1).max(1));
    for (_, thread) in gates {
        thread.stop();
    }
    let cost = Cost {
        exchanges: grown(|told| told.entries),
        commands: grown(|told| told.commands),
        cpu,
        bytes_in: grown(|told| told.bytes_in),
        bytes_out: grown(|told| told.bytes_out),
    };
    Run { load, cost, trip_secs }
}

/// How long all exchanges took so far, and how many there were.
fn exchanged(gates: &[(Replica, ReplicaThread)]) -> (Duration, u64) {
    let of_all = gates.iter().flat_map(|(replica, _)| replica.calls().took());
    let exchanges = of_all.filter(|(what, _)| *what == "exchange");
    exchanges.fold((Duration::ZERO, 0), |(sum, count), (_, took)| {
        (sum + took.sum(), count + took.count())
    })
}

fn replica(url: &str) -> (Replica, ReplicaThread) {
    let log = RedisLog::open(&url.parse().expect("the store's address"), LogOptions::default());
    let settings = Settings {
        mode: Mode::Hold,
        firm_within_ms: 3_600_000,
        ..Settings::default()
    };
    let rooms = vec![(room(), settings)];
    Replica::start(Box::new(log.expect("the store will do")), rooms, Options::default()).expect("a replica")
}

/// People join and check in at the load's rates, spread over gates and time.
async fn busy(gates: &[(Replica, ReplicaThread)], numbers: &[Number], load: Load) {
    let (mut joining, mut beat) = (JoinSet::new(), interval(BEAT));
    beat.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (mut joins, mut marks, mut at) = (0.0, 0.0, 0_usize);
    let end = Instant::now() + RUN;
    while Instant::now() < end {
        beat.tick().await;
        joins += load.joins * BEAT.as_secs_f64();
        marks += load.marks * BEAT.as_secs_f64();
        while marks >= 1.0 {
            marks -= 1.0;
            at += 1;
            let number = numbers[at.wrapping_mul(2_654_435_761) % numbers.len()];
            gates[at % gates.len()].0.note(visitor(number), Note::Mark);
        }
        while joins >= 1.0 {
            joins -= 1.0;
            at += 1;
            let gate = gates[at % gates.len()].0.clone();
            // Not in step with the beat.
            let late = BEAT.mul_f64(f64::from(u32::try_from(at * 7_919 % 1_000).unwrap_or(0)) / 1_000.0);
            joining.spawn(async move {
                sleep(late).await;
                fill::join(gate).await
            });
        }
        while joining.try_join_next().is_some() {}
    }
    joining.join_all().await;
}

async fn join(gates: &[(Replica, ReplicaThread)], people: usize) -> Vec<Number> {
    let mut joining = JoinSet::new();
    for index in 0..people {
        joining.spawn(fill::join(gates[index % gates.len()].0.clone()));
    }
    joining.join_all().await
}

fn room() -> RoomName {
    RoomName::new(ROOM).expect("a plain name")
}

fn visitor(number: Number) -> Visitor {
    Visitor {
        room: room(),
        line: LineName::ONLY,
        lane: LaneId(0),
        number,
        rehearsal: None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn figure(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few gates")]
fn whole(count: f64) -> usize {
    count as usize
}
