//! Load reports about the upstream that no batch has taken yet, one for each room that has load control.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::sizes::{REPORT_BYTES, Space};
use crate::room::{Batch, Report, Reported, RoomName};

#[derive(Default)]
pub(super) struct Reports {
    held: BTreeMap<RoomName, Report>,
    /// The room of the last report that was sent.
    last: Option<RoomName>,
}

impl Reports {
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether a report says more than that the gate exists; the others wait for the next batch.
    pub fn tell(&self) -> bool {
        self.held.values().any(Report::tells)
    }

    /// Adds new observations to those that have not been sent yet.
    pub fn add(&mut self, reports: Vec<Reported>) {
        for (room, report) in reports {
            self.held.entry(room).or_default().absorb(&report);
        }
    }

    /// A few go with each batch, rooms by turns: however many there are, they keep no visitor, and none of them is left out.
    pub fn cut(&mut self, space: &mut Space, batch: &mut Batch) {
        while batch.load.len() < MAX_REPORTS && !self.held.is_empty() && space.takes(REPORT_BYTES) {
            let behind = self.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
            let next = self.held.range((behind, Bound::Unbounded)).next();
            let Some(name) = next.or(self.held.first_key_value()).map(|(name, _)| name.clone()) else {
                break;
            };
            batch.load.extend(self.held.remove_entry(&name));
            self.last = Some(name);
        }
        batch.load.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    }
}

/// Most reports in one batch: a fourth of it.
const MAX_REPORTS: usize = 64;
