//! One batch's way: cut, sent, read back, applied, published, answered.

use std::sync::atomic::Ordering;

use super::{From, Turn, UnderWay, Worker};
use crate::log::{Append, Exchanged, Unavailable};
use crate::replica::inbox::{Note, Noted};
use crate::replica::recover::{follows, guarded};
use crate::room::{Effects, Entry, VERSION};
use crate::time;

impl Worker {
    pub(super) fn speak(&mut self, goodbye: bool) -> Result<Turn, Unavailable> {
        self.shared.sent();
        if let Some(era) = self
            .foreign()
            .filter(|_| self.under_way.is_none() && self.beginning.is_none())
        {
            tracing::warn!(
                era,
                "a genuine token is of an era above the rooms' own: a new log begins above it"
            );
            self.prepare(self.state.position().incarnation, era, From::Rooms)?;
        }
        if self.beginning.is_some() {
            return self.begin();
        }
        if self.under_way.is_none() {
            self.under_way = Some(self.next(goodbye)?);
        }
        let append = self.under_way.as_ref().map(|under_way| &under_way.append);
        let answer = self.log.exchange(self.state.position(), append)?;
        self.recovered();
        match answer {
            Exchanged::Entries { entries, log_bytes, .. } => {
                self.shared.counts.log_bytes.store(log_bytes, Ordering::Relaxed);
                self.read_back(entries)
            }
            Exchanged::Broken { incarnation } if incarnation <= self.state.position().incarnation => {
                tracing::error!("the log is not what it was: a new one begins with the rooms as this gate has them");
                self.prepare(incarnation, 0, From::Rooms)?;
                Ok(Turn::Done)
            }
            Exchanged::Moved | Exchanged::Broken { .. } => self.reload(),
        }
    }

    /// The next batch, for the log to take as often as it must be sent.
    pub(super) fn next(&mut self, goodbye: bool) -> Result<UnderWay, Unavailable> {
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(|error| Unavailable(error.to_string()))?;
        let view = self.shared.load();
        let (mut batch, waiters) = self
            .collector
            .cut(|room| view.rooms.get(room).map_or(0, |room| room.revision));
        batch.hello = self.hello;
        batch.root = self.root;
        batch.goodbye = goodbye && self.collector.is_empty();
        self.serial += 1;
        let append = Append {
            gate: self.gate,
            serial: self.serial,
            nonce,
            version: VERSION,
            batch,
        };
        Ok(UnderWay {
            append,
            waiters,
            ignored: 0,
        })
    }

    pub(super) fn read_back(&mut self, entries: Vec<Entry>) -> Result<Turn, Unavailable> {
        let mut mine = None;
        for entry in entries {
            if !follows(&self.state, &entry) {
                tracing::error!(position = ?entry.position, "the log tells another history: loading it anew");
                return self.reload();
            }
            let Some(effects) = guarded(self.apply, &mut self.state, &entry) else {
                tracing::error!(position = ?entry.position, "an entry cannot be applied: the rooms stand still before it");
                return Ok(Turn::Frozen);
            };
            self.count(&entry, &effects);
            let ours = self
                .under_way
                .as_ref()
                .is_some_and(|sent| sent.append.serial == entry.serial);
            if ours && entry.gate == self.gate && mine.is_none() {
                mine = Some(effects);
            }
        }
        self.publish();
        if let Some(effects) = mine {
            self.settle(&effects);
        }
        self.checkpoint();
        Ok(Turn::Done)
    }

    pub(super) fn count(&mut self, entry: &Entry, effects: &Effects) {
        let counts = &self.shared.counts;
        counts.entries.fetch_add(1, Ordering::Relaxed);
        counts.skipped.fetch_add(u64::from(effects.skipped), Ordering::Relaxed);
        self.time = entry.time;
        self.heard = time::uptime();
        let idle = entry.batch.sections.is_empty() && entry.batch.rooms.is_empty();
        self.saved.bytes += ENTRY_BYTES + if idle { 0 } else { entry.batch.encoded_len() as u64 };
        self.saved.changed |= !idle || self.state.tick_ms() < IDLE_TICK_MS;
    }

    /// The batch under way is in the log: answer who waited for it. One that the room passed over, because the gate had
    /// been silent for so long that it was off the roster, goes again with a hello.
    pub(super) fn settle(&mut self, effects: &Effects) {
        let Some(mut sent) = self.under_way.take() else { return };
        self.shared.read_back();
        self.shared.counts.appends.fetch_add(1, Ordering::Relaxed);
        if effects.ignored && sent.ignored < IGNORED_MAX {
            self.serial += 1;
            sent.append.serial = self.serial;
            sent.append.batch.hello = true;
            sent.ignored += 1;
            self.under_way = Some(sent);
            return;
        }
        self.hello = effects.ignored;
        if effects.ignored {
            // Dropped waiters are told to come again.
            self.rest(&Unavailable("the rooms do not know this gate".into()));
            return;
        }
        self.root = None;
        for visitor in sent.waiters.resolve(effects, &self.shared.load()) {
            // Where there is no room for it, the place is gone after `firm_within` all the same.
            let _ = self.collector.note(Noted {
                visitor,
                note: Note::Leave,
                recorded: None,
            });
        }
        let _ = self.ready.try_send(());
    }
}

/// Times that a batch goes again because the gate was off the roster.
const IGNORED_MAX: u8 = 3;

/// Bytes of an entry around its batch, about.
const ENTRY_BYTES: u64 = 64;

/// A tick as slow as this means that all rooms are empty.
const IDLE_TICK_MS: u64 = 4_000;
