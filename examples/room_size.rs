//! What ten million waiting cost: memory per visitor, a position, an entry of a thousand events, a hundred thousand calls.
//!
//! `cargo run --release --example room_size [VISITORS]`. Memory is what the allocator was asked for and holds, counted
//! here; times are medians. The state and the last two views are alive throughout, as in a gate.

#![expect(unsafe_code, reason = "a counting allocator is an unsafe trait")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anteroom::room::{
    Batch, Change, Clock, Entry, Era, GateId, LaneId, LineName, LineView, Number, Overrides, Position, RoomChange,
    RoomName, Section, Settings, Standing, State, VERSION, Wall,
};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const LANE: LaneId = LaneId(0);
const ERA: u64 = 1_000;

/// A room on a log of its own, with the two views that a gate holds at a time.
struct Rehearsal {
    state: State,
    views: [Option<Arc<anteroom::room::View>>; 2],
    time: u64,
    serial: u64,
}

fn main() {
    let visitors: u32 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(10_000_000);
    let before = HELD.load(Ordering::Relaxed);
    let mut room = Rehearsal::new();
    fill(&mut room, visitors);
    let held = HELD.load(Ordering::Relaxed) - before;
    println!(
        "{visitors} waiting, all marked twice: {:.1} MB, {:.2} bytes each",
        mega(held),
        each(held, visitors)
    );
    println!(
        "most while filling: {:.1} MB",
        mega(PEAK.load(Ordering::Relaxed) - before)
    );

    let snapshot = room.state.encode();
    println!("snapshot: {:.1} MB", mega(snapshot.len()));
    println!(
        "snapshot, hash and back: {:?}",
        timed(|| drop(State::decode(&snapshot)))
    );

    let line = room.line();
    println!("a position: {:?}", position(&line, visitors));
    println!("a frame: {:?}", median(20, |_| drop(black_box(line.frame(LANE)))));
    drop(line);

    let (apply, publish) = thousand_marks(&mut room, visitors);
    println!("an entry of 1,000 marks: {apply:?}, publishing it {publish:?}");
    println!("an entry of nothing: {:?}", median(200, |_| room.say(1, Vec::new())));

    let calls = 100_000.min(visitors / 2);
    room.change(&Overrides {
        capacity: Some(calls),
        ..Overrides::default()
    });
    let (took, publish) = room.timed_entry(&[]);
    println!("calling {calls} at once: {took:?}, publishing it {publish:?}");
    thousand_renewals(&mut room, calls);
    many_lines(10_000);
    println!("most in all: {:.1} MB", mega(PEAK.load(Ordering::Relaxed) - before));
}

/// Everybody joins and checks in, in this generation and the one before.
fn fill(room: &mut Rehearsal, visitors: u32) {
    room.change(&Overrides {
        capacity: Some(0),
        ..Overrides::default()
    });
    for start in (0..visitors).step_by(100_000) {
        room.say(
            100,
            vec![Section {
                joins: vec![(LANE, 100_000.min(visitors - start))],
                ..only()
            }],
        );
    }
    for _ in 0..2 {
        for start in (0..visitors).step_by(400_000) {
            room.say(
                1,
                vec![Section {
                    marks: marks((start..visitors).take(400_000)),
                    ..only()
                }],
            );
        }
        for _ in 0..25 {
            room.say(5_000, Vec::new());
        }
    }
    for start in (0..visitors).step_by(400_000) {
        room.say(
            1,
            vec![Section {
                marks: marks((start..visitors).take(400_000)),
                ..only()
            }],
        );
    }
    assert_eq!(room.line().figures.waiting, u64::from(visitors));
}

/// A room of many lines, of which an entry names one.
fn many_lines(lines: u32) {
    let mut room = Rehearsal::new();
    let settings = Settings {
        max_lines: lines,
        ..Settings::default()
    };
    let change = Change::Configure(settings);
    let rooms = vec![RoomChange {
        room: name(),
        revision: 2,
        change,
        who: None,
    }];
    room.apply(
        0,
        Batch {
            rooms,
            ..Batch::default()
        },
    );
    let named = |i: u32| LineName::new(&format!("event {i}")).expect("a plain name");
    let join = |i: u32| Section {
        joins: vec![(LANE, 200)],
        ..Section::new(name(), named(i))
    };
    for i in 0..lines {
        room.say(0, vec![join(i)]);
    }
    let rounds = (0..1_000)
        .map(|i| room.timed_entry(&[join(i * 7_919 % lines)]))
        .collect();
    let (apply, publish) = middle(rounds);
    println!("{lines} lines, an entry for one of them: {apply:?}, publishing it {publish:?}");
}

fn position(line: &LineView, visitors: u32) -> Duration {
    let rounds = 1_000_000_u32;
    let start = Instant::now();
    for i in 0..rounds {
        let n = i.wrapping_mul(2_654_435_761) % visitors;
        let standing = line.standing(LANE, Number { era: Era(ERA), n }, Clock(0));
        assert!(matches!(black_box(standing), Standing::Waiting(waiting) if waiting.ahead == u64::from(n)));
    }
    start.elapsed() / rounds
}

