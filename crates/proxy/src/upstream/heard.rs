//! How much has come from a server of the answer that is waited for.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes from the upstream since the count was last reset. They decide whether a request may be sent again, and bound the
/// data ahead of an answer, including endless interim answers.
#[derive(Debug, Default)]
pub(crate) struct Heard(AtomicUsize);

impl Heard {
    /// A request goes out.
    pub(crate) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// The answer's head has arrived: further bytes have other bounds.
    pub(crate) fn head(&self) {
        self.0.store(HEAD_IS_HERE, Ordering::Relaxed);
    }

    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn count(&self, bytes: usize, most: usize) -> io::Result<()> {
        let before = self.0.load(Ordering::Relaxed);
        if before == HEAD_IS_HERE {
            return Ok(());
        }
        self.0
            .store(before.saturating_add(bytes).min(HEAD_IS_HERE - 1), Ordering::Relaxed);
        if before > most {
            return Err(io::Error::other("too much ahead of an answer"));
        }
        Ok(())
    }
}

const HEAD_IS_HERE: usize = usize::MAX;
