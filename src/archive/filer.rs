//! The archive's thread: writes this gate's ranges at once, and other gates' overdue ranges after a while.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::archiver::Counts;
use super::folder::{Filed, Folder, Name};
use super::segment::Segment;
use crate::time;
use ropeline_ids::GateId;

pub(super) enum Order {
    /// Check which ranges others have archived: too many wait here.
    Look,
    /// File the range; at once where it is this gate's turn.
    File(Box<Segment>, bool),
    /// No order follows.
    End,
}

pub(super) struct Filer {
    folder: Folder,
    gate: GateId,
    patience: Duration,
    counts: Arc<Counts>,
    /// Oldest first.
    waiting: VecDeque<Waiting>,
    prepared: bool,
    backoff: Duration,
    /// Uptime until which a failing folder is left alone.
    rest_until: Duration,
}

struct Waiting {
    /// Uptime at which it is to be filed.
    due: Duration,
    mine: bool,
    segment: Box<Segment>,
}

impl Filer {
    pub fn new(folder: Folder, gate: GateId, patience: Duration, counts: Arc<Counts>) -> Self {
        Self {
            folder,
            gate,
            patience,
            counts,
            waiting: VecDeque::new(),
            prepared: false,
            backoff: BACKOFF_FIRST,
            rest_until: Duration::ZERO,
        }
    }

    /// The thread's whole life.
    pub fn run(mut self, orders: &Receiver<Order>) {
        loop {
            let now = time::uptime();
            let order = match self.due() {
                Some(due) => orders.recv_timeout(due.saturating_sub(now)),
                None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match order {
                Ok(Order::File(segment, mine)) => {
                    self.pass_over_filed();
                    let wait = if mine { Duration::ZERO } else { self.patience };
                    let due = time::uptime() + wait;
                    self.waiting.push_back(Waiting { due, mine, segment });
                }
                Ok(Order::Look) => self.pass_over_filed(),
                Ok(Order::End) => return self.end(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.work();
        }
    }

    /// Uptime at which there is something to do.
    fn due(&self) -> Option<Duration> {
        let first = self.waiting.iter().map(|waiting| waiting.due).min()?;
        Some(first.max(self.rest_until))
    }

    /// Files the ranges that are due.
    fn work(&mut self) {
        while let Some(at) = self.next(time::uptime()) {
            if let Err(reason) = self.file(at) {
                return self.rest(&reason);
            }
            if self.backoff > BACKOFF_FIRST {
                tracing::info!(folder = %self.folder.path().display(), "the archive's folder takes files again");
            }
            self.backoff = BACKOFF_FIRST;
        }
    }

    /// Drops ranges that others have archived meanwhile: with many entries, a minute and a half of them is more than may
    /// wait.
    fn pass_over_filed(&mut self) {
        if time::uptime() < self.rest_until {
            return;
        }
        let (folder, counts) = (&self.folder, &self.counts);
        self.waiting.retain(|Waiting { mine, segment, .. }| {
            let filed = !mine && folder.holds(Name::of(segment)).unwrap_or(false);
            if filed {
                counts.settled(segment, Filed::Before);
            }
            !filed
        });
    }

    fn next(&self, now: Duration) -> Option<usize> {
        let ready = now >= self.rest_until;
        ready.then(|| self.waiting.iter().position(|waiting| waiting.due <= now))?
    }

    fn file(&mut self, at: usize) -> io::Result<()> {
        if !self.prepared {
            self.folder.prepare()?;
            self.prepared = true;
        }
        let Some(Waiting { mine, segment, .. }) = self.waiting.get(at) else {
            return Ok(());
        };
        // Others may have cut elsewhere; the gate on turn does not check, since a range archived twice does no harm.
        let filed = if !mine && self.folder.covers(Name::of(segment))? {
            Filed::Before
        } else {
            self.folder.file(segment, self.gate)?
        };
        self.counts.settled(segment, filed);
        self.waiting.remove(at);
        Ok(())
    }

    /// The folder failed: leave it alone for a moment, and longer each time.
    fn rest(&mut self, reason: &io::Error) {
        self.counts.failures.fetch_add(1, Ordering::Relaxed);
        if self.backoff == BACKOFF_FIRST {
            tracing::warn!(folder = %self.folder.path().display(), %reason, "the archive's folder takes nothing");
        }
        self.prepared = false;
        self.rest_until = time::uptime() + self.backoff;
        self.backoff = (self.backoff * 2).min(BACKOFF_MOST);
    }

    /// Files everything that is left, or tries it once more.
    fn end(&mut self) {
        while !self.waiting.is_empty() {
            if let Err(reason) = self.file(0) {
                tracing::warn!(%reason, "the last entries could not be filed in the archive");
                return;
            }
        }
    }
}

/// First and longest pause before a failing folder is tried again.
const BACKOFF_FIRST: Duration = Duration::from_secs(1);
const BACKOFF_MOST: Duration = Duration::from_secs(60);
