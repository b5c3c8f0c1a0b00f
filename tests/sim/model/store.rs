//! The store that gates share, as a model: a server's data, the effect of a call, and the loss in a crash.
//!
//! It implements exactly the contract of `store::Log` for a shared store. Servers are copied cheaply, so that a dump, a
//! lagging replica and a second master are each a copy of an earlier moment.

use std::collections::VecDeque;
use std::sync::Arc;

use ropeline::room::{Encoded, Entry, Position, StateHash, Wall};
use ropeline::store::{Append, Beginning, Begun, Exchanged, Loaded, Occasion, Skips, Snapshot};

use super::world::Time;

/// One server: its data, and the earlier data that it could fall back to.
#[derive(Clone)]
pub struct Server {
    /// The machine that it runs on.
    pub host: u64,
    /// Another one after every restart and promotion.
    pub replication: u64,
    /// How far its clock is ahead of the world's.
    pub clock_ms: i64,
    /// It does not answer before.
    pub asleep_until: Time,
    /// Connections are refused.
    pub down: bool,
    /// It has no room for a snapshot before.
    pub full_until: Time,
    /// How long entries are kept behind the snapshot.
    pub keep_ms: u64,
    data: Data,
    /// Its data after each of the last calls that changed something, and now and then before that.
    past: VecDeque<(Time, Data)>,
    pub flaw: Option<Flaw>,
}

/// A rule that the store is made to break, to check that this is detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    ReplicationUnchecked,
    OldestSnapshotKept,
    TrimsPastTheSnapshot,
}

#[derive(Clone, Default)]
struct Data {
    epoch: u64,
    /// In runs of [`RUN`], so that a copy shares them.
    runs: Vec<Arc<Vec<Arc<Entry>>>>,
    /// Sequence of the first entry of the first run.
    first: u64,
    tail: u64,
    nonce: [u8; 8],
    /// The server's replication id when the log began.
    replication: u64,
    /// Entries up to this one are gone.
    trimmed: u64,
    snapshot: Option<Arc<Snapshot>>,
    roots: Vec<(StateHash, Arc<Snapshot>)>,
    skips: Vec<Position>,
}

const RUN: usize = 64;
/// Entries that one call returns; the real store's first answers are as short.
const READ_MOST: usize = 64;
/// Calls that a crash can take back one by one, and moments kept before them.
const CALLS_KEPT: usize = 200;

impl Server {
    pub fn new(host: u64, replication: u64) -> Self {
        Self {
            host,
            replication,
            clock_ms: 0,
            asleep_until: 0,
            down: false,
            full_until: 0,
            keep_ms: 60_000,
            data: Data::default(),
            past: VecDeque::new(),
            flaw: None,
        }
    }

    pub fn wall(&self, now: Time) -> Wall {
        let ms = i64::try_from(EPOCH_MS + now / 1_000).unwrap_or(i64::MAX);
        Wall(u64::try_from(ms.saturating_add(self.clock_ms)).unwrap_or(0))
    }

    pub fn end(&self) -> Position {
        Position {
            epoch: self.data.epoch,
            sequence: self.data.tail,
        }
    }

    /// How long ago the oldest entry that is kept was appended, in milliseconds.
    pub fn reaches_back(&self, now: Time) -> u64 {
        let oldest = self.data.get(self.data.trimmed + 1);
        oldest.map_or(0, |entry| self.wall(now).0.saturating_sub(entry.time.0))
    }

    /// The entry is new if the call appended one.
    pub fn exchange(
        &mut self,
        at: Position,
        append: Option<&Append>,
        reads: u16,
        now: Time,
    ) -> (Exchanged, Option<Arc<Entry>>) {
        let broken = Exchanged::Broken { epoch: self.data.epoch };
        let behind = self.data.tail < at.sequence;
        let another = self.data.epoch != at.epoch || at.epoch == 0;
        if another || behind || self.is_other_life() {
            return (broken, None);
        }
        let added = append.map(|append| self.add(append, now));
        (self.data.read(at, reads), added)
    }

    /// The tail is of a life of the server that is over.
    fn is_other_life(&self) -> bool {
        self.data.replication != self.replication && self.flaw != Some(Flaw::ReplicationUnchecked)
    }

    fn add(&mut self, append: &Append, now: Time) -> Arc<Entry> {
        let entry = Arc::new(Entry {
            position: Position {
                epoch: self.data.epoch,
                sequence: self.data.tail + 1,
            },
            gate: append.gate,
            serial: append.serial,
            previous: self.data.nonce,
            nonce: append.nonce,
            time: self.wall(now),
            version: append.version,
            batch: append.batch.clone(),
        });
        self.remember(now);
        self.data.push(Arc::clone(&entry));
        entry
    }

