//! How far a request's body has come, for everybody but its reader.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use hyper::body::Incoming;
use tokio::time::Instant;

use crate::error::BodyError;
use crate::lock::held;

/// How far a body has come: shared by who reads it, who waits for an answer to it, and the connection's loop.
#[derive(Debug)]
pub(crate) struct Progress {
    outcome: AtomicU8,
    pub(super) wanted: AtomicBool,
    born: Instant,
    moved_ms: AtomicU64,
    rest: Mutex<Option<Incoming>>,
}

/// How a body ended, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Coming,
    Whole,
    Failed(BodyError),
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            outcome: AtomicU8::new(0),
            wanted: AtomicBool::new(false),
            born: Instant::now(),
            moved_ms: AtomicU64::new(0),
            rest: Mutex::new(None),
        }
    }
}

impl Progress {
    /// All of the body has come, and was read.
    pub(crate) fn is_whole(&self) -> bool {
        self.outcome() == Outcome::Whole
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self.outcome.load(Ordering::Relaxed) {
            0 => Outcome::Coming,
            1 => Outcome::Whole,
            2 => Outcome::Failed(BodyError::TooLarge),
            3 => Outcome::Failed(BodyError::TooSlow),
            4 => Outcome::Failed(BodyError::NoMemory),
            _ => Outcome::Failed(BodyError::Broken),
        }
    }

    /// Whether the body's first byte has been asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// When the body last came forward or ended.
    pub(crate) fn last_moved(&self) -> Instant {
        self.born + Duration::from_millis(self.moved_ms.load(Ordering::Relaxed))
    }

    /// The unread part of a body whose reader is gone.
    pub(crate) fn take_rest(&self) -> Option<Incoming> {
        self.rest().take()
    }

    pub(super) fn rest(&self) -> MutexGuard<'_, Option<Incoming>> {
        held(&self.rest)
    }

    pub(super) fn moved(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved_ms.store(now, Ordering::Relaxed);
    }

    pub(super) fn end(&self, outcome: Outcome) {
        self.moved();
        let code = match outcome {
            Outcome::Coming => 0,
            Outcome::Whole => 1,
            Outcome::Failed(BodyError::TooLarge) => 2,
            Outcome::Failed(BodyError::TooSlow) => 3,
            Outcome::Failed(BodyError::NoMemory) => 4,
            Outcome::Failed(BodyError::Broken) => 5,
        };
        self.outcome.store(code, Ordering::Relaxed);
    }
}
