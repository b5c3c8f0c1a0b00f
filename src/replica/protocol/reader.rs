//! Reading the log: entries are applied and archived, and the log's time is known by them.

use std::time::Duration;

use crate::archive::Archiver;
use crate::replica::recover::{Applied, Apply, apply_next};
use crate::room::{Encoded, Position, State, Wall};

pub(super) struct Reader {
    apply: Apply,
    /// The highest machine version that entries may ask for.
    knows: u16,
    /// Entries that are passed over.
    skips: Vec<Position>,
    archiver: Option<Archiver>,
    /// Log time of the last entry; uptime when it was read, and when the log was last asked for more.
    time: Wall,
    heard: Duration,
    asked: Duration,
}

impl Reader {
    pub fn new(apply: Apply, knows: u16, archiver: Option<Archiver>) -> Self {
        Self {
            apply,
            knows,
            skips: Vec::new(),
            archiver,
            time: Wall(0),
            heard: Duration::ZERO,
            asked: Duration::ZERO,
        }
    }

    /// Log time of the last entry.
    pub fn time(&self) -> Wall {
        self.time
    }

    /// Uptime when the last entry was read.
    pub fn heard(&self) -> Duration {
        self.heard
    }

    /// Uptime when the log was last asked for entries.
    pub fn asked(&self) -> Duration {
        self.asked
    }

    /// The log was loaded.
    pub fn loaded(&mut self, time: Wall, skips: Vec<Position>) {
        self.time = time;
        self.skips = skips;
    }

    pub fn asks(&mut self, now: Duration) {
        self.asked = now;
    }

    /// The log was read to its end, or is new.
    pub fn is_at_end(&mut self, now: Duration) {
        self.heard = now;
    }

    /// An entry of this log time was read.
    pub fn hears(&mut self, time: Wall, now: Duration) {
        self.time = time;
        self.heard = now;
    }

    /// Applies the next entry.
    pub fn apply(&mut self, state: &mut State, entry: &Encoded, now: Duration) -> Applied {
        let applied = apply_next(self.apply, state, entry, &self.skips, self.knows);
        if let Applied::Done(_) = applied {
            self.hears(entry.time, now);
            if let Some(archiver) = &mut self.archiver {
                if self.skips.contains(&entry.position) {
                    archiver.passed_over(entry, state);
                } else {
                    archiver.applied(entry, state);
                }
            }
        }
        applied
    }

    /// The archive goes on from this state.
    pub fn archive_from(&mut self, state: &State) {
        if let Some(archiver) = &mut self.archiver {
            archiver.begin(state);
        }
    }

    /// Archives the entries that are in no file yet.
    pub fn close_archive(&mut self, within: Duration) {
        if let Some(archiver) = &mut self.archiver {
            archiver.stop(within);
        }
    }

    pub fn reopen_archive(&mut self) {
        if let Some(Err(error)) = self.archiver.as_mut().map(Archiver::restart) {
            tracing::error!(%error, "the archive is not written any more: restart the gate");
            self.archiver = None;
        }
    }
}
