//! A log that triggers an internal error outside the rooms: its calls panic once its flag is set.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ropeline::room::{Position, StateHash};
use ropeline::store::{
    Append, Beginning, Begun, Embedded, Exchanged, Loaded, Log, Occasion, Skips, Snapshot, Unavailable,
};

pub struct Breaking {
    pub log: Embedded,
    pub fault: Arc<AtomicBool>,
}

impl Log for Breaking {
    fn alone(&self) -> bool {
        self.log.alone()
    }

    fn exchange(&mut self, at: Position, append: Option<&Append>) -> Result<Exchanged, Unavailable> {
        assert!(!self.fault.load(Ordering::Relaxed), "a fault of the program");
        self.log.exchange(at, append)
    }

    fn save(&mut self, snapshot: Snapshot, occasion: Occasion) -> Result<(), Unavailable> {
        self.log.save(snapshot, occasion)
    }

    fn load(&mut self) -> Result<Loaded, Unavailable> {
        self.log.load()
    }

    fn root(&mut self, hash: &StateHash) -> Result<Option<Snapshot>, Unavailable> {
        self.log.root(hash)
    }

    fn begin(&mut self, seen: u64, beginning: &Beginning) -> Result<Begun, Unavailable> {
        self.log.begin(seen, beginning)
    }

    fn skip(&mut self, position: Position) -> Result<(), Unavailable> {
        self.log.skip(position)
    }

    fn skips(&mut self) -> Result<Skips, Unavailable> {
        self.log.skips()
    }
}