    pub fn save(&mut self, snapshot: Snapshot, occasion: Occasion, now: Time) {
        self.remember(now);
        let snapshot = Arc::new(snapshot);
        if occasion == Occasion::Root {
            self.data.roots.push((snapshot.hash(), snapshot));
            return;
        }
        let Position { epoch, sequence } = snapshot.position;
        let of_this_log = epoch == self.data.epoch;
        let kept = self.data.saved();
        let later = kept.is_none_or(|kept| sequence > kept && self.flaw != Some(Flaw::OldestSnapshotKept));
        if of_this_log && later && sequence <= self.data.tail {
            self.data.snapshot = Some(snapshot);
        }
        self.trim(now);
    }

    /// Drops entries older than a minute, never past the snapshot.
    fn trim(&mut self, now: Time) {
        let Some(saved) = self.data.saved() else { return };
        let wall = self.wall(now).0;
        let (base, old) = match self.flaw {
            Some(Flaw::TrimsPastTheSnapshot) => (self.data.tail, wall),
            _ => (saved, wall.saturating_sub(self.keep_ms)),
        };
        while self.data.trimmed < base
            && self
                .data
                .get(self.data.trimmed + 1)
                .is_none_or(|entry| entry.time.0 <= old)
        {
            self.data.trimmed += 1;
        }
        self.data.drop_runs();
    }

    pub fn load(&self, now: Time) -> Loaded {
        let data = &self.data;
        let kept = data.snapshot.as_ref().map_or(0, |kept| kept.position.epoch);
        Loaded {
            epoch: data.epoch,
            last_known: data.epoch.max(kept),
            clean: data.epoch != 0,
            torn: false,
            time: self.wall(now),
            skips: data.skips.clone(),
            snapshots: data.snapshot.iter().map(|kept| Snapshot::clone(kept)).collect(),
        }
    }

    pub fn root(&self, hash: &StateHash) -> Option<Snapshot> {
        let found = self.data.roots.iter().find(|(kept, _)| kept == hash);
        found.map(|(_, snapshot)| Snapshot::clone(snapshot))
    }

    pub fn begin(&mut self, seen: u64, beginning: &Beginning, now: Time) -> (Begun, Option<Arc<Entry>>) {
        let (epoch, append) = match beginning {
            // Sent again, because the answer was lost.
            Beginning::First { epoch, .. } if self.data.epoch == *epoch => {
                return (Begun::Begun, None);
            }
            Beginning::First { epoch, append } if self.data.epoch == seen => (*epoch, append),
            _ => {
                let epoch = self.data.epoch;
                return (Begun::Lost { epoch }, None);
            }
        };
        self.remember(now);
        self.data = Data {
            epoch,
            first: 1,
            replication: self.replication,
            roots: std::mem::take(&mut self.data.roots),
            // It may be all that there is, until the new log has one.
            snapshot: self.data.snapshot.take(),
            ..Data::default()
        };
        (Begun::Begun, Some(self.add(append, now)))
    }

    pub fn skip(&mut self, position: Position, now: Time) {
        self.remember(now);
        if !self.data.skips.contains(&position) {
            self.data.skips.push(position);
        }
    }

    pub fn skips(&self) -> Skips {
        Skips {
            epoch: self.data.epoch,
            positions: self.data.skips.clone(),
        }
    }

    /// The server comes up again, without its last `lost` changes.
    pub fn restart(&mut self, lost: usize, replication: u64) {
        let at = self.past.len().saturating_sub(lost);
        if lost > 0
            && let Some((_, data)) = self.past.get(at)
        {
            self.data = data.clone();
            self.past.truncate(at);
        }
        self.replication = replication;
        self.down = false;
    }

    /// The server comes up again with its data at that time, or the earliest that is kept.
    pub fn restore(&mut self, at: Time, replication: u64) {
        let kept = self.past.iter().rposition(|(kept, _)| *kept <= at).unwrap_or(0);
        self.restart(self.past.len().saturating_sub(kept), replication);
    }

    /// Everything is deleted, by a command: the server's life goes on.
    pub fn flush(&mut self, now: Time) {
        self.remember(now);
        self.data = Data::default();
    }

    /// A replica that lags `lost` changes behind and is made a master.
    pub fn promoted(&self, host: u64, lost: usize, replication: u64) -> Self {
        let mut other = self.clone();
        other.host = host;
        other.restart(lost, replication);
        other
    }

    fn remember(&mut self, now: Time) {
        self.past.push_back((now, self.data.clone()));
        if self.past.len() > 2 * CALLS_KEPT {
            // Of older states, every eighth is enough for an old dump.
            let (old, new) = (
                self.past.len() - CALLS_KEPT,
                self.past.split_off(self.past.len() - CALLS_KEPT),
            );
            let thin = self
                .past
                .drain(..)
                .enumerate()
                .filter(|(i, _)| i % 8 == 0 || *i < old / 2);
            self.past = thin.map(|(_, moment)| moment).chain(new).collect();
            let surplus = self.past.len().saturating_sub(2 * CALLS_KEPT);
            self.past.drain(..surplus);
        }
    }
}

