//! The earliest issue date for which the set of used codes is complete. A single-use code that was issued before is not taken,
//! since a log that was lost may have seen it used.
//!
//! A certain loss is permanent: a log begun from nothing, however new its folder is, or a room that was removed. Uses of
//! codes that only a silent gate has read come back with that gate, if it comes back.

use std::collections::BTreeMap;

use crate::codec::codec;
use crate::state::rooms::MAX_ROOMS;
use ropeline_ids::{GateId, RoomName, Wall};

/// Codes issued until then may have been used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CodesCutoff {
    /// Those of all rooms; [`UNSET`] before the first entry of a log begun from nothing.
    all: Wall,
    /// Of rooms that were removed since, with their spent codes.
    removed: BTreeMap<RoomName, Wall>,
    /// For entries that only silent gates may have read when the log began.
    gates: BTreeMap<GateId, Wall>,
}

codec! {
    struct CodesCutoff { all, removed, gates };
}

/// The log's first entry says when it began.
const UNSET: Wall = Wall(u64::MAX);

/// Gates that are waited for at most, as on the roster.
const MAX_GATES: usize = 1_000;

impl CodesCutoff {
    /// Of a log begun from nothing.
    pub fn new(codes_are_known: bool) -> Self {
        Self {
            all: if codes_are_known { Wall(0) } else { UNSET },
            ..Self::default()
        }
    }

    pub fn settle(&mut self, now: Wall) {
        if self.all == UNSET {
            self.all = now;
        }
    }

    pub fn of(&self, room: &RoomName) -> Wall {
        let gates = self.gates.values().copied().max().unwrap_or_default();
        let removed = self.removed.get(room).copied().unwrap_or_default();
        self.all.max(gates).max(removed)
    }

    /// All uses of codes until now may be unknown.
    pub fn all(&mut self, now: Wall) {
        self.all = self.all.max(now);
    }

    /// A room is removed, with its spent codes.
    pub fn remove(&mut self, room: &RoomName, now: Wall) {
        if self.removed.len() >= MAX_ROOMS && !self.removed.contains_key(room) {
            self.all = self.all.max(now);
        } else {
            let at = self.removed.entry(room.clone()).or_default();
            *at = now.max(*at);
        }
    }

    /// A log begins without the entries of the one before that this gate may have read.
    pub fn miss(&mut self, gate: GateId, now: Wall) {
        if self.gates.len() >= MAX_GATES {
            self.all = self.all.max(now);
        } else {
            let at = self.gates.entry(gate).or_default();
            *at = now.max(*at);
        }
    }

    /// The gate has reported its knowledge.
    pub fn hear(&mut self, gate: GateId) {
        self.gates.remove(&gate);
    }
}
