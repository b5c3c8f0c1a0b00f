//! The replica's thread: takes messages from the queue, carries out the protocol's calls of the log, and passes the answers
//! back.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

use super::calls::Call;
use super::inbox::{INBOX, Message};
use super::protocol::{Answer, Ask, Protocol, Step, report_loss};
use super::publish::Shared;
use crate::store::{Log, Unavailable};
use crate::time;

pub(super) struct Worker {
    pub protocol: Protocol,
    pub messages: Receiver<Message>,
    pub shared: Arc<Shared>,
    /// Notified when visitors can be numbered, when that is impossible for now, or for good.
    pub ready: SyncSender<()>,
    /// Also where the store is empty and is to be asked again.
    pub early: bool,
    /// Notified when the log is closed, after the goodbye.
    pub released: SyncSender<()>,
    /// Another log to go on with then; closed when there will be none.
    pub logs: Receiver<Box<dyn Log>>,
}

impl Worker {
    /// The thread's whole life.
    pub fn run(self, log: Box<dyn Log>) {
        let shared = Arc::clone(&self.shared);
        // A fault of ours must not take those inside with it at once: the last view stands until the process has drained.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.live(log))) {
            let reason = words(panic.as_ref());
            tracing::error!(
                reason,
                "the replica's thread has failed: the rooms stand still, and only a restart helps"
            );
            shared.fall(time::uptime());
        }
    }

    /// On one log after the other.
    fn live(mut self, mut log: Box<dyn Log>) {
        while self.live_on(log.as_mut()) {
            drop(log);
            let _ = self.released.try_send(());
            let Ok(next) = self.logs.recv() else {
                return self.tell_unsaid();
            };
            log = next;
            self.protocol.come_back(time::uptime());
        }
    }

    /// Until the goodbye; false when there was none.
    fn live_on(&mut self, log: &mut dyn Log) -> bool {
        let mut leaving = false;
        loop {
            if self.shared.abandon.load(Ordering::Acquire) {
                return false;
            }
            let now = time::uptime();
            if self.shared.stop.load(Ordering::Acquire) && !leaving {
                let patience = Duration::from_millis(self.shared.patience_ms.load(Ordering::Acquire));
                self.protocol.leave(now, patience);
                leaving = true;
            }
            self.collect();
            match self.protocol.next(now) {
                Step::Ask(ask) => {
                    let (call, asked) = (Call::of(&ask), time::uptime());
                    let answer = carry_out(log, ask);
                    let now = time::uptime();
                    let took = now.saturating_sub(asked);
                    self.shared.calls.answered(call, took, log.connections());
                    self.protocol.answer(now, answer);
                    self.tell_ready();
                }
                Step::Wait(until) => match self.messages.recv_timeout(until.saturating_sub(now)) {
                    Ok(message) => self.protocol.take(message),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return false,
                },
                // PERF: in a crowd each message would wake the thread without need.
                Step::Rest(until) => thread::park_timeout(until.saturating_sub(now)),
                Step::Ended => return true,
            }
        }
    }

    /// Says how much came in after the goodbye that no later request says again.
    fn tell_unsaid(mut self) {
        let told = self.protocol.final_notes();
        self.collect();
        report_loss(self.protocol.final_notes() - told, false);
    }

    /// Takes the messages from the queue.
    fn collect(&mut self) {
        for _ in 0..TAKE_MAX {
            let Ok(message) = self.messages.try_recv() else { break };
            self.protocol.take(message);
        }
    }

    fn tell_ready(&self) {
        let is_empty = self.early && self.protocol.asks_again();
        if self.shared.opened() || self.shared.frozen() || self.shared.failed().is_some() || is_empty {
            let _ = self.ready.try_send(());
        }
    }
}

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let fixed = panic.downcast_ref::<&str>().copied();
    let made = || panic.downcast_ref::<String>().map(String::as_str);
    fixed.or_else(made).unwrap_or("a panic without words")
}

pub(super) fn carry_out(log: &mut dyn Log, ask: Ask) -> Result<Answer, Unavailable> {
    Ok(match ask {
        Ask::Load => Answer::Loaded(log.load()?),
        Ask::Root(hash) => Answer::Root(log.root(&hash)?),
        Ask::Exchange { at, append } => Answer::Exchanged(log.exchange(at, append.as_ref())?),
        Ask::Save { snapshot, occasion } => {
            log.save(snapshot, occasion)?;
            Answer::Saved
        }
        Ask::Begin { seen, beginning } => Answer::Begun(log.begin(seen, &beginning)?),
        Ask::Skip(position) => {
            log.skip(position)?;
            Answer::Skipped
        }
        Ask::Skips => Answer::Skips(log.skips()?),
    })
}

/// Most messages taken between two looks at the log: all that can wait. A batch that is cut then has every note that was made before
/// the log was read ([`Batch::notes_until`](crate::room::Batch)).
const TAKE_MAX: usize = INBOX;
