//! The cost of ten million waiting visitors for a gate: memory, the snapshot's bytes, a position, an entry of a thousand
//! events, a hundred thousand calls at once, for a line without gaps and for one with gaps all over it.
//!
//! `cargo run --release --example room_size [VISITORS]` prints a table and ends with an error when a figure is over its
//! limit. `room_size VISITORS --count position|marks ROUNDS` does only that, so that callgrind's counts of two runs give the
//! cost of a round (`scripts/size`). Memory is as requested from the allocator and held; times are medians. The state and the
//! last two views are alive throughout, as in a gate.
//!
//! `room_size WAITING --forecast SLOTS steps|still COUNT` applies so many entries to a line in use; each makes a forecast, or
//! none. The difference is what a forecast costs.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

mod allocator;
mod crowd;
mod forecast;
mod gate;
mod log;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ropeline::room::{Claim, Clock, LineName, LineView, Section, Settings, Standing, State};

use crowd::Shape;
use gate::{Gate, LANE, name, named, number, only};

/// Bytes that a gate may hold for the room, and the store for its snapshot and a minute of its log.
const MOST_HELD: usize = 24_000_000;
const MOST_STORED: usize = 16_000_000;

/// Bytes of what a line of one lane may learn and forecast (`crates/room/src/forecast`).
const MOST_LEARNT: usize = 77_200;

const MOST_POSITION: Duration = Duration::from_micros(1);
const MOST_MARKS: Duration = Duration::from_micros(200);
const MOST_CALLS: Duration = Duration::from_millis(50);

const CALLS: u32 = 100_000;

