//! The suite on the embedded log, where a folder takes the place of a store.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ropeline::room::Wall;
use ropeline::store::{Beginning, Embedded, Log, Occasion, OpenError, Options, Snapshot};
use tempfile::TempDir;

use crate::contract::{Store, append, begin, exchange, fill, root, suite};

/// A folder, with a clock that a test may turn.
pub struct Folder {
    pub dir: TempDir,
    pub clock: Arc<AtomicU64>,
    pub keep: Duration,
    pub part_bytes: u64,
}

impl Folder {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            clock: Arc::new(AtomicU64::new(1_800_000_000_000)),
            keep: Duration::from_secs(7 * 24 * 3_600),
            part_bytes: Options::default().part_bytes,
        }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn options(&self) -> Options {
        let clock = Arc::clone(&self.clock);
        let wall = Arc::new(move || Wall(clock.fetch_add(1, Ordering::Relaxed)));
        Options {
            keep: self.keep,
            part_bytes: self.part_bytes,
            wall,
            ..Options::default()
        }
    }

    /// A process that another test starts holds every lock of this one for a moment, until it runs its own program.
    pub fn embedded(&self) -> Embedded {
        let end = ropeline::time::uptime() + PATIENCE;
        loop {
            match Embedded::open(&self.path(), self.options()) {
                Err(OpenError::InUse { .. }) if ropeline::time::uptime() < end => std::thread::yield_now(),
                opened => return opened.unwrap(),
            }
        }
    }
}

impl Store for Folder {
    fn open(&self) -> Box<dyn Log> {
        Box::new(self.embedded())
    }
}

/// How long a folder may stay in use by a process that starts.
const PATIENCE: Duration = Duration::from_secs(10);

suite!(Folder::new());

#[test]
fn only_a_last_word_makes_the_next_start_clean() {
    let store = Folder::new();
    let mut log = store.open();
    let start = begin(log.as_mut());
    let end = fill(log.as_mut(), start, 2);
    drop(log);
    let mut log = store.open();
    assert!(!log.load().unwrap().clean, "nobody said it was the last");
    let last = Snapshot {
        position: end,
        nonce: append(2).nonce,
        ..root(0)
    };
    log.save(last, Occasion::Last).unwrap();
    drop(log);
    let mut log = store.open();
    assert!(log.load().unwrap().clean);
    exchange(log.as_mut(), end, Some(&append(3)));
    assert!(!log.load().unwrap().clean, "something followed");
    drop(log);
    assert!(!store.open().load().unwrap().clean, "something followed");
}

#[test]
fn a_new_log_starts_from_its_root() {
    let store = Folder::new();
    let mut log = store.open();
    let start = begin(log.as_mut());
    let next = root(start.epoch + 99);
    log.begin(start.epoch, &Beginning::Root(next.clone())).unwrap();
    assert_eq!(log.load().unwrap().snapshots, [next]);
}
