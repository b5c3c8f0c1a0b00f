//! An embedded log that changes hands while its gate goes on: an upgrade gives it to the process that comes after.
//!
//! The process before closes the file and has the one after append for it, over a socket between the two, until it has
//! drained ([`Far`]); the one after opens the file and serves that socket beside its own gate ([`Relay`], [`Hand`]). Both
//! are of one life of the log: neither may take the other's words for the end of it, so no era changes. Whoever speaks last
//! leaves the word that nothing follows.

mod bytes;
mod far;
mod frames;
mod server;
mod words;

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use self::far::Far;
use super::embedded::{Embedded, OpenError, Options};
use super::{Append, Beginning, Begun, Exchanged, Loaded, Log, Occasion, Skips, Snapshot, Trouble, Unavailable};
use crate::room::{Position, StateHash};

/// The log of a gate that may hand it over; what the replica holds.
pub struct Relay(Arc<Desk>);

/// The other side of a [`Relay`], for whoever hands the log over or serves the process before.
#[derive(Clone)]
pub struct Hand(Arc<Desk>);

impl std::fmt::Debug for Hand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hand")
            .field("folder", &self.0.folder)
            .finish_non_exhaustive()
    }
}

struct Desk {
    folder: PathBuf,
    options: Options,
    place: Mutex<Place>,
    changed: Condvar,
}

struct Place {
    log: Where,
    /// Processes before this one that are served still.
    guests: usize,
    /// How long the last of them may take to end.
    patience: Duration,
    /// This life of the log began in another process, or went on after one had it: a load finds no end to start anew from.
    goes_on: bool,
    own: Own,
    /// The last word of a process before this one, which said it while this one went on.
    last: Option<Snapshot>,
    /// The word that nothing follows stands.
    ended: bool,
}

/// What this process's gate has to say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    Speaks,
    /// Its last word, which waits for that of the process before.
    Waits,
    Nothing,
}

enum Where {
    Here(Embedded),
    /// Another process has the file, and appends for this one.
    Away(Far),
    /// It could not be opened again; each call tries.
    Closed,
}

impl Relay {
    /// For the log that this process has opened.
    #[must_use]
    pub fn of(log: Embedded) -> Self {
        let (folder, options) = (log.folder().to_owned(), log.options().clone());
        Self::new(folder, options, log, false)
    }

    /// For a log that the process before has closed for this one. Should it not have ended properly, a new one begins, as
    /// after any such end.
    #[must_use]
    pub fn taken_over(log: Embedded) -> Self {
        let (folder, options, goes_on) = (log.folder().to_owned(), log.options().clone(), log.ended_properly());
        Self::new(folder, options, log, goes_on)
    }

    fn new(folder: PathBuf, options: Options, log: Embedded, goes_on: bool) -> Self {
        let place = Place {
            log: Where::Here(log),
            guests: 0,
            patience: Duration::ZERO,
            goes_on,
            own: Own::Speaks,
            last: None,
            ended: false,
        };
        Self(Arc::new(Desk {
            folder,
            options,
            place: Mutex::new(place),
            changed: Condvar::new(),
        }))
    }

    #[must_use]
    pub fn hand(&self) -> Hand {
        Hand(Arc::clone(&self.0))
    }
}

impl Hand {
    /// The folder that the log is in.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        &self.0.folder
    }

    /// Closes the file; from here on calls go over `far`, whose other end is to be served by whoever opens the file next.
    /// Waits for the call under way, and for a snapshot that is being written.
    ///
    /// # Errors
    /// When the log is not here, is used by the process before still, or its disk takes nothing; then nothing has changed,
    /// or the file is open again.
    pub fn give(&self, far: Far) -> Result<(), Unavailable> {
        let mut place = self.0.lock();
        if place.guests > 0 {
            return Err(Unavailable::new(
                Trouble::Declined,
                "the process before this one is not done with it",
            ));
        }
        let log = match std::mem::replace(&mut place.log, Where::Closed) {
            Where::Here(log) => log,
            elsewhere => {
                place.log = elsewhere;
                return Err(Unavailable::new(Trouble::Declined, "it is not open here"));
            }
        };
        place.goes_on = true;
        match log.close() {
            Ok(()) => place.log = Where::Away(far),
            Err(reason) => {
                let _ = self.0.reopen(&mut place);
                return Err(reason);
            }
        }
        Ok(())
    }

    /// Opens the file again, after whoever had it has ended.
    ///
    /// # Errors
    /// When it cannot be opened just now; each call to the log tries again.
    pub fn take_back(&self) -> Result<(), OpenError> {
        let mut place = self.0.lock();
        place.log = Where::Closed;
        self.0.reopen(&mut place)
    }
}