impl Data {
    fn push(&mut self, entry: Arc<Entry>) {
        self.tail = entry.position.sequence;
        self.nonce = entry.nonce;
        match self.runs.last_mut() {
            Some(run) if run.len() < RUN => Arc::make_mut(run).push(entry),
            _ => self.runs.push(Arc::new(vec![entry])),
        }
    }

    /// The sequence of this log's own snapshot.
    fn saved(&self) -> Option<u64> {
        let at = self.snapshot.as_ref()?.position;
        (at.epoch == self.epoch).then_some(at.sequence)
    }

    fn get(&self, sequence: u64) -> Option<&Arc<Entry>> {
        let at = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        self.runs.get(at / RUN)?.get(at % RUN)
    }

    fn read(&self, at: Position, reads: u16) -> Exchanged {
        if at.sequence < self.trimmed {
            return Exchanged::Moved;
        }
        let after = (at.sequence + 1..=self.tail).filter_map(|sequence| self.get(sequence));
        let entries: Vec<Encoded> = after
            .take(READ_MOST)
            .take_while(|entry| entry.version <= reads)
            .map(|entry| Entry::clone(entry).into())
            .collect();
        let next = entries.last().map_or(at.sequence, |entry| entry.position.sequence) + 1;
        let newer = self
            .get(next)
            .map(|entry| entry.version)
            .filter(|version| *version > reads);
        Exchanged::Entries {
            entries,
            log_bytes: 100 * (self.tail - self.trimmed),
            newer,
            more: next <= self.tail,
        }
    }

    fn drop_runs(&mut self) {
        let run = u64::try_from(RUN).unwrap_or(1);
        while self.first + run <= self.trimmed && self.runs.len() > 1 {
            self.runs.remove(0);
            self.first += run;
        }
    }
}

/// Where the world's clock begins.
pub const EPOCH_MS: u64 = 1_800_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline::room::{Batch, GateId, VERSION};
    use ropeline::store::next_epoch;

    fn append(serial: u64) -> Append {
        Append {
            gate: GateId(7),
            serial,
            nonce: serial.to_le_bytes(),
            version: VERSION,
            batch: Batch::default(),
        }
    }

    fn begun() -> (Server, u64) {
        let mut server = Server::new(0, 1);
        let epoch = next_epoch(0, server.wall(0), 5).unwrap();
        let append = Box::new(append(1));
        let first = Beginning::First { epoch, append };
        assert_eq!(server.begin(0, &first, 0).0, Begun::Begun);
        assert_eq!(server.begin(0, &first, 0), (Begun::Begun, None));
        (server, epoch)
    }

    #[test]
    fn a_crash_takes_the_last_changes_back_and_ends_the_log() {
        let (mut server, epoch) = begun();
        let at = |sequence| Position { epoch, sequence };
        for serial in 2..=300 {
            server.exchange(at(serial - 1), Some(&append(serial)), VERSION, serial);
        }
        assert_eq!(server.end(), at(300));
        let mut lost = server.promoted(1, 3, 2);
        assert_eq!(lost.end(), at(297));
        let (answer, added) = lost.exchange(at(297), Some(&append(301)), VERSION, 400);
        assert!(matches!(answer, Exchanged::Broken { .. }) && added.is_none());
        assert!(matches!(
            lost.exchange(at(299), None, VERSION, 400).0,
            Exchanged::Broken { .. }
        ));
        assert!(
            matches!(server.exchange(at(299), None, VERSION, 400).0, Exchanged::Entries { entries, .. } if entries.len() == 1)
        );
        server.restore(150, 9);
        assert!(server.end().sequence < 160, "{:?}", server.end());
    }

    #[test]
    fn what_is_trimmed_lies_behind_the_snapshot_and_has_moved() {
        let (mut server, epoch) = begun();
        let at = |sequence| Position { epoch, sequence };
        for serial in 2..=100 {
            server.exchange(at(1), Some(&append(serial)), VERSION, serial * 1_000_000);
        }
        let snapshot = Snapshot {
            position: at(50),
            nonce: [0; 8],
            time: Wall(0),
            state: vec![1],
        };
        server.save(snapshot, Occasion::Checkpoint, 200_000_000);
        assert_eq!(server.exchange(at(49), None, VERSION, 0).0, Exchanged::Moved);
        assert!(
            matches!(server.exchange(at(50), None, VERSION, 0).0, Exchanged::Entries { entries, .. } if entries.len() == 50)
        );
    }
}
