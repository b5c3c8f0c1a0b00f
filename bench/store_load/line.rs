//! Three replicas in this process, and the line that they share.

use std::time::{Duration, Instant};

use ropeline::replica::{Arrival, JoinOutcome, Note, Options, Replica, ReplicaThread};
use ropeline::room::{LaneId, LineName, Mode, Number, RoomName, Settings, Visitor};
use ropeline::store::redis::{Options as LogOptions, RedisLog};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::store::Store;

const GATES: usize = 3;

/// Joins at once, and how often.
const WAVE: usize = 10_000;
const WAVES: usize = 7;

/// Newcomers a second while commands are counted in a busy room.
const NEWCOMERS: u32 = 100;

/// How long people wait and check in while commands are counted, and while memory is watched: beyond the minute of log
/// that the store keeps.
const COUNTED: Duration = Duration::from_secs(10);
const WATCHED: Duration = Duration::from_secs(75);

/// A generation of the room: all check in once.
const GENERATION: Duration = Duration::from_secs(120);

const ROOM: &str = "shop";

/// Between two handfuls of check-ins.
const BEAT: Duration = Duration::from_millis(20);

/// Shares no factor with any tested number of visitors, so that each has a turn before any has two.
const STRIDE: usize = 2_654_435_761;

/// Replicas and the numbers of all who wait.
pub struct Fleet {
    gates: Vec<(Replica, ReplicaThread)>,
    waiting: Vec<Number>,
    /// The next visitor to check in.
    next: usize,
}

impl Fleet {
    /// The prefix of its log's keys: the default.
    pub const PREFIX: &'static str = "ropeline";

    /// Starts the replicas on one store, with a room on hold.
    pub fn start(url: &str) -> Self {
        let start = |_| {
            let url = url.parse().expect("the store's address");
            let options = LogOptions {
                prefix: Self::PREFIX.into(),
                ..LogOptions::default()
            };
            let log = RedisLog::open(&url, options).expect("the store will do");
            let settings = Settings {
                mode: Mode::Hold,
                // All count as present from the first moment on; the test is about the store, not about presence.
                firm_within_ms: 3_600_000,
                ..Settings::default()
            };
            let rooms = vec![(room(), settings)];
            Replica::start(Box::new(log), rooms, Options::default()).expect("a replica")
        };
        Self {
            gates: (0..GATES).map(start).collect(),
            waiting: Vec::new(),
            next: 0,
        }
    }

    /// Lets people join until so many wait.
    pub async fn fill(&mut self, waiting: usize) {
        while self.waiting.len() < waiting {
            let wave = (waiting - self.waiting.len()).min(WAVE);
            let numbers = self.join(wave).await;
            self.waiting.extend(numbers);
        }
    }

    /// The store's processor time for a join, in microseconds, when thousands join at once: the median of some waves, each
    /// of which leaves again.
    pub async fn stampede(&mut self, store: &Store) -> f64 {
        let mut waves = Vec::new();
        for _ in 0..WAVES {
            let before = store.cpu_us();
            let numbers = self.join(WAVE).await;
            waves.push((store.cpu_us() - before) / whole(WAVE));
            self.leave(&numbers).await;
        }
        waves.sort_by(f64::total_cmp);
        waves[WAVES / 2]
    }

    /// Commands per second while all wait and check in once a generation; in a busy room others join meanwhile.
    pub async fn commands_per_second(&mut self, store: &Store, busy: bool) -> f64 {
        let (before, began) = (store.commands(), Instant::now());
        let mut newcomers = JoinSet::new();
        let gates: Vec<Replica> = self.gates.iter().map(|(gate, _)| gate.clone()).collect();
        self.check_in(COUNTED, |beat| {
            let due = u128::from(NEWCOMERS) * BEAT.as_millis() / 1_000;
            for newcomer in 0..due * u128::from(busy) {
                let index = usize::try_from(newcomer).expect("a few") + usize::try_from(beat).expect("a minute or so");
                newcomers.spawn(join(gates[index % GATES].clone()));
            }
        })
        .await;
        let commands = store.commands() - before;
        let per_second = whole(usize::try_from(commands).expect("a count")) / began.elapsed().as_secs_f64();
        self.leave(&newcomers.join_all().await).await;
        per_second
    }

    async fn leave(&self, numbers: &[Number]) {
        let Some((last, others)) = numbers.split_last() else {
            return;
        };
        for (index, number) in others.iter().enumerate() {
            self.gate(index).note(visitor(*number), Note::Leave);
        }
        let left = self.gate(0).record(visitor(*last), Note::Leave).await;
        left.expect("on record");
    }

    /// The most memory that the store uses while all wait and check in.
    pub async fn most_memory(&mut self, store: &Store) -> u64 {
        let mut most = 0;
        self.check_in(WATCHED, |beat| {
            if beat % 10 == 0 {
                most = most.max(store.figure("memory", "used_memory"));
            }
        })
        .await;
        most
    }

    /// The room, and how many wait in it.
    pub fn line(&self) -> (&'static str, u64) {
        (ROOM, u64::try_from(self.waiting.len()).expect("a count"))
    }

    pub fn stop(self) {
        for (_, thread) in self.gates {
            thread.stop();
        }
    }

    /// Everybody in turn checks in, as many in `time` as would in a generation.
    async fn check_in(&mut self, time: Duration, mut watch: impl FnMut(u32)) {
        let beats = u32::try_from(time.as_millis() / BEAT.as_millis()).expect("a minute or so");
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut due = 0.0;
        for count in 0..beats {
            beat.tick().await;
            due += whole(self.waiting.len()) * BEAT.as_secs_f64() / GENERATION.as_secs_f64();
            while due >= 1.0 {
                due -= 1.0;
                // In no order, at any gate: pages ask at moments of their own.
                let at = self.next.wrapping_mul(STRIDE) % self.waiting.len();
                self.gate(at).note(visitor(self.waiting[at]), Note::Mark);
                self.next += 1;
            }
            watch(count);
        }
    }

    /// Joins this many at once; returns their numbers.
    async fn join(&self, people: usize) -> Vec<Number> {
        let mut joining = JoinSet::new();
        for index in 0..people {
            joining.spawn(join(self.gate(index).clone()));
        }
        joining.join_all().await
    }

    fn gate(&self, index: usize) -> &Replica {
        &self.gates[index % GATES].0
    }
}

async fn join(gate: Replica) -> Number {
    let mut arrival = Arrival::first();
    let id = arrival.id;
    loop {
        match gate.join(&room(), &LineName::ONLY, LaneId(0), arrival).await {
            JoinOutcome::Numbered(_, number) => return number,
            // While the log is begun.
            JoinOutcome::Later => {
                arrival = Arrival::again(id);
                sleep(Duration::from_millis(100)).await;
            }
            JoinOutcome::Refused => panic!("the room refuses"),
        }
    }
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
fn whole(count: usize) -> f64 {
    count as f64
}
