//! Where the log stands: the position of the last entry, its nonce and time, and the chain over all of them.

use crate::codec::codec;
use crate::entry::Entry;
use crate::state::chain::Chain;
use ropeline_ids::{Position, Wall};

/// Most that one entry advances the clock: an outage or a clock step costs this much of everybody's time, no more.
const MAX_STEP_MS: u64 = 5_000;

#[derive(Debug)]
pub(super) struct Head {
    position: Position,
    nonce: [u8; 8],
    /// Over every entry up to the position, and over the logs before.
    chain: Chain,
    /// The store's time of the last entry.
    time: Option<Wall>,
}

codec! {
    struct Head { position, nonce, chain, time };
}

/// The facts of an entry that do not depend on its content.
pub(super) struct Step {
    pub passed_ms: u64,
    pub bytes: u64,
}

impl Head {
    /// Before the first entry of a log.
    pub fn new(epoch: u64) -> Self {
        Self {
            position: Position { epoch, sequence: 0 },
            nonce: [0; 8],
            chain: Chain::begin(epoch, Chain::default()),
            time: None,
        }
    }

    /// A new log begins. Time goes on from the last entry of the log before.
    pub fn begin(&mut self, epoch: u64) {
        *self = Self {
            chain: Chain::begin(epoch, self.chain),
            time: self.time,
            ..Self::new(epoch)
        };
    }

    pub fn position(&self) -> Position {
        self.position
    }

    pub fn nonce(&self) -> [u8; 8] {
        self.nonce
    }

    pub fn chain(&self) -> Chain {
        self.chain
    }

    pub fn time(&self) -> Option<Wall> {
        self.time
    }

    /// Whether the entry is a later one of this log.
    pub fn is_next(&self, entry: &Entry) -> bool {
        entry.position.epoch == self.position.epoch && entry.position > self.position
    }

    /// Goes on to the entry with these bytes.
    pub fn step(&mut self, entry: &Entry, bytes: &[u8], passed_over: bool) -> Step {
        // The store's clock may step; only how far it went since the entry before counts, and only forwards.
        let passed_ms = entry.time.since(self.time.unwrap_or(entry.time)).min(MAX_STEP_MS);
        self.time = Some(entry.time);
        self.position = entry.position;
        self.nonce = entry.nonce;
        self.chain = self.chain.then(bytes, passed_over);
        Step {
            passed_ms,
            bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        }
    }
}
