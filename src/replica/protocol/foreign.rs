//! Epochs of genuine tokens above the rooms' own: a store that lost its last entries gave them before.

use std::time::Duration;

use crate::room::{State, Wall};
use crate::store::next_epoch;

#[derive(Default)]
pub(super) struct Foreign {
    /// When the last log was begun for a token of a foreign epoch.
    begun: Option<Duration>,
}

impl Foreign {
    /// The `highest` epoch seen elsewhere, if a new log is to begin above it.
    ///
    /// With two masters, each with its own gates and visitors, every visitor who crosses brings such a token: a new log now
    /// and then is enough.
    pub fn epoch(&self, highest: u64, state: &State, time: Wall, now: Duration) -> Option<u64> {
        if self.begun.is_some_and(|last| now < last + AGAIN) {
            return None;
        }
        let possible = next_epoch(highest, time, u32::MAX).is_some();
        (highest > state.position().epoch && possible).then_some(highest)
    }

    /// A log begins for one.
    pub fn begins(&mut self, now: Duration) {
        self.begun = Some(now);
    }
}

/// Shortest time between two logs begun for tokens of foreign epochs.
const AGAIN: Duration = Duration::from_secs(30);
