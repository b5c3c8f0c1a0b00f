//! Two histories of the same rooms, one of which brings back what the other lost.

use ropeline_room::{Adopt, Change, Epoch, Mode, Number, Overrides, Root, Settings, State};

use ropeline_room::testing::log::{EPOCH, Log, settings};

/// Rooms that waited, and two histories of them: `old` goes on, `new` begins a log with them as they were.
pub struct Fork {
    pub old: Log,
    pub new: Log,
}

impl Fork {
    pub fn of(log: Log) -> Self {
        let mut new = log.fork();
        new.state.begin(EPOCH + 100, Root::Own);
        new.rejoin();
        Self { old: log, new }
    }

    /// Everything was lost but the old gate; `new` was begun from nothing.
    pub fn of_nothing(log: Log, settings: Settings) -> Self {
        let mut new = Log::of(State::empty(EPOCH + 100), settings);
        new.time = log.time;
        Self { old: log, new }
    }

    /// The old gate brings its knowledge back; returns how many items were skipped.
    pub fn bring(&mut self) -> u32 {
        let batches = self.old.state.adoption(&self.new.state);
        assert!(!batches.is_empty());
        batches.into_iter().map(|batch| self.new.apply(0, batch).skipped).sum()
    }

    pub fn aheads(&mut self, numbers: &[Number]) -> Vec<Option<u64>> {
        numbers.iter().map(|number| self.new.ahead(*number)).collect()
    }
}

pub fn held(capacity: u32) -> Settings {
    Settings {
        mode: Mode::Hold,
        ..settings(capacity)
    }
}

pub fn go(log: &mut Log) {
    log.change(Change::Override(Overrides {
        mode: Some(Mode::Auto),
        ..Overrides::default()
    }));
}

pub fn adopt(epoch: u64, done: bool) -> Adopt {
    Adopt {
        epoch: Epoch(epoch),
        sequence: 1_000,
        floor: 0,
        whole: done,
        done,
    }
}
