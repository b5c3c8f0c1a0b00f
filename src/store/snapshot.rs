//! A snapshot as bytes that prove themselves: a short head, the state, and a SHA-256 over both.

use sha2::{Digest, Sha256};

use crate::room::{Position, State, StateHash, Wall};

/// A state written down, with all that is needed to go on from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The last entry that the state has applied.
    pub position: Position,
    /// That entry's nonce.
    pub nonce: [u8; 8],
    /// Store time when it was taken.
    pub time: Wall,
    /// The encoded state.
    pub state: Vec<u8>,
}

/// Bytes that are no snapshot: cut, altered, or of another format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no snapshot: {0}")]
pub struct Unreadable(&'static str);

impl Snapshot {
    /// [`State::hash`] of its state, whether or not it decodes: position and time are not part of it.
    #[must_use]
    pub fn hash(&self) -> StateHash {
        State::hash_of(&self.state)
    }

    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.state.len() + SUM);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.position.epoch.to_le_bytes());
        bytes.extend_from_slice(&self.position.sequence.to_le_bytes());
        bytes.extend_from_slice(&self.nonce);
        bytes.extend_from_slice(&self.time.0.to_le_bytes());
        bytes.extend_from_slice(&self.state);
        let sum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }

    /// # Errors
    /// When a single byte differs from the written ones.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        let (body, sum) = bytes.split_last_chunk::<SUM>().ok_or(Unreadable("it is cut short"))?;
        if body.len() < HEAD || !body.starts_with(MAGIC) {
            return Err(Unreadable("it does not start like one"));
        }
        if Sha256::digest(body)[..] != sum[..] {
            return Err(Unreadable("its checksum does not match"));
        }
        let word = |index: usize| {
            let at = MAGIC.len() + 8 * index;
            let mut word = [0; 8];
            word.copy_from_slice(&body[at..at + 8]);
            word
        };
        let number = |index| u64::from_le_bytes(word(index));
        Ok(Self {
            position: Position {
                epoch: number(0),
                sequence: number(1),
            },
            nonce: word(2),
            time: Wall(number(3)),
            state: body[HEAD..].to_vec(),
        })
    }
}

/// Names the format too: the last byte before the line's end is its version.
const MAGIC: &[u8] = b"ropeline snapshot 1\n";
const HEAD: usize = MAGIC.len() + 4 * 8;
const SUM: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        Snapshot {
            position: Position { epoch: 7, sequence: 9 },
            nonce: *b"noncense",
            time: Wall(1_800_000_000_123),
            state: b"a state of some rooms".to_vec(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Snapshot::decode(&snapshot().encode()), Ok(snapshot()));
    }

    #[test]
    fn any_flipped_byte_and_any_cut_is_refused() {
        let bytes = snapshot().encode();
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 0x10;
            assert!(Snapshot::decode(&altered).is_err(), "byte {at}");
            assert!(Snapshot::decode(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}
