//! How far a request is on its way to the upstream.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// How far a request is, and whether its client still waits for the answer. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Stage(Arc<AtomicU8>);

const AT_SERVER: u8 = 1;
const DETACHED: u8 = 1 << 1;

impl Stage {
    /// The client has hung up, and the answer is waited for.
    #[must_use]
    pub fn is_detached(&self) -> bool {
        self.has(DETACHED)
    }

    /// It is given to a server now.
    pub(crate) fn sent(&self) {
        self.0.fetch_or(AT_SERVER, Ordering::Relaxed);
    }

    /// The server that it was given to has failed.
    pub(crate) fn failed(&self) {
        self.0.fetch_and(!AT_SERVER, Ordering::Relaxed);
    }

    /// A server has it.
    pub(crate) fn is_at_server(&self) -> bool {
        self.has(AT_SERVER)
    }

    /// Its client has hung up, and it goes on.
    pub(crate) fn detach(&self) {
        self.0.fetch_or(DETACHED, Ordering::Relaxed);
    }

    fn has(&self, flag: u8) -> bool {
        self.0.load(Ordering::Relaxed) & flag != 0
    }
}
