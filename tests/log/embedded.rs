//! The suite on the embedded log, and what stands in for a store there: a folder.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anteroom::log::{Embedded, Log, Options};
use anteroom::room::Wall;
use tempfile::TempDir;

use crate::contract::{Store, suite};

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

    pub fn embedded(&self) -> Embedded {
        Embedded::open(&self.path(), self.options()).unwrap()
    }
}

impl Store for Folder {
    fn open(&self) -> Box<dyn Log> {
        Box::new(self.embedded())
    }
}

suite!(Folder::new());
