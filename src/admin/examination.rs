//! The doctor's last findings, and the notes by which gates compare themselves.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::live::Live;
use crate::doctor::{Finding, Note};
use crate::store::redis::{NOTE_LASTS, leave_note};
use ropeline_ids::GateId;

/// The findings of the last examination, and when it was.
#[derive(Debug, Default)]
pub struct Examination {
    at: Option<Duration>,
    findings: Vec<Finding>,
}

impl Examination {
    /// The findings, if they are of this moment.
    pub fn fresh(&self, now: Duration) -> Option<Vec<Finding>> {
        let is_fresh = |at: Duration| now.saturating_sub(at) < FRESH;
        self.at.is_some_and(is_fresh).then(|| self.findings.clone())
    }

    pub fn keep(&mut self, findings: Vec<Finding>, now: Duration) {
        (self.at, self.findings) = (Some(now), findings);
    }
}

/// Leaves no more notes when dropped.
pub struct Notes {
    _stop: Option<SyncSender<()>>,
}

/// Leaves a note of this gate in the shared store, at once and again and again, on a thread of its own. Without a shared store there
/// is nobody to tell.
///
/// # Errors
/// When the system gives no thread.
pub fn leave_notes(live: Live, gate: GateId) -> io::Result<Notes> {
    let Some(store) = live.load().options.examined.store.clone() else {
        return Ok(Notes { _stop: None });
    };
    let (stop, stopped) = sync_channel::<()>(1);
    let leave = move || {
        loop {
            let keys = live.load().keyring.marks();
            let note = |ahead_ms| Note::new(ahead_ms, &keys).encode();
            // A store that is away is reported by the log's own calls, which cannot go on without it.
            if let Err(error) = leave_note(&store.url, store.options.clone(), gate, note) {
                tracing::debug!(reason = error.reason, "the store does not take this gate's note");
            }
            if stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    };
    thread::Builder::new().name("notes".into()).spawn(leave)?;
    Ok(Notes { _stop: Some(stop) })
}

/// How long findings are given again.
const FRESH: Duration = Duration::from_secs(2);

/// Before the last note is over.
const EVERY: Duration = NOTE_LASTS.checked_div(4).expect("four is not zero");
