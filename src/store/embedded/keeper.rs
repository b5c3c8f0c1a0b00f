//! Writes snapshots to their file from a thread of its own, so that a big one never delays an append.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use super::folder;
use crate::store::Snapshot;

/// The thread and the one place before it; dropping the value waits for the snapshot that is being written.
pub(super) struct Keeper {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

struct Job {
    snapshot: Snapshot,
    /// Hears whether it is on disk.
    done: Option<SyncSender<Result<(), String>>>,
}

impl Keeper {
    pub fn start(folder: PathBuf) -> std::io::Result<Self> {
        let (jobs, inbox) = sync_channel(1);
        let thread = thread::Builder::new()
            .name("snapshots".into())
            .spawn(move || keep(&folder, &inbox))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Passes a snapshot on; skipped when the one before is still waiting, because a later one will come.
    pub fn offer(&self, snapshot: Snapshot) {
        let Some(jobs) = &self.jobs else { return };
        if let Err(TrySendError::Full(_)) = jobs.try_send(Job { snapshot, done: None }) {
            tracing::debug!("a snapshot is passed over: the one before is still being written");
        }
    }

    /// Passes a snapshot on and waits until it is on disk.
    pub fn write(&self, snapshot: Snapshot) -> Result<(), String> {
        let (done, wait) = sync_channel(1);
        let jobs = self.jobs.as_ref().ok_or("the snapshot thread has ended")?;
        jobs.send(Job {
            snapshot,
            done: Some(done),
        })
        .map_err(|_| "the snapshot thread has ended")?;
        wait.recv().map_err(|_| "the snapshot thread has ended")?
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn keep(folder: &std::path::Path, inbox: &Receiver<Job>) {
    let mut failing = false;
    for job in inbox {
        let written = folder::write_snapshot(folder, &job.snapshot.encode()).map_err(|error| error.to_string());
        match &written {
            Err(error) if !failing => tracing::warn!(%error, "a snapshot could not be written; the one before is kept"),
            _ => {}
        }
        failing = written.is_err();
        if let Some(done) = job.done {
            let _ = done.send(written);
        }
    }
}
