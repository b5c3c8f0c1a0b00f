//! All rooms of one log, and the roster: the replicated state.

use std::sync::Arc;

use super::entry::{Batch, Effects, Entry};
use super::ids::Position;
use super::view::View;

/// Bytes that are not a state, or not one of a version this binary reads.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the bytes are no {what} that this version reads (at byte {at})")]
pub struct DecodeError {
    pub what: &'static str,
    pub at: usize,
}

/// The replicated state: made by applying a log's entries in order, the same on every gate.
#[derive(Debug)]
pub struct State {}

impl State {
    /// The rooms of a log begun from nothing: no rooms, first call 5 s after the first entry.
    #[must_use]
    pub fn empty(incarnation: u64) -> Self {
        let _ = incarnation;
        todo!()
    }

    /// The same rooms under a new log (`incarnation` above the present one): a new era for every lane, its base 2^20
    /// places behind the end of the one before; roster empty; sessions, marks and places kept.
    pub fn begin(&mut self, incarnation: u64) {
        let _ = incarnation;
        todo!()
    }

    /// Applies one entry. Total and deterministic.
    pub fn apply(&mut self, entry: &Entry) -> Effects {
        let _ = entry;
        todo!()
    }

    #[must_use]
    pub fn position(&self) -> Position {
        todo!()
    }

    /// The nonce of the last entry applied, which the next names as its predecessor's.
    #[must_use]
    pub fn nonce(&self) -> [u8; 8] {
        todo!()
    }

    /// Publishes what the request path reads; lines that did not change are shared with the last one.
    pub fn view(&mut self) -> Arc<View> {
        todo!()
    }

    /// How soon an empty entry is due if nobody says anything: 250 ms with a line, 1 s with sessions only, 4 s when all
    /// is empty.
    #[must_use]
    pub fn tick_ms(&self) -> u64 {
        todo!()
    }

    /// The state as bytes: a snapshot.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        todo!()
    }

    /// # Errors
    /// When the bytes are cut, altered beyond sense, or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let _ = bytes;
        todo!()
    }

    /// SHA-256 over the encoded state: equal on every replica that has applied the same entries.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        todo!()
    }
}

impl Entry {
    /// The entry as the log stores it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        todo!()
    }

    /// # Errors
    /// When the bytes are not an entry of a version that this binary reads.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let _ = bytes;
        todo!()
    }
}

impl Batch {
    /// Bytes of the encoded batch, for keeping under [`super::MAX_BATCH_BYTES`].
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        todo!()
    }
}