/// The measurements of one line.
struct Row {
    shape: Shape,
    held: usize,
    /// Also while it was filled and while the snapshot was made.
    most: usize,
    snapshot: usize,
    position: Duration,
    marks: (Duration, Duration),
    calls: (Duration, Duration),
    renewals: (Duration, Duration),
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let visitors = words
        .first()
        .map_or(10_000_000, |text| text.parse().expect("a number of visitors"));
    let number = |text: &String| text.parse().expect("a number");
    match &words[..] {
        [_, flag, what, rounds] if flag == "--count" => {
            count(visitors, what, number(rounds));
            return ExitCode::SUCCESS;
        }
        [_, flag, slots, how, count] if flag == "--forecast" => {
            let mut line = forecast::Line::new(number(slots), visitors);
            line.entries(number(count), how == "steps");
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let rows = [Shape::Compact, Shape::Spread].map(|shape| measure(visitors, shape));
    println!(
        "| {visitors} numbers | a gate holds | most while filled | snapshot | a position | an entry of 1,000 marks, published \
         | 100,000 calls at once, published | an entry of 1,000 renewals, published |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in &rows {
        println!("{}", row.tells());
    }
    many_lines(10_000);
    let mut faults: Vec<String> = rows.iter().flat_map(Row::faults).collect();
    faults.extend(forecasts(visitors.min(100_000)));
    let snapshot = rows.iter().map(|row| row.snapshot).max().unwrap_or(0);
    println!("\n| all check in within | gates | a minute of the log | with the larger snapshot |");
    println!("| --- | --- | --- | --- |");
    for (secs, gates) in [(120, 1), (120, 3), (120, 10), (15, 1), (15, 3), (15, 10)] {
        let minute = log::minute(visitors, gates, secs);
        println!(
            "| {secs} s | {gates} | {:.1} MB | {:.1} MB |",
            mega(minute),
            mega(minute + snapshot)
        );
        if minute + snapshot > MOST_STORED {
            faults.push(format!(
                "{} bytes in the store, {gates} gates, {secs} s",
                minute + snapshot
            ));
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

fn measure(visitors: u32, shape: Shape) -> Row {
    let before = allocator::held();
    allocator::forget_peak();
    let mut gate = crowd::fill(visitors, shape);
    let held = allocator::held() - before;
    assert_eq!(gate.line().figures.waiting, crowd::waiting(visitors, shape));
    let snapshot = gate.state.encode();
    let most = allocator::peak() - before;
    drop(State::decode(&snapshot).expect("its own bytes"));
    let snapshot = snapshot.len();
    Row {
        shape,
        held,
        most,
        snapshot,
        position: position(&gate.line(), visitors, shape),
        marks: thousand_marks(&mut gate, visitors, 101),
        calls: many_calls(&mut gate, visitors),
        renewals: thousand_renewals(&mut gate, visitors, shape),
    }
}

/// Rounds of one thing alone, on a line with gaps.
fn count(visitors: u32, what: &str, rounds: u32) {
    let mut gate = crowd::fill(visitors, Shape::Spread);
    match what {
        "position" => {
            let line = gate.line();
            for n in (0..rounds).map(|i| scattered(i, visitors)) {
                black_box(line.standing(LANE, number(n), Clock(0)));
            }
        }
        "marks" => {
            thousand_marks(&mut gate, visitors, rounds);
        }
        _ => panic!("position or marks"),
    }
}

/// The time of one look-up, of people anywhere in the line; some are held to what the line was made of.
fn position(line: &LineView, visitors: u32, shape: Shape) -> Duration {
    for n in (0..8).map(|i| scattered(i, visitors)) {
        let expected = match shape {
            Shape::Compact => Some(u64::from(n)),
            Shape::Spread => (!crowd::has_left(n)).then(|| crowd::ahead(n)),
        };
        let found = match line.standing(LANE, number(n), Clock(0)) {
            Standing::Waiting(waiting) => Some(waiting.ahead),
            _ => None,
        };
        assert_eq!(found, expected, "number {n}");
    }
    let rounds = 1_000_000_u32;
    let start = Instant::now();
    for n in (0..rounds).map(|i| scattered(i, visitors)) {
        black_box(line.standing(LANE, number(n), Clock(0)));
    }
    start.elapsed() / rounds
}

/// Entries with a thousand visitors who check in, anywhere in the line; no visitor has in this generation.
fn thousand_marks(gate: &mut Gate, visitors: u32, rounds: u32) -> (Duration, Duration) {
    gate.wait(125);
    let entries = (0..rounds).map(|round| {
        let mut numbers: Vec<u32> = (0..1_000)
            .map(|i| scattered(i + round * 1_000, visitors))
            .filter(|n| !crowd::has_left(*n))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        Section {
            marks: named(numbers.into_iter()),
            ..only()
        }
    });
    let times: Vec<_> = entries.map(|entry| gate.timed(vec![entry])).collect();
    middle(times)
}

fn many_calls(gate: &mut Gate, visitors: u32) -> (Duration, Duration) {
    gate.hold(CALLS.min(visitors / 2));
    let took = gate.timed_calls();
    assert_eq!(gate.line().figures.called, CALLS.min(visitors / 2));
    took
}

/// Those called come in; then each is heard of again, a thousand in an entry.
fn thousand_renewals(gate: &mut Gate, visitors: u32, shape: Shape) -> (Duration, Duration) {
    let called: Vec<u32> = (0..visitors)
        .filter(|n| shape == Shape::Compact || !crowd::has_left(*n))
        .take(usize::try_from(CALLS.min(visitors / 2)).expect("a count"))
        .collect();
    let of = |start: usize| called.iter().copied().skip(start).step_by(100);
    for start in 0..100 {
        let claim = |n| Claim {
            lane: LANE,
            number: number(n),
            carried: true,
        };
        let claims = of(start).map(claim).collect();
        gate.say(1, vec![Section { claims, ..only() }]);
    }
    let entries = (0..100).map(|start| Section {
        renewals: named(of(start)),
        ..only()
    });
    let times: Vec<_> = entries.map(|entry| gate.timed(vec![entry])).collect();
    middle(times)
}

/// A room of many lines, of which an entry names one.
fn many_lines(lines: u32) {
    let before = allocator::held();
    let mut gate = Gate::new(Settings {
        max_lines: lines,
        ..Settings::default()
    });
    let join = |i: u32| Section {
        joins: vec![(LANE, 200)],
        ..Section::new(name(), LineName::new(&format!("event {i}")).expect("a plain name"))
    };
    for i in 0..lines {
        gate.say(0, vec![join(i)]);
    }
    let count = usize::try_from(lines).expect("a count");
    let held = (allocator::held() - before) / count;
    let anew = forecast::anew(&gate.state) / count;
    let times = (0..1_000).map(|i| gate.timed(vec![join(i * 7_919 % lines)])).collect();
    let (apply, publish) = middle(times);
    println!("\n{lines} lines, an entry for one of them: {apply:.1?}, publishing it {publish:.1?}");
    println!(
        "with 100 called and 100 waiting in each, {held} bytes a line; without what is learnt and forecast, {anew}"
    );
}

/// The memory of what a line has learnt and forecast, by its slots. It is the same lists with more slots, but then deadlines that
/// are over would count too.
fn forecasts(waiting: u32) -> Vec<String> {
    println!("\n| slots, {waiting} waiting | learnt and forecast |\n| --- | --- |");
    let mut faults = Vec::new();
    for slots in [20, 300] {
        let bytes = forecast::Line::learnt(slots, waiting);
        println!("| {slots} | {bytes} bytes |");
        if bytes > MOST_LEARNT {
            faults.push(format!("{slots} slots: {bytes} bytes learnt and forecast"));
        }
    }
    faults
}

/// Anywhere, and each round elsewhere.
fn scattered(i: u32, visitors: u32) -> u32 {
    i.wrapping_mul(2_654_435_761) % visitors
}

fn middle(times: Vec<(Duration, Duration)>) -> (Duration, Duration) {
    let (mut first, mut second): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    first.sort_unstable();
    second.sort_unstable();
    (first[first.len() / 2], second[second.len() / 2])
}

impl Row {
    fn tells(&self) -> String {
        let both = |(apply, publish): (Duration, Duration)| format!("{apply:.1?}, {publish:.1?}");
        format!(
            "| {} | {:.1} MB | {:.1} MB | {:.1} MB | {:.2?} | {} | {} | {} |",
            match self.shape {
                Shape::Compact => "without gaps",
                Shape::Spread => "one of ten gone",
            },
            mega(self.held),
            mega(self.most),
            mega(self.snapshot),
            self.position,
            both(self.marks),
            both(self.calls),
            both(self.renewals),
        )
    }

    fn faults(&self) -> Vec<String> {
        let over = [
            (self.held > MOST_HELD, format!("a gate holds {} bytes", self.held)),
            (
                self.position > MOST_POSITION,
                format!("a position takes {:?}", self.position),
            ),
            (
                self.marks.0 > MOST_MARKS,
                format!("1,000 marks take {:?}", self.marks.0),
            ),
            (
                self.calls.0 > MOST_CALLS,
                format!("100,000 calls take {:?}", self.calls.0),
            ),
            (
                self.renewals.0 > MOST_MARKS,
                format!("1,000 renewals take {:?}", self.renewals.0),
            ),
        ];
        over.into_iter()
            .filter_map(|(is_over, fault)| is_over.then_some(fault))
            .collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn mega(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
