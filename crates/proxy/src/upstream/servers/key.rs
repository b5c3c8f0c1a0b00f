//! Which server a connection goes to.

use std::sync::atomic::{AtomicBool, Ordering};

/// One server's mark: connections that were made to it have it too, and do not hold the server.
#[derive(Debug, Default)]
pub(crate) struct Key(AtomicBool);

impl Key {
    /// The server is configured no more, or its name has another address: no connection to it is kept.
    pub(super) fn leave(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