impl Desk {
    /// A panic of another caller leaves a log that is as good as it was.
    fn lock(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reopen(&self, place: &mut Place) -> Result<(), OpenError> {
        place.log = Where::Here(Embedded::open(&self.folder, self.options.clone())?);
        Ok(())
    }

    /// Carries a call out on the log, wherever it is.
    fn call<T>(
        &self,
        place: &mut Place,
        call: impl FnOnce(&mut dyn Log) -> Result<T, Unavailable>,
    ) -> Result<T, Unavailable> {
        if matches!(place.log, Where::Closed) {
            let opened = self.reopen(place);
            opened.map_err(|error| Unavailable::new(Trouble::Disk, error.to_string()))?;
        }
        // Whoever is two entries behind should find them in the file that is open.
        let shared = place.guests > 0 && place.own == Own::Speaks;
        match &mut place.log {
            Where::Here(log) => {
                log.keep_part(shared);
                call(log)
            }
            Where::Away(far) => call(far),
            Where::Closed => Err(Unavailable::new(Trouble::Disk, "the log is closed")),
        }
    }

    /// Waits until no process before this one is served any more, or until it has had its time.
    fn alone(&self) -> MutexGuard<'_, Place> {
        let place = self.lock();
        let patience = place.patience;
        let waited = self
            .changed
            .wait_timeout_while(place, patience, |place| place.guests > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Relay {
    fn call<T>(&self, call: impl FnOnce(&mut dyn Log) -> Result<T, Unavailable>) -> Result<T, Unavailable> {
        self.0.call(&mut self.0.lock(), call)
    }

    /// The last word of this process, or of the one before if that speaks longer.
    fn save_last(&self, snapshot: Snapshot) -> Result<(), Unavailable> {
        self.0.lock().own = Own::Waits;
        let mut place = self.0.alone();
        place.own = Own::Nothing;
        if place.ended {
            return Ok(());
        }
        let longer = place.last.take().filter(|last| last.position > snapshot.position);
        self.0
            .call(&mut place, |log| log.save(longer.unwrap_or(snapshot), Occasion::Last))
    }
}

impl Log for Relay {
    /// Of two processes the one that reads less far is never the one that begins: an era begins where the log was not
    /// closed properly, and a hand-over closes it.
    fn alone(&self) -> bool {
        true
    }

    fn exchange(&mut self, at: Position, append: Option<&Append>) -> Result<Exchanged, Unavailable> {
        self.call(|log| log.exchange(at, append))
    }

    fn save(&mut self, snapshot: Snapshot, occasion: Occasion) -> Result<(), Unavailable> {
        if occasion == Occasion::Last {
            return self.save_last(snapshot);
        }
        self.call(|log| log.save(snapshot, occasion))
    }

    fn load(&mut self) -> Result<Loaded, Unavailable> {
        let mut place = self.0.lock();
        let loaded = self.0.call(&mut place, |log| log.load())?;
        let clean = loaded.clean || (place.goes_on && loaded.incarnation != 0);
        Ok(Loaded { clean, ..loaded })
    }

    fn root(&mut self, hash: &StateHash) -> Result<Option<Snapshot>, Unavailable> {
        self.call(|log| log.root(hash))
    }

    fn begin(&mut self, seen: u64, beginning: &Beginning) -> Result<Begun, Unavailable> {
        self.call(|log| log.begin(seen, beginning))
    }

    fn skip(&mut self, position: Position) -> Result<(), Unavailable> {
        self.call(|log| log.skip(position))
    }

    fn skips(&mut self) -> Result<Skips, Unavailable> {
        self.call(|log| log.skips())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.0.lock().own = Own::Nothing;
    }
}
