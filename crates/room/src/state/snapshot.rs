//! The state as bytes, and its hash.
//!
//! The bytes end in a checksum, so that altered bytes are not taken for a state. The hash, by which gates compare states,
//! name roots and find snapshots, covers all of them. Data that follows from the rest (presence, deadlines, schedules) is not
//! written.

use sha2::{Digest, Sha256};

use crate::codec::{DecodeError, Read, Reader, Writer};
use crate::entry::StateHash;
use crate::state::State;
use crate::state::head::Head;

/// The snapshot's form.
const FORM: u16 = 1;

/// SHA-256 of everything before it.
const SUM_BYTES: usize = 32;

impl State {
    /// The state as bytes: the content of a snapshot.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.put(&FORM);
        w.put(&self.head);
        w.put(&self.versions);
        w.put(&self.checkpoints);
        w.put(&self.recovery);
        w.put(&self.context);
        w.put(&self.roster);
        w.put(&self.rooms);
        let sum = sha256(&w.bytes);
        w.raw(&sum);
        w.bytes
    }

    /// # Errors
    /// When the bytes are cut, altered, or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let wrong = DecodeError {
            what: "snapshot",
            at: 0,
        };
        let (body, sum) = bytes.split_last_chunk::<SUM_BYTES>().ok_or(wrong)?;
        let mut r = Reader::new(body, "snapshot");
        if sha256(body) != *sum || r.get::<u16>()? != FORM {
            return r.wrong();
        }
        let state = read(&mut r)?;
        r.finish().map(|()| state)
    }

    /// [`State::hash_of`] the state's bytes: equal on every replica that has applied the same entries. Costs an encoding.
    #[must_use]
    pub fn hash(&self) -> StateHash {
        Self::hash_of(&self.encode())
    }

    /// The machine version of a state as [`State::encode`] wrote it, from its first bytes; `None` for bytes that begin otherwise.
    #[must_use]
    pub fn version_of(encoded: &[u8]) -> Option<u16> {
        let mut r = Reader::new(encoded, "snapshot");
        let form = r.get::<u16>().ok()?;
        r.get::<Head>().ok()?;
        let version = r.get::<u16>().ok()?;
        (form == FORM).then_some(version)
    }

    /// SHA-256 over a state as [`State::encode`] wrote it, checksum included: the one hash of votes, roots and snapshots.
    #[must_use]
    pub fn hash_of(encoded: &[u8]) -> StateHash {
        sha256(encoded)
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn read(r: &mut Reader) -> Read<State> {
    let mut state = State {
        head: r.get()?,
        versions: r.get()?,
        checkpoints: r.get()?,
        recovery: r.get()?,
        context: r.get()?,
        roster: r.get()?,
        rooms: r.get()?,
        published: None,
    };
    // Derived data, in the order of its dependencies.
    state.rooms.look_over(&mut state.context);
    state.settle();
    state.rooms.all_mut().for_each(|room| room.reschedule(&state.context));
    Ok(state)
}
