//! A thread that checks the certificates' files every few seconds. It polls, because inotify does not work on every disk that
//! certificates are mounted from, and misses a swap of a link further up.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::certificates::Certificates;
use crate::time;

/// Looks until it is dropped.
#[must_use = "the files are looked at until this is dropped"]
#[derive(Debug)]
pub struct Watch {
    /// Its end is the thread's.
    _stop: SyncSender<()>,
}

impl Watch {
    /// Looks at the files once every `interval`.
    pub fn start(certificates: Arc<Certificates>, interval: Duration) -> io::Result<Self> {
        let (stop, stopped) = sync_channel(0);
        thread::Builder::new().name("certificates".to_owned()).spawn(move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                certificates.look(time::wall());
            }
        })?;
        Ok(Self { _stop: stop })
    }
}

/// How often a gate looks.
pub const INTERVAL: Duration = Duration::from_secs(2);
