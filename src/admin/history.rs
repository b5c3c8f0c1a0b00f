//! Figures of each room over the last hours, sampled every ten seconds and kept in memory.
//!
//! They are for plots and end with the process; `ropeline report` reads the archive of the log.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::api;
use crate::admin::view;
use crate::replica::Replica;
use crate::room::{RoomName, View, Wall};
use crate::time;

/// The recent figures; clones are the same.
#[derive(Clone, Debug)]
pub struct History(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    every: Duration,
    rooms: Mutex<BTreeMap<RoomName, VecDeque<Sample>>>,
}

/// A room at one moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at_secs: u64,
    waiting: u32,
    called: u32,
    inside: u32,
    capacity: u32,
    calls: u64,
    no_shows: u64,
}

/// Ends the sampling when dropped.
pub struct Sampling {
    _stop: SyncSender<()>,
}

impl History {
    pub fn new(every: Duration) -> Self {
        Self(Arc::new(Inner {
            every,
            rooms: Mutex::default(),
        }))
    }

    /// Samples the rooms from now on, on a thread of its own.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn follow(&self, replica: Replica) -> std::io::Result<Sampling> {
        let (stop, stopped) = sync_channel::<()>(1);
        let history = self.clone();
        let sample = move || {
            loop {
                history.take(&replica.view(), time::wall());
                if stopped.recv_timeout(history.0.every) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        thread::Builder::new().name("history".into()).spawn(sample)?;
        Ok(Sampling { _stop: stop })
    }

    /// Records the present state of every room. Removed rooms are forgotten.
    fn take(&self, view: &View, now: Wall) {
        let mut rooms = self.0.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.retain(|name, _| view.rooms.contains_key(name));
        let most = (MAX_SAMPLES / view.rooms.len().max(1)).clamp(1, MOST_OF_ROOM);
        for (name, room) in &view.rooms {
            let samples = rooms.entry(name.clone()).or_default();
            samples.push_back(Sample::of(&view::room::total(room), now));
            let over = samples.len().saturating_sub(most);
            samples.drain(..over);
        }
    }

    pub fn of(&self, room: &RoomName) -> api::History {
        let rooms = self.0.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let samples = rooms.get(room).into_iter().flatten();
        let mut told = api::History {
            every_secs: self.0.every.as_secs().max(1),
            ..api::History::default()
        };
        for sample in samples {
            told.at.push(sample.at_secs);
            told.waiting.push(sample.waiting);
            told.called.push(sample.called);
            told.inside.push(sample.inside);
            told.capacity.push(sample.capacity);
            told.calls.push(sample.calls);
            told.no_shows.push(sample.no_shows);
        }
        told
    }
}

impl Sample {
    fn of(figures: &api::Figures, now: Wall) -> Self {
        let short = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            at_secs: now.0 / 1_000,
            waiting: short(figures.waiting),
            called: short(figures.called),
            inside: short(figures.sessions),
            capacity: short(figures.capacity),
            calls: figures.calls,
            no_shows: figures.no_shows,
        }
    }
}

/// Six hours of samples, ten seconds apart.
const MOST_OF_ROOM: usize = 2_160;

/// Samples of all rooms, 48 bytes each: with more than 185 rooms each has fewer hours.
const MAX_SAMPLES: usize = 400_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Settings;
    use crate::room::testing::Hand;

    #[test]
    fn the_last_hours_are_kept_and_no_more() {
        let mut hand = Hand::with_room(Settings::default());
        let history = History::new(Duration::from_secs(10));
        for i in 0..2_500 {
            history.take(&hand.state.view(), Wall(10_000 * i));
        }
        let told = history.of(&Hand::room());
        assert_eq!(
            (told.at.len(), told.at.first(), told.at.last()),
            (2_160, Some(&3_400), Some(&24_990))
        );
        assert_eq!(
            (told.capacity.len(), told.capacity[0], told.every_secs),
            (2_160, 100, 10)
        );
        history.take(&View::default(), Wall(0));
        assert!(history.of(&Hand::room()).at.is_empty(), "the room is gone");
    }
}
