//! A gate's replica for tests: a folder that outlives it, a clock that can be moved, a log that can be made to fail.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ropeline::replica::{Arrival, JoinOutcome, Note, Options, Replica, ReplicaThread};
use ropeline::room::{
    LaneId, LineName, Mode, Number, PendingId, Position, RoomName, Settings, Standing, StateHash, Visitor, Wall,
};
use ropeline::store::{
    self, Append, Beginning, Begun, Embedded, Exchanged, Loaded, Log, Occasion, Skips, Snapshot, Trouble, Unavailable,
};
use ropeline::time;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The folder and all that stays when a gate ends.
pub struct Site {
    dir: TempDir,
    /// Milliseconds that the store's clock is ahead.
    pub ahead: Arc<AtomicU64>,
    pub log: store::Options,
    pub options: Options,
    pub rooms: Vec<(RoomName, Settings)>,
}

/// One life of a gate.
pub struct Gate {
    pub replica: Replica,
    thread: Option<ReplicaThread>,
    pub faults: Faults,
    runtime: Runtime,
}

/// The test's control of the log, and its observations.
#[derive(Clone, Default)]
pub struct Faults {
    /// Every append and every begin fails, before or after it was carried out.
    pub refuse: Arc<AtomicBool>,
    pub swallow: Arc<AtomicBool>,
    /// The history ends: as when the store came back without its data.
    pub broken: Arc<AtomicBool>,
    /// Every batch, as often as it was sent.
    pub sent: Arc<Mutex<Vec<Append>>>,
}

