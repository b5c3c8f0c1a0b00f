//! The parts of a running gate that an upgrade stops, and starts again if it fails: sockets, server and embedded store.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::{Store, StoreKind};
use crate::proxy::Drained;
use crate::replica::ReplicaThread;
use crate::store::{Embedded, Log, OpenError, Options};

use super::error::StartError;
use super::front::{Front, Waits};
use super::upgrade::Held;

/// The sockets, the server and the store of a running gate.
pub struct Service {
    sockets: Mutex<Held>,
    pub front: Front,
    store: Store,
    thread: Mutex<OpenStore>,
}

/// The thread that has the store open. Dropped, it says goodbye and closes the store.
pub struct OpenStore(Option<ReplicaThread>);

impl OpenStore {
    pub fn new(thread: ReplicaThread) -> Self {
        Self(Some(thread))
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            thread.stop();
        }
    }
}

impl Service {
    pub fn new(sockets: Held, front: Front, store: Store, thread: OpenStore) -> Self {
        Self {
            sockets: Mutex::new(sockets),
            front,
            store,
            thread: Mutex::new(thread),
        }
    }

    pub fn sockets(&self) -> MutexGuard<'_, Held> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder of an embedded store.
    pub fn folder(&self) -> Option<&std::path::Path> {
        match &self.store.kind {
            StoreKind::Embedded { folder } => Some(folder),
            StoreKind::Redis(_) => None,
        }
    }

    /// Stops accepting, waits for the requests under way as [`STORE_WAITS`] says, and closes the store. Requests still under way
    /// have `patience` to end, without a store.
    pub fn release(&self, patience: Duration) -> Result<(), StartError> {
        self.front.retire(STORE_WAITS, patience).map_err(StartError::Threads)?;
        if let Some(thread) = &mut self.lock().0 {
            thread.release();
        }
        Ok(())
    }

    /// Serves visitors again, and opens the store again.
    pub fn resume(&self) -> Result<(), StartError> {
        let listeners = self.sockets().visitors().map_err(StartError::Threads)?;
        self.front.start(listeners).map_err(StartError::Threads)?;
        let Some(folder) = self.folder() else { return Ok(()) };
        let log = open_embedded(folder, &self.store)?;
        if let Some(thread) = &mut self.lock().0 {
            thread.resume(log);
        }
        Ok(())
    }

    /// Closes the sockets and waits for the requests under way, for at most `patience`.
    pub fn stop(&self, patience: Duration) -> Drained {
        *self.sockets() = Held::default();
        self.front.stop(patience)
    }

    /// Closes the store, unless an upgrade has; a log that does not take this gate's last batch has `patience`.
    pub fn close_store(&self, patience: Duration) {
        if let Some(thread) = self.lock().0.take() {
            thread.stop_within(patience);
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpenStore> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens an embedded store as its configuration has it.
pub fn open_embedded(folder: &std::path::Path, store: &Store) -> Result<Box<dyn Log>, OpenError> {
    let options = Options {
        keep: store.log_keep,
        ..Options::default()
    };
    Ok(Box::new(Embedded::open(folder, options)?))
}

/// The longest that an upgrade waits for requests under way before it closes the embedded store; visitors who come meanwhile
/// wait for it. Reports in answers that begin later, a purchase for instance, are lost, and a log line gives their number.
const STORE_WAITS: Waits = Waits {
    ends: Duration::from_secs(3),
    answers: Duration::from_secs(10),
};