fn thousand_marks(room: &mut Rehearsal, visitors: u32) -> (Duration, Duration) {
    for _ in 0..24 {
        room.say(5_000, Vec::new());
    }
    let rounds: Vec<_> = (0..101_u32)
        .map(|round| {
            let mut numbers: Vec<u32> = (0..1_000_u32)
                .map(|i| (i + round * 1_000).wrapping_mul(2_654_435_761) % visitors)
                .collect();
            numbers.sort_unstable();
            numbers.dedup();
            room.timed_entry(&[Section {
                marks: marks(numbers.into_iter()),
                ..only()
            }])
        })
        .collect();
    middle(rounds)
}

fn thousand_renewals(room: &mut Rehearsal, called: u32) {
    let of = |start: u32| (start..called).step_by(100).map(|n| Number { era: Era(ERA), n });
    let claim = |number| anteroom::room::Claim {
        lane: LANE,
        number,
        carried: true,
    };
    for start in 0..100 {
        room.say(
            1,
            vec![Section {
                claims: of(start).map(claim).collect(),
                ..only()
            }],
        );
    }
    let rounds = (0..100).map(|start| {
        let renewals = of(start).map(|number| (LANE, number)).collect();
        room.timed_entry(&[Section { renewals, ..only() }])
    });
    let (apply, publish) = middle(rounds.collect());
    println!(
        "an entry of {} renewals: {apply:?}, publishing it {publish:?}",
        called / 100
    );
}

impl Rehearsal {
    fn new() -> Self {
        let mut room = Self {
            state: State::empty(ERA, true),
            views: [None, None],
            time: 1,
            serial: 0,
        };
        let change = Change::Configure(Settings::default());
        let batch = Batch {
            hello: true,
            rooms: vec![RoomChange {
                room: name(),
                revision: 1,
                change,
                who: None,
            }],
            ..Batch::default()
        };
        room.apply(0, batch);
        room
    }

    fn change(&mut self, overrides: &Overrides) {
        let change = Change::Override(Overrides {
            mode: Some(anteroom::room::Mode::Hold),
            ..overrides.clone()
        });
        let rooms = vec![RoomChange {
            room: name(),
            revision: self.serial + 2,
            change,
            who: None,
        }];
        self.apply(
            0,
            Batch {
                rooms,
                ..Batch::default()
            },
        );
    }

    fn say(&mut self, ms: u64, sections: Vec<Section>) {
        self.apply(
            ms,
            Batch {
                sections,
                ..Batch::default()
            },
        );
    }

    fn apply(&mut self, ms: u64, batch: Batch) {
        let entry = self.entry(ms, batch);
        black_box(self.state.apply(&entry));
        self.publish();
    }

    fn publish(&mut self) {
        let view = self.state.view();
        self.views.rotate_left(1);
        self.views[1] = Some(view);
    }

    /// How long an entry takes to apply, and its view to publish.
    fn timed_entry(&mut self, sections: &[Section]) -> (Duration, Duration) {
        let mode = Change::Override(Overrides {
            capacity: Some(100_000),
            ..Overrides::default()
        });
        let rooms = vec![RoomChange {
            room: name(),
            revision: u64::MAX,
            change: mode,
            who: None,
        }];
        let calls = sections.is_empty();
        let batch = Batch {
            rooms: if calls { rooms } else { Vec::new() },
            sections: sections.to_vec(),
            ..Batch::default()
        };
        let entry = self.entry(0, batch);
        let apply = timed(|| drop(black_box(self.state.apply(&entry))));
        (apply, timed(|| self.publish()))
    }

    fn entry(&mut self, ms: u64, batch: Batch) -> Entry {
        self.time += ms;
        self.serial += 1;
        let at = self.state.position();
        Entry {
            position: Position {
                sequence: at.sequence + 1,
                ..at
            },
            gate: GateId(1),
            serial: self.serial,
            previous: [0; 8],
            nonce: [0; 8],
            time: Wall(self.time),
            version: VERSION,
            batch,
        }
    }

    fn line(&mut self) -> Arc<LineView> {
        let view = self.state.view();
        view.rooms
            .get(&name())
            .and_then(|room| room.line(&LineName::ONLY))
            .map(Arc::clone)
            .expect("the line is filled")
    }
}

fn name() -> RoomName {
    RoomName::new("shop").expect("a plain name")
}

fn only() -> Section {
    Section::new(name(), LineName::ONLY)
}

fn marks(numbers: impl Iterator<Item = u32>) -> Vec<(LaneId, Number)> {
    numbers.map(|n| (LANE, Number { era: Era(ERA), n })).collect()
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(rounds: u32, mut work: impl FnMut(u32)) -> Duration {
    let mut times: Vec<Duration> = (0..rounds).map(|round| timed(|| work(round))).collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn middle(rounds: Vec<(Duration, Duration)>) -> (Duration, Duration) {
    let (mut first, mut second): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
    first.sort_unstable();
    second.sort_unstable();
    (first[first.len() / 2], second[second.len() / 2])
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn mega(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn each(bytes: usize, visitors: u32) -> f64 {
    bytes as f64 / f64::from(visitors)
}
