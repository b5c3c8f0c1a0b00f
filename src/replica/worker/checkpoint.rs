//! Snapshots while the gate runs, and its last words when it stops.

use std::sync::atomic::Ordering;

use super::{Saved, Turn, Worker};
use crate::log::Occasion;
use crate::replica::recover::snapshot;
use crate::time;

impl Worker {
    /// Saves a snapshot if one is due and something happened.
    pub(super) fn checkpoint(&mut self) {
        let clock = self.shared.load().clock;
        let every = u64::try_from(self.options.snapshot_every.as_millis()).unwrap_or(u64::MAX);
        let due = (self.saved.changed && clock.since(self.saved.clock) >= every)
            || self.saved.bytes >= self.options.snapshot_bytes;
        if !due || self.under_way.is_some() {
            return;
        }
        let failing = match self.log.save(snapshot(&self.state, self.time), Occasion::Checkpoint) {
            Ok(()) => {
                self.shared.counts.snapshots.fetch_add(1, Ordering::Relaxed);
                false
            }
            Err(reason) => {
                if !self.saved.failing {
                    tracing::warn!(%reason, "a snapshot could not be saved; the one before is kept");
                }
                true
            }
        };
        self.saved = Saved {
            clock,
            failing,
            ..Saved::default()
        };
    }

    /// Appends what is left, goodbye with the last of it, and the snapshot that a clean start goes on from.
    pub(super) fn say_goodbye(mut self) {
        let until = time::uptime() + self.options.goodbye_within;
        while time::uptime() < until {
            if !self.collect(self.rest_until.saturating_sub(time::uptime())) {
                break;
            }
            let last = self.under_way.is_none() && self.beginning.is_none();
            match self.turn(last) {
                Turn::Done => {}
                Turn::Wait(reason) => {
                    self.rest(&reason);
                    continue;
                }
                Turn::Frozen => return,
            }
            let more = self.under_way.is_some() || self.beginning.is_some() || !self.collector.is_empty();
            if !last || more || self.rest_until > time::uptime() {
                continue;
            }
            if let Err(reason) = self.log.save(snapshot(&self.state, self.time), Occasion::Last) {
                tracing::warn!(%reason, "the last snapshot could not be saved; the next start begins a new log");
            }
            return;
        }
        tracing::warn!("the log did not take the goodbye in time; the next start begins a new log");
    }

    /// Poisoned: the last view stands, nobody is answered but with "later".
    pub(super) fn stand_still(self) {
        let Self {
            messages,
            shared,
            ready,
            under_way,
            collector,
            ..
        } = self;
        shared.freeze();
        drop((under_way, collector));
        let _ = ready.try_send(());
        let ended = || shared.abandon.load(Ordering::Acquire) || shared.stop.load(Ordering::Acquire);
        // Dropping a message answers it.
        while !ended() && messages.recv().is_ok() {}
    }
}
