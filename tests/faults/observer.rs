//! A reader that follows the log all the time, as a gate does, and writes nothing.
//!
//! It has nearly always read the entries that a store loses, so the ledger knows the numbers that visitors had been given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ropeline::room::{Encoded, Entry, Position, Root, State};
use ropeline::store::{Exchanged, Log, Rootless, Snapshot};

use crate::crowd::ledger::Ledger;

/// A log from its first entry on.
struct Life {
    epoch: u64,
    /// The state from which it starts.
    root: Option<Snapshot>,
    entries: Vec<Entry>,
}

/// The reader's thread.
pub struct Observer {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Life>>,
}

impl Observer {
    /// Begins to read, from the first entry on.
    pub fn follow(log: Box<dyn Log>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || follow(log, &stopped));
        Self { stop, thread }
    }

    /// Reads to the end of the log and judges all entries.
    pub fn judge(self, capacity: u64) -> Ledger {
        self.stop.store(true, Ordering::Release);
        judge(&self.thread.join().unwrap(), capacity)
    }
}

fn follow(mut log: Box<dyn Log>, stop: &AtomicBool) -> Vec<Life> {
    let (mut lives, mut at): (Vec<Life>, Position) = Default::default();
    loop {
        let last_look = stop.load(Ordering::Acquire);
        match log.exchange(at, None) {
            Ok(Exchanged::Entries { entries, .. }) if !entries.is_empty() => {
                at = entries[entries.len() - 1].position;
                let life = lives.last_mut().unwrap();
                life.entries.extend(entries.into_iter().map(Encoded::into_entry));
                find_root(log.as_mut(), life);
                continue;
            }
            Ok(Exchanged::Broken { epoch }) if epoch > at.epoch => {
                at = Position { epoch, sequence: 0 };
                lives.push(Life {
                    epoch,
                    root: None,
                    entries: Vec::new(),
                });
                continue;
            }
            Ok(Exchanged::Moved) => panic!("the log was trimmed behind {at:?} before it was read"),
            // No new entries; or the store is gone, or has forgotten and no gate has begun a new log yet.
            Ok(_) | Err(_) => {}
        }
        if let Some(life) = lives.last_mut() {
            find_root(log.as_mut(), life);
        }
        if last_look {
            return lives;
        }
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Of the roots that count, the first that loads is the log's; while the store fails it is looked for again. A gate may have named
/// one when it was not its turn any more, which does not count.
fn find_root(log: &mut dyn Log, life: &mut Life) {
    if life.root.is_some() {
        return;
    }
    let mut sum = Rootless::new(life.epoch);
    life.entries.iter().for_each(|entry| sum.apply(entry));
    for hash in sum.roots() {
        let Ok(root) = log.root(hash) else { return };
        life.root = root.filter(|root| State::decode(&root.state).is_ok());
        if life.root.is_some() {
            return;
        }
    }
}

fn judge(lives: &[Life], capacity: u64) -> Ledger {
    let mut ledger = Ledger::shared(capacity);
    let mut read = Position::default();
    for life in lives {
        let Some(root) = &life.root else {
            ledger.unread += life.entries.len() as u64;
            continue;
        };
        let mut state = State::decode(&root.state).unwrap();
        state.begin(life.epoch, Root::Hash(root.hash()));
        if root.position.epoch == read.epoch {
            ledger.unread += root.position.sequence.saturating_sub(read.sequence);
        }
        ledger.new_root(&mut state, root.position < read);
        for entry in &life.entries {
            ledger.entry(&mut state, &entry.clone().into());
        }
        read = life.entries.last().map_or(read, |last| last.position);
    }
    ledger
}