impl Site {
    /// One room, `main`, of `capacity`.
    pub fn new(capacity: u32) -> Self {
        let ahead = Arc::new(AtomicU64::new(0));
        let wall = {
            let ahead = Arc::clone(&ahead);
            Arc::new(move || Wall(time::wall().0 + ahead.load(Ordering::Relaxed)))
        };
        Self {
            dir: tempfile::tempdir().unwrap(),
            ahead,
            log: store::Options {
                wall,
                ..store::Options::default()
            },
            options: Options {
                first_start: true,
                ..Options::default()
            },
            rooms: vec![(
                main(),
                Settings {
                    capacity,
                    lane_weights: vec![1, 1],
                    ..Settings::default()
                },
            )],
        }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn start(&self) -> Gate {
        self.start_with(Faults::default())
    }

    pub fn start_with(&self, faults: Faults) -> Gate {
        let inner = Embedded::open(&self.path(), self.log.clone()).unwrap();
        let log = Box::new(Faulty {
            inner,
            faults: faults.clone(),
        });
        let (replica, thread) = Replica::start(log, self.rooms.clone(), self.options.clone()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Gate {
            replica,
            thread: Some(thread),
            faults,
            runtime,
        }
    }
}

impl Gate {
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub fn join(&self) -> JoinOutcome {
        self.wait(self.replica.join(&main(), &LineName::ONLY, LaneId(0), Arrival::first()))
    }

    pub fn join_with(&self, id: u8) -> JoinOutcome {
        self.wait(
            self.replica
                .join(&main(), &LineName::ONLY, LaneId(0), Arrival::again(PendingId([id; 12]))),
        )
    }

    pub fn numbered(&self) -> Number {
        number(self.join())
    }

    /// Joins `count` at once, in order: each as a task of its own, as requests are.
    pub fn join_many(&self, count: usize) -> Vec<JoinOutcome> {
        self.wait(async {
            let join = |replica: Replica| async move {
                replica
                    .join(&main(), &LineName::ONLY, LaneId(0), Arrival::first())
                    .await
            };
            let tasks: Vec<_> = (0..count).map(|_| tokio::spawn(join(self.replica.clone()))).collect();
            let mut outcomes = Vec::new();
            for task in tasks {
                outcomes.push(task.await.unwrap());
            }
            outcomes
        })
    }

    /// Joins, and hangs up once the batch is under way.
    pub fn hangs_up(&self) {
        self.faults.sent.lock().unwrap().clear();
        let join = {
            let replica = self.replica.clone();
            async move {
                replica
                    .join(&main(), &LineName::ONLY, LaneId(0), Arrival::first())
                    .await
            }
        };
        let mut task = None;
        self.wait(async {
            task = Some(tokio::spawn(join));
            tokio::task::yield_now().await;
        });
        let joins = |append: &Append| append.batch.sections.iter().any(|section| !section.joins.is_empty());
        self.until("a batch with the join", |_| {
            self.faults.sent.lock().unwrap().iter().any(joins)
        });
        let task = task.unwrap();
        task.abort();
        assert!(self.wait(task).unwrap_err().is_cancelled(), "it has an answer");
    }

    pub fn record(&self, number: Number, note: Note) {
        self.wait(self.replica.record(visitor(number), note)).unwrap();
    }

    pub fn standing(&self, number: Number) -> Standing {
        let view = self.replica.load();
        view.standing(&visitor(number), view.now())
    }

    /// All of them check in, as their pages do every few seconds; then they stand in line in this order, and no other visitor
    /// before.
    pub fn check_in(&self, numbers: &[Number]) {
        self.check_in_of_lives(numbers, 0);
    }

    /// As [`Self::check_in`], where behind the last of each epoch up to this many may stand who joined and never got their
    /// number.
    pub fn check_in_of_lives(&self, numbers: &[Number], untold: u64) {
        for number in numbers {
            self.replica.note(visitor(*number), Note::Mark);
        }
        let Some(last) = numbers.last() else { return };
        self.record(*last, Note::Mark);
        let mut least = 0;
        for (at, number) in numbers.iter().enumerate() {
            let begins_epoch = at > 0 && numbers[at - 1].epoch != number.epoch;
            let places = least..=least + if begins_epoch { untold } else { 0 };
            let standing = self.standing(*number);
            let Standing::Waiting(waiting) = standing else {
                panic!("{number:?} does not wait: {standing:?}");
            };
            let in_place = waiting.present && places.contains(&waiting.ahead);
            assert!(in_place, "{number:?} with {places:?} ahead: {standing:?}");
            least = waiting.ahead + 1;
        }
    }

    /// Waits for something that has to come, for as long as a slow machine may take.
    pub fn until(&self, what: &str, mut seen: impl FnMut(&Replica) -> bool) {
        self.wait(async {
            for _ in 0..6_000 {
                if seen(&self.replica) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            panic!("{what} did not come in a minute");
        });
    }

    /// The operator's stop.
    pub fn stop(mut self) {
        self.thread.take().unwrap().stop();
    }

    pub fn stop_within(mut self, patience: Duration) {
        self.thread.take().unwrap().stop_within(patience);
    }

    /// An end without goodbye.
    pub fn crash(mut self) {
        drop(self.thread.take());
    }

    pub fn epoch(&self) -> u64 {
        self.replica.view().position.epoch
    }
}

pub fn main() -> RoomName {
    RoomName::new("main").unwrap()
}

pub fn visitor(number: Number) -> Visitor {
    Visitor {
        room: main(),
        line: LineName::ONLY,
        lane: LaneId(0),
        number,
        rehearsal: None,
    }
}

pub fn number(outcome: JoinOutcome) -> Number {
    let JoinOutcome::Numbered(_, number) = outcome else {
        panic!("{outcome:?}")
    };
    number
}

/// A room in which all wait.
pub fn hold(site: &mut Site) {
    site.rooms[0].1.mode = Mode::Hold;
}

struct Faulty {
    inner: Embedded,
    faults: Faults,
}

impl Log for Faulty {
    fn exchange(&mut self, at: Position, append: Option<&Append>) -> Result<Exchanged, Unavailable> {
        self.faults.sent.lock().unwrap().extend(append.cloned());
        if append.is_some() && self.faults.refuse.load(Ordering::Relaxed) {
            return Err(Unavailable::new(Trouble::Disk, "a test refuses"));
        }
        if self.faults.broken.swap(false, Ordering::Relaxed) {
            return Ok(Exchanged::Broken { epoch: at.epoch });
        }
        let answer = self.inner.exchange(at, append);
        if self.faults.swallow.load(Ordering::Relaxed) {
            return Err(Unavailable::new(Trouble::Disk, "a test swallowed the answer"));
        }
        answer
    }

    fn save(&mut self, snapshot: Snapshot, occasion: Occasion) -> Result<(), Unavailable> {
        self.inner.save(snapshot, occasion)
    }

    fn load(&mut self) -> Result<Loaded, Unavailable> {
        self.inner.load()
    }

    fn alone(&self) -> bool {
        self.inner.alone()
    }

    fn root(&mut self, hash: &StateHash) -> Result<Option<Snapshot>, Unavailable> {
        self.inner.root(hash)
    }

    fn skip(&mut self, position: Position) -> Result<(), Unavailable> {
        self.inner.skip(position)
    }

    fn skips(&mut self) -> Result<Skips, Unavailable> {
        self.inner.skips()
    }

    fn begin(&mut self, seen: u64, beginning: &Beginning) -> Result<Begun, Unavailable> {
        if self.faults.refuse.load(Ordering::Relaxed) {
            return Err(Unavailable::new(Trouble::Disk, "a test refuses"));
        }
        self.inner.begin(seen, beginning)
    }
}
